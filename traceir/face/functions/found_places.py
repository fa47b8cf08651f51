"""Functions of NumPy's that find elements: `np.nonzero`, `np.unique`.

Serves: face.selection

What they find is a selection of all that there might be, by a mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax
from traceir import numpy as jnp
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.unwrapping import unwrapped
from traceir.face.arrays.values import array_of, cast
from traceir.face.checks.bounds import check_index
from traceir.face.functions.functions import direct, new
from traceir.face.functions.selection import Selection
from traceir.lax.checks.operands import convert

INDEX = np.dtype(np.int64)


def _value(a: Any) -> Any:
    """An array as a value of the trace; None where it is known, or is no array."""
    try:
        unwrapped(a)
    except KeyError:
        return None if isinstance(a, Selection) else array_of(a).now()
    return None


def _mask(value: Any) -> Any:
    return value if value.dtype == np.bool_ else jnp.not_equal(value, 0)


def _grid(shape: tuple[int, ...], axis: int) -> Any:
    """The places along an axis, of all elements of a shape."""
    return lax.broadcasted_iota(INDEX, shape, axis)


@direct(np.nonzero)
def _nonzero(a: Any) -> Any:
    value = _value(a)
    if value is None or not value.ndim:
        return new(np.nonzero, (a,), {})
    mask = _mask(value)
    grids = (_grid(value.shape, k) for k in range(value.ndim))
    return tuple(Selection(traced(grid), mask) for grid in grids)


@direct(np.where)
def _where(condition: Any, *choices: Any, **named: Any) -> Any:
    if not choices and not named:
        return _nonzero(condition)
    return new(np.where, (condition, *choices), named)


@direct(np.flatnonzero)
def _flatnonzero(a: Any) -> Any:
    value = _value(a)
    if value is None:
        return new(np.flatnonzero, (a,), {})
    return _nonzero(traced(jnp.ravel(value)))[0]


@direct(np.argwhere)
def _argwhere(a: Any) -> Any:
    value = _value(a)
    if value is None or not value.ndim:
        return new(np.argwhere, (a,), {})
    grids = [_grid(value.shape, k) for k in range(value.ndim)]
    return Selection(traced(jnp.stack(grids, -1)), _mask(value))


@direct(np.extract)
def _extract(condition: Any, arr: Any) -> Any:
    which, value = _value(condition), array_of(arr)
    if which is None or which.size != value.size:
        return new(np.extract, (condition, arr), {})
    full = traced(jnp.ravel(value.now()))
    return Selection(full, traced(jnp.ravel(_mask(which))))


@direct(np.compress)
def _compress(condition: Any, a: Any, axis: Any = None, **options: Any) -> Any:
    which, value = _value(condition), array_of(a)
    whole = axis is None or (value.ndim == 1 and axis in (0, -1))
    if which is None or not whole or options or which.shape != (value.size,):
        return new(np.compress, (condition, a, axis), options)
    return _extract(condition, a)


@direct(np.unique)
def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    **options: Any,
) -> Any:
    value = _value(ar)
    asked = (return_index, return_inverse, return_counts)
    if value is None or options.get("axis") is not None:
        return new(np.unique, (ar, *asked), options)
    flat = jnp.ravel(value)
    if not value.size:
        places = jnp.zeros(0, INDEX)
        none = (traced(flat), *(traced(places) for one in asked if one))
        return none if any(asked) else none[0]
    order = jnp.argsort(flat, stable=True)
    ordered = flat[order]
    first = _differ(ordered[1:], ordered[:-1], options.get("equal_nan", True))
    first = traced(jnp.concatenate([jnp.ones(1, bool), first]))
    found = [Selection(traced(ordered), first)]
    if return_index:
        found.append(Selection(traced(convert(order, INDEX)), first))
    if return_inverse:
        rank = convert(jnp.cumsum(first) - 1, INDEX)
        inverse = jnp.zeros(flat.size, INDEX).at[order].set(rank)
        found.append(traced(jnp.reshape(inverse, value.shape)))
    if return_counts:
        found.append(Selection(traced(_counts(first)), first))
    return tuple(found) if any(asked) else found[0]


def _differ(one: Any, other: Any, equal_nan: bool) -> Any:
    differ = jnp.not_equal(one, other)
    if not equal_nan or one.dtype.kind not in "fc":
        return differ
    return differ & ~(jnp.isnan(one) & jnp.isnan(other))


def _counts(first: Any) -> Any:
    """The distance from each element that is a first one to the next of these."""
    size = first.shape[0]
    places = _grid((size,), 0)
    starts = jnp.where(first, places, size)
    following = lax.cummin(starts, reverse=True)
    ends = jnp.concatenate([following[1:], jnp.full(1, size, INDEX)])
    return ends - places


def is_found(index: Any) -> bool:
    """True if a selection is in an index."""
    parts = index if type(index) is tuple else (index,)
    return any(type(part) is Selection for part in parts)


def _wanted(
    array: NumpyTracer, index: Any, checks: bool
) -> tuple[list[Selection], Any] | None:
    """The places that a mask has found, if that is all of an index, and the index of as
    many as there might be, with 0 for what the mask leaves out."""
    parts = index if type(index) is tuple else (index,)
    found = [part for part in parts if type(part) is Selection]
    if len(found) != len(parts) or len(parts) > array.ndim:
        return None
    one = found[0]
    plain = all(p.dtype.kind in "iu" and one.same(p.mask) for p in found)
    if not plain or 0 in array.shape[: len(parts)] or one.ndim > 1:
        return None
    place = tuple(traced(jnp.where(one.mask, p.full.now(), 0)) for p in found)
    if checks:
        check_index(array.shape, place)
    return found, place


def read_places(array: NumpyTracer, index: Any, checks: bool) -> Any:
    """`array[index]` for places that a mask has found, as `np.nonzero` gives them; None
    for any other index. It `checks` that they are inside."""
    if not array.size and not array.shape[0]:
        return _of_nothing(array, index)
    wanted = _wanted(array, index, checks)
    if wanted is None:
        return None
    found, place = wanted
    return Selection(traced(jnp.asarray(array.now())[place]), found[0].mask)


def _of_nothing(array: NumpyTracer, index: Any) -> Any:
    """The elements of an array without any, at no places; None for others."""
    one, *rest = index if type(index) is tuple else (index,)
    if type(one) is not Selection or one.mask.size:
        return None
    left = array.shape[1 + len(rest) :]
    return Selection(traced(jnp.zeros((*one.mask.shape, *left), array.dtype)), one.mask)


def write_places(array: NumpyTracer, index: Any, value: Any, checks: bool) -> bool:
    """`array[index] = value` for such places, and a number or what the same mask has
    selected; False for any other index or value."""
    if _of_nothing(array, index) is not None and not array.shape[0]:
        return True
    wanted = _wanted(array, index, checks)
    if wanted is None:
        return False
    (one, *_), (first, *rest) = wanted
    if type(value) is Selection:
        if not one.same(value.mask):
            return False
        value = value.full
    elif np.ndim(value):
        return False
    # What the mask leaves out is outside, where nothing is written.
    first = jnp.where(one.mask, first.now(), array.shape[0])
    new = cast(array_of(value), array.dtype)
    update = jnp.asarray(array.now()).at[(first, *rest)]
    array.replace(traced(update.set(new, mode="drop")))
    return True
