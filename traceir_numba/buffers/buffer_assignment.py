"""Buffers that reuse the memory of others that are dead.

A value whose readers are done leaves its memory to the next one of the same shape and
dtype; a kernel that reads an element just where it writes one writes it in place.

Dead memory goes to the next buffer of the same shape and dtype. A large result is
written over an operand that dies in the same kernel, if each point reads only what it
then writes; the kernel then has one pointer for both. Inputs that are donated are dead
once they have been read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import field, replace
from math import prod

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import as_dtype
from traceir.ir.program_cost import MemoryStats
from traceir_numba import cost_model
from traceir_numba.buffers.overwriting import may_overwrite, overwritten, without_copies
from traceir_numba.loops.program import (
    Buffer,
    BufferProgram,
    CallMatmul,
    CallReference,
    CallRoutine,
    Copy,
    Launch,
    Reshape,
    Step,
)

# What an array is made for.
Kind = tuple[tuple[int, ...], str]

# Roles of buffers whose memory is the program's own.
OWN = ("temporary", "output")


def assign_buffers(
    program: BufferProgram, donated: Collection[int] = ()
) -> BufferProgram:
    """Decide buffer reuse: the same program with buffers that take over dead memory.

    `donated` are the inputs whose memory may be written once they have been read.
    """
    return _BufferAssignment(program, frozenset(donated)).program_()


def size_of(buffer: Buffer) -> int:
    """The bytes of a buffer."""
    return int(prod(buffer.shape)) * as_dtype(buffer.dtype).itemsize


def memory_stats(program: BufferProgram, donated: Collection[int]) -> MemoryStats:
    """The bytes of a program's arguments, results and own buffers."""
    over = {slot for slot, _ in program.reuses}
    sizes = [size_of(buffer) for buffer in program.buffers]
    own = [
        sizes[k]
        for k, buffer in enumerate(program.buffers)
        if buffer.role == "temporary" and k not in over
    ]
    return MemoryStats(
        sum(sizes[k] for k in program.inputs),
        sum(sizes[k] for k in program.outputs),
        sum(own),
        sum(sizes[program.inputs[k]] for k in donated),
    )


