"""Loops over elements, which are recorded as loops of the user's are.

Serves: slice.length, staged.loop
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir.face.python.written import staged

Indices = tuple[Any, ...]


@staged
def _for_each(count: Any, body: Callable[[Any], None]) -> None:
    for k in range(count):
        body(k)


@staged
def _for_each_backwards(count: Any, body: Callable[[Any], None]) -> None:
    for k in range(count - 1, -1, -1):
        body(k)


@staged
def _folded(count: Any, state: Any, step: Callable[[Any, Any], Any]) -> Any:
    for k in range(count):
        state = step(state, k)
    return state


def each(lengths: Sequence[Any], body: Callable[[Indices], None]) -> None:
    """Call `body` with the indices of every element; the last one runs fastest."""
    if not lengths:
        body(())
        return
    first, rest = lengths[0], lengths[1:]
    _for_each(first, lambda k: each(rest, lambda at: body((k, *at))))


def each_backwards(length: Any, body: Callable[[Indices], None]) -> None:
    """Call `body` with the index of every element of a vector from the last on."""
    _for_each_backwards(length, lambda k: body((k,)))


def fold(
    lengths: Sequence[Any], state: Any, step: Callable[[Any, Indices], Any]
) -> Any:
    """The state after `step(state, indices)` for every element, in order."""
    if not lengths:
        return step(state, ())
    first, rest = lengths[0], lengths[1:]
    return _folded(
        first, state, lambda s, k: fold(rest, s, lambda t, at: step(t, (k, *at)))
    )
