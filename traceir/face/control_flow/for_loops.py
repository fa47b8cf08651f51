"""`for` loops over the steps of a range or an array, or over Python's data.

Serves: staged.loop
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from traceir import lax, rules
from traceir.base import cost_model
from traceir.errors import TraceirError
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.loop_steps import LoopSteps, index_type
from traceir.face.arrays.stacked import elements_of
from traceir.face.checks.bounds import range_of
from traceir.face.control_flow import state
from traceir.face.control_flow.growing_lists import grown
from traceir.face.control_flow.iteration import steps_of
from traceir.face.control_flow.loops import PlainLoop, Slots, nest, pad
from traceir.face.control_flow.passes import BodyPass
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.rewriting.syntax import LIST
from traceir.face.control_flow.state import BOOL, Held, Leaf, Tree
from traceir.ir.jaxpr import Var
from traceir.lax.checks.operands import as_array, convert
from traceir.lax.control.bodies import FlatTree, LoopTurns
from traceir.lax.control.loops import repeat
from traceir.lax.control.scans import fold
from traceir.pytrees import flatten
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, current_trace, in_force, typeof


def _references(frame: dict[str, Any], name: str) -> int:
    """The number of references to the value of a name, that of this call included."""
    value = frame.get(name)
    return sys.getrefcount(value)


def _references_of_a_name() -> int:
    """The references to a list that has one name: the frame's, those of two copies of
    its names, and what Python takes to count, which differs among its versions."""
    mine: list[Any] = []
    frame = {"mine": mine}
    kept = dict(frame)
    return _references(kept, "mine")


_HOLDERS = _references_of_a_name()


class ForLoop(PlainLoop):
    """A `for` loop; `item` is what its target is to be set to."""

    def __init__(
        self,
        names: Sequence[str],
        iterable: Any,
        stops: Sequence[str],
        written: Sequence[str],
        lists: Sequence[str] = (),
        grown: Sequence[str] = (),
    ) -> None:
        super().__init__(names, stops, written)
        self._names_of_lists = lists
        self._names_of_grown = grown
        self._lists: list[list[Any]] = []
        self._columns: list[Any] = []
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
        if self._passes == 1:
            self._lists = self._growing()
        self._pass.region.lists = {id(one): [] for one in self._lists}
        self._pass.region.most_turns = self._most_turns
        found = None if self._steps is None else self._steps.span()
        if found is not None:
            self._pass.region.ranges[self._pass.index._var] = found

    def _most_turns(self) -> int | None:
        """The most turns that it can have, where that is known."""
        steps = self._steps
        if steps is None or steps.count is not None:
            return self._count()
        if isinstance(steps.step, Tracer):
            return None
        ends = (steps.first, steps.stop)[:: 1 if steps.step > 0 else -1]
        assert self._pass is not None
        with in_force(self._pass.region.parent):
            (least, _), (_, most) = map(range_of, ends)
        found = max(0, -((least - most) // abs(steps.step)))
        return found if found <= cost_model.MOST_LIST_ROOM else None

    def _grown(self) -> dict[str, Any]:
        known = self._names_of_lists if self._appends() else ()
        names = [name for name in self._names_of_grown if name not in known]
        return grown(names, self._frame)

    def _appends(self) -> bool:
        """True if it is known how many numbers its turns append to a list."""
        return self._count() is not None and not self.stops

    def _growing(self) -> list[list[Any]]:
        """The lists that each turn appends one number to, if nobody else has them."""
        if not self._appends():
            return []
        outer = current_trace()
        found = []
        for name in self._names_of_lists:
            count = _references(self._frame, name)
            one = self._frame.get(name)
            inside = isinstance(outer, RegionTrace) and not outer.is_fresh(one)
            alone = name.startswith(LIST) or count <= _HOLDERS
            if type(one) is list and not inside and alone:
                found.append(one)
        return found

    def _unfit(self, last: BodyPass) -> Exception | None:
        """The error of a turn that appends to a list what is no number."""
        try:
            for values in last.region.lists.values():
                _row(last, values)
        except TraceirError as error:
            if rules.decides("staged.run", count=self._count()):
                return error
        return None

    def _is_known(self, last: BodyPass) -> bool:
        return super()._is_known(last) or rules.decides(
            "staged.lengths",
            count=self._count(),
            lengths=self._measures(last.region, last.index._var),
            unrolled_lengths=cost_model.UNROLLED_LENGTHS,
        )

    def _measures(self, region: RegionTrace, index: Var) -> bool:
        """True if parts of arrays, some of them long, have lengths that are known as
        soon as the number of the turn is."""
        lengths = region.lengths
        long = any(most >= cost_model.UNROLLED_LENGTH for _, most in lengths)
        return long and all(region.follows(one, index) for one, _ in lengths)

    def _finish(self, last: BodyPass) -> dict[str, Any]:
        found = super()._finish(last)
        for one, column in zip(self._lists, self._columns, strict=True):
            one.extend(elements_of(column))
        return found

    def _record(
        self, last: BodyPass, init: list[Any], ends: list[Any], slots: Slots
    ) -> list[Any]:
        steps, region = self._steps, last.region
        assert steps is not None
        with in_force(region):
            following = region.atom(last.index + steps.step)
        first = as_array(convert(steps.first, index_type().dtype, True))
        rows_of_lists = [_row(last, values) for values in region.lists.values()]
        leaves, body = [first, *init], region.body([following, *ends, *rows_of_lists])
        independent = steps.independent and not self.stops
        turns = LoopTurns(independent, 0 if slots is None else len(slots) + 1)
        if steps.count is not None and not self.stops:
            carry = FlatTree(leaves, flatten.flatten(leaves)[1])
            rows = FlatTree([], flatten.flatten(())[1])
            found = fold(body, carry, rows, steps.count, False, 1, turns)
            self._columns = found[len(leaves) :]
            return found[1 : len(leaves)]
        test = BodyPass(last.kinds, last.arrays, True)
        with in_force(test.region):
            test.begin()
            before = _is_before(test.index, steps.stop, steps.step)
            holds = test.decide(before, self.stops)
        pad(test.region, leaves, slots)
        if slots is not None and not independent:
            holds = test.guarded()
        holding = test.region.body([test.region.converted(holds, BOOL)])
        return repeat(holding, body, leaves, turns)[1:]


def _is_before(index: Any, stop: Any, step: Any) -> Any:
    """True while an index is before the end of its steps."""
    if not isinstance(step, Tracer):
        return index < stop if step > 0 else index > stop
    backwards = lax.bitwise_and(step < 0, index > stop)
    return lax.select(step > 0, index < stop, backwards)


def _row(last: BodyPass, values: Sequence[Any]) -> Any:
    """The number that a turn appends to a list, or the array, which nobody else has.

    Raises TypeError (staged.effect) for anything else.
    """
    region = last.region
    tree = state.tree_of(values[0]) if values else None
    if isinstance(tree, Held) and isinstance(tree.array, NumpyTracer):
        ends = [a.root for end in last.ends.values() for a in state.arrays_of(end)]
        others = [*ends, *(one.array.root for one in region.memory.values())]
        if tree.array.root._home is not region or any(
            tree.array.root is one for one in others
        ):
            got = "an array that is not the list's alone, which a loop appends to it"
            raise rules.error("staged.effect", got=got)
    elif not isinstance(tree, Leaf) or not tree.number:
        raise rules.error("staged.effect", got="what a loop appends to a list")
    return region.converted(tree.value, typeof(tree.value))
