"""Loops while a function is traced: their turns and their state.

Serves: staged.loop, staged.carry

A loop that is recorded runs its body a few times on tracers, until the types of what it
carries stand still; the last of these runs is the program of its body. Python runs a
loop that is short, one over Python's data, and one that can't be recorded if its length
is known.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from traceir import rules
from traceir.base import cost_model
from traceir.base.config import put_in_force
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.checks.status import (
    NUMBER,
    entered,
    guard,
    put_status,
    status_before,
)
from traceir.face.control_flow import state
from traceir.face.control_flow.aliases import Rebinding, seen_inputs
from traceir.face.control_flow.choices import Diverged, diverges, truth_of
from traceir.face.control_flow.growing_lists import is_left, make_room, note_loop
from traceir.face.control_flow.growing_tables import give_up
from traceir.face.control_flow.passes import BodyPass
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import MissingValue, Tree, Unrecordable
from traceir.ir.avals import ShapedArray
from traceir.jit.runtime_checks import Slot
from traceir.lax.checks.operands import as_array, convert
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import Tracer, current_trace, typeof

# More steps than the type of a name can grow by.
_STEPS_OF_TYPES = 12
# The slots of a loop's status; None if nothing in it can fail.
Slots = list[Slot] | None


class _Nest(threading.local):
    """The loops in force that Python runs: how often they record what is inside."""

    copies = 1


nest = _Nest()


class PlainLoop:
    """A loop: its turns, which Python runs or which are recorded, and the state after.

    `names` are those that the body may set, `stops` the flags among them that end the
    loop, `written` names of arrays that the body writes to. `values` are to be the
    names' values if they have `moved`.
    """

    def __init__(
        self, names: Sequence[str], stops: Sequence[str], written: Sequence[str]
    ) -> None:
        self.names = names
        self.stops = stops
        self.written = written
        self.moved = False
        self.values: tuple[Any, ...] = ()
        self._mode = ""
        self._reason: Exception | None = None
        self._entry: dict[str, Any] = {}
        self._frame: dict[str, Any] = {}
        self._lost: dict[str, Tree] = {}
        self._guards = False
        self._pass: BodyPass | None = None
        self._passes = 0
        self._outer: Any = None
        self._copies = 1

    # To be said by each kind of loop ----------------------------------------------

    def _records(self) -> bool:
        """True if the loop is to be recorded, if it can be."""
        raise NotImplementedError

    def _count(self) -> int | None:
        """The number of steps, None if it is traced; of a `while`, turns so far."""
        raise NotImplementedError

    def _bounds(self) -> tuple[Any, ...]:
        """The numbers that have to be known for Python to run the loop."""
        return ()

    def _is_bounded(self) -> bool:
        """True if the loop comes to an end, whatever it computes."""
        raise NotImplementedError

    def _advance(self) -> bool:
        """True if Python runs another turn now."""
        raise NotImplementedError

    def _runs(self) -> bool:
        """True if a loop that is recorded has a turn for certain."""
        return False

    def _begin_pass(self, kinds: dict[str, Tree], arrays: Sequence[Any]) -> None:
        """Make the next pass."""
        raise NotImplementedError

    def _record(
        self, last: BodyPass, init: list[Any], ends: list[Any], slots: Slots
    ) -> list[Any]:
        """The loop's equation: the last state. Where there are `slots`, these and the
        number of a status are the last in it."""
        raise NotImplementedError

    def _grown(self) -> dict[str, Any]:
        """The lists to which the body appends, as ones that can grow in each turn."""
        return {}

    def _is_long(self) -> bool:
        """True if Python has run so many turns that what is left is to be recorded."""
        return False

    def _repeats(self) -> int:
        """The number of turns, of which Python runs each."""
        return 1

    # What the rewritten function calls --------------------------------------------

    def next(self, frame: dict[str, Any]) -> bool:
        """True if the body is to be run now."""
        if not self._mode or (self._mode == "python" and self._is_long()):
            self._mode = "record" if self._records() else "python"
            self._begin(frame)
            if self._mode == "record":
                return True
        elif self._mode == "record":
            if self._is_recorded():
                return False
        elif self._mode == "python":
            self.moved = False
            self._check_stops(frame)
        if self._mode == "record":
            return True
        if self._mode == "restart":
            self._mode = "python"
            self._show(self._entry)
        return self._mode == "python" and self._advance()

    def _begin(self, frame: dict[str, Any]) -> None:
        """Take the state before the loop, and make the first pass if it is recorded."""
        self._entry = state.snapshot(self.names, frame)
        self._frame = dict(frame)
        self._passes, self._lost = 0, {}
        if self._mode == "record":
            begun = {**self._entry, **self._grown()}
            trees = {n: state.tree_of(v) for n, v in begun.items()}
            arrays = [frame[n] for n in self.written if state.is_array(frame.get(n))]
            kinds = {n: state.type_of(t) for n, t in trees.items()}
            self._start(kinds, _roots(arrays))

    def __enter__(self) -> None:
        self._copies = nest.copies
        if self._pass is not None:
            self._enter(self._pass)
        else:
            nest.copies *= self._repeats()

    def _enter(self, first: BodyPass) -> None:
        """Put what is recorded first in force."""
        self._outer = put_in_force(first.region)
        first.begin()

    def done(self, frame: dict[str, Any]) -> None:
        """Take the state at the end of a turn."""
        if self._pass is not None:
            self._pass.finish(state.snapshot(self.names, frame))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        nest.copies = self._copies
        if self._pass is None:
            return False
        runs = rules.decides("staged.run", count=self._count())
        ends = (kind is Diverged or not runs) and diverges(error)
        if ends:  # in each turn
            self._pass.finish(dict(zip(self.names, self.values, strict=True)))
        put_in_force(self._outer)
        self._pass.region.end()
        if ends:
            return True
        if kind in (None, RecursionError) or not issubclass(kind, Exception):
            return False
        if not runs:
            needed = demanded(error, *self._bounds())
            if needed is not error:
                raise needed from None
            return False
        self._give_up(error)
        return True

    # ------------------------------------------------------------------------------

    def _start(self, kinds: dict[str, Tree], arrays: Sequence[NumpyTracer]) -> None:
        # Types only grow, and have few steps to grow by.
        self._passes += 1
        assert self._passes <= _STEPS_OF_TYPES * (1 + len(self.names))
        self._begin_pass({**kinds, **self._lost}, arrays)
        assert self._pass is not None
        self._pass.region.guards = self._guards
        self._pass.region.seen = seen_inputs(self._entry, self._frame, self._pass)

    def _show(self, found: dict[str, Any]) -> None:
        self.moved = bool(self.names)
        self.values = tuple(found[name] for name in self.names)

    def _check_stops(self, frame: dict[str, Any]) -> None:
        for stop in self.stops:
            truth = truth_of(frame.get(stop, False))
            known = isinstance(truth, bool)
            if truth is True or not (known or self._advance()):
                self._mode = "end"
                return
            if not known:
                raise demanded(self._reason or rules.error("staged.exit"), truth)

    def _give_up(self, reason: Exception | None) -> None:
        """Have Python run the loop."""
        if self._pass is not None:
            give_up(self._pass.region)
        self._reason = reason
        self._pass = None
        self._mode = "restart"

    def _unfit(self, last: BodyPass) -> Exception | None:
        """The reason why Python is to run a loop whose body has been recorded."""
        return None

    def _is_recorded(self) -> bool:
        """True if the loop has been recorded; else there is another pass to run, or
        Python is to run the loop."""
        last = self._pass
        assert last is not None
        reason = self._unfit(last)
        if reason is not None or self._is_known(last):
            self._give_up(reason)
            return False
        kinds = {name: self._joined(name, last) for name in self.names}
        asked = self._has_asked(last)
        self._guards = self._guards or asked
        whole = all(one.is_whole for one in self._parts(last))
        moved = make_room(last.region)
        if whole and not asked and kinds == last.kinds and not moved:
            self._show(self._finish(last))
            note_loop(last.region)
            return True
        written = [a for one in self._parts(last) for a in one.written]
        written = [a for a in written if not is_left(a, last.region)]
        self._start(kinds, list({id(array): array for array in written}.values()))
        return False

    def _parts(self, last: BodyPass) -> tuple[BodyPass, ...]:
        """The runs that a turn has, of which the last is that of the body."""
        return (last,)

    def _joined(self, name: str, last: BodyPass) -> Tree:
        if name not in self._lost:
            try:
                return state.joined(last.kinds[name], state.type_of(last.ends[name]))
            except Unrecordable as error:
                self._lost[name] = state.Fixed(MissingValue(str(error)))
        return self._lost[name]

    def _is_known(self, last: BodyPass) -> bool:
        """True if Python runs the loop, which computes Python's numbers alone."""
        return self._is_short(self._is_closed(last))

    def _is_short(self, closed: bool) -> bool:
        return rules.decides(
            "staged.known",
            closed=closed,
            count=self._count(),
            known_steps=cost_model.KNOWN_STEPS,
        )

    def _is_closed(self, last: BodyPass) -> bool:
        """True if the body computes numbers from known ones, and does nothing else."""
        region = last.region
        if region.reads_outside or last.memory:
            return False
        leaves = [
            leaf
            for name, kind in last.kinds.items()
            for leaf, _ in state.fitted(state.tree_of(self._entry[name]), kind)
        ]
        traced = any(isinstance(leaf, Tracer) for leaf in leaves)
        return not traced and not any(e.effects for e in region.eqns)

    def _finish(self, last: BodyPass) -> dict[str, Any]:
        """Record the loop; the state after it."""
        pairs: list[tuple[Any, Any, ShapedArray]] = []
        for name, kind in last.kinds.items():
            before = state.fitted(state.tree_of(self._entry[name]), kind)
            after = state.fitted(last.ends[name], kind)
            pairs += [(a, b, t) for (a, t), (b, _) in zip(before, after, strict=True)]
        for array, value in zip(last.arrays, last.memory, strict=True):
            pairs.append((array.now(), value, array.aval))
        rebinding = Rebinding(self._entry, last, self._frame, self._parts(last))
        pairs += rebinding.carries()
        init = [as_array(convert(a, t.dtype, t.weak_type)) for a, _, t in pairs]
        ends = [last.region.converted(b, t) for _, b, t in pairs]
        slots = self._carry_status(last, init, ends)
        results = iter(self._record(last, init, ends, slots))
        values = {}
        for name, kind in last.kinds.items():
            leaves = [
                traced(next(results), number=leaf.number)
                for leaf in state.leaves_of(kind)
            ]
            values[name] = state.built(kind, iter(leaves))
        for array in last.arrays:
            array.replace(next(results))
        rebinding.settle(values, results, self._runs())
        if slots is not None:
            put_status(slots, results)
        return values

    def _has_asked(self, last: BodyPass) -> bool:
        """True if a loop inside did not know that something may have failed."""
        return last.region.asked and last.may_fail

    def _slots(self, last: BodyPass) -> Slots:
        """The slots of the loop's status; None if nothing in it can fail."""
        return None if last.region.entry is None else list(last.slots())

    def _carry_status(self, last: BodyPass, init: list[Any], ends: list[Any]) -> Slots:
        """Add the status to what the loop carries, if it has one; gives its slots."""
        slots = self._slots(last)
        if slots is None and not self._is_bounded() and guard(current_trace()):
            slots = []
        if slots is None:
            return None
        before, region = status_before(), last.region
        end = entered(region)
        region.status_inputs(slots)
        for slot in slots:
            init.append(as_array(before.slot(slot)))
            ends.append(region.converted(end.slot(slot), slot[0]))
        init.append(as_array(before.number))
        ends.append(region.converted(end.number, NUMBER))
        return slots


def _roots(arrays: Sequence[NumpyTracer]) -> list[NumpyTracer]:
    """The arrays that have the memory of some, each once."""
    return list({id(a.root): a.root for a in arrays if a.is_home}.values())


def pad(region: RegionTrace, leaves: Sequence[Any], slots: Slots) -> None:
    """Give a test's region inputs for all that its loop carries."""
    own = 0 if region.entry is None else len(region.entry.slots) + 1
    count = 0 if slots is None else len(slots) + 1
    for value in leaves[len(region.inputs) - own : len(leaves) - count]:
        region.input(typeof(value), "")
    if slots is not None:
        region.status_inputs(slots)
