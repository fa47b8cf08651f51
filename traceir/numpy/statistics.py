"""Mean, variance, deviation. Serves: face.axis, face.axis-repeated, function.composite

`axis`, `keepdims` and their errors are those of `traceir.numpy.reductions`.
"""

from __future__ import annotations

from math import prod

import numpy as np

from traceir import lax, rules
from traceir.array import Array
from traceir.dtypes import is_half, part_dtype
from traceir.jit.composite import composite
from traceir.lax.operands import (
    BOOL,
    DTypeLike,
    Operand,
    broadcast_shapes,
    convert,
    default_dtype,
    dtype_of,
    inexact,
    operand,
    shape_of,
    typed,
)
from traceir.lax.shapes import axes_in
from traceir.numpy.composites import where as _where
from traceir.numpy.elementwise import divide, subtract
from traceir.numpy.reductions import Axis, reduced
from traceir.trace import typeof

SINGLE = np.dtype(np.float32)


def mean(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    *,
    keepdims: bool = False,
) -> Array:
    """Mean over axes, floating unless a dtype is given; NaN over none.

    >>> import traceir.numpy as jnp
    >>> mean(jnp.arange(4))
    Array(1.5, dtype=float32)
    """
    value = operand("mean", a)
    given = typeof(value).dtype
    wanted = inexact(given) if dtype is None else dtype_of(dtype, "mean")
    if given == BOOL:
        value = convert(value, default_dtype(int))
    half = dtype is None and is_half(wanted)
    value = convert(value, SINGLE if half else wanted)
    return convert(  # type: ignore[no-any-return]  # an Array
        _mean(value, axes_in(axis, len(shape_of(value))), keepdims), wanted
    )


def _mean(x: Operand, axes: tuple[int, ...], keepdims: bool) -> Array:
    total = reduced("reduce_sum", x, axes, keepdims)
    return lax.div(total, typed(_count(x, axes), total.dtype, False))


def _count(x: Operand, axes: tuple[int, ...]) -> int:
    return prod(shape_of(x)[d] for d in axes)


def var(
    a: Operand,
    axis: Axis = None,
    *,
    ddof: int | float = 0,
    keepdims: bool = False,
    correction: int | float | None = None,
    mean: Operand = None,
) -> Array:
    """Mean squared distance from the mean over axes; NaN where `ddof` leaves nothing.

    The sum of squares is divided by the number of elements less `ddof`, which the
    Array API standard calls `correction`. A `mean` that is known, with the dimensions
    that `keepdims` leaves, is taken as it is given. Raises ValueError (face.choice)
    where `ddof` and `correction` are given, TypeError (face.broadcast).

    >>> import traceir.numpy as jnp
    >>> var(jnp.arange(4))
    Array(1.25, dtype=float32)
    """
    value = operand("var", a)
    axes = axes_in(axis, len(shape_of(value)))
    less = _corrected(ddof, correction)
    about = None if mean is None else centre("var", value, mean)
    result: Array = _var(value, about, less, axes=axes, keepdims=keepdims)
    return result


def centre(name: str, value: Operand, mean: Operand) -> Operand:
    """A mean that was given, in the dtype in which a variance is computed."""
    about = operand(name, mean, 1)
    shape = shape_of(value)
    if broadcast_shapes(name, [shape, shape_of(about)]) != shape:
        got = f"{name} of {shape} with a mean of {shape_of(about)}"
        raise rules.error("face.broadcast", got=got)
    return convert(about, computed_in(inexact(typeof(value).dtype)))


def computed_in(dtype: np.dtype) -> np.dtype:
    """The dtype in which moments of a floating dtype are computed."""
    return SINGLE if is_half(dtype) else dtype


def _corrected(ddof: int | float, correction: int | float | None) -> int | float:
    """What the number of elements is lessened by, under either name."""
    if correction is None:
        return ddof
    if ddof:
        raise rules.error("face.choice", got=f"{ddof=} and {correction=}")
    return correction


def std(
    a: Operand,
    axis: Axis = None,
    *,
    ddof: int | float = 0,
    keepdims: bool = False,
    correction: int | float | None = None,
    mean: Operand = None,
) -> Array:
    """Square root of `var`.

    >>> import traceir.numpy as jnp
    >>> std(jnp.arange(4))
    Array(1.118034, dtype=float32)
    """
    value = operand("std", a)
    axes = axes_in(axis, len(shape_of(value)))
    less = _corrected(ddof, correction)
    about = None if mean is None else centre("std", value, mean)
    result: Array = _std(value, about, less, axes=axes, keepdims=keepdims)
    return result


@composite(static_argnames=["axes", "keepdims"])
def _var(
    a: Operand,
    mean: Operand | None,
    ddof: Operand,
    *,
    axes: tuple[int, ...],
    keepdims: bool,
) -> Array:
    wanted = inexact(typeof(a).dtype)
    computed = computed_in(wanted)
    value = convert(a, computed)
    about = _mean(value, axes, keepdims=True) if mean is None else mean
    centred = subtract(value, about)
    if computed.kind == "c":
        centred = lax.real(lax.mul(centred, lax.conj(centred)))
        wanted = computed = part_dtype(computed)
    else:
        centred = lax.square(centred)
    count = typed(_count(value, axes), computed, False)
    left = lax.sub(count, convert(ddof, computed))
    total = reduced("reduce_sum", centred, axes, keepdims)
    result = convert(divide(total, left), wanted)
    some = lax.gt(left, typed(0, computed, False))
    return _where(some, result, float("nan"))


@composite(static_argnames=["axes", "keepdims"])
def _std(
    a: Operand,
    mean: Operand | None,
    ddof: Operand,
    *,
    axes: tuple[int, ...],
    keepdims: bool,
) -> Array:
    return lax.sqrt(_var(a, mean, ddof, axes=axes, keepdims=keepdims))
