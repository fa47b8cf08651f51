"""The values that steps need, and those that they change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field

from traceir.base.fast_dataclass import dataclass
from traceir_numba.buffers.lower_control_flow import is_inline
from traceir_numba.loops.nest import ScalarConstant
from traceir_numba.loops.program import (
    Assign,
    Branch,
    Buffer,
    CallMatmul,
    Copy,
    Launch,
    Loop,
    Step,
    StoreScalar,
    While,
)
from traceir_numba.loops.step_effects import inner, walk, writes


@dataclass(slots=True)
class Needs:
    """Slots whose values or pointers are used before the steps set them, in order.

    `memory` are scalars that kernels read or write in memory.
    """

    values: dict[int, None] = field(default_factory=dict)
    memory: dict[int, None] = field(default_factory=dict)


def of(steps: Iterable[Step], buffers: Sequence[Buffer]) -> Needs:
    """The values that steps need."""
    found = _Finder(buffers)
    found.steps(steps, frozenset())
    return found.needs


def mentions(steps: Iterable[Step]) -> Counter[int]:
    """The number of mentions of each slot in steps."""
    found: Counter[int] = Counter()
    for step in walk(steps):
        found.update(k for k in _own(step) if isinstance(k, int))
    return found


def _own(step: Step) -> Iterable[int | ScalarConstant]:
    """The slots that stand in a step, but for those in steps inside it."""
    match step:
        case Launch(buffers=buffers):
            return buffers
        case CallMatmul(_, inputs, output):
            return (*inputs, output)
        case Copy(source, target):
            return (source, target)
        case Assign(pairs):
            return [k for pair in pairs for k in pair]
        case Loop(read=read, written=written):
            return [k for pair in (*read, *written) for k in pair]
        case While(holds=holds):
            return (holds,)
        case Branch(index=index):
            return (index,)
        case StoreScalar(slot):  # a result
            return (slot,)
    return ()


def assigned(steps: Iterable[Step], buffers: Sequence[Buffer]) -> set[int]:
    """The scalars and pointers that get new values; rows of loops do not outlast them.

    Memory that is written is where it was.
    """
    found: set[int] = set()
    for step in walk(steps):
        match step:
            case Assign(pairs):
                found.update(target for target, _ in pairs)
            case Launch():
                found |= {k for k in writes(step) if buffers[k].role == "scalar"}
    return found


class _Finder:
    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self.buffers = buffers
        self.needs = Needs()

    def need(
        self, slots: Iterable[int | ScalarConstant], known: frozenset[int]
    ) -> None:
        for slot in slots:
            if isinstance(slot, int) and slot not in known:
                self.needs.values[slot] = None

    def steps(self, steps: Iterable[Step], known: frozenset[int]) -> frozenset[int]:
        """Go through steps; the slots that have values after them."""
        for step in steps:
            known = self.step(step, known)
        return known

    def step(self, step: Step, known: frozenset[int]) -> frozenset[int]:
        """Note a step's needs; return the slots that have values after it."""
        match step:
            case Launch():
                return self.launch(step, known)
            case Assign(pairs):
                self.need((source for _, source in pairs), known)
                return known.union(target for target, _ in pairs)
            case Loop(read=read, written=written):
                both = (*read, *written)
                self.need((stack for stack, _ in both), known)
                self.steps(step.steps, known.union(row for _, row in both))
                return known
            case While(test, holds, body):
                known = self.steps(test, known)
                self.need([holds], known)
                self.steps(body, known)
                return known
            case Branch(index, branches):
                if len(branches) > 1:
                    self.need([index], known)
                ends = [self.steps(branch, known) for branch in branches]
                return frozenset.intersection(*ends)
        assert not inner(step)
        self.need(_own(step), known)
        return known

    def launch(self, step: Launch, known: frozenset[int]) -> frozenset[int]:
        """Arrays are pointers; a scalar is needed if it is read."""
        nest, set_ = step.nest, set[int]()
        for k, slot in enumerate(step.buffers):
            if self.buffers[slot].role != "scalar":
                self.need([slot], known)
                continue
            if not is_inline(step):
                self.needs.memory[slot] = None
            if k in nest.loaded:
                self.need([slot], known)
            if k in nest.written:
                set_.add(slot)
        return known | set_
