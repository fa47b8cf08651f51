"""Iterables whose steps can be recorded: ranges, arrays, Python's tools.

Serves: staged.loop
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from traceir import lax
from traceir.face.arrays.loop_steps import (
    LoopSteps,
    TracedSequence,
    TracedTable,
    index_type,
)
from traceir.face.checks import exceptions
from traceir.face.checks.status import note
from traceir.face.control_flow.state import COMPOUND, Compound, Fixed, Group, tree_of
from traceir.lax.checks.operands import convert
from traceir.tracing.trace import Tracer


class TracedRange(Compound):
    """A range with traced bounds; in a loop that is recorded, it is its steps."""

    def __init__(self, *bounds: Any) -> None:
        given = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self.start, self.stop, self.step = map(_as_python_has_it, given)

    def group(self) -> Group:
        """The bounds are a program's; a known step stays known."""
        return _bounds(type(self), self)

    def _known(self) -> range:
        # Whoever asks for the numbers themselves has to know the bounds.
        bounds = map(operator.index, (self.start, self.stop, self.step))
        return builtins.range(*bounds)

    def __iter__(self) -> Iterator[int]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def __getitem__(self, index: Any) -> Any:
        return self._known()[index]

    def __contains__(self, value: Any) -> bool:
        return value in self._known()

    def __reversed__(self) -> Iterator[int]:
        return reversed(self._known())

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, range | TracedRange):
            return NotImplemented
        known = other._known() if isinstance(other, TracedRange) else other
        return self._known() == known

    def __hash__(self) -> int:
        return hash(self._known())

    def count(self, value: Any) -> int:
        """The times that a number is in it."""
        return self._known().count(value)

    def index(self, value: Any) -> int:
        """The place of a number; raises ValueError if it is not in it."""
        return self._known().index(value)


def _bounds(kind: type, steps: Any) -> Group:
    step = steps.step
    known = Fixed(step) if isinstance(step, int) else tree_of(step)
    return Group(kind, (tree_of(steps.start), tree_of(steps.stop), known))


COMPOUND[builtins.range] = functools.partial(_bounds, TracedRange)


def _as_python_has_it(bound: Any) -> Any:
    """A bound as an integer of Python's; a traced one is as wide as an index."""
    if not isinstance(bound, Tracer):
        return operator.index(bound)
    dtype = index_type().dtype
    if not np.can_cast(bound.dtype, dtype):
        bound = lax.min(bound, bound.dtype.type(np.iinfo(dtype).max))
    return convert(bound, dtype, True)


class IndependentRange(TracedRange):
    """A range over which the turns of a loop are independent, as its user says."""


class Together:
    """Several iterables, item by item: `zip`, `enumerate`; or one from its end."""

    def __init__(self, parts: tuple[Any, ...], made: Callable[..., Any]) -> None:
        self.parts = parts
        self._made = made
        self._rest: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._rest is None:
            self._rest = self._made(*self.parts)
        return next(self._rest)


class Enumerated(Together):
    """`enumerate`."""


class Zipped(Together):
    """`zip`."""


class Reversed(Together):
    """`reversed`."""


class Places(Together):
    """`np.ndindex`."""


class NumberedElements(Together):
    """`np.ndenumerate`."""


def range_of(*bounds: Any) -> Any:
    """`range`, whose bounds may be traced.

    Raises TypeError for a bound that is no integer, ValueError for a step of 0.
    """
    if not any(map(_is_traced, bounds)):
        return builtins.range(*bounds)
    # Python's own errors, by zeros and ones where it can't tell from the values.
    builtins.range(*(_like(bound) for bound in bounds))
    made = TracedRange(*bounds)
    if _is_traced(made.step):
        error = ValueError("range() arg 3 must not be zero")
        note(made.step == 0, exceptions.later(error), kind=ValueError)
    return made


def prange_of(*bounds: Any) -> Any:
    """Numba's `prange`: a range whose turns need not wait for one another.

    >>> list(prange_of(3))
    [0, 1, 2]
    """
    found = range_of(*bounds)
    return IndependentRange(found.start, found.stop, found.step)


def _like(bound: Any) -> Any:
    """A bound as Python looks at it; of a traced one, another of its type."""
    if not _is_traced(bound):
        return bound
    return np.ones(bound.shape, bound.dtype)[()]


def _is_traced(value: Any) -> bool:
    return isinstance(value, Tracer) and not value.knows("level.concretize.index")


def enumerate_of(iterable: Any, start: Any = 0) -> Any:
    """`enumerate`, of what may be traced."""
    if has_steps(iterable):
        return Enumerated((iterable, start), builtins.enumerate)
    return builtins.enumerate(iterable, start)


