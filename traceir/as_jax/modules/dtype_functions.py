"""Functions about dtypes that `jax.dtypes` has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.base.config import local
from traceir.dtypes import as_dtype, is_inexact, kind_of
from traceir.ir.promotion import canonical_dtype
from traceir.lax.checks.operands import as_array, convert
from traceir.tracing.trace import typeof

__all__ = [
    "canonicalize_dtype",
    "itemsize_bits",
    "promote_dtypes_complex",
    "promote_dtypes_inexact",
    "scalar_type_of",
    "to_complex_dtype",
]


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype:
    """The dtype that arrays have where this one is asked for: of 32 bits unless x64.

    >>> canonicalize_dtype("float64"), canonicalize_dtype(int)
    (dtype('float32'), dtype('int32'))
    """
    return canonical_dtype(as_dtype(dtype), local.context.x64)


def itemsize_bits(dtype: Any) -> int:
    """The number of bits of an element.

    >>> itemsize_bits("bfloat16")
    16
    """
    return 8 * as_dtype(dtype).itemsize


def scalar_type_of(x: Any) -> type:
    """Python's class of numbers for a value's dtype: bool, int, float or complex.

    >>> scalar_type_of(np.ones(2)), scalar_type_of(True)
    (<class 'float'>, <class 'bool'>)
    """
    kinds = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
    kind = kind_of(jnp.result_type(x))
    if kind not in kinds:
        raise TypeError(f"no class of numbers for a value of dtype kind {kind!r}")
    return kinds[kind]


def to_complex_dtype(dtype: Any) -> np.dtype:
    """The complex dtype that holds a dtype's numbers, or comes next to it.

    >>> to_complex_dtype("float32"), to_complex_dtype("int64")
    (dtype('complex64'), dtype('complex128'))
    """
    wide = as_dtype(dtype).name in ("float64", "complex128", "int64", "uint64")
    return np.dtype("complex128" if wide else "complex64")


def promote_dtypes_complex(*args: Any) -> list[Any]:
    """The operands as arrays of one dtype, which is complex.

    >>> [x.dtype.name for x in promote_dtypes_complex(1, np.float32(2))]
    ['complex64', 'complex64']
    """
    return _promoted(args, to_complex_dtype(jnp.result_type(*args)))


def promote_dtypes_inexact(*args: Any) -> list[Any]:
    """The operands as arrays of one dtype, which is floating or complex.

    >>> [x.dtype.name for x in promote_dtypes_inexact(1, np.float32(2))]
    ['float32', 'float32']
    """
    found = jnp.result_type(*args)
    wanted = found if is_inexact(found) else to_complex_dtype(found).type(0).real.dtype
    return _promoted(args, wanted)


def _promoted(values: Sequence[Any], dtype: np.dtype) -> list[Any]:
    """The values as arrays of a dtype, which are weak where all of them are."""
    weak = all(typeof(value).weak_type for value in values)
    return [as_array(convert(jnp.asarray(v), dtype, weak)) for v in values]
