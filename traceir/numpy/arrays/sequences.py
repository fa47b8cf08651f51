"""Nested sequences of numbers and arrays as one array. Serves: face.ragged"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import APART, Array
from traceir.dtypes import is_key, kind_of
from traceir.errors import shown
from traceir.ir.promotion import check_unmasked
from traceir.lax.checks.operands import (
    Operand,
    constant,
    convert,
    default_dtype,
    fitting,
    is_scalar,
    is_tracer,
    joined,
    operand,
    shape_of,
    typed,
)
from traceir.lax.checks.warnings import refuse_part, warn_of_part
from traceir.lax.structural.shapes import concatenate, expand_dims
from traceir.numpy.arrays.foreign_values import is_foreign, with_read

_PYTHON_NUMBERS = {bool, int, float, complex}
# The widest dtypes of those kinds that hold others.
_WIDE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}


def from_sequence(value: Sequence[Any], dtype: np.dtype | None) -> Operand:
    """Nested lists and tuples as an array of this dtype, or that in which they meet.

    Raises TypeError (face.argument), ValueError (face.ragged), OverflowError
    (jit.overflow) for a Python number that does not fit an integer dtype.

    >>> from_sequence([2**40, 1], np.dtype(np.float32))
    array([1.0995116e+12, 1.0000000e+00], dtype=float32)
    """
    leaves = list(leaves_of(value))
    types = set(map(type, leaves))
    if dtype is not None and complex in types:
        refuse_part(leaves, dtype)
    if types == {int}:
        return _of_ints(value, leaves, dtype)
    if types <= _PYTHON_NUMBERS:
        return _from_host(value, leaves, dtype)
    if is_foreign(types):
        return from_sequence(with_read(value, dtype), dtype)
    met = _met(leaves) if dtype is None else dtype
    if any(map(_is_joined, leaves)):
        return _joined(value, met)
    exact = _WIDE.get(kind_of(met)) if dtype is None else None
    return _from_host(value, leaves, met, exact)


def _met(leaves: list[Any]) -> np.dtype:
    """The dtype in which leaves meet: one of each type tells."""
    kinds = {_kind(leaf): leaf for leaf in leaves}
    return joined([operand("array", _known(leaf)) for leaf in kinds.values()])[0]


def _known(leaf: Any) -> Any:
    """A leaf that only NumPy can read, such as a range, as its array."""
    own = isinstance(leaf, (Array, np.ndarray)) or is_scalar(leaf)
    read = hasattr(leaf, "__array__") or isinstance(leaf, Sequence)
    return np.asarray(leaf) if read and not own else leaf


def _kind(leaf: Any) -> tuple[Any, ...]:
    return type(leaf), getattr(leaf, "dtype", None), getattr(leaf, "weak_type", None)


def _is_joined(leaf: Any) -> bool:
    """True if a leaf is no number that NumPy could put beside others."""
    if is_tracer(leaf) or type(leaf) in APART:
        return True
    return isinstance(leaf, Array) and is_key(leaf.aval.dtype)


def leaves_of(value: Any) -> Iterator[Any]:
    """The parts of nested lists and tuples that are none themselves, in their order."""
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves_of(part)
    else:
        yield value


def _from_host(
    value: Sequence[Any],
    leaves: list[Any],
    dtype: np.dtype | None,
    exact: np.dtype | None = None,
) -> Operand:
    """Nested sequences without tracers; Python numbers must fit an integer dtype."""
    found = _even(value, exact)
    half = any(getattr(leaf, "dtype", None) == "bfloat16" for leaf in leaves)
    if found.dtype == object and half:  # NumPy knows no dtype in which it meets others
        found = _even(value, _WIDE.get(kind_of(_met(leaves))))
    wanted = default_dtype(int) if dtype is None else dtype
    if dtype is not None and found.dtype == object:  # ints beyond 64 bits, and others
        found = _even(value, _WIDE["c" if kind_of(dtype) == "c" else "f"])
    asked = leaves if dtype is not None else []
    numbers = [leaf for leaf in asked if type(leaf) in (int, float)]
    plain = not any(isinstance(leaf, Array) for leaf in leaves) and found.size > 0
    if plain and kind_of(found.dtype) in "iu" and wanted == default_dtype(int):
        numbers += [int(found.max()), int(found.min())]
    _check_fit(numbers, wanted)
    checked = operand("array", found)
    if dtype is None:
        return checked
    warn_of_part(found.dtype, dtype)
    return typed(found, dtype, False)  # not narrowed first


def _of_ints(value: Sequence[Any], ints: list[int], dtype: np.dtype | None) -> Operand:
    """Nested sequences of Python ints: NumPy has no one dtype for all that fit."""
    wanted = default_dtype(int) if dtype is None else dtype
    _check_fit(ints, wanted)
    exact = wanted if kind_of(wanted) in "biu" else _WIDE["f"]
    return typed(_even(value, exact), wanted, False)


def _check_fit(numbers: Sequence[float], dtype: np.dtype) -> None:
    if numbers and kind_of(dtype) in "iu":
        fitting(max(numbers), dtype)
        fitting(min(numbers), dtype)
        for unknown in (number for number in numbers if number != number):
            fitting(unknown, dtype)


def _host(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_host(part) for part in value]
    check_unmasked(value)
    return np.asarray(value) if isinstance(value, Array) else value


def _even(value: Any, dtype: np.dtype | None) -> np.ndarray:
    """Nested sequences as a NumPy array; raises ValueError (face.ragged)."""
    host = _host(value)
    try:
        return np.array(host, dtype)
    except ValueError:
        raise rules.error("face.ragged", got=shown(value)) from None


def _joined(value: Any, dtype: np.dtype) -> Operand:
    """Nested sequences with tracers or keys inside, as equations."""
    if isinstance(value, (list, tuple)):
        if not any(map(_is_joined, leaves_of(value))):
            return constant(_even(value, dtype))
        parts = [expand_dims(_joined(v, dtype), (0,)) for v in value]
        if len({shape_of(part) for part in parts}) > 1:
            raise rules.error("face.ragged", got=shown(value))
        return concatenate(parts, 0)
    return convert(operand("array", value), dtype)
