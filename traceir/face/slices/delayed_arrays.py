"""Arrays by their elements: extents, a dtype, what is at some places.

Serves: slice.length

Nothing is computed before an element is asked for, inside of a loop over elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.face.arrays.array import NumpyTracer, known, traced
from traceir.face.arrays.values import array_of, cast, dtype_in
from traceir.face.checks.bounds import range_of
from traceir.face.functions import ufuncs
from traceir.face.python.numbers import require
from traceir.face.slices.element_loops import each
from traceir.face.slices.extents import (
    Extent,
    SlicedAxis,
    index_of,
    known_extent,
    number,
)
from traceir.face.slices.linear_forms import LinearForms
from traceir.face.slices.sliced_view import SlicedView, whole_view
from traceir.tracing.trace import Tracer, typeof

Indices = Sequence[Any]
# How an element of a view is read: by its view, of a value, at indices.
Read = Callable[[SlicedView, Any, Indices], Any]


def plain_read(view: SlicedView, value: Any, indices: Indices) -> Any:
    """An element of a view, of a value that its base had."""
    return view.read(value, indices)


@dataclass(frozen=True, slots=True, eq=False)
class DelayedArray:
    """An array whose elements are computed when they are asked for.

    `at` gives the one at some indices; `views` are the parts of arrays that it reads,
    each with the value that the array had.
    """

    extents: tuple[Extent, ...]
    dtype: Any
    at: Callable[[Indices, Read], Any]
    views: tuple[tuple[SlicedView, Any], ...] = ()

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.extents)

    @property
    def lengths(self) -> tuple[Any, ...]:
        """The extents as numbers."""
        return tuple(extent.length for extent in self.extents)

    def element(self, indices: Indices) -> Any:
        """The element at some indices."""
        return self.at(indices, plain_read)

    def cast(self, dtype: Any) -> DelayedArray:
        """The elements in another dtype."""

        def at(indices: Indices, read: Read) -> Any:
            return traced(cast(self.at(indices, read), dtype), number=True)

        return DelayedArray(self.extents, dtype, at, self.views)

    def spread(self, extents: tuple[Extent, ...]) -> DelayedArray:
        """The elements along other extents, as NumPy broadcasts."""
        lead = len(extents) - self.ndim
        alike = [
            e.known == 1 and w.known != 1
            for e, w in zip(self.extents, extents[lead:], strict=True)
        ]
        if not lead and not any(alike):
            return self

        def at(indices: Indices, read: Read) -> Any:
            own = indices[lead:]
            return self.at([0 if a else k for a, k in zip(alike, own)], read)

        return DelayedArray(extents, self.dtype, at, self.views)


def of_view(view: SlicedView) -> DelayedArray:
    """The elements that a part of an array has now."""
    value = view.base.now()

    def at(indices: Indices, read: Read) -> Any:
        return read(view, value, indices)

    return DelayedArray(view.extents, view.base.dtype, at, ((view, value),))


def of_operand(value: Any) -> DelayedArray:
    """An array or a number; a weak number's dtype is Python's class."""
    if isinstance(value, DelayedArray):
        return value
    if isinstance(value, (list, tuple)):
        value = array_of(value)
    if isinstance(value, np.ndarray) and value.ndim:
        value = known(value)
    if isinstance(value, NumpyTracer) and value.ndim:
        return of_view(whole_view(value))
    now = value.now() if isinstance(value, NumpyTracer) else value
    return DelayedArray((), dtype_in(now), lambda indices, read: now)


def common_extents(name: str, parts: Sequence[DelayedArray]) -> tuple[Extent, ...]:
    """The extents to which arrays broadcast.

    Raises ValueError (slice.lengths): of extents that are values when it runs.
    """
    rank = max(part.ndim for part in parts)
    found = []
    for dim in range(rank):
        own = [p.extents[dim - rank] for p in parts if p.ndim >= rank - dim]
        found.append(_common(name, own))
    return tuple(found)


def _common(name: str, extents: Sequence[Extent]) -> Extent:
    wide = [extent for extent in extents if extent.known != 1]
    if not wide:
        return known_extent(1)
    first = next((e for e in wide if e.known is not None), wide[0])
    for other in wide:
        check_equal(name, first, other)
    usual = next((e.usual for e in wide if e.usual is not None), None)
    return Extent(first.length, min(e.most for e in wide), usual)


def check_equal(name: str, one: Extent, other: Extent) -> None:
    """Have the program raise if two extents differ.

    Raises ValueError (slice.lengths) if that is known.
    """
    if one is other:
        return
    apart = LinearForms().difference(one.length, other.length)
    if apart:
        got = f"{name} of {one.length} and {other.length} elements"
        raise rules.error("slice.lengths", got=got)
    if apart is None:
        require(one.length != other.length, "slice.lengths", name)


def applied(name: str, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """A function of numbers, on arrays that broadcast; its results are as many."""
    parts = [of_operand(value) for value in operands]
    extents = common_extents(name, parts)
    spread = [part.spread(extents) if part.ndim else part for part in parts]
    views = tuple(view for part in parts for view in part.views)
    dummies = [_dummy(part) for part in parts]
    sample = function(*dummies)

    def at(indices: Indices, read: Read) -> Any:
        return function(*(part.at(indices, read) for part in spread))

    if isinstance(sample, tuple):
        return tuple(
            DelayedArray(extents, typeof(one).dtype, _nth(at, k), views)
            for k, one in enumerate(sample)
        )
    return DelayedArray(extents, typeof(sample).dtype, at, views)


def _nth(at: Any, k: int) -> Any:
    return lambda indices, read: at(indices, read)[k]


def _dummy(part: DelayedArray) -> Any:
    """A number of an operand's type: the types of results are those of numbers."""
    if not part.ndim:
        return part.at((), plain_read)
    return traced(np.zeros((), part.dtype)[()], number=True)


