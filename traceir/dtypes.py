"""Dtypes: what NumPy says of its own, said of bfloat16, too. Serves: derive.float0

bfloat16 is the dtype of the package ml_dtypes, which every array library has it from;
the package is imported when the dtype is first asked for.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

# The tangent of an integer or a boolean: it has a shape, and elements without bytes.
float0 = np.dtype([("float0", np.void, 0)])
BFLOAT16 = "bfloat16"


def is_float0(value: Any) -> bool:
    """Whether a value is such a tangent.

    >>> is_float0(np.zeros(3, float0)), is_float0(np.zeros(3))
    (True, False)
    """
    return isinstance(value, np.ndarray) and value.dtype == float0


@cache
def bfloat16() -> np.dtype:
    """The dtype bfloat16.

    >>> bfloat16()
    dtype(bfloat16)
    """
    import ml_dtypes

    dtype: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return dtype


def as_dtype(asked: Any) -> np.dtype:
    """`numpy.dtype(asked)`, where bfloat16 is a name like any other.

    >>> as_dtype("bfloat16"), as_dtype("float32")
    (dtype(bfloat16), dtype('float32'))
    """
    return bfloat16() if type(asked) is str and asked == BFLOAT16 else np.dtype(asked)


def is_bfloat16(dtype: np.dtype) -> bool:
    """Whether a dtype is bfloat16, without an import.

    >>> is_bfloat16(bfloat16()), is_bfloat16(float0)
    (True, False)
    """
    return dtype.kind == "V" and dtype.name == BFLOAT16


def is_half(dtype: np.dtype) -> bool:
    """Whether a dtype is floating and has 16 bits: sums of it are taken in float32.

    >>> is_half(np.dtype("float16")), is_half(bfloat16()), is_half(np.dtype("int16"))
    (True, True, False)
    """
    return dtype.itemsize == 2 and kind_of(dtype) == "f"


def kind_of(dtype: np.dtype) -> str:
    """`dtype.kind`, and "f" for bfloat16, of which NumPy knows no kind.

    >>> kind_of(bfloat16()), kind_of(np.dtype("int8"))
    ('f', 'i')
    """
    kind = dtype.kind
    return "f" if kind == "V" and dtype.name == BFLOAT16 else kind


def finfo(dtype: Any) -> Any:
    """`numpy.finfo(dtype)`, of bfloat16, too.

    >>> finfo("bfloat16").bits, float(finfo("float16").max)
    (16, 65504.0)
    """
    asked = as_dtype(dtype)
    if is_bfloat16(asked):
        import ml_dtypes

        made: Callable[[np.dtype], Any] = ml_dtypes.finfo
        return made(asked)
    return np.finfo(asked)
