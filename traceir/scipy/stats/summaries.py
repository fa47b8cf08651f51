"""Ranks, modes and standard errors.

Serves: face.axis, face.choice
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    inexact,
    operand,
    shape_of,
)
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.elementwise.arithmetic import divide, sqrt
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.logic import isnan
from traceir.numpy.indexing.take_put import take_along_axis
from traceir.numpy.manipulation.shapes import expand_dims, moveaxis, ravel, reshape
from traceir.numpy.manipulation.stacking import atleast_1d
from traceir.numpy.reductions.covariance import nanstd
from traceir.numpy.reductions.mean_var import std
from traceir.numpy.reductions.reductions import any as _any
from traceir.numpy.reductions.reductions import argmax
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.numpy.sets.sorting import sort
from traceir.tracing.trace import typeof


class ModeResult(NamedTuple):
    """The most frequent elements, and how often they come."""

    mode: Array
    count: Array  # type: ignore[assignment]  # as SciPy names it


def _check_policy(nan_policy: str, *policies: str) -> None:
    """Raise ValueError (face.choice) for another way with NaN."""
    if nan_policy not in policies:
        hint = f"the ways are {', '.join(policies)}"
        raise rules.error("face.choice", got=f"{nan_policy=}", hint=hint)


def mode(
    a: Operand,
    axis: int | None = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> ModeResult:
    """The most frequent element along an axis, the least of equally frequent ones.

    A number is an array of one. Without an axis, that of all elements; NaN, 0 times, of
    none. Every element is compared with every other; NaN equals nothing, as the
    `nan_policy` "propagate" says. Raises ValueError (face.axis, face.choice).

    >>> import traceir.numpy as jnp
    >>> mode(jnp.array([3, 1, 3, 2]))
    ModeResult(mode=Array(3, dtype=int32), count=Array(2, dtype=int32))
    """
    _check_policy(nan_policy, "propagate")
    given = atleast_1d(operand("mode", a))
    value, place = _lines("mode", given, axis)
    some = value.shape[-1] > 0
    if not some:
        value = lax.full((*value.shape[:-1], 1), np.nan, default_dtype(float))
    if value.dtype.kind == "c":  # as those whose parts are compared
        value = as_array(convert(value, value.dtype))
    ordered = sort(value, -1)
    count = _sum(_equal(ordered, ordered), -1, default_dtype(int if some else float))
    best = argmax(count, -1, keepdims=True)
    found = [take_along_axis(x, best, -1) for x in (ordered, count)]
    kept = given.shape if axis is None else None
    return ModeResult(*(_back(x, place, kept, keepdims) for x in found))


def _lines(name: str, a: Operand, axis: int | None) -> tuple[Array, int]:
    """The operand with the axis in the last place, and where it was."""
    value = operand(name, a)
    if axis is None:
        return ravel(value), 0
    place = axis_in(axis, len(shape_of(value)))
    return moveaxis(value, place, -1), place


def _back(x: Array, place: int, shape: tuple[int, ...] | None, keepdims: bool) -> Array:
    if not keepdims:
        return lax.squeeze(x, (x.ndim - 1,))
    if shape is not None:
        return reshape(x, (1,) * len(shape))
    return moveaxis(x, -1, place)


def _equal(x: Array, y: Array) -> Array:
    """True where an element of a line of x equals one of y: (..., x, y)."""
    return lax.eq(*_met(x, y))


def _met(x: Array, y: Array) -> tuple[Array, Array]:
    return expand_dims(x, -1), expand_dims(y, -2)


def rankdata(
    a: Operand,
    method: str = "average",
    *,
    axis: int | None = None,
    nan_policy: str = "propagate",
) -> Array:
    """The ranks of elements along an axis, from 1 on; without an axis, of all, flat.

    Equal elements have the "average" of their ranks, the "min" or the "max" of them,
    or are ranked as they come ("ordinal"); "dense" ranks leave no gaps. NaN where an
    element is NaN, as the `nan_policy` "propagate" says. Every element is compared with
    every other. Raises ValueError (face.axis, face.choice).

    >>> import traceir.numpy as jnp
    >>> rankdata(jnp.array([10, 30, 10]))
    Array([1.5, 3. , 1.5], dtype=float32)
    """
    methods = ("average", "min", "max", "dense", "ordinal")
    if method not in methods:
        hint = f"the methods are {', '.join(methods)}"
        raise rules.error("face.choice", got=f"method={method!r}", hint=hint)
    _check_policy(nan_policy, "propagate")
    value, place = _lines("rankdata", a, axis)
    found = convert(_ranks(value, method), default_dtype(float))
    if kind_of(value.dtype) == "f":
        found = where(_any(isnan(value), -1, keepdims=True), np.nan, found)
    return moveaxis(found, -1, place) if axis is not None else found


def _ranks(value: Array, method: str) -> Array:
    x, y = _met(value, value)
    same, less = lax.eq(*_stretched(x, y)), lax.gt(*_stretched(x, y))
    if method == "ordinal":
        extents = (1,) * (value.ndim - 1) + (value.shape[-1],) * 2
        mine, other = (
            lax.broadcasted_iota(np.int32, extents, len(extents) - d) for d in (2, 1)
        )
        earlier = lax.bitwise_and(*_stretched(same, lax.ge(mine, other)))
        return _sum(lax.bitwise_or(less, earlier), -1)
    if method == "dense":
        # Each kind of elements counts once: one of n equal elements as the nth part.
        shares = less / expand_dims(_sum(same, -1), -2)
        ranks = _sum(shares, -1)
        dense: Array = convert(lax.round(ranks), default_dtype(int))
        return dense + 1
    below = _sum(less, -1)
    equal = _sum(same, -1)
    if method == "average":
        return below + (equal + 1) / 2
    return below + (1 if method == "min" else equal)


def _stretched(x: Array, y: Array) -> tuple[Any, Any]:
    shape = lax.broadcast_shapes(x.shape, y.shape)
    dims = tuple(range(len(shape)))
    return (
        lax.broadcast_in_dim(x, shape, dims),
        lax.broadcast_in_dim(y, shape, dims),
    )


def sem(
    a: Operand,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The standard error of the mean along an axis: `std` by the root of the number.

    The `nan_policy` "omit" leaves NaN out. Raises ValueError (face.axis, face.choice).

    >>> import traceir.numpy as jnp
    >>> sem(jnp.array([1.0, 2.0, 3.0]))
    Array(0.57735026, dtype=float32)
    """
    _check_policy(nan_policy, "propagate", "omit")
    value = operand("sem", a)
    if nan_policy == "omit":
        dtype, some = inexact(typeof(value).dtype), lax.bitwise_not(isnan(value))
        number = convert(_sum(some, axis, keepdims=keepdims), dtype)
        return divide(nanstd(value, axis, ddof=ddof, keepdims=keepdims), sqrt(number))
    shape = shape_of(value)
    extent = (
        np.prod(shape, dtype=int) if axis is None else shape[axis_in(axis, len(shape))]
    )
    spread = std(value, axis, ddof=ddof, keepdims=keepdims)
    root = convert(sqrt(extent), inexact(typeof(value).dtype))
    return divide(spread, root)


_publish(globals())
