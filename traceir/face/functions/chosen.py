"""Functions of NumPy's that choose elements: `np.unique`, `np.extract`.

Serves: face.selection

What they give is a selection of all that there might be, by a mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax
from traceir import numpy as jnp
from traceir.face.arrays.array import traced
from traceir.face.arrays.unwrapping import unwrapped
from traceir.face.arrays.values import array_of
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


@direct(np.extract)
def _extract(condition: Any, arr: Any) -> Any:
    which, value = _value(condition), array_of(arr)
    if which is None or which.size != value.size:
        return new(np.extract, (condition, arr), {})
    full = traced(jnp.ravel(value.now()))
    return Selection(full, traced(jnp.ravel(_mask(which))))


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
