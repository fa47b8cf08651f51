"""The buffers that steps read and write, and renaming of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from traceir_numba.loops.nest import Constant
from traceir_numba.loops.program import (
    Assign,
    Branch,
    Call,
    Copy,
    Launch,
    Load,
    Loop,
    Save,
    Step,
    While,
)


def inner(step: Step) -> tuple[tuple[Step, ...], ...]:
    """The lists of steps in a step."""
    match step:
        case Loop(steps=steps):
            return (steps,)
        case While(test=test, steps=steps):
            return (test, steps)
        case Branch(branches=branches):
            return branches
    return ()


def walk(steps: Iterable[Step]) -> Iterator[Step]:
    """Steps and all that they contain."""
    for step in steps:
        yield step
        for found in inner(step):
            yield from walk(found)


def reads(step: Step) -> set[int]:
    """The slots whose values or pointers a step reads, those inside it included."""
    found: set[int | Constant] = set()
    match step:
        case Launch(nest=nest, buffers=buffers):
            loaded = nest.loaded
            found.update(slot for k, slot in enumerate(buffers) if k in loaded)
            found.update(step.scratch)
        case Call(inputs=inputs):
            found = set(inputs)
        case Copy(source=source):
            found = {source}
        case Save(slot):
            found = {slot}
        case Assign(pairs):
            found = {source for _, source in pairs}
        case Loop(read=read, written=written):
            found = {stack for stack, _ in read}
            found |= {row for _, row in written}
        case While(holds=holds):
            found = {holds}
        case Branch(index=index):
            found = {index}
    own = {slot for slot in found if isinstance(slot, int)}
    return own.union(*(reads(s) for steps in inner(step) for s in steps))


def writes(step: Step) -> set[int]:
    """The slots whose values, pointers or memory a step changes."""
    match step:
        case Launch(nest=nest, buffers=buffers):
            found = {slot for k, slot in enumerate(buffers) if k in nest.written}
        case Call(output=output):
            found = {output}
        case Copy(target=target):
            found = {target}
        case Load(slot):
            found = {slot}
        case Assign(pairs):
            found = {target for target, _ in pairs}
        case Loop(read=read, written=written):
            found = {row for _, row in read} | {stack for stack, _ in written}
        case _:
            found = set()
    return found.union(*(writes(s) for steps in inner(step) for s in steps))


def pointers_to(slot: int, steps: Iterable[Step]) -> set[int]:
    """The other slots that may come to point to a slot's memory, or into it."""
    pairs: list[tuple[int, int | Constant]] = []
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


def renamed(steps: Iterable[Step], slots: Mapping[int, int]) -> tuple[Step, ...]:
    """The steps with other slots in place of some."""

    def slot(k: int) -> int:
        return slots.get(k, k)

    def source(k: int | Constant) -> int | Constant:
        return slot(k) if isinstance(k, int) else k

    def pairs(
        given: Iterable[tuple[int, int | Constant]],
    ) -> tuple[tuple[int, int | Constant], ...]:
        return tuple((slot(a), source(b)) for a, b in given)

    def one(step: Step) -> Step:
        """One step over the other slots."""
        match step:
            case Launch(buffers=buffers):
                return replace(step, buffers=tuple(map(slot, buffers)))
            case Call(eqn, inputs, output):
                return Call(eqn, tuple(map(slot, inputs)), slot(output))
            case Copy(a, b):
                return Copy(slot(a), slot(b))
            case Load(a):
                return Load(slot(a))
            case Save(a):
                return Save(slot(a))
            case Assign(given):
                return Assign(pairs(given))
            case Loop(read=read, written=written, steps=body):
                return replace(
                    step,
                    read=tuple((slot(a), slot(b)) for a, b in read),
                    written=tuple((slot(a), slot(b)) for a, b in written),
                    steps=renamed(body, slots),
                )
            case While(test, holds, body):
                return replace(
                    step,
                    test=renamed(test, slots),
                    holds=source(holds),
                    steps=renamed(body, slots),
                )
            case Branch(index, branches):
                return replace(
                    step,
                    index=slot(index),
                    branches=tuple(renamed(b, slots) for b in branches),
                )
        raise AssertionError(step)

    return tuple(map(one, steps))
