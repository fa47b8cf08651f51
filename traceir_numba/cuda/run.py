"""A compiled program's steps on a device, one launch after the other.

Memory is flat: a shape is what launches and the host make of it. Of loops and choices
the host runs what `plans` leaves to it, around launches.

What the reference computes in the CPU's programs, such as sorts and factorisations, it
computes here, too, with a copy each way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from traceir.dtypes import as_dtype
from traceir_numba.backend import reference_function
from traceir_numba.cuda.routines.block_plans import (
    BranchLevel,
    HostBranch,
    HostLoop,
    HostWhile,
    KernelPart,
    Piece,
    Planned,
)
from traceir_numba.cuda.routines.pieces import LaunchPlan, plan_of
from traceir_numba.cuda.runtime import device
from traceir_numba.cuda.runtime.launching import launch, multiply
from traceir_numba.emitters.pairs.values import part_of
from traceir_numba.loops.nest import ScalarConstant
from traceir_numba.loops.program import (
    Assign,
    Buffer,
    BufferProgram,
    CallMatmul,
    CallReference,
    CallRoutine,
    Copy,
    Launch,
    Loop,
    Reshape,
    Routine,
    Step,
)
from traceir_numba.runtime.allocator import bits_dtype, narrow_of


def memory_of(dtype: str) -> np.dtype:
    """The dtype of the elements of a buffer's memory: of pairs, their parts.

    >>> memory_of("complex64"), memory_of("bool")
    (dtype('float32'), dtype('uint8'))
    """
    kind = as_dtype(dtype)
    if kind == np.dtype(bool):
        return np.dtype(np.uint8)
    narrow = narrow_of(kind)
    return part_of(kind) or (bits_dtype(narrow) if narrow else kind)


def length_of(buffer: Buffer) -> int:
    """The elements of a buffer's memory."""
    per = as_dtype(buffer.dtype).itemsize // memory_of(buffer.dtype).itemsize
    return prod(buffer.shape) * per


def to_device(array: np.ndarray, buffer: Buffer) -> Any:
    """An array's copy as the memory of a buffer."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return device.upload(flat.view(memory_of(buffer.dtype)))


def to_host(memory: Any, buffer: Buffer) -> np.ndarray:
    """A copy of a buffer's memory as an array."""
    flat = device.download(memory, length_of(buffer))
    return flat.view(as_dtype(buffer.dtype)).reshape(buffer.shape)


class CudaRunner:
    """A program whose constants are on the devices that have run it.

    `run` takes memory of the inputs, and gives that of the outputs.
    """

    def __init__(self, program: BufferProgram) -> None:
        self.program = program
        self._constants: dict[int, dict[int, Any]] = {}  # by the numbers of devices
        self._plans: dict[str, LaunchPlan] = {}  # by the names of routines

    def constants(self) -> dict[int, Any]:
        """The memory of constants on the present device, by slot."""
        number, buffers = device.number(), self.program.buffers
        if number not in self._constants:
            self._constants[number] = {
                k: to_device(value, buffers[k]) for k, value in self.program.constants
            }
        return self._constants[number]

    def plan(self, routine: Routine) -> LaunchPlan:
        """The plan of a routine of the program."""
        if routine.name not in self._plans:
            self._plans[routine.name] = plan_of(routine)
        return self._plans[routine.name]

    def run(self, memory: Sequence[Any]) -> list[Any]:
        """The memory of the results."""
        program = self.program
        slots = dict(zip(program.inputs, memory, strict=True)) | self.constants()
        steps = _Steps(program.buffers, slots, dict(program.reuses), self.plan)
        for step in program.steps:
            steps.step(step)
        return [slots[k] for k in program.outputs]


