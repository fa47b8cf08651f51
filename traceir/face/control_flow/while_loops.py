"""`while` loops, whose test is recorded as a program of its own.

Serves: staged.loop
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir import rules
from traceir.base.config import put_in_force
from traceir.face.checks.status import NUMBER
from traceir.face.control_flow.choices import truth_of
from traceir.face.control_flow.loops import PlainLoop, Slots, pad
from traceir.face.control_flow.passes import BodyPass
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import BOOL, Tree
from traceir.jit.runtime_checks import Slot
from traceir.lax.checks.operands import as_array
from traceir.lax.control.loops import repeat
from traceir.tracing.concretization import demanded
from traceir.tracing.staging import StagingTrace, apply
from traceir.tracing.trace import current_trace, in_force, typeof


class WhileLoop(PlainLoop):
    """A `while` loop; `holds` is given its test, and tells whether the body is run."""

    def __init__(
        self, names: Sequence[str], stops: Sequence[str], written: Sequence[str]
    ) -> None:
        super().__init__(names, stops, written)
        self._test: BodyPass | None = None
        self._turns = 0

    def _records(self) -> bool:
        traced = isinstance(current_trace(), StagingTrace)
        return rules.decides("staged.while", traced=traced)

    def _count(self) -> int | None:
        return self._turns

    def _is_known(self, last: BodyPass) -> bool:
        assert self._test is not None
        return not self._test.region.reads_outside and super()._is_known(last)

    def _is_bounded(self) -> bool:
        return False

    def _advance(self) -> bool:
        self._turns += 1
        return True

    def _begin_pass(self, kinds: dict[str, Tree], arrays: Sequence[Any]) -> None:
        self._test = BodyPass(kinds, arrays, False)
        self._test.region.guards = self._guards
        self._pass = BodyPass(kinds, arrays, False)
        self._show(self._test.values)

    def _enter(self, first: BodyPass) -> None:
        super()._enter(first if self._test is None else self._test)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if self._pass is not None and self._test is not None:
            self._test.region.end()
        return super().__exit__(kind, error, trace)

    def holds(self, test: Any) -> bool:
        """True if the body is to be run."""
        truth = truth_of(test)
        if self._pass is None or self._test is None:
            if not isinstance(truth, bool):
                raise demanded(self._reason or rules.error("staged.exit"), truth)
            self.moved = False
            self._mode = self._mode if truth else "end"
            return truth
        going = self._test.decide(truth, self.stops)
        put_in_force(self._pass.region)
        if going is False and self._passes == 1:  # not even once
            self._pass.region.end()
            self._mode, self._pass = "end", None
            self._show(self._entry)
            put_in_force(self._outer)
            return False
        self._pass.begin()
        self._show(self._pass.values)
        return True

    def _has_asked(self, last: BodyPass) -> bool:
        assert self._test is not None
        both = last, self._test
        return any(p.region.asked for p in both) and any(p.may_fail for p in both)

    def _slots(self, last: BodyPass) -> Slots:
        assert self._test is not None
        both = last, self._test
        if all(one.region.entry is None for one in both):
            return None
        return list({slot: None for one in both for slot in one.slots()})

    def _record(
        self, last: BodyPass, init: list[Any], ends: list[Any], slots: Slots
    ) -> list[Any]:
        test = self._test
        assert test is not None
        if slots is not None and test.may_fail:
            return self._record_failing(last, init, ends, slots)
        pad(test.region, init, slots)
        holds = test.holds if slots is None else test.guarded()
        holding = test.region.body([test.region.converted(holds, BOOL)])
        return repeat(holding, last.region.body(ends), init)

    def _record_failing(
        self, last: BodyPass, init: list[Any], ends: list[Any], slots: list[Slot]
    ) -> list[Any]:
        """A loop whose test may fail: the test is a part of the body, since its status
        is a result of that."""
        test, region = self._test, last.region
        assert test is not None
        pad(test.region, init, slots)
        holds, status = test.guarded(), test.region.status
        found = [
            test.region.converted(holds, BOOL),
            *(test.region.converted(status.slot(s), s[0]) for s in slots),
            test.region.converted(status.number, NUMBER),
        ]
        both, count = test.region.body(found), len(slots) + 1
        going, *first = apply(both.closed, [*both.consts, *init])
        with in_force(region):
            values = [region.tracer(atom, region, None) for atom in ends]
            again, *after = map(
                region.atom, apply(both.closed, [*both.consts, *values])
            )
        region.input(BOOL, "")
        answer = RegionTrace("loop", True)
        taken = [answer.input(typeof(value), "") for value in (*init, going)]
        leaves = [*init[:-count], *map(as_array, first), as_array(going)]
        body = region.body([*ends[:-count], *after, again])
        return repeat(answer.body([taken[-1]._var]), body, leaves)[:-1]
