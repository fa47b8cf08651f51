"""`while` loops, whose test is recorded as a program of its own.

Serves: staged.loop
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.base.config import put_in_force
from traceir.face.checks.status import NUMBER
from traceir.face.control_flow.choices import truth_of
from traceir.face.control_flow.growing_lists import grown
from traceir.face.control_flow.loops import PlainLoop, Slots, pad
from traceir.face.control_flow.passes import BodyPass
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import BOOL, Tree
from traceir.lax.checks.operands import as_array
from traceir.lax.control.bodies import TracedBody
from traceir.lax.control.loops import repeat
from traceir.tracing.concretization import demanded
from traceir.tracing.staging import StagingTrace, apply
from traceir.tracing.trace import current_trace, in_force, typeof


class WhileLoop(PlainLoop):
    """A `while` loop; `holds` is given its test, and tells whether the body is run."""

    def __init__(
        self,
        names: Sequence[str],
        stops: Sequence[str],
        written: Sequence[str],
        grown: Sequence[str] = (),
    ) -> None:
        super().__init__(names, stops, written)
        self._names_of_grown = grown
        self._test: BodyPass | None = None
        self._turns = 0
        # Whether Python runs it since all that it computes is known.
        self._known = False

    def _records(self) -> bool:
        traced = isinstance(current_trace(), StagingTrace)
        return rules.decides("staged.while", traced=traced)

    def _count(self) -> int | None:
        return self._turns

    def _grown(self) -> dict[str, Any]:
        return grown(self._names_of_grown, self._frame)

    def _is_known(self, last: BodyPass) -> bool:
        assert self._test is not None
        outside = self._test.region.reads_outside or self._test.memory
        self._known = not outside and super()._is_known(last)
        return self._known

    def _is_long(self) -> bool:
        return self._known and not self._is_short(closed=True)

    def _parts(self, last: BodyPass) -> tuple[BodyPass, ...]:
        assert self._test is not None
        return self._test, last

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
        once = going is False and not self._test.written
        if once and self._passes == 1:  # not even once
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
        if test.written or (slots is not None and test.may_fail):
            return self._record_turned(last, init, ends, slots)
        pad(test.region, init, slots)
        holds = test.holds if slots is None else test.guarded()
        holding = test.region.body([test.region.converted(holds, BOOL)])
        return repeat(holding, last.region.body(ends), init)

    def _record_turned(
        self, last: BodyPass, init: list[Any], ends: list[Any], slots: Slots
    ) -> list[Any]:
        """A loop whose test may fail, or writes to arrays: the test is a part of the
        body, since its status and these arrays are results of that."""
        test, region = self._test, last.region
        assert test is not None
        pad(test.region, init, slots)
        holds = test.holds if slots is None else test.guarded()
        count = len(test.memory)
        arrays = [test.region.converted(a, a.aval) for a in test.memory]
        found = [test.region.converted(holds, BOOL), *arrays]
        if slots is not None:
            status = test.region.status
            found += [test.region.converted(status.slot(s), s[0]) for s in slots]
            found.append(test.region.converted(status.number, NUMBER))
        both = test.region.body(found)
        going, *first = self._tested(both, init, count)
        with in_force(region):
            values = [region.tracer(atom, region, None) for atom in ends]
            again, *after = map(region.atom, self._tested(both, values, count))
        region.input(BOOL, "")
        answer = RegionTrace("loop", True)
        taken = [answer.input(typeof(value), "") for value in (*init, going)]
        leaves = [*self._changed(init, list(map(as_array, first)), count)]
        body = region.body([*self._changed(ends, after, count), again])
        holding = answer.body([taken[-1]._var])
        return repeat(holding, body, [*leaves, as_array(going)])[:-1]

    def _tested(self, both: TracedBody, leaves: list[Any], arrays: int) -> list[Any]:
        """The truth of the test after a state, and what the test may change."""
        test = self._test
        assert test is not None

        def run() -> list[Any]:
            return apply(both.closed, [*both.consts, *leaves])

        names = len(test.leaves())
        going = test.going(test.built(leaves[:names]), self.stops)
        if not test.written or isinstance(going, bool):
            return run()
        end = names + arrays
        rest = len(both.closed.jaxpr.outvars) - 1 - arrays
        kept = [*leaves[names:end], *leaves[len(leaves) - rest :]]
        found: list[Any] = lax.cond(going, run, lambda: [np.bool_(False), *kept])
        return found

    def _changed(self, leaves: list[Any], found: list[Any], arrays: int) -> list[Any]:
        """The state with what the test has changed: arrays, and the status."""
        assert self._test is not None
        begin, rest = len(self._test.leaves()), len(found) - arrays
        middle = leaves[begin + arrays : len(leaves) - rest]
        return [*leaves[:begin], *found[:arrays], *middle, *found[arrays:]]
