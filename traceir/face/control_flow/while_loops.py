"""`while` loops, whose test is recorded as a program of its own.

Serves: staged.loop
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir import lax, rules
from traceir.base import cost_model
from traceir.base.config import put_in_force
from traceir.face.control_flow.choices import truth_of
from traceir.face.control_flow.loops import PlainLoop, flagged, is_closed, pad
from traceir.face.control_flow.passes import BodyPass
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import BOOL, Tree
from traceir.lax.checks.operands import as_array
from traceir.lax.control.loops import repeat
from traceir.tracing.staging import StagingTrace, apply
from traceir.tracing.trace import current_trace, in_force


class WhileLoop(PlainLoop):
    """A `while` loop; `holds` is given its test, and tells whether the body is run."""

    def __init__(
        self, names: Sequence[str], stops: Sequence[str], written: Sequence[str]
    ) -> None:
        super().__init__(names, stops, written)
        self._test: BodyPass | None = None
        self._turns = 0

    def _records(self) -> bool:
        return isinstance(current_trace(), StagingTrace)

    def _can_run(self) -> bool:
        return self._turns < cost_model.KNOWN_STEPS

    def _is_known(self, last: BodyPass) -> bool:
        closed = self._test is not None and is_closed(self._test.region)
        return closed and super()._is_known(last)

    def _advance(self) -> bool:
        self._turns += 1
        return True

    def _begin_pass(self, kinds: dict[str, Tree], arrays: Sequence[Any]) -> None:
        self._test = BodyPass(kinds, arrays, False)
        self._pass = BodyPass(kinds, arrays, False)
        self._show(self._test.values)

    def __enter__(self) -> None:
        if self._pass is not None and self._test is not None:
            self._outer = put_in_force(self._test.region)
            self._test.begin()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if self._pass is not None and self._test is not None:
            self._test.region.end()
        return super().__exit__(kind, error, trace)

    def holds(self, test: Any) -> bool:
        """True if the body is to be run."""
        truth = truth_of(test)
        if self._pass is None or self._test is None:
            if not isinstance(truth, bool):
                raise self._reason or rules.error("staged.exit")
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

    def _regions(self) -> list[RegionTrace]:
        test = [] if self._test is None else [self._test.region]
        return [*test, *super()._regions()]

    def _record(
        self, last: BodyPass, init: list[Any], ends: list[Any], flag: Any
    ) -> tuple[list[Any], Any]:
        test = self._test
        assert test is not None
        inner = test.region
        holds = inner.converted(test.holds, BOOL)
        if test.flag is not None:
            return self._record_checked(last, init, ends, flag, holds)
        if flag is not None:
            ends, init = [*ends, flagged(last, flag)], [*init, as_array(False)]
        pad(inner, init)
        found = repeat(inner.body([holds]), last.region.body(ends), init)
        return found, None if flag is None else found[-1]

    def _record_checked(
        self, last: BodyPass, init: list[Any], ends: list[Any], flag: Any, holds: Any
    ) -> tuple[list[Any], Any]:
        """A loop whose test may be outside of an array: the test is a part of the body,
        since what tells is a result of that."""
        test, region = self._test, last.region
        assert test is not None
        both = test.region.body([holds, test.region.converted(test.flag, BOOL)])
        tested = len(test.region.inputs)
        going, outside = apply(both.closed, [*both.consts, *init[:tested]])
        with in_force(region):
            values = [region.tracer(atom, region, None) for atom in ends[:tested]]
            again, wrong = apply(both.closed, [*both.consts, *values])
            wrong = wrong if flag is None else lax.bitwise_or(wrong, flag)
        ends = [*ends, flagged(last, wrong), region.atom(again)]
        region.input(BOOL, "")
        leaves = [*init, as_array(outside), as_array(going)]
        first = BodyPass(last.kinds, last.arrays, False)
        first.begin()
        first.region.end()
        pad(first.region, leaves)
        answer = list(first.region.inputs)[-1]
        found = repeat(first.region.body([answer]), region.body(ends), leaves)
        return found, found[-2]
