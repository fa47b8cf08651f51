"""The source of all kernels and routines that a program runs."""

from __future__ import annotations

from traceir.base.fast_dataclass import dataclass
from traceir_numba.buffers.lower_control_flow import is_inline
from traceir_numba.codegen.nest import KernelSource, emit
from traceir_numba.codegen.parallel_turns import (
    emit_routine,
    emit_turns,
    parallel_loops,
)
from traceir_numba.loops.nest import LoopNest, kind_of
from traceir_numba.loops.program import BufferProgram, CallRoutine, Launch, Routine
from traceir_numba.loops.step_effects import walk


@dataclass(frozen=True, slots=True)
class KernelSources:
    """Kernels by the number of the step that runs them, and those inside routines, of
    which turns of loops have names."""

    steps: dict[int, KernelSource]
    inner: dict[LoopNest | str, KernelSource]

    def requests(self, program: BufferProgram) -> dict[LoopNest, KernelSource]:
        """The kernels to compile first: one for each nest."""
        found = {n: k for n, k in self.inner.items() if isinstance(n, LoopNest)}
        for number, kernel in self.steps.items():
            step = program.steps[number]
            if isinstance(step, Launch):
                found[step.nest] = kernel
        return found

    def turns(self) -> dict[str, KernelSource]:
        """Then those of loops' turns."""
        return {n: k for n, k in self.inner.items() if isinstance(n, str)}

    def routines(self, program: BufferProgram) -> dict[str, KernelSource]:
        """The routines to compile then, by the key that makes two of them the same
        code.
        """
        return {
            self.steps[number].key: self.steps[number]
            for number, step in enumerate(program.steps)
            if isinstance(step, CallRoutine)
        }


def sources_of(program: BufferProgram) -> KernelSources:
    """The sources of a program; equal nests have one, and so have equal routines."""
    outer: dict[LoopNest | str, KernelSource] = {}
    inner: dict[LoopNest | str, KernelSource] = {}
    steps = {}
    name = program.name.rstrip("_")
    for number, step in enumerate(program.steps):
        match step:
            case Launch():
                if step.nest not in outer:
                    outer[step.nest] = _kernel(step, f"{name}_{len(outer)}")
                steps[number] = outer[step.nest]
            case CallRoutine(routine):
                for launch in walk(routine.steps):
                    if (
                        isinstance(launch, Launch)
                        and not is_inline(launch)
                        and launch.nest not in inner
                    ):
                        own = f"{name}_body_{len(inner)}"
                        inner[launch.nest] = _kernel(launch, own)
                made = _routine(routine, inner)
                steps[number] = outer.setdefault(made.key, made)
    return KernelSources(steps, inner)


def _routine(
    routine: Routine, inner: dict[LoopNest | str, KernelSource]
) -> KernelSource:
    """A routine; the functions of its loops' turns join the others, under keys that
    make two of them the same code."""
    own: dict[LoopNest | str, KernelSource] = dict(inner)
    for loop in parallel_loops(routine):
        made = emit_turns(loop, routine.buffers, inner)
        own[loop.name] = inner.setdefault(made.key, made)
    return emit_routine(routine, own)


def _kernel(step: Launch, name: str) -> KernelSource:
    """The kernel of a launch; its name has a word for its work."""
    return emit(step.nest, step.labels, f"{name}_{kind_of(step.nest)}")
