"""NumPy's functions of vectors whose extents values decide, no reductions.

Serves: slice.length
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.face.arrays.array import traced
from traceir.face.functions.functions import reduction_dtype
from traceir.face.python.written import staged
from traceir.face.slices.delayed_arrays import (
    DelayedArray,
    Indices,
    Read,
    memory_for,
    of_operand,
    plain_read,
)
from traceir.face.slices.element_loops import fold
from traceir.face.slices.extents import Extent, greater, index_of, less

FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def implements(*functions: Any) -> Callable[[Any], Any]:
    """Register the implementation of NumPy's functions on such vectors."""

    def register(function: Any) -> Any:
        FUNCTIONS.update(dict.fromkeys(functions, function))
        return function

    return register


def _accumulated(ufunc: np.ufunc, unit: int) -> Callable[..., Any]:
    def cumulated(a: DelayedArray, axis: Any = None, dtype: Any = None) -> Any:
        if a.ndim != 1 or axis not in (None, 0, -1):
            return NotImplemented
        own = reduction_dtype(a.dtype) if dtype is None else np.dtype(dtype)
        source, made = a.cast(own), memory_for(a.extents, own)

        def step(total: Any, at: Any) -> Any:
            total = ufunc(total, source.element(at))
            made.write(at, total)
            return total

        fold(a.extents, own.type(unit), step)
        return made

    return cumulated


@implements(np.flip)
def _flip(m: DelayedArray, axis: Any = None) -> Any:
    if m.ndim != 1 or axis not in (None, 0, -1):
        return NotImplemented
    last = m.lengths[0] - 1

    def at(indices: Indices, read: Read) -> Any:
        return m.at((last - index_of(indices[0]),), plain_read)

    return DelayedArray(m.extents, m.dtype, at)


@implements(np.diff)
def _diff(a: DelayedArray, n: int = 1, axis: int = -1) -> Any:
    if a.ndim != 1 or n != 1 or axis not in (0, -1):
        return NotImplemented
    minus = np.not_equal if a.dtype.kind == "b" else np.subtract

    def at(indices: Indices, read: Read) -> Any:
        k = index_of(indices[0])
        return minus(a.at((k + 1,), plain_read), a.at((k,), plain_read))

    count = greater(a.lengths[0] - 1, 0)
    return DelayedArray((Extent(count, a.extents[0].most),), a.dtype, at)


@staged
def _first_place(count: Any, is_before: Callable[[Any], Any]) -> Any:
    """The first place whose element is not before; so are none of those after it."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if is_before(middle):
            low = middle + 1
        else:
            high = middle
    return low


@implements(np.searchsorted)
def _searchsorted(a: Any, v: Any, side: str = "left") -> Any:
    if not isinstance(a, DelayedArray) or a.ndim != 1 or np.ndim(v):
        return NotImplemented
    before = np.less if side == "left" else np.less_equal

    def is_before(k: Any) -> Any:
        element = a.element((k,))
        found = before(element, v)
        if a.dtype.kind != "f":  # NaNs are after all numbers
            return found
        last = np.not_equal(v, v)
        if side == "left":
            last = np.logical_and(last, np.equal(element, element))
        return np.logical_or(found, last)

    place = _first_place(a.lengths[0], is_before)
    return traced(np.multiply(place, np.int64(1)), number=True)


@implements(np.array_equal)
def _array_equal(a1: Any, a2: Any) -> Any:
    x, y = of_operand(a1), of_operand(a2)
    if x.ndim != 1 or y.ndim != 1:
        return NotImplemented
    one, other = x.lengths[0], y.lengths[0]

    def step(equal: Any, at: Any) -> Any:
        return np.logical_and(equal, np.equal(x.element(at), y.element(at)))

    both = Extent(less(one, other), min(x.extents[0].most, y.extents[0].most))
    return np.logical_and(np.equal(one, other), fold((both,), np.True_, step))


implements(np.cumsum)(_accumulated(np.add, 0))
implements(np.cumprod)(_accumulated(np.multiply, 1))
