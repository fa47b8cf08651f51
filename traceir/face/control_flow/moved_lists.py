"""Lists that sides of a choice have moved to other memory.

Serves: staged.list
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from traceir.face.control_flow.growing_lists import GrowingList
from traceir.ir.avals import ShapedArray
from traceir.lax.checks.operands import as_array
from traceir.tracing.trace import in_force, typeof


class MovedLists:
    """Lists that sides of a choice have moved to other memory, as results of it."""

    def __init__(self, *sides: Any) -> None:
        found = [one for side in sides for one, _ in side.region.moved.values()]
        self.lists = list({id(one): one for one in found}.values())
        self._sides = sides

    def outputs(self) -> Iterator[tuple[list[Any], ShapedArray]]:
        """The elements of each list at the end of each side, and their type."""
        for one in self.lists:
            before = one._elements
            ends = [self._end(side, one, before) for side in self._sides]
            room = max(0 if end is None else end.shape[0] for end in ends)
            values = []
            for side, end in zip(self._sides, ends, strict=True):
                with in_force(side.region):
                    values.append(as_array(one.padded(end, room)))
            yield values, typeof(values[0])

    def _end(self, side: Any, one: GrowingList, before: Any) -> Any:
        if id(one) in side.lists:
            return side.lists[id(one)]
        if side.diverged or before is None:
            return None
        held = side.memory.get(id(before))
        return before.now() if held is None else held[1]

    def settle(self, results: Iterator[Any]) -> None:
        """Take the results of the choice."""
        for one in self.lists:
            one.take(next(results))
