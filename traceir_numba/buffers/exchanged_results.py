"""Results that a loop's arrays leave in memory that changes places.

A loop that reads one array and writes another exchanges their memory in each turn. Such
arrays begin in the memory of the results; where they are after the last turn follows
from the number of turns, or from a number that changes with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from traceir.base.fast_dataclass import dataclass
from traceir_numba.buffers.routine_buffers import RoutineBuffers
from traceir_numba.loops.nest import ScalarConstant
from traceir_numba.loops.program import (
    Assign,
    Branch,
    Copy,
    Exchange,
    LeaveLoop,
    Loop,
    Step,
    While,
)
from traceir_numba.loops.step_effects import renamed, walk

# An array at the end of a routine's steps, and the result whose memory it belongs in.
Result = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ExchangedPair:
    """Two arrays whose memory each turn of a loop exchanges."""

    one: int
    other: int

    def partner(self, slot: int) -> int:
        """The one of both arrays that a slot is not."""
        return self.other if slot == self.one else self.one

    def place(self, steps: Sequence[Step]) -> int:
        """The number of the step that is the loop."""
        return next(
            k for k, s in enumerate(steps) if (self.one, self.other) in _moves(s)
        )


def left_in_results(
    steps: Sequence[Step],
    results: Sequence[Result],
    work: RoutineBuffers,
) -> list[Step]:
    """The steps that leave arrays in the memory of results; copies come last."""
    steps, rest = list(steps), list(results)
    for pair in _exchanged(steps, work):
        own = [r for r in rest if r[0] in (pair.one, pair.other)]
        if own and len({found for found, _ in own}) == len(own):
            rest = [r for r in rest if r not in own]
            steps = _placed(steps, pair, own, work)
    for found, target in rest:
        steps = work.moved(steps, found, target)
    return steps


def _exchanged(steps: Sequence[Step], work: RoutineBuffers) -> list[ExchangedPair]:
    """The arrays that loops exchange and whose pointers nothing else changes.

    None are looked for in loops, nor on devices, where no step exchanges elements.
    """
    if not work.exchanges or len(work.status) > 1:
        return []
    moved: list[int] = []
    for step in walk(steps):
        match step:
            case Assign(pairs):
                moved += [k for pair in pairs for k in pair if isinstance(k, int)]
            case Loop(read=read, written=written):
                moved += [k for pair in (*read, *written) for k in pair]
    return [
        ExchangedPair(one, other)
        for step in steps
        for one, other in _moves(step)
        if isinstance(other, int) and one < other and (other, one) in _moves(step)
        if {one, other} <= work.owned and moved.count(one) == moved.count(other) == 2
    ]


def _moves(step: Step) -> tuple[tuple[int, int | ScalarConstant], ...]:
    """The assignments at the end of a loop's turn."""
    if not isinstance(step, Loop | While) or not step.steps:
        return ()
    last = step.steps[-1]
    return last.pairs if isinstance(last, Assign) else ()


def _placed(
    steps: list[Step], pair: ExchangedPair, own: list[Result], work: RoutineBuffers
) -> list[Step]:
    """The steps with the arrays of a loop in the memory of one or two results."""
    step = steps[pair.place(steps)]
    assert isinstance(step, Loop | While)
    known = isinstance(step, Loop) and LeaveLoop() not in [*walk(step.steps)]
    turned = known and isinstance(step, Loop) and step.length % 2 == 1
    slots = {pair.partner(f) if turned else f: target for f, target in own}
    for slot in slots:
        work.args.remove(slot)
        work.owned.remove(slot)
    if turned:
        steps.append(_back(pair))
    elif not known:
        steps = _counted(steps, pair, own, work)
    return list(renamed(steps, slots))


def _back(pair: ExchangedPair) -> Assign:
    """The step that gives both arrays their first memory's pointers."""
    return Assign(((pair.one, pair.other), (pair.other, pair.one)))


def _counted(
    steps: list[Step], pair: ExchangedPair, own: list[Result], work: RoutineBuffers
) -> list[Step]:
    """The steps with a number that is 1 after an odd number of turns; then what is in
    the other one's memory goes to its own."""
    at = pair.place(steps)
    step = steps[at]
    assert isinstance(step, Loop | While) and isinstance(step.steps[-1], Assign)
    odd, even = (work.add(work.name(), (), "int32", "scalar") for _ in range(2))
    zero, once = (ScalarConstant(text, "int32") for text in "01")
    begin = Assign(((odd, zero), (even, once)))
    pairs = (*step.steps[-1].pairs, (odd, even), (even, odd))
    counted = replace(step, steps=(*step.steps[:-1], Assign(pairs)))
    found = own[0][0]
    last = Copy(found, pair.partner(found))
    back = last if len(own) == 1 else Exchange(pair.one, pair.other)
    end = Branch(odd, ((), (back, _back(pair))), step.line)
    return [*steps[:at], begin, counted, *steps[at + 1 :], end]
