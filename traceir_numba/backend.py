"""The "numba" backend: a traced program to one that runs machine code."""

from __future__ import annotations

import builtins
import linecache
import time
import weakref
from collections.abc import Callable
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from traceir.base.caches import uncollected
from traceir.dtypes import as_dtype
from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.interpreter import evaluate_eqn
from traceir.store import files
from traceir_numba.errors import wrapped
from traceir_numba.gemm.parallel import product, strided_product
from traceir_numba.llvm.trampoline import callable_of
from traceir_numba.lowering.host_partition import HostDrivenExecutable, needs_host
from traceir_numba.runtime.allocator import (
    bits_dtype,
    dtype_name,
    empty_large,
    narrow_of,
)
from traceir_numba.runtime.external_symbols import OBJECTS
from traceir_numba.runtime.own_params import known_params
from traceir_numba.runtime.thread_pool import in_order, parallel
from traceir_numba.store.keys import program_key
from traceir_numba.store.programs import (
    Entrypoint,
    Recipe,
    read_program,
    write_program,
)
from traceir_numba.store.units import LoadedObject

if TYPE_CHECKING:  # a program that is in the store needs nothing of the compiler
    from traceir.ir.program_cost import MemoryStats
    from traceir_numba.loops.program import BufferProgram
    from traceir_numba.pipeline.compiler import Compilation

__all__ = [
    "CHOICES",
    "DECORATORS",
    "DIALECTS",
    "DONATES",
    "STOPS",
    "CpuExecutable",
    "compile",
    "compile_count",
]

# What is chosen where the reference chooses otherwise.
CHOICES = {"choice.dot-order": "fixed"}
# `compile` takes the positions of inputs that the program may write over.
DONATES = True
# The module of Numba's decorators, for programs that were written with these.
DECORATORS = "traceir_numba.compat"
# `compile` takes the number of last results that tell if a check has failed.
STOPS = True
# What a program's text is asked for in.
DIALECTS = ("source", "llvm", "asm")

_numbers = count(1)


def _engage(wanted: int) -> None:
    from traceir_numba.llvm import thread_team

    thread_team.engage(wanted)


def _no_memory() -> None:
    from traceir_numba.llvm import turns

    turns.no_memory()


# Stored code calls functions of modules that nothing else imports where it is found.
OBJECTS.setdefault("traceir_engage", _engage)
OBJECTS.setdefault("traceir_no_memory", _no_memory)


class CpuExecutable:
    """A compiled program.

    `run(*arrays)` takes C-contiguous arrays of exactly the input types, and returns a
    tuple of fresh arrays. `stored` says that its code was not made in this process.
    """

    __slots__ = (
        "run",
        "stored",
        "_closed",
        "_name",
        "_donated",
        "_status",
        "_seconds",
        "_kernels",
        "_made_in",
        "_build",
        "__weakref__",
    )

    def __init__(
        self,
        closed: ClosedJaxpr,
        name: str,
        donated: tuple[int, ...],
        status: int,
        recipe: Recipe,
        build: Compilation | None,
    ) -> None:
        self.stored = build is None
        self._donated = donated
        self._status = status
        self._closed = closed
        self._name = name
        # What a build has beside is as large as all the rest, and seldom asked for.
        self._build: Compilation | None = None
        # Other programs share its kernels while it lives.
        self._kernels = () if build is None else tuple(build.kernels.values())
        self._made_in = None if build is None else build.seconds
        start = time.perf_counter()
        self.run: Callable[..., tuple[np.ndarray, ...]] = _load(self, recipe)
        if calls_host(closed.jaxpr):
            from traceir_numba.lowering.foreign_scopes import scoped

            self.run = scoped(closed.jaxpr, self.run)
        self._seconds = time.perf_counter() - start  # to load it

    @property
    def program(self) -> BufferProgram:
        """Its buffers and steps."""
        return self._built().program

    @property
    def source(self) -> str:
        """A module that runs with Numba and NumPy alone."""
        from traceir_numba.pipeline import compiler

        # What was stored may have the lines of another function in its comments.
        given = self._closed, self._name, self._donated, self._status
        return compiler.source(*given)

    def as_text(self, form: str) -> str:
        """The program as "source", its kernels as "llvm" or "asm", a report on its
        "speed", or on how long it took to "compile".
        """
        match form:
            case "source":
                return self.source
            case "llvm":
                return "\n".join(code.llvm for code in self._built().codes())
            case "asm":
                return "\n".join(code.assembly for code in self._built().codes())
            case "speed":
                found = self._built().speed()
                loaded = f"load {self._seconds * 1e3:.1f} ms"
                stored = ", and was found in the store" if self.stored else ""
                return f"{found}, {loaded}{stored}"
            case "compile":
                if self.stored:
                    return f"found in the store: load {self._seconds * 1e3:.1f} ms"
                return self._built().spent(self._seconds)
        raise ValueError(
            f"there is no {form!r}, only source, llvm, asm, speed and compile"
        )

    def memory_analysis(self) -> MemoryStats:
        """The bytes of arguments, results and of the buffers that a call allocates."""
        from traceir_numba.buffers.buffer_assignment import memory_stats

        return memory_stats(self.program, self._donated)

    def _built(self) -> Compilation:
        if self._build is None:
            given = self._closed, self._name, self._donated, self._status
            self._build = _build(*given)
            self._build.seconds.update(self._made_in or {})
        return self._build


