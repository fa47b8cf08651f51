"""Loops of a routine whose turns threads share, as functions of their own.

Serves: staged.turns

Of loops in one another the outermost is shared. What a turn writes besides the arrays
that it shares with others is memory of its own thread. Of other loops threads share the
ranges of launches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from traceir.ir.jaxpr import Atom
from traceir_numba import cost_model
from traceir_numba.buffers.independent_turns import WaitingTurns, independent_turns
from traceir_numba.buffers.routine_buffers import RoutineBuffers
from traceir_numba.emitters.regions import LoopOp
from traceir_numba.loops.nest import LoopNest, ScalarConstant
from traceir_numba.loops.program import (
    Assign,
    Branch,
    Copy,
    Counter,
    Exchange,
    Launch,
    Loop,
    ParallelLoop,
    SharedTurns,
    Step,
    TurnCarry,
    While,
)
from traceir_numba.loops.schedule import range_of, shared_from
from traceir_numba.loops.step_effects import inner, reads, walk, writes


def turns_of(
    flow: LoopOp,
    carried: Sequence[int],
    source: Callable[[Atom], int | ScalarConstant],
) -> SharedTurns | None:
    """The facts about a loop's turns; None for one that is like any other."""
    try:
        found = independent_turns(flow)
    except WaitingTurns as why:
        return SharedTurns(ordered=str(why)) if flow.independent else None
    carries = [
        TurnCarry(slot, kind, found.steps.get(k, 0))
        for k, (slot, kind) in enumerate(zip(carried, found.kinds, strict=True))
    ]
    if flow.status:
        carries[-1] = replace(carries[-1], kind="number")
    counter, counted = None, found.counted
    if counted is not None:
        stop = source(counted.stop)
        counter = Counter(carried[counted.carry], stop, counted.step, "")
    return SharedTurns(tuple(carries), counter=counter)


def share_loops(steps: Sequence[Step], work: RoutineBuffers, name: str) -> list[Step]:
    """The steps of a routine with loops that threads share, where that pays."""
    numbers = iter(range(len(list(walk(steps))) + 1))

    def shared(given: Iterable[Step], outside: Collection[int]) -> list[Step]:
        given, found = tuple(given), []
        for k, step in enumerate(given):
            others = (s for s in (*given[:k], *given[k + 1 :]))
            used = {*outside, *(slot for s in others for slot in _used(s))}
            found.append(one(step, used))
        return found

    def one(step: Step, outside: set[int]) -> Step:
        """A step, or what shares its turns."""
        match step:
            case Loop() | While() if step.turns and step.turns.carries:
                made = _parallel(step, step.turns, work, outside)
                if made is not None:
                    return replace(made, name=f"{name}_turns_{next(numbers)}")
        match step:
            case Loop(read=read, written=written):
                rows = {slot for pair in (*read, *written) for slot in pair}
                return replace(step, steps=tuple(shared(step.steps, outside | rows)))
            case While(test=test):
                tested = {slot for s in test for slot in _used(s)}
                return replace(step, steps=tuple(shared(step.steps, outside | tested)))
            case Branch(branches=branches):
                sides = tuple(tuple(shared(b, outside)) for b in branches)
                return replace(step, branches=sides)
        return step

    return shared(steps, ())


def shared_launches(steps: Iterable[Step]) -> dict[LoopNest, int]:
    """The nests whose launches in a routine threads share, and from what length on.

    None where the others, which one thread runs, compute much on what several have
    left in caches of their own: to fetch it takes longer than to compute it.
    """
    found: dict[LoopNest, int] = {}
    shared = alone = 0
    for step in outside_turns(steps):
        match step:
            case Launch(nest=nest, extents=extents, params=params):
                sizes = range_of(nest, extents, params)
                least = shared_from(nest, sizes)
                if least is None:
                    alone += sizes.work
                else:
                    shared += sizes.work
                    found[nest] = max(least, found.get(nest, 0))
    return found if alone * cost_model.SHARED_LAUNCHES <= shared else {}


