"""Mean, variance and standard deviation.

Serves: face.axis, face.axis-repeated, function.composite

`axis`, `keepdims` and their errors are those of `traceir.numpy.reductions.reductions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import is_half, is_inexact, kind_of, part_dtype
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    BOOL,
    DTypeLike,
    Operand,
    broadcast_shapes,
    convert,
    default_dtype,
    dtype_of,
    inexact,
    no_out,
    operand,
    refuse_complex,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_or_names_in
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise.arithmetic import divide, subtract
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import greater
from traceir.numpy.reductions.reductions import Axis, extent_of, reduced, truths
from traceir.tracing.trace import typeof

SINGLE = np.dtype(np.float32)


def mean(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Operand = None,
) -> Array:
    """Mean over axes, floating unless a dtype is given; NaN over none.

    `where` tells which elements count. Raises NotImplementedError (face.no-out).

    >>> import traceir.numpy as jnp
    >>> mean(jnp.arange(4))
    Array(1.5, dtype=float32)
    """
    no_out("mean", out)
    value = operand("mean", a)
    given = typeof(value).dtype
    wanted = inexact(given) if dtype is None else dtype_of(dtype, "mean")
    if given == BOOL:
        value = convert(value, default_dtype(int))
    half = dtype is None and is_half(wanted)
    value = convert(value, SINGLE if half else wanted)
    return convert(
        _mean(value, axes_or_names_in(axis, len(shape_of(value))), keepdims, where),
        wanted,
    )


def _mean(
    x: Operand, axes: tuple[int, ...], keepdims: bool, where: Operand = None
) -> Array:
    total = reduced("reduce_sum", x, axes, keepdims, where=where, identity=0)
    return lax.div(total, _count(x, axes, keepdims, where, total.dtype))


def _count(
    x: Operand, axes: tuple[int, ...], keepdims: bool, where: Operand, dtype: np.dtype
) -> Operand:
    """The number of elements of each line that count, by `where` if it is given."""
    if where is None:
        return typed(extent_of(shape_of(x), axes), dtype, False)
    some = broadcast_to(convert(truths(where), dtype), shape_of(x))
    return reduced("reduce_sum", some, axes, keepdims)


def var(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    ddof: int | float = 0,
    keepdims: bool = False,
    *,
    where: Operand = None,
    correction: int | float | None = None,
    mean: Operand = None,
) -> Array:
    """Mean squared distance from the mean over axes; NaN where `ddof` leaves nothing.

    The sum of squares is divided by the number of elements less `ddof`, which the
    Array API standard calls `correction`. A `mean` that is known, with the dimensions
    that `keepdims` leaves, is taken as it is given; `where` tells which elements count.
    Raises ValueError (face.choice) where `ddof` and `correction` are given, TypeError
    (face.broadcast), NotImplementedError (face.no-out).

    >>> import traceir.numpy as jnp
    >>> var(jnp.arange(4))
    Array(1.25, dtype=float32)
    """
    no_out("var", out)
    value = operand("var", a)
    wanted = None if dtype is None else _moment_dtype("var", value, dtype)
    axes = axes_or_names_in(axis, len(shape_of(value)))
    less = _corrected(ddof, correction)
    about = None if mean is None else centre("var", value, mean)
    return _var(value, about, less, where, axes=axes, keepdims=keepdims, dtype=wanted)


def _moment_dtype(name: str, value: Operand, dtype: DTypeLike) -> np.dtype:
    """The dtype that is asked for; ValueError (face.complex) if parts were lost."""
    found = dtype_of(dtype, name)
    if found == BOOL:
        raise rules.error("face.dtype", got=f"{found} for {name}")
    if kind_of(found) != "c":
        refuse_complex(f"{name} in dtype {found}", value)
    return found


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
    """The number subtracted from the count of elements, under either name."""
    if correction is None:
        return ddof
    if ddof:
        raise rules.error("face.choice", got=f"{ddof=} and {correction=}")
    return correction


def std(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    ddof: int | float = 0,
    keepdims: bool = False,
    *,
    where: Operand = None,
    correction: int | float | None = None,
    mean: Operand = None,
) -> Array:
    """Square root of `var`.

    >>> import traceir.numpy as jnp
    >>> std(jnp.arange(4))
    Array(1.118034, dtype=float32)
    """
    no_out("std", out)
    value = operand("std", a)
    wanted = None if dtype is None else _moment_dtype("std", value, dtype)
    if wanted is not None and not is_inexact(wanted):
        got, hint = f"std in dtype {wanted}", "ask for a floating or complex dtype"
        raise rules.error("face.choice", got=got, hint=hint)
    axes = axes_or_names_in(axis, len(shape_of(value)))
    less = _corrected(ddof, correction)
    about = None if mean is None else centre("std", value, mean)
    return _std(value, about, less, where, axes=axes, keepdims=keepdims, dtype=wanted)


@composite(static_argnames=["axes", "keepdims", "dtype"])
def _var(
    a: Operand,
    mean: Operand | None,
    ddof: Operand,
    where: Operand,
    *,
    axes: tuple[int, ...],
    keepdims: bool,
    dtype: np.dtype | None,
) -> Array:
    wanted = inexact(typeof(a).dtype if dtype is None else dtype)
    computed = computed_in(wanted)
    value = convert(a, computed)
    about = _mean(value, axes, True, where) if mean is None else mean
    centred = subtract(value, about)
    if computed.kind == "c":
        centred = lax.real(lax.mul(centred, lax.conj(centred)))
        computed = part_dtype(computed)
        wanted = computed if dtype is None else wanted
    else:
        centred = lax.square(centred)
    count = _count(value, axes, keepdims, where, computed)
    left = subtract(count, convert(ddof, computed))
    total = reduced("reduce_sum", centred, axes, keepdims, where=where, identity=0)
    result = convert(divide(total, left), wanted)
    some = greater(left, typed(0, computed, False))
    return _where(some, result, float("nan"))


@composite(static_argnames=["axes", "keepdims", "dtype"])
def _std(
    a: Operand,
    mean: Operand | None,
    ddof: Operand,
    where: Operand,
    *,
    axes: tuple[int, ...],
    keepdims: bool,
    dtype: np.dtype | None,
) -> Array:
    options: Any = {"axes": axes, "keepdims": keepdims, "dtype": dtype}
    return lax.sqrt(_var(a, mean, ddof, where, **options))