@dataclass(slots=True)
class _BufferAssignment:
    program: BufferProgram
    donated: frozenset[int]
    reuses: dict[int, int] = field(default_factory=dict)  # whose memory each one takes
    last: dict[int, int] = field(default_factory=dict)  # the last step that needs it
    ends: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    dead: dict[Kind, list[int]] = field(default_factory=lambda: defaultdict(list))

    def program_(self) -> BufferProgram:
        """The program with dead buffers' memory given to later ones, step by step."""
        program = self.program
        self.find_aliases()
        self.find_ends()
        made = {*program.inputs, *(k for k, _ in program.constants)}
        for slot in self.donated - self.last.keys():
            self.dead[self.kind(slot)].append(slot)
        steps: list[Step] = []
        takes: dict[int, int] = {}
        for number, step in enumerate(program.steps):
            if isinstance(step, Copy) and self.dies(step.source, number):
                self.take(step.target, self.root(step.source))
                step = Reshape(step.source, step.target)
                made.add(step.output)
            renamed: list[Step] = []
            if isinstance(step, CallRoutine):
                before = self.begun(step, number, made)
                steps += before[:-1]
                step = before[-1]
            if isinstance(step, Launch):
                for new, old in self.in_place(step, number, made):
                    self.take(new, old)
                    step = overwritten(step, old, new)
                    renamed.append(Reshape(old, new))
                    made.add(new)
            for slot in needed(step):
                alike = [] if slot in made else self.dead[self.kind(slot)]
                if alike:
                    takes[slot] = found = alike.pop()  # that which died last
                    self.take(slot, found)
                made.add(slot)
            made.update(_touches(step))
            steps += [step, *renamed]
            for slot in self.ending(number, made):
                self.dead[self.kind(slot)].append(slot)
        over = tuple(sorted(takes.items()))
        return replace(program, steps=tuple(steps), reuses=over)

    # -- how long memory is needed ------------------------------------------------

    def root(self, slot: int) -> int:
        """The buffer whose memory a buffer has."""
        while slot in self.reuses:
            slot = self.reuses[slot]
        return slot

    def find_aliases(self) -> None:
        for step in self.program.steps:
            if isinstance(step, Reshape) and not step.copied:
                self.reuses[step.output] = step.source

    def find_ends(self) -> None:
        steps = self.program.steps
        for number, step in enumerate(steps):
            for slot in _touches(step):
                self.last[self.root(slot)] = number
        for slot in self.program.outputs:
            self.last[self.root(slot)] = len(steps)
        for slot, number in self.last.items():
            self.ends[number].add(slot)

    def take(self, new: int, old: int) -> None:
        """Let a buffer have another one's memory, which lasts as long as both."""
        before = self.last.get(old, 0)
        after = max(before, self.last[new])
        self.ends[before].discard(old)
        self.ends[after].add(old)
        self.last[old] = after
        self.reuses[new] = old

    def kind(self, slot: int) -> Kind:
        """The properties that two buffers must share to share memory."""
        buffer = self.program.buffers[slot]
        return buffer.shape, buffer.dtype

    def free(self, slot: int) -> bool:
        """True if the program may write a buffer's memory anew."""
        return self.program.buffers[slot].role in OWN or slot in self.donated

    def ending(self, number: int, made: Collection[int]) -> list[int]:
        """The memory that no step after this one needs."""
        return [
            slot
            for slot in sorted(self.ends[number])
            if slot in made and slot not in self.reuses and self.free(slot)
        ]

    def dies(self, slot: int, number: int) -> bool:
        """True if a step is the last that needs a buffer's memory, which is free."""
        root = self.root(slot)
        return self.last[root] == number and self.free(root)

    # -- in place -----------------------------------------------------------------

    def in_place(
        self, step: Launch, number: int, made: Collection[int]
    ) -> Iterator[tuple[int, int]]:
        """A buffer that a launch makes and the dying one to be written over, if any."""
        buffers = self.program.buffers
        for new in step.buffers:
            if new in made or size_of(buffers[new]) < cost_model.POOLED_BYTES:
                continue
            for old in step.buffers:
                if (
                    old in made
                    and old not in self.reuses  # its own name is in the launch
                    and self.free(old)
                    and self.last[old] == number
                    and buffers[old].dtype == buffers[new].dtype
                    and buffers[old].shape == buffers[new].shape
                    and step.nest.form == "map"
                    and may_overwrite(
                        step.nest, step.buffers.index(old), step.buffers.index(new)
                    )
                ):
                    yield new, old
                    return

    def begun(self, call: CallRoutine, number: int, made: set[int]) -> list[Step]:
        """A call of a routine, and before it what begins its arrays in place."""

        def takes(new: int, old: int) -> bool:
            others = [k for k in call.buffers if self.root(k) == self.root(old)]
            free = others == [old] and self.dies(old, number)
            return free and new not in made and self.kind(new) == self.kind(old)

        call, found = without_copies(call, takes)
        for new, old in found:
            self.take(new, self.root(old))
            made.add(new)
        return [*(Reshape(old, new) for new, old in found), call]


def needed(step: Step) -> tuple[int, ...]:
    """The buffers that must have memory before a step of a program runs."""
    match step:
        case Reshape():
            return ()
        case CallReference(inputs=inputs):
            return inputs
    return _touches(step)


def _touches(step: Step) -> tuple[int, ...]:
    """The slots of a step, read or written."""
    match step:
        case Launch() | CallRoutine():
            return step.buffers
        case CallMatmul():
            return (*step.inputs, step.output)
        case CallReference():
            return (*step.inputs, *step.outputs)
        case Reshape():
            return (step.source, step.output)
        case Copy():
            return (step.source, step.target)
    raise AssertionError(step)