class _Steps:
    """A runner of the steps of a program, or of a routine, over memory by slots."""

    def __init__(
        self,
        buffers: Sequence[Buffer],
        slots: dict[int, Any],
        over: dict[int, int],
        plans: Callable[[Routine], LaunchPlan],
    ) -> None:
        self.buffers = buffers
        self.slots = slots
        self.over = over
        self.plans = plans
        self.parts: dict[int, list[Any]] = {}

    def memory(self, slot: int) -> Any:
        """The memory of a slot, made when it is first asked for."""
        if slot not in self.slots:
            if slot in self.over:
                self.slots[slot] = self.memory(self.over[slot])
            else:
                buffer = self.buffers[slot]
                made = device.empty(length_of(buffer), str(memory_of(buffer.dtype)))
                self.slots[slot] = made
        return self.slots[slot]

    def all(self, slots: Iterable[int]) -> list[Any]:
        """The memory of some slots."""
        return [self.memory(k) for k in slots]

    def step(self, step: Step) -> None:
        """Run one step of a program."""
        match step:
            case Launch(buffers=buffers):
                launch(step, self.all(buffers))
            case CallMatmul(inputs=inputs, output=output):
                dtype = str(memory_of(self.buffers[output].dtype))
                multiply(step, dtype, self.all((*inputs, output)))
            case CallReference():
                self.evaluate(step)
            case Copy(source, target):
                self.copy(self.memory(source), target)
            case Reshape(source, output, copied):
                if copied:
                    self.copy(self.memory(source), output)
                else:
                    self.slots[output] = self.memory(source)
            case CallRoutine(routine, buffers):
                inner = dict(zip(routine.args, self.all(buffers), strict=True))
                plan = self.plans(routine)
                _Steps(routine.buffers, inner, {}, self.plans).plan(plan, plan.steps)

    def copy(self, source: Any, target: int) -> None:
        """Put some memory's elements in a slot's memory."""
        memory = self.memory(target)
        if length_of(self.buffers[target]):
            device.copy(source, memory)

    def evaluate(self, step: CallReference) -> None:
        """Let the reference's kernel compute on the host."""
        arrays = [to_host(self.memory(k), self.buffers[k]) for k in step.inputs]
        found = reference_function(step.eqn.primitive)(*arrays, **dict(step.eqn.params))
        found = (found,) if len(step.outputs) == 1 else found
        for slot, array in zip(step.outputs, found, strict=True):
            self.slots[slot] = to_device(np.asarray(array), self.buffers[slot])

    # -- routines -----------------------------------------------------------------

    def plan(self, plan: LaunchPlan, steps: Iterable[Planned]) -> None:
        """Run a routine's steps, as they are planned."""
        for step in steps:
            match step:
                case Piece() | BranchLevel():
                    ready = plan.ready(step)
                    memory = self.all(ready.pointers)
                    for part in ready.parts:
                        memory += self.left(plan, part)
                    ready.run(*ready.shape, *memory)
                case Assign(pairs):
                    self.assign(pairs)
                case HostLoop(loop, body):
                    self.rows(plan, loop, body)
                case HostWhile(test, holds, body):
                    self.plan(plan, test)
                    while self.value(holds):
                        self.plan(plan, body)
                case HostBranch(index, branches):
                    k = int(self.value(index)) if len(branches) > 1 else 0
                    known = 0 <= k < len(branches)
                    self.plan(plan, branches[k if known else -1])
                case _:
                    self.step(step)

    def left(self, plan: LaunchPlan, part: KernelPart) -> list[Any]:
        """The memory that one kernel leaves parts in, for the one that joins them."""
        if not part.last:
            self.parts[id(part.step)] = plan.scratch(part)
        return self.parts[id(part.step)]

    def value(self, slot: int | ScalarConstant) -> Any:
        """The number that a scalar is: the only wait for the device."""
        if isinstance(slot, ScalarConstant):
            return slot.text == "True"
        return device.download(self.memory(slot), 1)[0]

    def is_scalar(self, slot: int) -> bool:
        """True if a slot has a value of its own, and is no pointer."""
        return self.buffers[slot].role == "scalar"

    def assign(self, pairs: Iterable[tuple[int, int | ScalarConstant]]) -> None:
        """Let pointers be others, all at once."""
        found = [(target, self.memory(k)) for target, k in pairs if isinstance(k, int)]
        self.slots.update(found)

    def rows(self, plan: LaunchPlan, loop: Loop, steps: Iterable[Planned]) -> None:
        """Steps over rows."""
        steps, order = tuple(steps), range(loop.length)
        for at in reversed(order) if loop.reverse else order:
            for stack, row in loop.read:
                self.point(stack, row, at)
            for stack, row in loop.written:
                if not self.is_scalar(row):
                    self.point(stack, row, at)
            self.plan(plan, steps)
            for stack, row in loop.written:
                if self.is_scalar(row):
                    device.copy(self.memory(row), self.element(stack, at, 1))

    def point(self, stack: int, row: int, at: int) -> None:
        """Let a row be that of a stack; a scalar gets its value."""
        length = length_of(self.buffers[row])
        found = self.element(stack, at, length)
        if self.is_scalar(row):
            device.copy(found, self.memory(row))
        else:
            self.slots[row] = found

    def element(self, stack: int, at: int, length: int) -> Any:
        """A part of a stack's memory."""
        return self.memory(stack)[at * length : (at + 1) * length]
