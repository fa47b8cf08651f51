"""Loops over elements, which are recorded as loops of the user's are.

Serves: slice.length, staged.loop
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir.face.control_flow.regions import RegionTrace
from traceir.face.python.written import staged
from traceir.face.slices.extents import Extent, OffsetIndex
from traceir.tracing.trace import current_trace

Indices = tuple[Any, ...]


@staged
def _for_each(start: Any, stop: Any, body: Callable[[Any], None]) -> None:
    for k in range(start, stop):
        body(k)


@staged
def _for_each_backwards(start: Any, stop: Any, body: Callable[[Any], None]) -> None:
    for k in range(stop - 1, start - 1, -1):
        body(k)


@staged
def _folded(start: Any, stop: Any, state: Any, step: Callable[..., Any]) -> Any:
    for k in range(start, stop):
        state = step(state, k)
    return state


@staged
def choose(truth: Any, yes: Callable[[], None], no: Callable[[], None]) -> None:
    """Call one of two functions by a truth value."""
    if truth:
        yes()
    else:
        no()


def _span(extent: Extent) -> tuple[Any, Any]:
    """The numbers that a loop runs over: from the first to before the last."""
    trace = current_trace()
    if extent.known is None and isinstance(trace, RegionTrace):
        trace.lengths.append((extent.length, extent.most))
    return (0, extent.length) if extent.span is None else extent.span


def _index(number: Any, start: Any) -> Any:
    return number if type(start) is int and start == 0 else OffsetIndex(number, start)


def each(extents: Sequence[Extent], body: Callable[[Indices], None]) -> None:
    """Call `body` with the indices of every element; the last one runs fastest."""
    if not extents:
        body(())
        return
    (start, stop), rest = _span(extents[0]), extents[1:]

    def turn(k: Any) -> None:
        each(rest, lambda at: body((_index(k, start), *at)))

    _for_each(start, stop, turn)


def each_backwards(extent: Extent, body: Callable[[Indices], None]) -> None:
    """Call `body` with the index of every element of a vector from the last on."""
    start, stop = _span(extent)
    _for_each_backwards(start, stop, lambda k: body((_index(k, start),)))


def fold(
    extents: Sequence[Extent], state: Any, step: Callable[[Any, Indices], Any]
) -> Any:
    """The state after `step(state, indices)` for every element, in order."""
    if not extents:
        return step(state, ())
    (start, stop), rest = _span(extents[0]), extents[1:]

    def turn(before: Any, k: Any) -> Any:
        return fold(rest, before, lambda s, at: step(s, (_index(k, start), *at)))

    return _folded(start, stop, state, turn)
