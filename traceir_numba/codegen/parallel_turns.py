"""Routines as source, with loops whose turns threads share.

Serves: staged.turns

Turns are cut into parts by their number alone, and a function of its own runs the turns
of one part. What each part leaves is folded in the order of the parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from traceir.text.words import number_text
from traceir_numba import cost_model
from traceir_numba.buffers.lower_control_flow import is_inline
from traceir_numba.buffers.share_loops import outside_turns, shared_launches
from traceir_numba.codegen.body import (
    as_memory,
    constant_text,
    memory_dtype,
    pointer_name,
)
from traceir_numba.codegen.nest import KernelSource
from traceir_numba.codegen.routine import RoutineEmitter
from traceir_numba.device_functions import short
from traceir_numba.loops.nest import LoopNest
from traceir_numba.loops.program import (
    Buffer,
    Launch,
    Loop,
    ParallelLoop,
    Routine,
    Step,
    TurnCarry,
)
from traceir_numba.loops.step_effects import walk

# How a fold combines what two parts leave, and what it has before the first one.
_OPERATORS = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_COMPARED = {"min": "<", "max": ">", "least": "<", "greatest": ">"}
Kernels = Mapping[LoopNest | str, KernelSource]


def emit_routine(routine: Routine, kernels: Kernels) -> KernelSource:
    """The source of a routine; `kernels` are those of its launches, and of its loops
    whose turns are shared, by their names."""
    emitter = TurnsEmitter(routine.buffers, kernels)
    emitter.steps(routine.steps)
    pointers = [routine.buffers[k] for k in routine.args]
    found = _source(routine.name, pointers, emitter, routine.steps)
    shared = shared_launches(routine.steps).items()
    names = tuple((kernels[nest].name, least) for nest, least in shared)
    return replace(found, shared=names)


def emit_turns(
    step: ParallelLoop, buffers: tuple[Buffer, ...], kernels: Kernels
) -> KernelSource:
    """The source of the turns of one part of a loop."""
    emitter = TurnsEmitter(buffers, kernels)
    emitter.turns(step)
    found = _source(step.name, _pointers(step, buffers), emitter, step.loop.steps)
    sizes = tuple(_bytes(buffers[k]) for k in step.private)
    return replace(found, sizes=("share", "lo", "hi"), private=sizes)


def _bytes(buffer: Buffer) -> int:
    dtype = np.dtype(memory_dtype(buffer.dtype))
    return int(np.prod(buffer.shape, dtype=np.int64)) * dtype.itemsize


def _pointers(step: ParallelLoop, buffers: tuple[Buffer, ...]) -> list[Buffer]:
    """The pointers that a function of turns is given, private memory last."""
    own = (memory for _, memory in (*step.scalars, *step.parts))
    given = dict.fromkeys((*step.pointers, *own, *step.private))
    return [buffers[k] for k in given]


def _source(
    name: str, pointers: list[Buffer], emitter: TurnsEmitter, steps: tuple[Step, ...]
) -> KernelSource:
    code = emitter.code
    names = [pointer_name(b.name) for b in pointers]
    own = [*names, *emitter.sizes]
    launches = [s for s in outside_turns(steps) if isinstance(s, Launch)]
    nests: dict[LoopNest, int] = {}
    for s in launches:
        if not is_inline(s):
            row = s.extents[-1] if s.extents else 1
            nests[s.nest] = min(row, nests.get(s.nest, row))
    own_turns = (s.name for s in outside_turns(steps) if isinstance(s, ParallelLoop))
    turns = [emitter.kernels[name] for name in own_turns]
    called = [(emitter.kernels[nest].name, nest) for nest in nests]
    return KernelSource(
        name,
        "\n".join([f"def {name}({', '.join(own)}):", *code.lines]),
        tuple(memory_dtype(b.dtype) for b in pointers),
        (),
        (),
        tuple(code.calls),
        (),
        (*called, *((f"shared_{one.name}", one.key) for one in turns)),
        scalar=any(map(_scatters, outside_turns(steps))),
        rounds=tuple(emitter.rounds),
        short=tuple(
            emitter.kernels[nest].name
            for nest, row in nests.items()
            if row < cost_model.CALLED_ROW
        ),
    )


def parallel_loops(routine: Routine) -> list[ParallelLoop]:
    """The loops of a routine whose turns are shared."""
    return [s for s in walk(routine.steps) if isinstance(s, ParallelLoop)]


def _scatters(step: Step) -> bool:
    """True if single elements are put somewhere, and perhaps read soon."""
    if not isinstance(step, Launch) or not is_inline(step):
        return False
    return any(store.access.dynamic for store in step.nest.all_stores)


class TurnsEmitter(RoutineEmitter):
    """A writer of a routine's source that knows loops with shared turns."""

    sizes: tuple[str, ...] = ()

    def step(self, step: Step) -> None:
        """The lines of one step."""
        if isinstance(step, ParallelLoop):
            self.share(step)
        else:
            super().step(step)

    def cast(self, slot: int, text: str) -> str:
        """A number in the type of a scalar."""
        dtype = self.buffers[slot].dtype
        return text if dtype == "bool" else f"{short(dtype)}({text})"

    # -- the function of a part ---------------------------------------------------

    def turns(self, step: ParallelLoop) -> None:
        """The lines of the function that runs the turns of a part."""
        self.sizes = ("share", "lo", "hi")
        code, loop = self.code, step.loop
        for slot, memory in step.scalars:
            code.add(f"{self.name(slot)} = {self.element(slot, stack=memory)}")
        for carry in step.turns.carries:
            self.begin(carry)
        at = loop.index if isinstance(loop, Loop) else "turn"
        with self.repeated(None), code.block(f"for {at} in range(lo, hi):"):
            if isinstance(loop, Loop):
                self.rows(loop)
            else:
                self.leave(step.turns.carries)
                self.steps(loop.steps)
        for slot, memory in step.parts:
            value = as_memory(self.name(slot), self.buffers[slot].dtype)
            code.add(f"{self.name(memory)}[share] = {value}")

    def leave(self, carries: tuple[TurnCarry, ...]) -> None:
        """Lines that end a part once a check has failed: the loop's test may have
        stopped it there, and its body relies on that."""
        for carry in carries:
            if carry.kind == "number":
                fine = self.cast(carry.slot, "0")
                with self.code.block(f"if {self.name(carry.slot)} != {fine}:"):
                    self.code.add("break")

    def begin(self, carry: TurnCarry) -> None:
        """A line for the value that a part's first turn begins with."""
        name = self.name(carry.slot)
        if carry.kind == "counter":
            text = self.cast(carry.slot, f"{name} + lo * {carry.step}")
            self.code.add(f"{name} = {text}")
        elif carry.kind in _OPERATORS or carry.kind in _COMPARED:
            start = _identity(carry.kind, np.dtype(self.buffers[carry.slot].dtype))
            self.code.add(f"{name} = {name} if share == 0 else {start}")

    # -- the loop in its routine --------------------------------------------------

    def share(self, step: ParallelLoop) -> None:
        """A call of the function for all parts, and what they leave as one."""
        code, number = self.code, len(self.rounds)
        for slot, memory in step.scalars:
            value = as_memory(self.name(slot), self.buffers[slot].dtype)
            code.add(f"{self.name(memory)}[0] = {value}")
        count = f"turns_{number}"
        size, parts = f"size_{number}", f"parts_{number}"
        most, grain = cost_model.TURN_PARTS, step.grain
        if isinstance(step.loop, Loop):
            turns = step.loop.length
            least = max(turns // most + 1, grain)
            count, size, parts = str(turns), str(least), str(-(-turns // least))
        else:
            code.add(f"{count} = {self.count_text(step)}")
            code.add(f"{size} = {count} // {most} + 1")
            code.add(f"{size} = {size} if {size} > {grain} else {grain}")
            code.add(f"{parts} = ({count} + {size} - 1) // {size}")
        kernel = self.kernels[step.name]
        names = [pointer_name(b.name) for b in _pointers(step, tuple(self.buffers))]
        given = ", ".join([*names, count, size, parts])
        code.add(f"stopped_{number} = shared_{kernel.name}({given})")
        with code.block(f"if stopped_{number} != 0:"):
            code.add("return")
        memories = dict(step.parts)
        folded = [c for c in step.turns.carries if c.slot in memories]
        if folded:
            self.rounds.append(0)
            with code.block(f"for part_{number} in range({parts}):"):
                self.fold(folded, memories, f"part_{number}")
        for carry in step.turns.carries:
            if carry.kind == "counter":
                name = self.name(carry.slot)
                text = self.cast(carry.slot, f"{name} + {count} * {carry.step}")
                code.add(f"{name} = {text}")
        self.cost += cost_model.TURN_PART_WORK

    def count_text(self, step: ParallelLoop) -> str:
        """The number of turns."""
        counter = step.turns.counter
        assert counter is not None
        first, stop = self.name(counter.slot), self.text(counter.stop)
        by = counter.step
        last = "" if by == 1 else f" + {by - 1}"
        many = f"({stop} - {first}{last}) // {by}"
        return f"{many} if {first} < {stop} else 0"

    def fold(
        self, carries: list[TurnCarry], memories: dict[int, int], part: str
    ) -> None:
        """The lines that add what a part has left to what there is."""
        code = self.code
        status = [c for c in carries if c.kind in ("status", "number")]
        for carry in carries:
            name = self.name(carry.slot)
            found = self.element(carry.slot, part, memories[carry.slot])
            if carry.kind == "last":
                code.add(f"{name} = {found}")
            elif carry.kind not in ("status", "number"):
                code.add(f"{name}_part = {found}")
                both = self.combined(carry, name)
                code.add(f"{name} = {both} if {part} > 0 else {name}_part")
        if status:  # the first part in which a check has failed
            number = status[-1]
            assert number.kind == "number"
            fine = f"{self.name(number.slot)} == {self.cast(number.slot, '0')}"
            with code.block(f"if {fine}:"):
                for carry in status:
                    found = self.element(carry.slot, part, memories[carry.slot])
                    code.add(f"{self.name(carry.slot)} = {found}")

    def combined(self, carry: TurnCarry, name: str) -> str:
        """A number and what a part has left, folded."""
        if carry.kind in _OPERATORS:
            text = f"{name} {_OPERATORS[carry.kind]} {name}_part"
            return (
                f"({text})"
                if self.buffers[carry.slot].dtype == "bool"
                else (self.cast(carry.slot, text))
            )
        test = f"{name}_part {_COMPARED[carry.kind]} {name}"
        if carry.kind in ("least", "greatest"):
            return f"({name}_part if {test} else {name})"
        return f"({name}_part if ({test}) | ({name}_part != {name}_part) else {name})"


def _identity(fold: str, dtype: np.dtype) -> str:
    """The number that a fold leaves as any other one is."""
    whole = dtype.kind in "iu"
    value: object
    match fold:
        case "add":
            value = 0 if whole else -0.0
        case "mul":
            value = 1
        case "and":
            value = (
                True
                if dtype.kind == "b"
                else -1
                if dtype.kind == "i"
                else (np.iinfo(dtype).max)
            )
        case "or" | "xor":
            value = False if dtype.kind == "b" else 0
        case "min" | "least":
            value = np.iinfo(dtype).max if whole else np.inf
        case _:
            value = np.iinfo(dtype).min if whole else -np.inf
    return constant_text(number_text(dtype.type(value), dtype), dtype.name)
