"""NumPy's functions that put vectors in order whose extents values decide.

Serves: slice.length

A vector is put in an array of the greatest extent; what is behind its end stands for
more than every number, so that it stays there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.face.arrays.array import traced
from traceir.face.control_flow.list_elements import now
from traceir.face.python.numbers import as_integer, require
from traceir.face.slices.delayed_arrays import (
    DelayedArray,
    flat,
    laid_out,
    materialized,
    of_operand,
    padded,
)
from traceir.face.slices.dynamic_array import DynamicArray, held
from traceir.face.slices.extents import Extent, less
from traceir.face.slices.sliced_view import SlicedView
from traceir.face.slices.vectors import implements


def _greatest(dtype: np.dtype) -> Any:
    """A value that no element of a dtype comes after."""
    if dtype.kind == "b":
        return np.True_
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).max)
    return dtype.type(complex(np.nan, np.nan) if dtype.kind == "c" else np.nan)


def _vector(elements: Any, extent: Extent) -> SlicedView:
    """The first elements of an array, as many as an extent says."""
    return laid_out(traced(elements, number=False), (extent,))


def _in_order(a: DelayedArray) -> Any:
    return jnp.sort(padded(a, _greatest(a.dtype)))


@implements(np.sort)
def _sort(a: DelayedArray, axis: Any = -1, **options: Any) -> Any:
    if a.ndim != 1 and axis is not None:
        return NotImplemented
    a = flat(a)
    return _vector(_in_order(a), a.extents[0])


@implements(np.argsort)
def _argsort(a: DelayedArray, axis: Any = -1, **options: Any) -> Any:
    if a.ndim != 1 and axis is not None:
        return NotImplemented
    a = flat(a)
    order = jnp.argsort(padded(a, _greatest(a.dtype)), stable=True)
    return _vector(order, a.extents[0])


def _check_any(a: DelayedArray, name: str) -> None:
    require(a.lengths[0] == 0, "slice.lengths", f"{name} of no elements")


def _quantile(name: str, a: DelayedArray, q: Any, axis: Any, options: Any) -> Any:
    """The numbers below which shares of the elements are, as NumPy interpolates."""
    if options or a.dtype.kind == "c" or (a.ndim != 1 and axis is not None):
        return NotImplemented
    a = flat(a)
    own = a.dtype if a.dtype.kind == "f" else np.dtype(float)
    _check_any(a, name)
    ordered, last = traced(_in_order(a.cast(own))), a.lengths[0] - 1

    def at(share: Any) -> Any:
        share = own.type(share) if isinstance(share, (int, float)) else share
        place = share * last
        low = as_integer(np.floor(place))
        x, y = ordered[low], ordered[less(low + 1, last)]
        t, apart = place - low, y - x
        found = np.where(t >= 0.5, y - apart * (1 - t), x + apart * t)[()]
        greatest = ordered[last]
        return np.where(np.isnan(greatest), greatest, found)[()]

    if not np.ndim(q):
        return at(q)
    own = np.result_type(own, *(np.asarray(share).dtype for share in q))
    return np.stack([at(own.type(share)) for share in q])


@implements(np.quantile)
def _quantiles(a: Any, q: Any, axis: Any = None, **options: Any) -> Any:
    return _quantile("quantile", a, q, axis, options)


@implements(np.percentile)
def _percentiles(a: Any, q: Any, axis: Any = None, **options: Any) -> Any:
    shares = [s / 100 for s in q] if np.ndim(q) else q / 100
    return _quantile("percentile", a, shares, axis, options)


@implements(np.median)
def _median(a: DelayedArray, axis: Any = None, **options: Any) -> Any:
    """The mean of the two in the middle; NaN of no elements, as NumPy's is."""
    if options or a.dtype.kind == "c" or (a.ndim != 1 and axis is not None):
        return NotImplemented
    a = flat(a)
    own = a.dtype if a.dtype.kind == "f" else np.dtype(float)
    ordered, count = traced(_in_order(a.cast(own))), a.lengths[0]
    some = np.not_equal(count, 0)
    low, high = (np.where(some, (count - 1 + k) // 2, 0)[()] for k in (0, 1))
    found = (ordered[low] + ordered[high]) / own.type(2)
    greatest = ordered[np.where(some, count - 1, 0)[()]]
    nan = np.logical_or(np.logical_not(some), np.isnan(greatest))
    return np.where(nan, own.type(np.nan), found)[()]


@implements(np.histogram)
def _histogram(
    a: DelayedArray, bins: Any = 10, range: Any = None, weights: Any = None, **rest: Any
) -> Any:
    """The numbers of elements in bins: what is behind the end weighs nothing."""
    if rest or isinstance(bins, str):
        return NotImplemented
    a = flat(a)
    if range is None and not np.ndim(bins):
        _check_any(a, "histogram, without a range,")
        range = np.min(DynamicArray(a)), np.max(DynamicArray(a))
    counted = materialized(a)
    count = np.arange(counted.base.shape[0]) < a.lengths[0]
    if weights is None:
        weights = count.astype(np.int64)
    else:
        weights = traced(padded(flat(of_operand(held(weights))), 0)) * count
    return np.histogram(counted.base, bins, range, weights=weights)


@implements(np.nonzero)
def _nonzero(a: DelayedArray) -> Any:
    """The places of a vector that are not zero."""
    if a.ndim != 1:
        return NotImplemented
    mask = traced(jnp.not_equal(padded(a, 0), 0), number=False)
    return (held(np.flatnonzero(mask)),)


@implements(np.flatnonzero)
def _flatnonzero(a: DelayedArray) -> Any:
    return _nonzero(flat(a))[0]


@implements(np.unique)
def _unique(
    ar: DelayedArray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    equal_nan: bool = True,
    **options: Any,
) -> Any:
    """The elements that differ, in order, and the rest that is asked of them."""
    if axis is not None or options or (return_inverse and ar.ndim != 1):
        return NotImplemented
    a = flat(ar)
    extent, keys = a.extents[0], padded(a, _greatest(a.dtype))
    size, length = keys.size, now(extent.length)
    order = jnp.argsort(keys, stable=True)
    ordered = jnp.take(keys, order)
    differ = jnp.not_equal(ordered[1:], ordered[:-1])
    if a.dtype.kind in "fc" and equal_nan:
        both = jnp.logical_and(jnp.isnan(ordered[1:]), jnp.isnan(ordered[:-1]))
        differ = jnp.logical_and(differ, jnp.logical_not(both))
    first = jnp.concatenate((jnp.ones(min(1, size), bool), differ))
    first = jnp.logical_and(first, jnp.arange(size) < length)
    new = Extent(as_integer(jnp.count_nonzero(first)), extent.most)
    (places,) = jnp.nonzero(first, size=size, fill_value=length)
    found = [_vector(jnp.take(ordered, places, mode="clip"), new)]
    if return_index:
        found.append(_vector(jnp.take(order, places, mode="clip"), new))
    if return_inverse:
        which = jnp.zeros(size, int).at[order].set(jnp.cumsum(first) - 1)
        found.append(_vector(which, extent))
    if return_counts:
        ends = jnp.concatenate((places[1:], jnp.full(min(1, size), length)))
        found.append(_vector(ends - places, new))
    return found[0] if len(found) == 1 else tuple(found)
