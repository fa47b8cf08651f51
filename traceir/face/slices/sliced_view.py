"""Views whose bounds are values: the places of an array that they take.

Serves: slice.length, face.view
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.base.fast_dataclass import dataclass
from traceir.errors import TraceirError
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.traced_index import TracedIndex, TracedWindow
from traceir.face.arrays.views import IndexView
from traceir.face.checks.bounds import check_places, range_of
from traceir.face.python.numbers import require
from traceir.face.slices.extents import (
    Extent,
    SlicedAxis,
    known_extent,
    number,
    plus,
    sliced,
    whole_axis,
)
from traceir.face.slices.linear_forms import LinearForms
from traceir.numpy.indexing import getitem, index_plan
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import Tracer

Axis = Any  # a place, which may be traced, or a SlicedAxis
_INSIDE = "promise_in_bounds"
_NEW = known_extent(1)


@dataclass(frozen=True, slots=True, eq=False)
class SlicedView:
    """A part of an array: for each of its dimensions a place or a slice.

    `dims` are the dimensions that the view has, in order; None is a new one.
    """

    base: NumpyTracer
    axes: tuple[Axis, ...]
    dims: tuple[int | None, ...]

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The extents of its dimensions."""
        return tuple(_NEW if d is None else self.axes[d].extent for d in self.dims)

    def places(self, indices: Sequence[Any]) -> tuple[Any, ...]:
        """The place in the base of the element at some indices."""
        found = list(self.axes)
        for dim, k in zip(self.dims, indices, strict=True):
            if dim is not None:
                found[dim] = self.axes[dim].place(k)
        return tuple(found)

    def read(self, value: Any, indices: Sequence[Any]) -> Any:
        """An element, of a value that the base has or had."""
        return element(value, self.places(indices))

    def write(self, indices: Sequence[Any], value: Any) -> None:
        """Make a number of the base's dtype an element."""
        base: Any = self.base
        update = base.now().at[self.places(indices)].set
        base.replace(traced(update(value, mode=_INSIDE, wrap_negative_indices=False)))

    def taken(self, index: Any) -> SlicedView:
        """The part of this view that an index takes.

        Raises IndexError (index.bounds, index.slice), TypeError (slice.length).
        """
        axes = list(self.axes)
        dims: list[int | None] = []
        rest = iter(self.dims)
        for part in index_plan.entries(index, len(self.dims)):
            if part is None:
                dims.append(None)
                continue
            dim = next(rest)
            if dim is None:
                if part != slice(None):
                    raise rules.error("slice.length", got="a part of a new dimension")
                dims.append(None)
            elif isinstance(part, slice):
                axes[dim] = sliced(part, axes[dim])
                dims.append(dim)
            elif is_array(part):
                got = "bounds that are values beside an array of places"
                lengths = [axis.extent.length for axis in axes]
                raise demanded(rules.error("slice.length", got=got), *lengths)
            else:
                axes[dim] = axes[dim].place(place_in(part, axes[dim].extent, dim))
        return SlicedView(self.base, tuple(axes), tuple(dims))

    def same(self, other: SlicedView) -> bool:
        """True if another view has the same places in the same order."""
        if self.base is not other.base or self.dims != other.dims:
            return False
        forms = LinearForms()
        return all(
            _same_axis(a, b, forms) for a, b in zip(self.axes, other.axes, strict=True)
        )

    def window(self) -> NumpyTracer | None:
        """The view as an array, if it has an extent that is known, with neighbours."""
        sizes, starts = [], []
        kept = [d for d in self.dims if d is not None]
        if kept != sorted(kept):
            return None
        for axis in self.axes:
            if isinstance(axis, SlicedAxis):
                extent = axis.extent.usual
                if extent is None or not axis.has_neighbours:
                    return None
                sizes.append(extent)
                starts.append(axis.start)
            else:
                sizes.append(1)
                starts.append(axis)
        shape = tuple(1 if d is None else sizes[d] for d in self.dims)
        if any(s > n for s, n in zip(sizes, self.base.shape, strict=True)):
            return None
        step = TracedWindow(tuple(starts), tuple(sizes), shape, self.dims)
        return self.base.placed(step)


def element(value: Any, places: Sequence[Any]) -> Any:
    """The element at places that are inside of an array."""
    if not places:
        return traced(value, number=True)
    flags = False, False, None, None, False
    return traced(getitem.read(value, tuple(places), *flags), number=True)


def place_in(part: Any, extent: Extent, axis: int) -> Any:
    """The place that an integer is in a dimension: from the end if it is negative.

    Raises IndexError (index.bounds).
    """
    place, count = number(part), extent.length
    if extent.known is not None:
        check_places(place, extent.known, axis)
    else:
        got = f"a place of a slice whose bounds are values, in dimension {axis}"
        require(np.logical_or(place < -count, place >= count), "index.bounds", got)
    least, greatest = range_of(place)
    if least >= 0:
        return place
    if greatest < 0:
        return place + count
    if not isinstance(place, Tracer):
        return place + count if place < 0 else place
    return traced(lax.select(place < 0, number(place + count), place), number=True)


def whole_view(array: NumpyTracer) -> SlicedView:
    """An array as a view of the one that has its memory, if indices lead there."""
    base, step = array._base, array._step
    if base is not None and type(step) in (IndexView, TracedIndex):
        index = step.index  # type: ignore[union-attr]  # it has one
        if _is_plain(index) and _is_writable(array):
            return whole_view(base).taken(index)
    axes = tuple(map(whole_axis, array.shape))
    return SlicedView(array, axes, tuple(range(len(axes))))


def _is_writable(array: NumpyTracer) -> bool:
    """True if an array may be written to, and so by way of its base."""
    try:
        array.check_writable()
    except TraceirError:
        return False
    return True


def _is_plain(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return not any(map(is_array, parts))


def is_array(part: Any) -> bool:
    """True if a part of an index is no slice, and no number."""
    return isinstance(part, (bool, list)) or bool(getattr(part, "shape", ()))


def _same_axis(a: Axis, b: Axis, forms: LinearForms) -> bool:
    if isinstance(a, SlicedAxis) and isinstance(b, SlicedAxis):
        same = forms.difference(a.step, b.step) == 0
        same = same and forms.difference(a.start, b.start) == 0
        return same and forms.difference(a.extent.length, b.extent.length) == 0
    if isinstance(a, SlicedAxis) or isinstance(b, SlicedAxis):
        return False
    return forms.difference(a, b) == 0


def disjoint(a: SlicedView, b: SlicedView) -> bool:
    """True if two views of one array are known to have no element in common."""
    forms = LinearForms()
    pairs = zip(a.axes, b.axes, strict=True)
    return any(_apart(*pair, forms) or _apart(*pair[::-1], forms) for pair in pairs)


def _apart(a: Axis, b: Axis, forms: LinearForms) -> bool:
    """True if all places of one axis are before those of another one."""
    low, high = _last(a), _first(b)
    if low is None or high is None:
        return False
    apart = forms.difference(high, low)
    if not isinstance(a, SlicedAxis) and not isinstance(b, SlicedAxis):
        return apart is not None and apart != 0
    return apart is not None and apart > 0


def _first(axis: Axis) -> Any:
    if not isinstance(axis, SlicedAxis):
        return axis
    backward = type(axis.step) is int and axis.step < 0
    return None if backward else axis.start


def _last(axis: Axis) -> Any:
    if not isinstance(axis, SlicedAxis):
        return axis
    if not axis.has_neighbours:
        return None
    return plus(axis.start, axis.extent.length) - 1