def zip_of(*iterables: Any, strict: bool = False) -> Any:
    """`zip`, of what may be traced."""
    made = functools.partial(builtins.zip, strict=strict)
    if iterables and all(map(has_steps, iterables)):
        return Zipped(iterables, made)
    return made(*iterables)


def reversed_of(sequence: Any) -> Any:
    """`reversed`, of what may be traced."""
    if isinstance(sequence, (TracedRange, TracedSequence)) or (
        isinstance(sequence, Tracer) and sequence.ndim
    ):
        return Reversed((sequence,), lambda s: builtins.reversed(list(s)))
    return builtins.reversed(sequence)


def places_of(*shape: Any) -> Any:
    """`np.ndindex`, of a shape that may be traced."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    known = not sizes or not all(isinstance(n, (int, Tracer)) for n in sizes)
    return np.ndindex(*shape) if known else Places(sizes, np.ndindex)


def elements_of(array: Any) -> Any:
    """`np.ndenumerate`, of what may be traced."""
    if not isinstance(array, Tracer):
        return np.ndenumerate(array)
    places = np.ndindex(array.shape)
    if not array.ndim:
        return ((place, array[()]) for place in places)
    return NumberedElements((array,), lambda a: ((place, a[place]) for place in places))


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.ndindex: places_of,
    np.ndenumerate: elements_of,
}


def has_steps(value: Any) -> bool:
    """True if the items of an iterable are numbered steps of what may be traced."""
    if isinstance(value, TracedTable) and value.is_known:
        return False
    return isinstance(value, (range, TracedRange, TracedSequence, Together)) or (
        isinstance(value, Tracer) and value.ndim > 0
    )


def steps_of(value: Any) -> LoopSteps | None:
    """The steps of an iterable; None for one of Python's data."""
    if isinstance(value, TracedTable) and value.is_known:
        return None
    if isinstance(value, (range, TracedRange)):
        own = isinstance(value, IndependentRange)
        return LoopSteps(value.start, value.stop, value.step, lambda i: i, own)
    if isinstance(value, Tracer) and value.ndim:
        return LoopSteps(0, value.shape[0], 1, lambda k: value[k])
    if isinstance(value, TracedSequence):
        return value.steps()
    if isinstance(value, Reversed):
        return _backwards(steps_of(value.parts[0]))
    if isinstance(value, (Places, NumberedElements)):
        array = value.parts[0] if isinstance(value, NumberedElements) else None
        shape = value.parts if array is None else array.shape
        size = functools.reduce(operator.mul, shape)
        if array is None:
            return LoopSteps(0, size, 1, lambda k: _place(k, shape))
        return LoopSteps(0, size, 1, lambda k: (p := _place(k, shape), array[p]))
    if isinstance(value, Enumerated):
        inner, start = _from_zero(steps_of(value.parts[0])), value.parts[1]
        if inner is None:
            return None
        start = _as_python_has_it(start)
        return LoopSteps(0, inner.stop, 1, lambda k: (k + start, inner.item(k)))
    if isinstance(value, Zipped):
        found = [_from_zero(steps_of(part)) for part in value.parts]
        if any(f is None for f in found):
            return None
        parts = [f for f in found if f is not None]
        counts = [p.count for p in parts]
        if any(c is None for c in counts) and len(counts) > 1:
            stop = functools.reduce(np.minimum, (p.stop for p in parts))
        else:
            stop = min(p.stop for p in parts)
        return LoopSteps(0, stop, 1, lambda k: tuple(p.item(k) for p in parts))
    return None


def _place(number: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The place in an array of the element with a number, in the order of rows."""
    found = []
    for size in shape[:0:-1]:
        found.append(number % size)
        number = number // size
    return (number, *found[::-1])


def _from_zero(steps: LoopSteps | None) -> LoopSteps | None:
    """The same items, counted from 0."""
    if steps is None:
        return None
    first, step = steps.first, steps.step
    if not isinstance(first, Tracer) and (first, step) == (0, 1):
        return steps
    count = steps.count
    if count is None:
        if isinstance(step, Tracer):
            return None
        length = steps.stop - first if step > 0 else first - steps.stop
        count = np.maximum(-(-length // abs(step)), 0)
    return LoopSteps(0, count, 1, lambda k: steps.item(first + k * step))


def _backwards(steps: LoopSteps | None) -> LoopSteps | None:
    """The same items from the last on."""
    if steps is None or isinstance(steps.step, Tracer) or abs(steps.step) != 1:
        return None
    return LoopSteps(
        steps.stop - steps.step, steps.first - steps.step, -steps.step, steps.item
    )
