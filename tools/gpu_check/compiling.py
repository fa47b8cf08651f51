"""Kernels of the cases as PTX and machine code, without a device.

Serves: every table
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from tools.gpu_check.cases import ordered
from tools.gpu_check.table import Row, counted, problems
from traceir.conform import Case, load_cases
from traceir.errors import TraceirError
from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import ClosedJaxpr
from traceir_numba.cuda.ptx import Usage, compiler, machine_code, ptx, ptxas
from traceir_numba.errors import wrapped
from traceir_numba.loops.program import BufferProgram
from traceir_numba.lowering.host_partition import HostDrivenExecutable, needs_host
from traceir_numba.pipeline.build_program import build_program

# A thread has so many registers at most; with more than half of them a device runs few
# threads beside one another.
MANY = 128
# Why a case has no program of its own: it is a function of the host's, without types,
# or is mapped over an axis first.
APART = ("text.syntax", "jit.argument", "axis.unbound")


@dataclass(frozen=True, slots=True)
class Found:
    """The result for a case: its kernels by name with the usage of their machine code,
    or why there are none. Host functions have no kernels.
    """

    kernels: tuple[str, ...] = ()
    used: tuple[Usage, ...] = ()
    why: str = ""


@dataclass(slots=True)
class _Sum:
    """All that was found."""

    counts: Counter[str] = field(default_factory=lambda: Counter({"compiled": 0}))
    kernels: int = 0
    used: list[tuple[str, Usage]] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, found: Found) -> None:
        self.counts["failed" if found.why else "compiled"] += 1
        if found.why:
            self.wrong.append((name, found.why))
        self.kernels += len(found.kernels)
        names = (f"{name}: {kernel}" for kernel in found.kernels)
        self.used += zip(names, found.used, strict=False)


def rows(pattern: str, capability: str, jobs: int, end: float) -> Iterator[Row]:
    """The results for the kernels of cases, those of each primitive first.

    Raises RuntimeError (backend.device) where nothing compiles.
    """
    major, _, minor = capability.partition(".")
    wanted = int(major), int(minor or 0)
    start = time.monotonic()
    names = [case.name for case in ordered(pattern)]
    compiler()
    total = _Sum()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context)
    futures = {pool.submit(compiled, name, wanted): name for name in names}
    with suppress(TimeoutError):
        for future in as_completed(futures, max(0.0, end - start)):
            total.add(futures[future], _result(future))
    pool.shutdown(wait=False, cancel_futures=True)
    total.counts["late"] = len(names) - total.counts.total()
    took = f"{time.monotonic() - start:.0f} s"
    counts = counted(total.counts)
    yield Row(("programs of cases", counts, took), bool(total.wrong))
    yield from problems(total.wrong)
    yield Row((f"kernels for sm_{wanted[0]}{wanted[1]}", f"{total.kernels} to PTX"))
    yield from _assembled(total.used)


def _result(future: Future[Found]) -> Found:
    try:
        return future.result()
    except Exception as error:  # a process that is gone
        return Found(why=repr(error))


def _assembled(used: Sequence[tuple[str, Usage]]) -> Iterator[Row]:
    """The rows about machine code."""
    if not used:
        yield Row(("machine code", "none: there is no ptxas"))
        return
    spilled = [(name, f"{u.spilled} bytes spilled") for name, u in used if u.spilled]
    dense = sum(u.registers > MANY for _, u in used)
    most = max(u.registers for _, u in used)
    shared = max(u.shared for _, u in used)
    yield Row(("  to machine code", f"{len(used)}, {len(spilled)} of them spill"))
    yield Row(("  registers of a thread", f"{most} at most, {dense} above {MANY}"))
    yield Row(("  shared memory", f"{shared} bytes at most"))
    for name, why in spilled[:20]:
        yield Row((f"  {name}: {why}",))


@cache
def _cases() -> dict[str, Case]:
    return {case.name: case for case in load_cases()}


def compiled(name: str, capability: tuple[int, int]) -> Found:
    """The kernels of one case."""
    kernels: dict[str, str] = {}
    try:
        for program in programs(_cases()[name].program()):
            kernels |= ptx(program, capability)
        used = []
        if ptxas() is not None:
            used = [machine_code(text, capability) for text in kernels.values()]
    except TraceirError as error:
        if error.rule in APART:
            return Found()
        return Found(why=f"{error.rule}: {error.got or error}")
    except Exception as error:  # a compiler's own
        return Found(why=repr(error))
    return Found(tuple(kernels), tuple(used))


def programs(closed: ClosedJaxpr) -> list[BufferProgram]:
    """The programs that are compiled of one: all of it, or what lies between host
    calls.
    """
    found: list[BufferProgram] = []

    def part(closed: ClosedJaxpr, name: str) -> BufferProgram:
        with wrapped("backend.compile", name):
            found.append(build_program(closed, name, device=True))
        return found[-1]

    name = closed.jaxpr.debug_name or "program"
    if calls_host(closed.jaxpr) or needs_host(closed.jaxpr):
        HostDrivenExecutable(closed, name, part)
    else:
        part(closed, name)
    return found
