"""The compiler: assembles a program, writes its source, compiles it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from traceir.base.fast_dataclass import dataclass
from traceir.base.progress import at_phase
from traceir.ir.jaxpr import ClosedJaxpr
from traceir_numba.codegen.driver import product_name, products_of
from traceir_numba.codegen.embedded_reference import reference_name
from traceir_numba.codegen.kernel_sources import KernelSources, sources_of
from traceir_numba.codegen.module import ModuleSource, module_of
from traceir_numba.device_functions import NUMBERS
from traceir_numba.emitters.pairs.values import PAIRS
from traceir_numba.gemm import blocked, strided
from traceir_numba.llvm.optimize import MachineCode
from traceir_numba.loops.program import BufferProgram, CallReference
from traceir_numba.pipeline import kernel_cache
from traceir_numba.pipeline.build_program import build_program
from traceir_numba.pipeline.explain import compilation, report, vector_bits
from traceir_numba.pipeline.kernel_cache import CompiledKernel
from traceir_numba.runtime.allocator import NARROW_DTYPES, dtype_name
from traceir_numba.store.programs import Entrypoint, Recipe


@dataclass(frozen=True, slots=True)
class Compilation:
    """A program on the way to machine code."""

    program: BufferProgram
    module: ModuleSource
    kernels: dict[str, CompiledKernel]
    sources: KernelSources
    seconds: dict[str, float]  # of each stage

    def codes(self) -> list[MachineCode]:
        """The machine code of all kernels, each once."""
        codes = {one.code.unit.key: one.code for one in self.kernels.values()}
        return list(codes.values())

    def speed(self) -> str:
        """A report on the program's use of the machine, and on the time to make it."""
        bits = {
            name: vector_bits(one.code.assembly, one.symbol)
            for name, one in self.kernels.items()
        }
        return report(self.program, self.sources.steps, bits, self.seconds)

    def spent(self, loading: float) -> str:
        """A report on the time to make the program, and to load it."""
        texts = {name: len(one.lowered) for name, one in self.kernels.items()}
        return compilation({**self.seconds, "load": loading}, texts)

    def recipe(self) -> Recipe:
        """The recipe to run the program."""
        module, buffers = self.module, self.program.buffers
        words = set(re.findall(r"\w+", module.driver))
        functions = tuple(
            Entrypoint(
                name,
                one.code.unit.key,
                one.symbol,
                len(one.kernel.pointers),
                len(one.kernel.sizes),
                name in module.released,
            )
            for name, one in self.kernels.items()
            if name in words
        )
        products = [_products(*one) for one in products_of(self.program)]
        functions += tuple(entrypoint for entrypoint, _ in products)
        codes = [*self.codes(), *(code for _, code in products)]
        return Recipe(
            module.name,
            module.text,
            module.driver,
            module.line,
            tuple(
                d for d in (*NUMBERS, *NARROW_DTYPES, *PAIRS) if dtype_name(d) in words
            ),
            functions,
            tuple((buffers[k].name, value) for k, value in self.program.constants),
            tuple((reference_name(p), p) for p in reference_calls(self.program)),
            {code.unit.key: code.unit for code in codes},
        )


def build(
    closed: ClosedJaxpr, name: str, donated: tuple[int, ...] = (), status: int = 0
) -> Compilation:
    """Compile a program; kernels that the process already has are shared."""
    seconds: dict[str, float] = {}
    with timed(seconds, "simplify and fuse"):
        program = build_program(closed, name, donated, status=status)
    with timed(seconds, "emit"):
        sources = sources_of(program)
        module = module_of(program, sources)
    by_name: dict[str, CompiledKernel] = {}
    with timed(seconds, "compile"):
        for requests in (
            sources.requests(program),
            sources.turns(),
            sources.routines(program),
        ):
            made = kernel_cache.compiled([*requests.items()])
            names = [kernel.name for kernel in requests.values()]
            by_name.update(zip(names, made, strict=True))
    return Compilation(program, module, by_name, sources, seconds)


@contextmanager
def timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    """Write down how long the `with` takes."""
    start = time.perf_counter()
    at_phase(what)
    yield
    seconds[what] = time.perf_counter() - start


def source(
    closed: ClosedJaxpr, name: str, donated: tuple[int, ...] = (), status: int = 0
) -> str:
    """The module of a program, which nothing is compiled for."""
    program = build_program(closed, name, donated, status=status)
    return module_of(program, sources_of(program)).text


def reference_calls(program: BufferProgram) -> list[str]:
    """The primitives that the reference's kernels compute."""
    steps = (s.eqn.primitive for s in program.steps if isinstance(s, CallReference))
    return list(dict.fromkeys(steps))


def _products(dtype: str, is_strided: bool) -> tuple[Entrypoint, MachineCode]:
    """The products of a dtype, which run long enough to let others run."""
    code, symbol, sizes = blocked.load(dtype), blocked.symbol_of(dtype), blocked.COUNTS
    if is_strided:
        code, symbol = strided.load(dtype), strided.symbol_of(dtype)
        sizes = strided.COUNTS
    name = product_name(dtype, is_strided)
    return Entrypoint(name, code.unit.key, symbol, *sizes, True), code
