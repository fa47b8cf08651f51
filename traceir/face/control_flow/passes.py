"""Runs of a loop's body and of its test on tracers.

Serves: staged.carry, staged.memory
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir import lax
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.loop_steps import index_type
from traceir.face.checks.status import Status, status_of
from traceir.face.control_flow import state
from traceir.face.control_flow.choices import negated
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import Leaf, Tree
from traceir.jit.runtime_checks import Slot
from traceir.tracing.trace import in_force


class BodyPass:
    """One run of a loop's body, or of its test: its region, and the state at its ends.

    `kinds` are the types of the state, `arrays` those that the loop writes to; a loop
    over steps has an index.
    """

    def __init__(
        self, kinds: dict[str, Tree], arrays: Sequence[NumpyTracer], counts: bool
    ) -> None:
        self.region = RegionTrace("loop", True)
        self.kinds = kinds
        self.arrays = arrays
        self.index: Any = self._input(Leaf(index_type(), True)) if counts else None
        self.values: dict[str, Any] = {}
        for name, kind in kinds.items():
            leaves = [self._input(leaf) for leaf in state.leaves_of(kind)]
            self.values[name] = state.built(kind, iter(leaves))
        self.ends: dict[str, Tree] = {}
        self.memory: list[Any] = []
        self.written: list[NumpyTracer] = []
        # Arrays that the region has taken over, and only reads.
        self.read: list[NumpyTracer] = []
        self.is_whole = True

    def _input(self, leaf: Leaf) -> Any:
        made: Any = self.region.input(leaf.value, "")
        if isinstance(made, NumpyTracer):
            made.number = leaf.number
        return made

    def begin(self) -> None:
        """Take over the arrays that the loop writes to, as they are before it."""
        with in_force(self.region.parent):
            for array in self.arrays:
                array.now()
        for array in self.arrays:
            self.region.claim(array)

    def finish(self, values: dict[str, Any]) -> None:
        """Take the state at the end of the body; the region is in force."""
        self.ends = {name: state.tree_of(value) for name, value in values.items()}
        self._close()

    def _close(self) -> None:
        taken = self.region.memory.values()
        held = [one.array for one in taken]
        self.written = [one.array for one in taken if one.is_written]
        ends = [a for end in self.ends.values() for a in state.arrays_of(end)]
        used = {id(atom) for eqn in self.region.eqns for atom in eqn.inputs}
        used |= {id(a._atom) for a in ends if not any(a is one for one in held)}
        self.read = [
            one.array
            for one in taken
            if not one.is_written and id(one.array._atom) in used
        ]
        # What is written has been an input from the beginning.
        begun = {id(array) for array in self.arrays}
        self.is_whole = begun.issuperset(map(id, self.written))
        self.arrays = held
        self.memory = [array.now() for array in held]
        status_of(self.region)
        self.region.end()

    def decide(self, holds: Any, stops: Sequence[str]) -> Any:
        """Take the result of a test, which no flag may stop; the region is in force.

        Gives the test's truth, as far as it is known.
        """
        going = self.going(self.values, stops)
        self._close()
        with in_force(self.region):
            self.holds = _both(going, holds)
            if self.may_fail and not isinstance(going, bool):
                self._fail_only_if(going)
        return self.holds

    def going(self, values: dict[str, Any], stops: Sequence[str]) -> Any:
        """The truth value that no flag stops the loop."""
        going: Any = True
        for stop in stops:
            flag = values[stop]
            if isinstance(flag, state.MaybeUnbound):
                flag = lax.bitwise_and(flag.flag, flag.value)
            going = _both(going, negated(flag))
        return going

    def leaves(self) -> list[Leaf]:
        """The types of names' values, in the order of the inputs."""
        return [leaf for kind in self.kinds.values() for leaf in state.leaves_of(kind)]

    def built(self, leaves: Sequence[Any]) -> dict[str, Any]:
        """The values of names, of these leaves."""
        rest = iter(leaves)
        return {name: state.built(kind, rest) for name, kind in self.kinds.items()}

    def _fail_only_if(self, going: Any) -> None:
        """Have the test's own checks count where Python evaluates it."""
        end, entry = self.region.status, self.region.entry
        assert entry is not None
        ends = {s: lax.select(going, v, entry.slot(s)) for s, v in end.slots.items()}
        number = lax.select(going, end.number, entry.number)
        self.region.status = Status(number, ends, entry.slot)

    @property
    def may_fail(self) -> bool:
        """True if something in the region may fail."""
        return self.region.status is not self.region.entry

    def slots(self) -> dict[Slot, Any]:
        """The slots of the region's status."""
        entry, status = self.region.entry, self.region.status
        return {} if entry is None else {**entry.slots, **status.slots}

    def guarded(self) -> Any:
        """A truth value: the test holds, and nothing has failed."""
        with in_force(self.region):
            return _both(self.holds, self.region.status.is_fine())


def _both(a: Any, b: Any) -> Any:
    """`a and b`, of which some may be known."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, bool):
            return other if one else False
    return lax.bitwise_and(a, b)
