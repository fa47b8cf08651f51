"""Extents that values decide, and the dimensions of slices with such bounds.

Serves: slice.length
"""

from __future__ import annotations

import operator
from typing import Any

from traceir import lax, rules
from traceir.base.fast_dataclass import dataclass
from traceir.errors import TraceirError
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.checks.bounds import range_of
from traceir.face.python.numbers import require
from traceir.face.slices.linear_forms import LinearForms
from traceir.lax.checks.operands import convert, default_dtype
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import Tracer


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """A number of elements, which may be traced, and the greatest that it may be; with
    the number that it is unless a slice is cut off at an end of its array."""

    length: Any
    most: int
    usual: int | None = None
    # The places of a dimension that are next to each other, from the first to before
    # the last: loops run over these, so that it is seen that they are inside.
    span: tuple[Any, Any] | None = None

    @property
    def known(self) -> int | None:
        """The number, if it is known."""
        return None if isinstance(self.length, Tracer) else int(self.length)


def known_extent(count: int) -> Extent:
    """An extent that is known."""
    return Extent(count, count, count)


@dataclass(frozen=True, slots=True, eq=False)
class OffsetIndex:
    """The index of an element in a loop, as a number that begins at another one."""

    number: Any
    origin: Any

    @property
    def value(self) -> Any:
        """The index itself."""
        return minus(self.number, self.origin)


def index_of(k: Any) -> Any:
    """An index as a number."""
    return k.value if isinstance(k, OffsetIndex) else k


@dataclass(frozen=True, slots=True, eq=False)
class SlicedAxis:
    """Every `step`-th place of a dimension from `start` on, as many as the extent; a
    step that is traced is positive."""

    start: Any
    step: Any
    extent: Extent

    @property
    def has_neighbours(self) -> bool:
        """True if the places are next to each other, in order."""
        return type(self.step) is int and self.step == 1

    def place(self, k: Any) -> Any:
        """The place of an element."""
        if isinstance(k, OffsetIndex):
            if self.has_neighbours:
                apart = LinearForms().difference(self.start, k.origin)
                if apart is not None:
                    return plus(k.number, apart)
            k = k.value
        return plus(self.start, k if self.has_neighbours else self.step * k)


def plus(a: Any, b: Any) -> Any:
    """The sum of two integers, without an equation where one of them is 0."""
    if type(a) is int and a == 0:
        return b
    return a if type(b) is int and b == 0 else a + b


def minus(a: Any, b: Any) -> Any:
    """The difference of two integers, without an equation where the second is 0."""
    return a if type(b) is int and b == 0 else a - b


def whole_axis(count: int) -> SlicedAxis:
    """All places of a dimension."""
    return SlicedAxis(0, 1, known_extent(count))


def sliced(part: slice, axis: SlicedAxis) -> SlicedAxis:
    """The places that a slice takes of those of a dimension, as Python's slices do."""
    count = axis.extent.length
    step = _step(part)
    forward = isinstance(step, Tracer) or step > 0
    low, high = (0, count) if forward else (-1, count - 1)
    near, far = (low, high) if forward else (high, low)
    start = _bound(part.start, near, count, low, high)
    stop = _bound(part.stop, far, count, low, high)
    extent = _extent(part, axis.extent, start, stop, step)
    found = SlicedAxis(axis.place(start), axis.step * step, extent)
    if not found.has_neighbours or extent.known is not None:
        return found
    span = found.start, axis.place(stop)
    extent = Extent(extent.length, extent.most, extent.usual, span)
    return SlicedAxis(found.start, 1, extent)


def _step(part: slice) -> Any:
    if part.step is None:
        return 1
    step = number(part.step)
    if isinstance(step, Tracer):
        got = f"a step of {step.aval.str_short()} that is not positive"
        error = demanded(rules.error("slice.step", got=got), step)
        if not isinstance(error, TraceirError):
            raise error
        if range_of(step)[0] < 1:
            require(step < 1, "slice.step", got)
            step = greater(step, 1)
        return step
    if not step:
        raise rules.error("slice.step", got="0")
    return step


def _bound(given: Any, default: Any, count: Any, low: Any, high: Any) -> Any:
    """A bound of a slice: from the end if it is negative, and clipped."""
    if given is None:
        return default
    bound = number(given)
    least, greatest = range_of(bound)
    if least < 0:
        wrapped = bound + count
        if greatest >= 0:
            wrapped = traced(lax.select(bound < 0, _integer(wrapped), _integer(bound)))
        bound = wrapped
        least, greatest = range_of(bound)
    if least < range_of(low)[1]:
        bound = greater(bound, low)
    if greatest > range_of(high)[0]:
        bound = less(bound, high)
    return bound


def _extent(part: slice, axis: Extent, start: Any, stop: Any, step: Any) -> Extent:
    if isinstance(step, Tracer):
        count = (greater(stop - start, 0) + (step - 1)) // step
        return Extent(count, -(-axis.most // range_of(step)[0]))
    forms = LinearForms()
    apart = forms.difference(stop, start)
    if apart is not None:
        return known_extent(len(range(0, apart, step)))
    usual = None
    if part.start is not None and part.stop is not None:
        apart = forms.difference(number(part.stop), number(part.start))
        usual = None if apart is None else len(range(0, apart, step))
    span = stop - start if step > 0 else start - stop
    if abs(step) > 1:
        span = (span + (abs(step) - 1)) // abs(step)
    if range_of(span)[0] < 0:
        span = greater(span, 0)
    most = -(-axis.most // abs(step))
    return Extent(span, most, usual)


def number(value: Any) -> Any:
    """A bound as an integer of Python's, which may be traced."""
    if not isinstance(value, Tracer):
        return operator.index(value)
    if value.shape or value.dtype.kind not in "iu":
        error = rules.error("index.slice", got=value.aval.str_short())
        raise demanded(error, value)
    known = value.concrete if isinstance(value, NumpyTracer) else None
    return int(known) if known is not None else _integer(value)


def _integer(value: Any) -> Any:
    """An integer in the dtype of Python's integers."""
    return traced(convert(value, default_dtype(int), True), number=True)


def less(a: Any, b: Any) -> Any:
    """The lesser of two integers."""
    if not isinstance(a, Tracer) and not isinstance(b, Tracer):
        return min(a, b)
    return traced(lax.min(_integer(a), _integer(b)), number=True)


def greater(a: Any, b: Any) -> Any:
    """The greater of two integers."""
    if not isinstance(a, Tracer) and not isinstance(b, Tracer):
        return max(a, b)
    return traced(lax.max(_integer(a), _integer(b)), number=True)


def is_sliced_by_values(index: Any) -> bool:
    """True if an index has a slice with a traced bound."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(
        isinstance(part, slice)
        and any(isinstance(b, Tracer) for b in (part.start, part.stop, part.step))
        for part in parts
    )
