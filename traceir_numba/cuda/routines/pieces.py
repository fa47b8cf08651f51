"""Pieces that can be launched, each compiled when it first runs.

Serves: backend.device
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from math import prod
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.fork_safety import kept_over_forks
from traceir_numba.cuda.codegen.nest import CudaKernelSource, emit
from traceir_numba.cuda.codegen.thread_mapping import Key, key_of
from traceir_numba.cuda.routines import emit_levels
from traceir_numba.cuda.routines.barriers import Memories
from traceir_numba.cuda.routines.block_costs import threads
from traceir_numba.cuda.routines.block_plans import (
    BranchLevel,
    HostBranch,
    HostLoop,
    HostWhile,
    KernelPart,
    Piece,
    Planned,
    planned,
)
from traceir_numba.cuda.routines.emit_levels import launches_of, parts_in, pointers_of
from traceir_numba.cuda.routines.emit_pieces import PieceKernel
from traceir_numba.cuda.runtime import device
from traceir_numba.cuda.runtime.launching import (
    scratch_of,
    shape_of,
    shapes_of,
    space_of,
)
from traceir_numba.errors import wrapped
from traceir_numba.loops.nest import kind_of
from traceir_numba.loops.program import Buffer, CallMatmul, Copy, Launch, Routine, Step

_lock = kept_over_forks(threading.RLock())
# What was compiled, by its text: names and shapes are in it.
_compiled: dict[str, Callable[..., None]] = {}


@dataclass(frozen=True, slots=True)
class Ready:
    """A piece that can be launched: by blocks and threads, on the slots' memory."""

    run: Callable[..., None]
    shape: tuple[int, int]
    pointers: tuple[int, ...]
    parts: tuple[KernelPart, ...]


@dataclass(slots=True)
class LaunchPlan:
    """The host's steps to run a routine, and the kernels of its pieces.

    Those are known by the identity of their pieces; `functions` are the kernels of
    launches that pieces call.
    """

    steps: tuple[Planned, ...]
    buffers: Sequence[Buffer]
    kernels: dict[int, PieceKernel]
    functions: dict[Key, CudaKernelSource]
    _ready: dict[int, Ready] = field(default_factory=dict)

    def scratch(self, part: KernelPart) -> list[Any]:
        """Memory for the blocks' results of the first of two kernels."""
        return scratch_of(part.step, self.functions[key_of(part.step)])

    def ready(self, piece: Piece | BranchLevel) -> Ready:
        """A piece that can be launched, compiled when it is asked for first."""
        found = self._ready.get(id(piece))
        if found is None:
            run = _made(self.kernels[id(piece)])
            shape = grid_of(piece, self.buffers)
            found = Ready(run, shape, pointers_of(piece), tuple(parts_in(piece)))
            self._ready[id(piece)] = found
        return found


def plan_of(routine: Routine) -> LaunchPlan:
    """The plan of a routine, with the source of its pieces."""
    memories = Memories(routine.steps, routine.buffers)
    steps = planned(routine, memories)
    functions: dict[Key, CudaKernelSource] = {}
    kernels = {}
    for number, piece in enumerate(every(steps)):
        for step in launches_of(piece):
            nest, form = key_of(step)
            if (nest, form) not in functions:
                name = f"{routine.name}_body_{len(functions)}_{kind_of(nest)}"
                functions[nest, form] = emit(nest, step.labels, form, name)
        name = f"{routine.name}_{number}" if number else routine.name
        kernels[id(piece)] = emit_levels.emit(piece, name, memories, functions)
    return LaunchPlan(steps, routine.buffers, kernels, functions)


def launched(steps: Iterable[Planned]) -> Iterator[Step]:
    """The launches, calls and copies that the host does by themselves, in order."""
    return (s for s in _innermost(steps) if isinstance(s, Launch | CallMatmul | Copy))


def every(steps: Iterable[Planned]) -> Iterator[Piece | BranchLevel]:
    """All pieces and levels among steps, in order."""
    return (s for s in _innermost(steps) if isinstance(s, Piece | BranchLevel))


def _innermost(steps: Iterable[Planned]) -> Iterator[Planned]:
    """The steps that have no others inside, in order."""
    for step in steps:
        match step:
            case HostLoop(_, inner):
                yield from _innermost(inner)
            case HostWhile(test, _, inner):
                yield from _innermost((*test, *inner))
            case HostBranch(_, branches):
                for branch in branches:
                    yield from _innermost(branch)
            case _:
                yield step


def grid_of(piece: Piece | BranchLevel, buffers: Sequence[Buffer]) -> tuple[int, int]:
    """Blocks, and threads of each."""
    if isinstance(piece, Piece):
        most = threads(piece.steps, buffers)
        return shape_of(most, 1) if most > 1 else (1, 1)
    found = [(1, 1)]
    for step in piece.steps:
        match step:
            case Launch():
                found.append(shapes_of(step, key_of(step)[1])[0])
            case KernelPart(launch, last):
                found.append(shapes_of(launch, key_of(launch)[1])[last])
            case Copy(_, target):
                size = prod(buffers[target].shape)
                found.append(shape_of(size, size, by_thread=True))
    return max(b for b, _ in found), max(w for _, w in found)


def _made(kernel: PieceKernel) -> Callable[..., None]:
    # The user's lines are no part of what is compiled.
    key = re.sub(r"(?m)^ *#.*\n", "", module_of(kernel))
    with _lock:
        if key not in _compiled:
            _compiled[key] = _make(kernel)
        return _compiled[key]


def _make(kernel: PieceKernel) -> Callable[..., None]:
    with wrapped("backend.compile", kernel.name):
        space = space_of(kernel.calls)
        # One text: the simulator tells shared arrays by the lines that they are on.
        exec(module_of(kernel), space)
        return device.kernel(space, kernel.name)


def module_of(kernel: PieceKernel) -> str:
    """The text of a piece and of its callees, without the functions of numbers."""
    functions = [f"@function\n{text}" for text in kernel.functions]
    return "\n\n\n".join([*functions, kernel.text])
