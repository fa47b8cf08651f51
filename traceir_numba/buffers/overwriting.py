"""Kernels and steps that write a new array over an old one, and which may."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from traceir_numba.loops.nest import Access, LoadElement, LoopNest, map_accesses
from traceir_numba.loops.program import Branch, CallRoutine, Copy, Launch, Step
from traceir_numba.loops.step_effects import pointers_to, reads, renamed, writes


def may_overwrite(nest: LoopNest, old: int, new: int) -> bool:
    """True if `new` may have the memory of `old`, another buffer of the same shape.

    Each point then reads `old` only where it writes `new`, and no more in later passes.
    """
    if old in nest.written:
        return False
    read: list[tuple[int, Access]] = []
    stored: list[tuple[int, Access]] = []
    for number, one in enumerate(nest.passes):
        loads = [n.access for n in one.body if isinstance(n, LoadElement)]
        read += [(number, a) for a in loads if a.buffer == old]
        stored += [(number, s.access) for s in one.stores if s.access.buffer == new]
        ends = [n.access for n in one.epilogue if isinstance(n, LoadElement)]
        ends += [s.access for s in one.epilogue_stores]
        if any(access.buffer in (old, new) for access in ends):
            return False
    written = {replace(access, buffer=old) for _, access in stored}
    # Elements that lie together at a place are of one point, whichever they are.
    places = {replace(access, lane=0) for access in written}
    return (
        len(places) == 1
        and all(access in written for _, access in read)
        and max((k for k, _ in read), default=0) <= min(k for k, _ in stored)
    )


def overwritten(launch: Launch, old: int, new: int) -> Launch:
    """The launch that writes the new buffer into the memory of the old one."""
    gone = launch.buffers.index(new)
    if old not in launch.buffers:
        buffers = tuple(old if b == new else b for b in launch.buffers)
        return replace(launch, buffers=buffers)
    kept = launch.buffers.index(old)

    def number(k: int) -> int:
        k = kept if k == gone else k
        return k - 1 if k > gone else k

    nest = map_accesses(launch.nest, lambda a: replace(a, buffer=number(a.buffer)))
    rest = [k for k in range(len(launch.buffers)) if k != gone]
    pointers = launch.labels.pointers
    return replace(
        launch,
        nest=replace(nest, buffers=tuple(nest.buffers[k] for k in rest)),
        buffers=tuple(launch.buffers[k] for k in rest),
        labels=replace(launch.labels, pointers=tuple(pointers[k] for k in rest)),
    )


def steps_over(steps: Sequence[Step], old: int, new: int) -> tuple[Step, ...] | None:
    """The steps with a new array in the memory of an old one of its shape and dtype;
    None if one of them needs the old one once the new one is begun.

    The first step of the new array is a copy of the old one, which goes, or a kernel
    that may write over it, or a choice between such steps. What comes after the steps
    must not need the old array.
    """
    at = next((k for k, step in enumerate(steps) if new in writes(step)), None)
    if at is None:
        return None
    others = pointers_to(old, steps)
    held = {old, *others}
    if any(not held.isdisjoint(reads(s) | writes(s)) for s in steps[at + 1 :]):
        return None
    made: tuple[Step, ...]
    match steps[at]:
        case Copy(source) if source == old:
            made = ()
        case Launch() as launch if _may_write(launch, old, new, others):
            made = (overwritten(launch, old, new),)
        case Branch(branches=branches) as choice:
            found = [steps_over(branch, old, new) for branch in branches]
            kept = tuple(branch for branch in found if branch is not None)
            if len(kept) < len(found):
                return None
            made = (replace(choice, branches=kept),)
        case _:
            return None
    return (*steps[:at], *made, *renamed(steps[at + 1 :], {new: old}))


def without_copies(
    call: CallRoutine, takes: Callable[[int, int], bool]
) -> tuple[CallRoutine, list[tuple[int, int]]]:
    """A call of a routine that begins its arrays in the memory of operands, which it
    needs for nothing but their first values; and these arrays, each with its operand.

    `takes` says if an array may have an operand's memory.
    """
    routine, found = call.routine, []
    given = dict(zip(routine.args, call.buffers, strict=True))
    for step in routine.steps:
        if not isinstance(step, Copy) or not {step.source, step.target} <= given.keys():
            continue
        rest = [s for s in routine.steps if s is not step]
        used = [k for s in rest for k in (*reads(s), *writes(s))]
        before = routine.steps[: routine.steps.index(step)]
        begun = any(step.target in reads(s) | writes(s) for s in before)
        if step.source in used or begun:
            continue
        if takes(given[step.target], given[step.source]):
            found.append((given[step.target], given.pop(step.source)))
            routine = replace(routine, args=tuple(given), steps=tuple(rest))
    return CallRoutine(routine, tuple(given.values())), found


def _may_write(launch: Launch, old: int, new: int, others: Collection[int]) -> bool:
    """True if a kernel may write a new array into an old one's memory."""
    if not reads(launch).isdisjoint(others):
        return False
    if old not in launch.buffers:
        return True
    at, own = launch.buffers.index(old), launch.buffers.index(new)
    return may_overwrite(launch.nest, at, own)
