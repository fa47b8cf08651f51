"""`for` loops over the steps of a range or an array, or over Python's data.

Serves: staged.loop
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from traceir import lax, rules
from traceir.base import cost_model
from traceir.face.control_flow.iteration import LoopSteps, steps_of
from traceir.face.control_flow.loops import PlainLoop, Slots, nest, pad
from traceir.face.control_flow.passes import BodyPass, index_type
from traceir.face.control_flow.state import BOOL, Tree
from traceir.lax.checks.operands import as_array, convert
from traceir.lax.control.bodies import FlatTree
from traceir.lax.control.loops import repeat
from traceir.lax.control.scans import fold
from traceir.pytrees import flatten
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, current_trace, in_force


class ForLoop(PlainLoop):
    """A `for` loop; `item` is what its target is to be set to."""

    def __init__(
        self,
        names: Sequence[str],
        iterable: Any,
        stops: Sequence[str],
        written: Sequence[str],
    ) -> None:
        super().__init__(names, stops, written)
        self._steps: LoopSteps | None = None
        self._iterable = iterable
        self._items: Iterator[Any] | None = None
        self._now: Any = None

    @property
    def item(self) -> Any:
        """The value for the loop's target in this turn."""
        if self._pass is not None and self._steps is not None:
            return self._steps.item(self._pass.index)
        return self._now

    def _records(self) -> bool:
        self._steps = steps = steps_of(self._iterable)
        return rules.decides(
            "staged.loop",
            traced=isinstance(current_trace(), StagingTrace),
            steps=steps is not None,
            count=self._count(),
            exits=bool(self.stops),
            unrolled_steps=cost_model.UNROLLED_STEPS,
            copies=nest.copies,
            unrolled_nest=cost_model.UNROLLED_NEST,
        )

    def _repeats(self) -> int:
        return self._count() or 1

    def _count(self) -> int | None:
        return None if self._steps is None else self._steps.count

    def _is_bounded(self) -> bool:
        return self._steps is None or self._steps.count is not None

    def _bounds(self) -> tuple[Any, ...]:
        steps = self._steps
        return () if steps is None else (steps.first, steps.stop, steps.step)

    def _advance(self) -> bool:
        if self._items is None:
            self._items = iter(self._iterable)
        try:
            self._now = next(self._items)
        except StopIteration:
            return False
        return True

    def _runs(self) -> bool:
        return self._steps is not None and bool(self._steps.count)

    def _begin_pass(self, kinds: dict[str, Tree], arrays: Sequence[Any]) -> None:
        self._pass = BodyPass(kinds, arrays, True)
        self._show(self._pass.values)
        found = None if self._steps is None else self._steps.span()
        if found is not None:
            self._pass.region.ranges[self._pass.index._var] = found

    def _record(
        self, last: BodyPass, init: list[Any], ends: list[Any], slots: Slots
    ) -> list[Any]:
        steps, region = self._steps, last.region
        assert steps is not None
        with in_force(region):
            following = region.atom(last.index + steps.step)
        first = as_array(convert(steps.first, index_type().dtype, True))
        leaves, body = [first, *init], region.body([following, *ends])
        if steps.count is not None and not self.stops:
            carry = FlatTree(leaves, flatten.flatten(leaves)[1])
            rows = FlatTree([], flatten.flatten(())[1])
            return fold(body, carry, rows, steps.count, False, 1)[1:]
        test = BodyPass(last.kinds, last.arrays, True)
        with in_force(test.region):
            test.begin()
            holds = test.decide(_is_before(test.index, steps), self.stops)
        pad(test.region, leaves, slots)
        if slots is not None:
            holds = test.guarded()
        holding = test.region.body([test.region.converted(holds, BOOL)])
        return repeat(holding, body, leaves)[1:]


def _is_before(index: Any, steps: LoopSteps) -> Any:
    """True while an index is before the end of its steps."""
    step, stop = steps.step, steps.stop
    if not isinstance(step, Tracer):
        return index < stop if step > 0 else index > stop
    backwards = lax.bitwise_and(step < 0, index > stop)
    return lax.select(step > 0, index < stop, backwards)