def by_ufunc(ufunc: np.ufunc, options: dict[str, Any]) -> Callable[..., Any]:
    """A universal function of numbers."""
    return lambda *values: ufuncs.apply(ufunc, "__call__", values, options)


def laid_out(memory: NumpyTracer, extents: Sequence[Extent]) -> SlicedView:
    """The first elements of an array along each dimension."""
    axes = tuple(
        SlicedAxis(0, 1, Extent(e.length, e.most, e.usual, (0, e.length)))
        for e in extents
    )
    return SlicedView(memory, axes, tuple(range(len(axes))))


def memory_for(extents: Sequence[Extent], dtype: Any, value: Any = 0) -> SlicedView:
    """Memory for an array, as much as its greatest extents need, with one value."""
    shape = tuple(extent.most for extent in extents)
    if isinstance(value, Tracer):
        made = traced(jnp.full(shape, cast(value, dtype)), number=False)
    else:
        made = known(np.full(shape, value, dtype))
    return laid_out(made, extents)


def materialized(found: DelayedArray) -> SlicedView:
    """The elements in memory of their own, which has the greatest extents."""
    made = memory_for(found.extents, found.dtype)
    each(found.extents, lambda at: made.write(at, found.element(at)))
    return made


def flat(a: DelayedArray) -> DelayedArray:
    """All elements as one row; the last dimension runs fastest."""
    if a.ndim == 1:
        return a
    count, most = 1, 1
    for extent in a.extents:
        count, most = count * extent.length, most * extent.most

    def at(indices: Indices, read: Read) -> Any:
        rest, found = index_of(indices[0]), []
        for extent in a.extents[:0:-1]:
            found.append(rest % extent.length)
            rest = rest // extent.length
        return a.at((rest, *found[::-1])[: a.ndim], read)

    return DelayedArray((Extent(count, most),), a.dtype, at, a.views)


def reshaped(a: DelayedArray, shape: Sequence[Any]) -> DelayedArray:
    """The elements with other extents, one of which may be -1."""
    row = flat(a)
    rest: Any = 1
    for count in shape:
        rest = rest if type(count) is int and count == -1 else rest * count
    counts = [
        row.lengths[0] // rest if type(count) is int and count == -1 else count
        for count in shape
    ]
    total: Any = 1
    for count in counts:
        total = total * count
    require(np.not_equal(total, row.lengths[0]), "slice.lengths", "reshape")
    most = row.extents[0].most
    extents = tuple(
        Extent(n, min(most, range_of(n)[1]))
        if isinstance(n, Tracer)
        else known_extent(n)
        for n in map(number, counts)
    )

    def at(indices: Indices, read: Read) -> Any:
        place: Any = 0
        for k, extent in zip(indices, extents, strict=True):
            place = place * extent.length + index_of(k)
        return row.at((place,), read)

    return DelayedArray(extents, a.dtype, at, a.views)


def padded(a: DelayedArray, fill: Any) -> Any:
    """A vector with `fill` behind its end, as an array of its greatest extent."""
    base = materialized(a).base.now()
    inside = jnp.arange(base.shape[0]) < a.lengths[0]
    return jnp.where(inside, base, fill)


def check_spread(new: DelayedArray, extents: tuple[Extent, ...]) -> DelayedArray:
    """New elements for a part of an array that has these extents.

    Raises ValueError (update.shape, slice.lengths).
    """
    while new.ndim > len(extents) and new.extents[0].known == 1:
        new = _without_first(new)
    if new.ndim > len(extents):
        got = f"an update of {new.ndim} dimensions for {len(extents)}"
        raise rules.error("update.shape", got=got)
    for extent, own in zip(
        extents[len(extents) - new.ndim :], new.extents, strict=True
    ):
        if own.known != 1:
            check_equal("an update", extent, own)
    return new.spread(extents) if new.ndim else new


def _without_first(found: DelayedArray) -> DelayedArray:
    def at(indices: Indices, read: Read) -> Any:
        return found.at((0, *indices), read)

    return DelayedArray(found.extents[1:], found.dtype, at, found.views)
