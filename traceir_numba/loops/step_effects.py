"""The buffers that steps read and write, and renaming of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from traceir_numba.loops.nest import ScalarConstant
from traceir_numba.loops.program import (
    Assign,
    Branch,
    CallForeign,
    CallMatmul,
    CallReference,
    Copy,
    Exchange,
    Launch,
    LeaveLoop,
    LoadScalar,
    Loop,
    ParallelLoop,
    Reshape,
    SharedTurns,
    Step,
    StoreScalar,
    While,
)


def inner(step: Step) -> tuple[tuple[Step, ...], ...]:
    """The lists of steps in a step."""
    match step:
        case Loop(steps=steps):
            return (steps,)
        case While(test=test, steps=steps):
            return (test, steps)
        case ParallelLoop(loop=loop):
            return ((loop,),)
        case Branch(branches=branches):
            return branches
    return ()


def walk(steps: Iterable[Step]) -> Iterator[Step]:
    """Steps and all that they contain."""
    for step in steps:
        yield step
        for found in inner(step):
            yield from walk(found)


def in_line(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps, those of a choice of one program among the others."""
    for step in steps:
        if isinstance(step, Branch) and len(step.branches) == 1:
            yield from in_line(step.branches[0])
        else:
            yield step


def reads(step: Step) -> set[int]:
    """The slots whose values or pointers a step reads, those inside it included."""
    found: set[int | ScalarConstant] = set()
    match step:
        case Launch(nest=nest, buffers=buffers):
            loaded = nest.loaded
            found.update(slot for k, slot in enumerate(buffers) if k in loaded)
            found.update(step.scratch)
        case CallMatmul(inputs=inputs) | CallReference(inputs=inputs):
            found = set(inputs)
        case CallForeign(inputs=given, order=(_, before)):
            found = {before, *given}
        case Copy(source=source) | Reshape(source=source):
            found = {source}
        case Exchange(one, other):
            found = {one, other}
        case StoreScalar(slot):
            found = {slot}
        case Assign(pairs):
            found = {source for _, source in pairs}
        case Loop(read=read, written=written):
            found = {stack for stack, _ in read}
            found |= {row for _, row in written}
        case While(holds=holds, counter=counter):
            found = {holds}
            if counter is not None:
                found |= {counter.slot, counter.stop}
        case ParallelLoop():
            found = {*step.pointers, *step.private}
            found |= {slot for pair in step.scalars for slot in pair}
        case Branch(index=index):
            found = {index}
    own = {slot for slot in found if isinstance(slot, int)}
    return own.union(*(reads(s) for steps in inner(step) for s in steps))


def writes(step: Step) -> set[int]:
    """The slots whose values, pointers or memory a step changes."""
    match step:
        case Launch(nest=nest, buffers=buffers):
            found = {slot for k, slot in enumerate(buffers) if k in nest.written}
        case CallMatmul(output=output):
            found = {output}
        case CallForeign(output=output, order=(after, _)):
            found = {output, after}
        case CallReference(outputs=outputs):
            found = set(outputs)
        case Copy(target=target):
            found = {target}
        case Exchange(one, other):
            found = {one, other}
        case LoadScalar(slot):
            found = {slot}
        case Assign(pairs):
            found = {target for target, _ in pairs}
        case Loop(read=read, written=written):
            found = {row for _, row in read} | {stack for stack, _ in written}
        case ParallelLoop(parts=parts):
            found = {memory for _, memory in (*parts, *step.scalars)}
        case _:
            found = set()
    return found.union(*(writes(s) for steps in inner(step) for s in steps))


def pointers_to(slot: int, steps: Iterable[Step]) -> set[int]:
    """The other slots that may come to point to a slot's memory, or into it."""
    pairs: list[tuple[int, int | ScalarConstant]] = []
    for step in walk(steps):
        match step:
            case Assign(assigned):
                pairs += assigned
            case Loop(read=read, written=written):
                pairs += [(row, stack) for stack, row in (*read, *written)]
    found = {slot}
    while more := {t for t, s in pairs if s in found} - found:
        found |= more
    return found - {slot}


def with_slots(
    turns: SharedTurns | None, slots: Mapping[int, int]
) -> SharedTurns | None:
    """The facts about a loop's turns, with other slots in place of some."""
    if turns is None:
        return None
    carries = tuple(replace(c, slot=slots.get(c.slot, c.slot)) for c in turns.carries)
    counter = turns.counter
    if counter is not None:
        stop = counter.stop
        stop = slots.get(stop, stop) if isinstance(stop, int) else stop
        counter = replace(
            counter, slot=slots.get(counter.slot, counter.slot), stop=stop
        )
    return replace(turns, carries=carries, counter=counter)


def renamed(steps: Iterable[Step], slots: Mapping[int, int]) -> tuple[Step, ...]:
    """The steps with other slots in place of some."""

    def slot(k: int) -> int:
        return slots.get(k, k)

    def source(k: int | ScalarConstant) -> int | ScalarConstant:
        return slot(k) if isinstance(k, int) else k

    def pairs(
        given: Iterable[tuple[int, int | ScalarConstant]],
    ) -> tuple[tuple[int, int | ScalarConstant], ...]:
        return tuple((slot(a), source(b)) for a, b in given)

    def one(step: Step) -> Step:
        """One step over the other slots."""
        match step:
            case Launch(buffers=buffers):
                return replace(step, buffers=tuple(map(slot, buffers)))
            case CallMatmul(eqn, inputs, output):
                return CallMatmul(eqn, tuple(map(slot, inputs)), slot(output))
            case CallForeign(name, operands, output, (after, before)):
                own = tuple(map(source, operands))
                order = slot(after), source(before)
                return CallForeign(name, own, slot(output), order)
            case Copy(a, b):
                return Copy(slot(a), slot(b))
            case Exchange(a, b):
                return Exchange(slot(a), slot(b))
            case LeaveLoop():
                return step
            case LoadScalar(a):
                return LoadScalar(slot(a))
            case StoreScalar(a):
                return StoreScalar(slot(a))
            case Assign(given):
                return Assign(pairs(given))
            case Loop(read=read, written=written, steps=body):
                return replace(
                    step,
                    read=tuple((slot(a), slot(b)) for a, b in read),
                    written=tuple((slot(a), slot(b)) for a, b in written),
                    steps=renamed(body, slots),
                    turns=with_slots(step.turns, slots),
                )
            case While(test, holds, body, counter=counter):
                if counter is not None:
                    at, stop = slot(counter.slot), source(counter.stop)
                    counter = replace(counter, slot=at, stop=stop)
                return replace(
                    step,
                    test=renamed(test, slots),
                    holds=source(holds),
                    steps=renamed(body, slots),
                    counter=counter,
                    turns=with_slots(step.turns, slots),
                )
            case Branch(index, branches):
                return replace(
                    step,
                    index=slot(index),
                    branches=tuple(renamed(b, slots) for b in branches),
                )
        raise AssertionError(step)

    return tuple(map(one, steps))