def outside_turns(steps: Iterable[Step]) -> Iterator[Step]:
    """Steps and all that they contain, but for what is in functions of turns."""
    for step in steps:
        yield step
        if not isinstance(step, ParallelLoop):
            for found in inner(step):
                yield from outside_turns(found)


def _used(step: Step) -> set[int]:
    return reads(step) | writes(step)


def _parallel(
    loop: Loop | While, turns: SharedTurns, work: RoutineBuffers, outside: set[int]
) -> ParallelLoop | None:
    """A loop whose turns are shared; None where that can't be, or does not pay."""
    buffers = work.buffers
    cost = 1 + _cost(loop.steps)
    most = loop.length if isinstance(loop, Loop) else loop.most_turns
    least = cost_model.PIECES_PER_THREAD * cost_model.TURN_PART_WORK
    if most is not None and most * cost < least:
        return None
    arrays = {c.slot for c in turns.carries if c.kind == "array"}
    written = {k for s in loop.steps for k in writes(s) if not work.is_scalar(k)}
    read = {k for s in loop.steps for k in reads(s) if not work.is_scalar(k)}
    rows: set[int] = set()
    stacks: set[int] = set()
    if isinstance(loop, Loop):
        pairs = (*loop.read, *loop.written)
        rows = {row for _, row in pairs}
        stacks = {stack for stack, _ in pairs}
    private = {k for k in written - arrays - rows if k not in outside}
    if written - arrays - rows - private or arrays & _moved(loop.steps):
        return None
    local = {k for k in private if buffers[k].role == "pointer"}
    private -= local
    if not private <= work.owned:
        return None
    pointers = (read | arrays | stacks) - rows - private - local
    carried = {c.slot for c in turns.carries} - arrays
    made = {k for s in loop.steps for k in writes(s) if work.is_scalar(k)}
    made |= {k for k in rows if work.is_scalar(k)}
    scalars = {k for s in loop.steps for k in reads(s) if work.is_scalar(k)} - made
    left = [c.slot for c in turns.carries if c.kind not in ("array", "counter")]

    def memory(slot: int, count: int) -> tuple[int, int]:
        dtype = buffers[slot].dtype
        return slot, work.add(work.name(), (count,), dtype, "memory")

    parts = [memory(slot, cost_model.TURN_PARTS) for slot in left]
    given = [memory(slot, 1) for slot in sorted({*scalars, *carried})]
    # Where kernels find scalars, which one turn after the other changes.
    private |= {k for k in _launched(loop.steps) if work.is_scalar(k)}
    return ParallelLoop(
        "",
        loop,
        max(1, -(-cost_model.TURN_PART_WORK // cost)),
        turns,
        tuple(sorted(pointers)),
        tuple(given),
        tuple(sorted(private)),
        tuple(parts),
    )


def _launched(steps: Iterable[Step]) -> set[int]:
    """The buffers that kernels are given."""
    launches = (s for s in walk(steps) if isinstance(s, Launch) and s.nest.rank)
    return {slot for step in launches for slot in step.buffers}


def _moved(steps: Iterable[Step]) -> set[int]:
    """Arrays that are copied as a whole, or whose pointers change."""
    found: set[int] = set()
    for step in walk(steps):
        match step:
            case Copy(source, target) | Exchange(source, target):
                found |= {source, target}
            case Assign(pairs):
                found |= {k for pair in pairs for k in pair if isinstance(k, int)}
    return found


def _cost(steps: Iterable[Step]) -> int:
    """The cost of a turn, roughly; a loop whose turns nobody knows has some."""
    return sum(_costs(steps))


def _costs(steps: Iterable[Step]) -> Iterator[int]:
    for step in steps:
        match step:
            case Launch(nest=nest, extents=extents):
                points = 1
                for extent in extents:
                    points *= extent
                yield cost_model.SCALAR_COST * len(nest.body) * points
            case Loop(length=length):
                yield length * _cost(step.steps)
            case While():
                most = step.most_turns
                count = cost_model.UNKNOWN_TURNS if most is None else most
                yield count * _cost(step.steps)
            case Branch(branches=branches):
                yield max(map(_cost, branches))
            case _:
                yield cost_model.SCALAR_COST * (1 + len(inner(step)))
