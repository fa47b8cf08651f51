"""Elements inserted and deleted. Serves: face.place, face.axis, face.broadcast-to

Concrete places decide the equations; traced ones are computed with.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    constant,
    convert,
    default_dtype,
    is_tracer,
    operand,
    shape_of,
)
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.arrays.creation import asarray, broadcast_to
from traceir.numpy.elementwise.composites import where
from traceir.numpy.indexing.getitem import getitem
from traceir.numpy.manipulation.shapes import moveaxis
from traceir.numpy.ranges.linspace import arange
from traceir.numpy.sets.sorting import argsort, sort
from traceir.tracing.concretization import refusal

Places = Any


def _along(name: str, arr: Operand, axis: int | None) -> tuple[Array, int]:
    """The array and an axis of it; without axis all of its elements as one."""
    value = as_array(operand(name, arr))
    if axis is None:
        return lax.reshape(value, (prod(value.shape),)), 0
    return value, axis_in(axis, value.ndim)


def _numbers(obj: Places, extent: int, ends: int) -> np.ndarray:
    """Concrete places, counted from 0; `ends` is how many there are to choose from."""
    if isinstance(obj, slice):
        return np.arange(extent)[obj]
    found = np.asarray(obj)
    if found.dtype == bool:
        if found.shape != (extent,):
            got = f"truths of shape {found.shape} for {extent} elements"
            raise rules.error("face.place", got=got)
        return np.flatnonzero(found)
    if found.size and found.dtype.kind not in "iu":
        raise rules.error("face.place", got=repr(obj))
    if ((found < -extent) | (found >= ends)).any():
        raise rules.error("face.place", got=f"{found.tolist()} of {extent} elements")
    places = found.astype(np.int64)
    return np.where(places < 0, places + extent, places)


def _taken(value: Array, places: Array, axis: int) -> Array:
    return getitem(value, (slice(None),) * axis + (places,))


def _fixed(places: np.ndarray) -> Array:
    return constant(places.astype(default_dtype(int)))


def _parts(value: Array, axis: int, place: int, gap: int) -> list[Array]:
    """The elements before a place, and those behind a gap of as many elements."""
    before = [place if d == axis else n for d, n in enumerate(value.shape)]
    behind = [place + gap if d == axis else 0 for d in range(value.ndim)]
    return [
        lax.slice(value, [0] * value.ndim, before),
        lax.slice(value, behind, value.shape),
    ]


def delete(
    arr: Operand,
    obj: Places,
    axis: int | None = None,
    *,
    assume_unique_indices: bool = False,
) -> Array:
    """The array without the elements at some places along an axis.

    `obj` is an int, a slice, an array of ints, or of truths as long as the axis.
    Without an axis the array is taken as one vector. The number of different ones among
    traced places is not known, so they need `assume_unique_indices`.

    Raises IndexError (face.place), ValueError (face.axis), ConcretizationTypeError
    (level.concretize.number).

    >>> import traceir.numpy as jnp
    >>> delete(jnp.arange(4), 1), delete(jnp.arange(4), jnp.array([0, -1]))
    (Array([0, 2, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    value, at = _along("delete", arr, axis)
    extent = value.shape[at]
    if is_tracer(obj):
        return _without(value, at, obj, assume_unique_indices)
    places = _numbers(obj, extent, extent)
    if not places.ndim:
        return lax.concatenate(_parts(value, at, int(places), 1), at)
    return _taken(value, _fixed(np.delete(np.arange(extent), places)), at)


def _without(value: Array, axis: int, places: Any, unique: bool) -> Array:
    """Without traced places: each one moves the elements behind it."""
    if places.dtype.kind not in "iu" or (places.ndim and not unique):
        what = "the places of jnp.delete, unless assume_unique_indices is set,"
        raise refusal(places, "level.concretize.number", what)
    extent = value.shape[axis]
    count = prod(places.shape)
    flat = lax.reshape(convert(places, default_dtype(int)), (count,))
    gone = sort(where(flat < 0, flat + extent, flat)) - arange(count)
    left = arange(extent - count)
    moved = (left[:, None] >= gone[None, :]).sum(1, dtype=left.dtype)
    return _taken(value, left + moved, axis)


def insert(
    arr: Operand, obj: Places, values: Operand, axis: int | None = None
) -> Array:
    """The array with values put before some places along an axis.

    At an int, as many as `values` has along the axis; at an array of ints or a slice,
    one at each place, to which `values` broadcasts. They take the array's dtype.
    Without an axis the array is taken as one vector.

    Raises IndexError (face.place), ValueError (face.axis, face.broadcast-to).

    >>> import traceir.numpy as jnp
    >>> insert(jnp.arange(3), 1, 9), insert(jnp.arange(3), jnp.array([0, 3]), 9)
    (Array([0, 9, 1, 2], dtype=int32), Array([9, 0, 1, 2, 9], dtype=int32))
    """
    value, at = _along("insert", arr, axis)
    new = as_array(convert(asarray(values), value.dtype, value.weak_type))
    extent = value.shape[at]
    traced = is_tracer(obj)
    places: Any = obj if traced else _numbers(obj, extent, extent + 1)
    if prod(shape_of(places)) == 1:
        return _block(value, at, places, new)
    count = prod(shape_of(places))
    shape = [count if d == at else n for d, n in enumerate(value.shape)]
    both = lax.concatenate([value, broadcast_to(new, shape)], at)
    if traced:
        return _taken(both, _merged(places, extent, count), at)
    order = np.argsort(places, kind="stable")
    chosen = np.full(extent + count, -1)
    chosen[places[order] + np.arange(count)] = extent + order
    chosen[chosen < 0] = np.arange(extent)
    return _taken(both, _fixed(chosen), at)


def _block(value: Array, axis: int, place: Any, new: Array) -> Array:
    """All of the values before one place."""
    new = lax.expand_dims(new, range(max(0, value.ndim - new.ndim)))
    if not place.ndim:
        new = moveaxis(new, 0, axis)
    count = new.shape[axis]
    shape = [count if d == axis else n for d, n in enumerate(value.shape)]
    new = broadcast_to(new, shape)
    if not is_tracer(place):
        before, behind = _parts(value, axis, int(place.reshape(())), 0)
        return lax.concatenate([before, new, behind], axis)
    extent = value.shape[axis]
    start = lax.reshape(convert(place, default_dtype(int)), ())
    start = where(start < 0, start + extent, start)
    results = arange(extent + count)
    late = where(results < start + count, extent + results - start, results - count)
    both = lax.concatenate([value, new], axis)
    return _taken(both, where(results < start, results, late), axis)


def _merged(places: Array, extent: int, count: int) -> Array:
    """The number of each result's element, the new ones behind the old ones."""
    flat = lax.reshape(convert(places, default_dtype(int)), (count,))
    flat = where(flat < 0, flat + extent, flat)
    order = argsort(flat, stable=True)
    starts = flat[order] + arange(count)
    results = arange(extent + count)
    before = starts[None, :] < results[:, None]
    earlier = before.sum(1, dtype=results.dtype)
    new = (starts[None, :] == results[:, None]).any(1)
    chosen = convert(order[earlier], results.dtype)
    return where(new, extent + chosen, results - earlier)
