"""Elements in another order: flips, rolls, differences. Serves: face.axis

Axes count from the end where they are negative; a bad one is a ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    is_tracer,
    operand,
    operands,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_in, axis_in
from traceir.lax.structural.index_dtypes import widened
from traceir.numpy.arrays.creation import asarray, broadcast_to
from traceir.numpy.elementwise.arithmetic import subtract
from traceir.numpy.elementwise.composites import remainder
from traceir.numpy.elementwise.logic import not_equal
from traceir.numpy.manipulation.shapes import concatenate, moveaxis, transpose
from traceir.tracing.trace import typeof

Axes = int | Sequence[int] | None


@composite(static_argnames=["axis"])
def _flip(m: Operand, axis: Axes) -> Array:
    value = operand("flip", m)
    return lax.rev(value, axes_in(axis, len(shape_of(value))))


def flip(m: Operand, axis: Axes = None) -> Array:
    """The elements in the other order, along all axes or those given.

    >>> import traceir.numpy as jnp
    >>> flip(jnp.array([1, 2, 3]))
    Array([3, 2, 1], dtype=int32)
    """
    return _flip(operand("flip", m), axis)


def flipud(m: Operand) -> Array:
    """The rows in the other order.

    >>> import traceir.numpy as jnp
    >>> flipud(jnp.array([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return flip(m, 0)


def fliplr(m: Operand) -> Array:
    """The columns in the other order.

    >>> import traceir.numpy as jnp
    >>> fliplr(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return flip(m, 1)


@composite(static_argnames=["k", "axes"])
def rot90(m: Operand, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Turned by `k` right angles, from the first of two axes towards the second.

    >>> import traceir.numpy as jnp
    >>> rot90(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    value = operand("rot90", m)
    rank = len(shape_of(value))
    first, second = (axis_in(a, rank) for a in axes)
    turned = list(range(rank))
    turned[first], turned[second] = second, first
    match k % 4:
        case 0:
            return lax.reshape(value, shape_of(value))
        case 1:
            return transpose(flip(value, second), turned)
        case 2:
            return flip(flip(value, first), second)
        case _:
            return flip(transpose(value, turned), second)


@composite(static_argnames=["shift", "axis"])
def _roll_static(a: Operand, shift: tuple[int, ...], axis: tuple[int, ...]) -> Array:
    for by, d in zip(shift, axis, strict=True):
        extent = shape_of(a)[d]
        first = -by % max(1, extent)
        parts = [
            lax.slice_in_dim(a, first, extent, axis=d),
            lax.slice_in_dim(a, 0, first, axis=d),
        ]
        a = lax.concatenate(parts, d)
    return lax.reshape(a, shape_of(a))


@composite(static_argnames=["axis"])
def _roll_dynamic(a: Array, shift: Array, axis: tuple[int, ...]) -> Array:
    """The array twice behind itself along each axis, and what lies at the shift."""
    shift = as_array(widened(shift, max((a.shape[d] for d in axis), default=0)))
    integers = shift.dtype
    count = max(len(axis), prod(shift.shape))
    shifts = lax.broadcast_in_dim(shift, (count,), range(shift.ndim))
    axes = axis * count if len(axis) == 1 else axis
    for k, d in enumerate(axes):
        extent = a.shape[d]
        one = lax.squeeze(lax.slice_in_dim(shifts, k, k + 1), (0,))
        by = remainder(
            one, lax.max(typed(extent, integers, False), typed(1, integers, False))
        )
        both = lax.concatenate([a, a], d)
        start = lax.sub(typed(extent, integers, False), by)
        a = lax.dynamic_slice_in_dim(both, start, extent, axis=d)
    return a


def roll(a: Operand, shift: Operand | Sequence[Operand], axis: Axes = None) -> Array:
    """The elements moved on along axes, those from the end to the start.

    Without an axis, along all of them as one. `shift` is an int, or one for each axis,
    and may be traced. Raises ValueError (face.axis, face.broadcast-to).

    >>> import traceir.numpy as jnp
    >>> roll(jnp.array([1, 2, 3]), 1)
    Array([3, 1, 2], dtype=int32)
    """
    value = operand("roll", a)
    shape = shape_of(value)
    if axis is None:
        flat = lax.reshape(value, (prod(shape),))
        return lax.reshape(roll(flat, shift, 0), shape)
    axes = tuple(axis_in(d, len(shape)) for d in _listed(axis))
    if any(map(is_tracer, _listed(shift))):
        return _roll_dynamic(as_array(value), asarray(shift), axes)
    given = tuple(np.asarray(shift).reshape(-1).tolist())
    count = max(len(axes), len(given))
    given = given * count if len(given) == 1 else given
    axes = axes * count if len(axes) == 1 else axes
    if len(given) != len(axes):
        got = f"{len(given)} shifts to {len(axes)} axes"
        raise rules.error("face.broadcast-to", got=got)
    return _roll_static(value, given, axes)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (tuple, list)) else (value,)


@composite(static_argnames=["axis", "start"])
def rollaxis(a: Operand, axis: int, start: int = 0) -> Array:
    """The array with one axis moved before the one that is now at `start`.

    `moveaxis` says it more plainly. Raises ValueError (face.axis).

    >>> import traceir.numpy as jnp
    >>> rollaxis(jnp.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    value = operand("rollaxis", a)
    rank = len(shape_of(value))
    at = axis_in(axis, rank)
    to = start if start == rank else axis_in(start, rank)
    return moveaxis(value, at, to - (at < to))


@composite(static_argnames=["n", "axis"])
def diff(
    a: Operand,
    n: int = 1,
    axis: int = -1,
    prepend: Operand | None = None,
    append: Operand | None = None,
) -> Array:
    """Differences of neighbours along an axis, taken `n` times; of booleans, changes.

    The values put before the elements, or behind them, are a number or have the
    dimensions of `a`. Raises ValueError (face.choice) for a negative `n`, (face.axis).

    >>> import traceir.numpy as jnp
    >>> diff(jnp.array([1, 4, 9, 16])), diff(jnp.array([1, 4, 9, 16]), 2)
    (Array([3, 5, 7], dtype=int32), Array([2, 2], dtype=int32))
    >>> diff(jnp.array([1, 4, 9]), prepend=0)
    Array([1, 3, 5], dtype=int32)
    """
    value = operand("diff", a)
    if n < 0:
        raise rules.error("face.choice", got=f"{n=}", hint="0 or more differences")
    d = axis_in(axis, len(shape_of(value)))
    if n == 0:
        return asarray(value)
    value = _lengthened(value, d, prepend, append)
    change = not_equal if kind_of(typeof(value).dtype) == "b" else subtract
    for _ in range(n):
        extent = shape_of(value)[d]
        later = _cut(value, min(1, extent), extent, d)
        value = change(later, _cut(value, 0, max(0, extent - 1), d))
    return lax.reshape(value, shape_of(value))


def _lengthened(
    x: Operand, axis: int, before: Operand | None, behind: Operand | None
) -> Operand:
    """An array with others at its ends; a number takes one place along the axis."""
    if before is None and behind is None:
        return x
    edge = [1 if d == axis else n for d, n in enumerate(shape_of(x))]
    parts = [x]
    for place, part in ((0, before), (2, behind)):
        if part is not None:
            value = asarray(part)
            if not value.shape:
                value = broadcast_to(value, edge)
            parts.insert(place, value)
    return concatenate(parts, axis)


def _cut(x: Operand, start: int, stop: int, axis: int) -> Operand:
    shape = shape_of(x)
    if start == 0 and stop == shape[axis]:
        return x
    starts = [start if d == axis else 0 for d in range(len(shape))]
    stops = [stop if d == axis else n for d, n in enumerate(shape)]
    return lax.slice(x, starts, stops)


@composite(static_argnames=["axis"])
def append(arr: Operand, values: Operand, axis: int | None = None) -> Array:
    """Two arrays one after the other along an axis; without, all of their elements.

    >>> import traceir.numpy as jnp
    >>> append(jnp.array([1, 2]), 3)
    Array([1, 2, 3], dtype=int32)
    """
    pair = operands("append", (arr, values))
    if axis is None:
        pair = [lax.reshape(v, (prod(shape_of(v)),)) for v in pair]
        axis = 0
    return concatenate(pair, axis)


def concat(arrays: Sequence[Operand], /, *, axis: int | None = 0) -> Array:
    """Arrays one after another along an axis: `concatenate`.

    >>> import traceir.numpy as jnp
    >>> concat([jnp.array([1, 2]), jnp.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    return concatenate(arrays, axis)