def compile(
    closed: ClosedJaxpr, name: str, donated: tuple[int, ...] = (), status: int = 0
) -> CpuExecutable | HostDrivenExecutable:
    """Compile a traced program, or find it in the store.

    It may write over the inputs that are `donated`, by their positions. If the number
    that is its last result is not 0, nobody looks at those before the last `status`.

    Raises TypeError (backend.unsupported) for what has no code, RuntimeError
    (backend.compile) for a fault of the backend.
    """
    calls = calls_host(closed.jaxpr)
    if calls and needs_host(closed.jaxpr):
        return HostDrivenExecutable(closed, name, compile)
    with wrapped("backend.compile", name or "program"):
        key = program_key(closed, name, donated, status) if files.current() else None
        recipe = read_program(key, closed.consts) if key else None
        if recipe is not None:
            return CpuExecutable(closed, name, donated, status, recipe, None)
        if needs_host(closed.jaxpr):
            return HostDrivenExecutable(closed, name, compile)
        build = _build(closed, name, donated, status)
        recipe = build.recipe()
        if key:
            write_program(key, recipe, closed.consts)
        return CpuExecutable(closed, name, donated, status, recipe, build)


def _build(
    closed: ClosedJaxpr, name: str, donated: tuple[int, ...], status: int
) -> Compilation:
    with uncollected():  # what is imported stays
        from traceir_numba.pipeline import compiler

    return compiler.build(closed, name, donated, status)


def compile_count() -> int:
    """The number of kernels that this process has compiled."""
    from traceir_numba.pipeline import kernel_cache

    return kernel_cache.compile_count()


def _load(owner: CpuExecutable, recipe: Recipe) -> Any:
    """The program's function, its kernels bound to machine code."""
    filename = f"<traceir {recipe.name} {next(_numbers)}>"
    lines = recipe.source.splitlines(keepends=True)
    linecache.cache[filename] = (len(recipe.source), None, lines, filename)
    weakref.finalize(owner, linecache.cache.pop, filename, None)
    namespace: dict[str, Any] = {
        "empty": np.empty,
        "empty_large": empty_large,
        "parallel": parallel,
        "in_order": in_order,
        "product": product,
        "strided_product": strided_product,
        **{dtype_name(dtype): as_dtype(dtype) for dtype in recipe.dtypes},
        **dict(recipe.constants),
        **{one.name: _entry(one, recipe.units[one.unit]) for one in recipe.functions},
        **{name: reference_function(primitive) for name, primitive in recipe.evaluated},
    }
    # Blank lines before the function give its code the module's line numbers.
    text = "\n" * (recipe.line - 1) + recipe.driver
    exec(builtins.compile(text, filename, "exec"), namespace)
    # What no longer refers to itself is freed with its last user.
    return namespace.pop(recipe.name)


def reference_function(primitive: str) -> Callable[..., Any]:
    """The reference's kernel of a primitive: one array, or as many as it gives.

    It is code of our own, where there is some.
    """
    own = own_kernel(primitive)

    def call(*arrays: np.ndarray, **params: Any) -> Any:
        if own is not None and (made := own(*arrays, **params)) is not None:
            return made
        # Narrow numbers are bits in a program without them; so are arguments.
        narrow = [narrow_of(a.dtype) for a in arrays]
        given = [a.view(bits_dtype(n)) if n else a for a, n in zip(arrays, narrow)]
        known = known_params(primitive, params)
        found = evaluate_eqn(primitive, known, given)
        return found[0] if len(found) == 1 else found

    return call


# Modules that compute primitives of the reference's, where they can, by these.
_OWN = {
    **dict.fromkeys(("cholesky", "lu", "qr", "triangular_solve"), "gemm.factors"),
    "fft": "fft.transforms",
}


def own_kernel(primitive: str) -> Callable[..., Any] | None:
    """Code of our own for a primitive of the reference's, where there is some.

    It gives None for what the reference is to compute.
    """
    if primitive not in _OWN:
        return None
    module = import_module(f"traceir_numba.{_OWN[primitive]}")
    found: Callable[..., Any] = module.own_kernel(primitive)
    return found


def _entry(one: Entrypoint, unit: LoadedObject) -> Callable[..., Any]:
    """The call of a kernel from Python."""
    address = unit.addresses[one.symbol]
    return callable_of(address, one.pointers, one.sizes, one.released, unit)
