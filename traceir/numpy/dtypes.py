"""Dtypes as `traceir.numpy` names them, and constants. Serves: face.dtype, promote.*"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.array import Array
from traceir.lax.operands import DTypeLike, Operand, dtype_of, joined, operand
from traceir.lax.selection import convert_element_type
from traceir.numpy.creation import asarray

pi = np.pi
e = np.e
inf = np.inf
nan = np.nan
newaxis = None
floating = np.floating
integer = np.integer
finfo = np.finfo
iinfo = np.iinfo


class ScalarType:
    """A dtype by its name, that makes arrays of that dtype when it is called.

    >>> float32(1.5), float32 == np.float32, np.dtype(float32)
    (Array(1.5, dtype=float32), True, dtype('float32'))
    """

    __slots__ = ("dtype",)
    dtype: np.dtype

    def __init__(self, name: str) -> None:
        self.dtype = np.dtype(name)

    def __call__(self, x: Operand = 0) -> Array:
        return asarray(x, dtype=self)

    def __eq__(self, other: object) -> bool:
        try:
            return self.dtype == np.dtype(other)  # type: ignore[call-overload,no-any-return]
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype.type)

    def __repr__(self) -> str:
        return f"traceir.numpy.{self.dtype.name}"


bool_ = ScalarType("bool")
int8 = ScalarType("int8")
int16 = ScalarType("int16")
int32 = ScalarType("int32")
int64 = ScalarType("int64")
uint8 = ScalarType("uint8")
uint16 = ScalarType("uint16")
uint32 = ScalarType("uint32")
uint64 = ScalarType("uint64")
float16 = ScalarType("float16")
float32 = ScalarType("float32")
float64 = ScalarType("float64")


def dtype(name: DTypeLike) -> np.dtype:
    """The NumPy dtype of a name, a type or a dtype.

    >>> dtype("float32")
    dtype('float32')
    """
    return np.dtype(name)


def result_type(*values: Operand | DTypeLike) -> np.dtype:
    """The dtype in which arrays, numbers and dtypes meet (promote.jax).

    >>> result_type(1, 2.0), result_type(float32, "int32")
    (dtype('float32'), dtype('float32'))
    """
    return joined([_example(v) for v in values])[0]


def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype:
    """The dtype in which two dtypes meet (promote.jax).

    >>> promote_types("int8", "uint8")
    dtype('int16')
    """
    return result_type(np.dtype(a), np.dtype(b))


def _example(value: Any) -> Operand:
    if isinstance(value, (type, str, np.dtype, ScalarType)):
        return dtype_of(value, "result_type").type(0)
    return operand("result_type", value)


def issubdtype(a: DTypeLike, b: DTypeLike) -> bool:
    """Whether a dtype is `b`, or of the kind `b`, such as `floating`.

    >>> issubdtype(float32, floating)
    True
    """
    kind = b.dtype if isinstance(b, ScalarType) else b
    return bool(np.issubdtype(np.dtype(a), kind))


def astype(x: Operand, dtype: DTypeLike) -> Array:
    """Elements as another dtype; floats saturate at an integer dtype's ends.

    Raises TypeError (face.dtype).

    >>> astype(2.75, int)
    Array(2, dtype=int32)
    """
    return convert_element_type(x, dtype)
