"""Numbers at equal ratios. Serves: face.count, level.concretize.number"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, as_array, convert, operands
from traceir.numpy.elementwise.arithmetic import divide, log10, multiply
from traceir.numpy.elementwise.composites import power
from traceir.numpy.manipulation.shapes import moveaxis
from traceir.numpy.ranges.linspace import linspace, spacing_dtypes


def logspace(
    start: Operand,
    stop: Operand,
    num: int = 50,
    endpoint: bool = True,
    base: Operand = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Array:
    """`num` powers of `base`, the exponents evenly spaced from start to stop.

    Arguments and errors are those of `linspace`.

    >>> logspace(0, 2, 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    first, last, ground = operands("logspace", (start, stop, base))
    dtypes = spacing_dtypes("logspace", first, last, dtype)
    return _logspace(
        first,
        last,
        ground,
        num=num,
        endpoint=endpoint,
        dtypes=dtypes,
        axis=axis,
    )


@composite(static_argnames=["num", "endpoint", "dtypes", "axis"])
def _logspace(
    start: Operand,
    stop: Operand,
    base: Operand,
    *,
    num: int,
    endpoint: bool,
    dtypes: tuple[np.dtype, np.dtype],
    axis: int,
) -> Array:
    dtype, wanted = dtypes
    first, last = (convert(end, dtype) for end in (start, stop))
    exponents: Any = linspace(first, last, num, endpoint, axis=axis)
    return as_array(convert(power(base, exponents), wanted))


def geomspace(
    start: Operand,
    stop: Operand,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Array:
    """`num` numbers from start to stop, each the same multiple of the one before.

    Both ends are of one sign; where they are not, or one is 0, the result is NaN.
    Arguments and errors are those of `linspace`.

    >>> geomspace(1, 8, 4).round(3)
    Array([1., 2., 4., 8.], dtype=float32)
    """
    first, last = operands("geomspace", (start, stop))
    dtypes = spacing_dtypes("geomspace", first, last, dtype)
    return _geomspace(first, last, num=num, endpoint=endpoint, dtypes=dtypes, axis=axis)


@composite(static_argnames=["num", "endpoint", "dtypes", "axis"])
def _geomspace(
    start: Operand,
    stop: Operand,
    *,
    num: int,
    endpoint: bool,
    dtypes: tuple[np.dtype, np.dtype],
    axis: int,
) -> Array:
    dtype, wanted = dtypes
    first, last = (as_array(convert(end, dtype)) for end in (start, stop))
    sign = lax.sign(first)
    near, far = (log10(divide(end, sign)) for end in (first, last))
    found = multiply(sign, logspace(near, far, num, endpoint, dtype=dtype))
    return as_array(convert(moveaxis(found, 0, axis), wanted))
