"""Elements and arrays repeated and broadcast.

Serves: face.broadcast-to, face.repeats, face.choice, level.concretize.number
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    constant,
    convert,
    default_dtype,
    is_tracer,
    operand,
    operands,
    shape_of,
    typed,
)
from traceir.lax.checks.operands import broadcast_shapes as _meet
from traceir.lax.checks.shapes import ShapeLike, axis_in, shape_tuple
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.indexing.getitem import getitem
from traceir.numpy.reductions.cumulative import cumsum
from traceir.tracing.concretization import refusal
from traceir.tracing.trace import typeof


def tile(A: Operand, reps: ShapeLike) -> Array:
    """An array repeated `reps[d]` times along each dimension.

    Ranks are made equal by leading dimensions of extent 1, repetitions of 1. Raises
    TypeError (face.shape), ValueError (face.repeats) below 0.

    >>> import traceir.numpy as jnp
    >>> tile(jnp.array([1, 2]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    value, times = operand("tile", A), shape_tuple(reps)
    shape = shape_of(value)
    rank = max(len(shape), len(times))
    shape = (1,) * (rank - len(shape)) + shape
    times = (1,) * (rank - len(times)) + times
    if any(n < 0 for n in times):
        raise rules.error("face.repeats", got=f"tile of {times} times")
    if all(n == 1 for n in times):
        return lax.reshape(value, shape)
    lead = range(2 * (rank - len(shape_of(value))) + 1, 2 * rank, 2)
    pairs = tuple(chain.from_iterable(zip(times, shape, strict=True)))
    spread = lax.broadcast_in_dim(value, pairs, lead)
    whole = [n * extent for n, extent in zip(times, shape, strict=True)]
    return lax.reshape(spread, whole)


@takes_out_sharding
def repeat(
    a: Operand,
    repeats: Operand,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Each element so many times behind itself, along an axis or of all as one.

    `repeats` is an int, or one for each place along the axis. If it is traced,
    `total_repeat_length` says how long the result is: what is more is left out, what is
    less is filled with the last element; of nothing the result is nothing.

    Raises ConcretizationTypeError (level.concretize.number) for traced repeats without
    a length, ValueError (face.repeats, face.axis).

    >>> import traceir.numpy as jnp
    >>> repeat(jnp.array([1, 2]), 2), repeat(jnp.array([1, 2]), jnp.array([3, 1]))
    (Array([1, 1, 2, 2], dtype=int32), Array([1, 1, 1, 2], dtype=int32))
    """
    value = operand("repeat", a)
    if axis is None or not shape_of(value):  # a number is a vector of one
        value, axis = lax.reshape(value, (prod(shape_of(value)),)), 0
    if is_tracer(repeats) and total_repeat_length is None:
        what = "the 'repeats' argument of jnp.repeat, without total_repeat_length,"
        traced: Any = repeats
        raise refusal(traced, "level.concretize.number", what)
    at = axis_in(axis, len(shape_of(value)))
    if not shape_of(value)[at] and total_repeat_length is not None:
        return as_array(value)
    if is_tracer(repeats):
        return _by_counts(value, repeats, at, total_repeat_length or 0)
    return _by_numbers(value, np.asarray(repeats), at, total_repeat_length)


def _by_numbers(
    value: Operand, counts: np.ndarray, axis: int, length: int | None
) -> Array:
    extent = shape_of(value)[axis]
    fits = counts.ndim < 2 and counts.size in (1, extent) and counts.dtype.kind in "biu"
    if not fits or (counts < 0).any():
        got = f"repeats {counts.tolist()} of {extent} elements"
        raise rules.error("face.repeats", got=got)
    if counts.size == 1 and length is None:
        return _evenly(value, int(counts.reshape(())), axis)
    counts = np.broadcast_to(counts.reshape(-1), (extent,))
    places = np.repeat(np.arange(extent), counts.astype(np.int64))
    if length is not None:
        missing = max(0, length - len(places))
        places = np.append(places, np.full(missing, max(0, extent - 1)))[:length]
    return _taken(value, constant(places.astype(default_dtype(int))), axis)


def _evenly(value: Operand, count: int, axis: int) -> Array:
    shape = shape_of(value)
    spread = (*shape[: axis + 1], count, *shape[axis + 1 :])
    kept = [d + (d > axis) for d in range(len(shape))]
    found = lax.broadcast_in_dim(value, spread, kept)
    return lax.reshape(found, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


def _by_counts(value: Operand, counts: Array, axis: int, length: int) -> Array:
    """The places are how many elements have ended before: no shape depends on them."""
    extent = shape_of(value)[axis]
    if counts.dtype.itemsize < default_dtype(int).itemsize:
        counts = as_array(convert(counts, default_dtype(int)))
    ends = cumsum(broadcast_to(counts, (extent,)))
    results = lax.broadcasted_iota(ends.dtype, (length, extent), 0)
    ended = lax.le(lax.broadcast_in_dim(ends, (length, extent), (1,)), results)
    integers = default_dtype(int)
    places = lax.reduce_sum(lax.convert_element_type(ended, integers), (1,))
    last = typed(max(0, extent - 1), integers, False)
    return _taken(value, lax.min(places, last), axis)


def _taken(value: Operand, places: Array, axis: int) -> Array:
    index = (slice(None),) * axis + (places,)
    return getitem(as_array(value), index)


@composite(static_argnames=["new_shape"])
def resize(a: Operand, new_shape: ShapeLike) -> Array:
    """The elements, row by row and again from the start, in another shape.

    An array without elements gives zeros. Raises TypeError (face.shape), ValueError
    (face.repeats) for extents below 0.

    >>> import traceir.numpy as jnp
    >>> resize(jnp.array([1, 2, 3]), (2, 2))
    Array([[1, 2],
           [3, 1]], dtype=int32)
    """
    value, shape = operand("resize", a), shape_tuple(new_shape)
    if any(n < 0 for n in shape):
        raise rules.error("face.repeats", got=f"resize to {shape}")
    own, size = prod(shape_of(value)), prod(shape)
    if not own:
        aval = typeof(value)
        return lax.broadcast_in_dim(typed(0, aval.dtype, aval.weak_type), shape, ())
    flat = tile(lax.reshape(value, (own,)), -(-size // own))
    return lax.reshape(lax.slice(flat, (0,), (size,)), shape)


def broadcast_shapes(*args: ShapeLike) -> tuple[int, ...]:
    """The shape to which all shapes stretch; ValueError (face.broadcast) if none is.

    >>> broadcast_shapes((3, 1), 4)
    (3, 4)
    """
    return _meet("broadcast_shapes", list(map(shape_tuple, args)))


def broadcast_arrays(*args: Operand) -> list[Array]:
    """Arrays stretched to the shape in which all of them meet.

    Raises TypeError (face.broadcast).

    >>> import traceir.numpy as jnp
    >>> [a.shape for a in broadcast_arrays(jnp.ones(2), jnp.ones((3, 1)))]
    [(3, 2), (3, 2)]
    """
    values = operands("broadcast_arrays", args)
    shape = _meet("broadcast_arrays", list(map(shape_of, values)))
    return [broadcast_to(value, shape) for value in values]


def meshgrid(
    *xi: Operand, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Array]:
    """Vectors as the coordinates of a grid: each as an array over all dimensions.

    Dimensions are in the order of the vectors, with indexing "xy" the first two are
    swapped; `sparse` leaves extents at 1 where nothing changes. An array cannot be
    written to, so `copy` changes nothing. Raises ValueError (face.vector,
    face.choice).

    >>> import traceir.numpy as jnp
    >>> x, y = meshgrid(jnp.array([1, 2]), jnp.array([3, 4]))
    >>> x.tolist(), y.tolist()
    ([[1, 2], [1, 2]], [[3, 3], [4, 4]])
    """
    if indexing not in ("xy", "ij"):
        got = f"indexing={indexing!r}"
        raise rules.error("face.choice", got=got, hint='"xy" or "ij"')
    values = operands("meshgrid", xi)
    for value in values:
        rank = len(shape_of(value))
        if rank > 1 or (not rank and config.local.context.face != "numpy"):
            raise rules.error("face.vector", got=f"meshgrid of shape {shape_of(value)}")
    vectors = [lax.reshape(v, (prod(shape_of(v)),)) for v in values]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = 1, 0
    whole = [vectors[k].shape[0] for k in order]
    found = [_across(vectors[k], d, whole, sparse) for d, k in enumerate(order)]
    return [found[order.index(k)] for k in range(len(order))]


def _across(x: Array, axis: int, whole: Sequence[int], sparse: bool) -> Array:
    shape = [n if d == axis or not sparse else 1 for d, n in enumerate(whole)]
    return lax.broadcast_in_dim(x, shape, (axis,))
