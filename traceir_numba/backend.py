"""The "numba" backend: a traced program to one that runs machine code."""

from __future__ import annotations

import builtins
import linecache
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from traceir.effects import calls_host
from traceir.ir import ClosedJaxpr
from traceir_numba import kernels
from traceir_numba.assemble import assemble
from traceir_numba.buffers import empty_large
from traceir_numba.driver import dtype_name
from traceir_numba.functions import NUMBERS
from traceir_numba.hosted import Driven
from traceir_numba.kernels import Compiled, compile_count
from traceir_numba.matmul import SCIPY, in_one_thread, is_large, matmul_large
from traceir_numba.pool import parallel
from traceir_numba.problems import wrapped
from traceir_numba.products import call_arguments
from traceir_numba.program import Call, Program, Run
from traceir_numba.source import Module, module_of
from traceir_numba.sources import sources_of
from traceir_numba.steps import walk

__all__ = ["Executable", "compile", "compile_count"]

_numbers = count(1)


class Executable:
    """A compiled program.

    `run(*arrays)` takes C-contiguous arrays of exactly the input types, and returns a
    tuple of fresh arrays. `source` is a module that runs with Numba and NumPy alone.
    """

    __slots__ = ("program", "source", "run", "_kernels", "__weakref__")

    def __init__(
        self, program: Program, module: Module, kernels: dict[str, Compiled]
    ) -> None:
        self.program = program
        self.source = module.text
        self._kernels = kernels
        self.run: Callable[..., tuple[np.ndarray, ...]] = _load(
            self, program, module, kernels
        )

    def as_text(self, form: str) -> str:
        """The program as "source", and its kernels as "llvm" or "asm"."""
        codes = {id(k.code): k.code for k in self._kernels.values()}.values()
        match form:
            case "source":
                return self.source
            case "llvm":
                return "\n".join(code.llvm for code in codes)
            case "asm":
                return "\n".join(code.assembly for code in codes)
        raise ValueError(f"there is no {form!r}, only source, llvm and asm")


def compile(closed: ClosedJaxpr, name: str) -> Executable | Driven:
    """Compile a traced program; kernels that the process already has are shared.

    Raises TypeError (backend.unsupported) for what has no code, RuntimeError
    (backend.compile) for a fault of the backend.
    """
    if calls_host(closed.jaxpr):
        return Driven(closed, name, compile)
    with wrapped("backend.compile", name or "program"):
        program = assemble(closed, name)
        sources = sources_of(program)
        module = module_of(program, sources)
        by_name: dict[str, Compiled] = {}
        for requests in (sources.requests(program), sources.routines(program)):
            made = kernels.compiled([*requests.items()])
            names = [kernel.name for kernel in requests.values()]
            by_name.update(zip(names, made, strict=True))
        return Executable(program, module, by_name)


def _load(
    owner: Executable, program: Program, module: Module, made: dict[str, Compiled]
) -> Any:
    """The program's function, its kernels bound to machine code."""
    filename = f"<traceir {program.name} {next(_numbers)}>"
    lines = module.text.splitlines(keepends=True)
    linecache.cache[filename] = (len(module.text), None, lines, filename)
    weakref.finalize(owner, linecache.cache.pop, filename, None)
    entries = {name: one.entry(name in module.released) for name, one in made.items()}
    for name in _with_large_products(program):
        entries[name] = in_one_thread(SCIPY, entries[name])
    namespace: dict[str, Any] = {
        "empty": np.empty,
        "empty_large": empty_large,
        "errstate": np.errstate,
        "matmul": np.matmul,
        "matmul_large": matmul_large,
        "parallel": parallel,
        **{dtype_name(d): np.dtype(d) for d in NUMBERS},
        **{program.buffers[k].name: value for k, value in program.constants},
        **entries,
    }
    # Blank lines before the function give its code the module's line numbers.
    text = "\n" * (module.line - 1) + module.driver
    exec(builtins.compile(text, filename, "exec"), namespace)
    return namespace[program.name]


def _with_large_products(program: Program) -> list[str]:
    """The routines that call BLAS with work for several threads."""
    return [
        run.routine.name
        for run in program.steps
        if isinstance(run, Run)
        and any(
            isinstance(step, Call) and is_large(*call_arguments(step.eqn)[:4])
            for step in walk(run.routine.steps)
        )
    ]
