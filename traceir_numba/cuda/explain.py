"""A report on a program's kernels, their threads and their memory.

It is told by `f.explain(*args, what="speed")`. Serves: jit.explain
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from traceir_numba.cuda.codegen.thread_mapping import key_of
from traceir_numba.cuda.routines.block_plans import Piece, Planned
from traceir_numba.cuda.routines.pieces import plan_of
from traceir_numba.cuda.runtime.launching import shapes_of
from traceir_numba.cuda.source import kernels_of
from traceir_numba.loops.program import BufferProgram, CallRoutine, Launch
from traceir_numba.pipeline import explain

# Who does what in each form of kernel.
WORKERS = {
    "points": "a thread for each point",
    "squares": "a block for squares of points",
    "tiles": "a block for neighbouring rows or columns",
    "lines": "a block along a line",
    "puts": "a thread for points that do not meet",
    "atomic": "a thread for each point, joined by atomic operations",
}


def report(program: BufferProgram, seconds: Mapping[str, float]) -> str:
    """The launches of a program in words, and how long it took to make."""
    kernels = kernels_of(program)
    launches = {k: s for k, s in enumerate(program.steps) if isinstance(s, Launch)}
    names = {k: kernels[key_of(step)].name for k, step in launches.items()}
    return explain.told(program, names, lambda k, step: _how(step), _loop, seconds)


def _how(step: Launch) -> str:
    _, form = key_of(step)
    (blocks, threads), _ = shapes_of(step, form)
    joined = ", then one that joins their parts" if form.parts else ""
    return f"{WORKERS[form.kind]}: {blocks} x {threads} threads{joined}"


def _loop(step: CallRoutine) -> str:
    steps = plan_of(step.routine).steps
    if all(isinstance(one, Piece) for one in steps):
        return "control flow, one kernel"
    return f"control flow, by the host around {_plural(steps)}"


def _plural(steps: Iterable[Planned]) -> str:
    pieces = sum(isinstance(one, Piece) for one in steps)
    return f"launches and {pieces} kernels of its own" if pieces else "launches"
