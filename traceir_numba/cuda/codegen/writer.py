"""The writer that all forms share: names, loops, arguments and lines.

Serves: choice.sum-order
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from traceir_numba.codegen.body import memory_dtype, pointer_name
from traceir_numba.codegen.nest_emitter import Accumulators, NestEmitter
from traceir_numba.cuda.codegen.thread_mapping import ThreadMapping
from traceir_numba.emitters.kinds import ExpressionContext
from traceir_numba.loops.nest import LoopNest
from traceir_numba.loops.program import Labels

# A thread's number among all of a launch, and how many there are; so of blocks.
THREADS = "cuda.grid(1)", "cuda.gridsize(1)"
BLOCKS = "cuda.blockIdx.x", "cuda.gridDim.x"


class NestWriter:
    """A writer of the kernels of a nest, of which each form has its own part."""

    def __init__(self, nest: LoopNest, labels: Labels, form: ThreadMapping) -> None:
        # Values stay in variables, as in a short nest of the CPU's.
        nest = replace(nest, short=True, masked=False, long=False, blocks=False)
        self.nest, self.form = nest, form
        self.emitter = NestEmitter(nest, labels)
        self.emitter.several = form.kind == "tiles" and form.wide > 1
        self.code = self.emitter.code
        self.code.contracts = True
        self.kept = [d for d, fold in enumerate(nest.reduced) if not fold]
        self.reduced = [d for d, fold in enumerate(nest.reduced) if fold]

    # -- the kernel's text --------------------------------------------------------

    def sizes(self) -> tuple[str, ...]:
        """The names of the integers among the arguments."""
        nest = self.nest
        known = {k for k, value in enumerate(nest.constants) if value is not None}
        sizes = [f"n{d}" for d in range(nest.rank) if nest.fixed(d) is None]
        sizes += [f"p{k}" for k in nest.parameters if k not in known]
        return (*sizes, "parts") if self.form.parts else tuple(sizes)

    def every(self) -> list[Accumulators]:
        """The accumulators of all passes."""
        return [a for one in self.emitter.every for a in one]

    def function(self, name: str, write: Callable[[NestWriter], None]) -> str:
        """One kernel's text."""
        code = self.code
        code.lines.clear()
        code.where = ""
        self.emitter.constants()
        self.emitter.enter(0)
        write(self)
        parts = [s for a in self.every() for s in a.scratch] if self.form.parts else []
        pointers = map(pointer_name, self.emitter.labels.pointers)
        args = ", ".join([*pointers, *parts, *self.sizes()])
        return "\n".join([f"def {name}({args}):", *code.lines])

    # -- loops --------------------------------------------------------------------

    def within_block(self, name: str, count: str) -> AbstractContextManager[None]:
        """A loop that the threads of a block share."""
        bounds = f"cuda.threadIdx.x, {count}, cuda.blockDim.x"
        return self.code.block(f"for {name} in range({bounds}):")

    def count(self, dims: Sequence[int]) -> str:
        """The number of points of some loops."""
        return " * ".join(f"n{d}" for d in dims) or "1"

    @contextmanager
    def over(
        self, dims: list[int], first: str, step: str, name: str = "point"
    ) -> Iterator[None]:
        """Points of some loops, from the first, so many further each time."""
        index = f"i{dims[0]}" if len(dims) == 1 else name
        bounds = f"{first}, {self.count(dims)}, {step}"
        with self.code.block(f"for {index} in range({bounds}):"):
            if len(dims) > 1:
                self.indices(dims, name)
            yield

    def indices(self, dims: Sequence[int], name: str) -> None:
        """The indices of the loops at a point."""
        rest = name
        for d in reversed(dims[1:]):
            self.code.add(f"i{d} = {rest} % n{d}")
            last = d == dims[1]
            self.code.add(f"{f'i{dims[0]}' if last else 'rest'} = {rest} // n{d}")
            rest = "rest"
        if len(dims) == 1:
            self.code.add(f"i{dims[0]} = {name}")

    # -- accumulators -------------------------------------------------------------

    def shared(self, name: str, length: int, dtype: str) -> None:
        """Memory that the threads of a block share."""
        dtype = memory_dtype(dtype)
        self.code.add(f"{name} = cuda.shared.array({length}, np.{dtype})")

    def join(
        self, a: Accumulators, target: Iterable[str], source: Iterable[str]
    ) -> None:
        """Let one set of accumulators enter another, which is before it."""
        code, dtype = self.code, a.dtypes[0]
        old = tuple(f"{name}_old" for name in a.names)
        new = tuple(f"{name}_new" for name in a.names)
        target = tuple(target)
        for name, place in (*zip(old, target), *zip(new, source)):
            code.add(f"{name} = {place}")
        if a.entry.test:
            # A search: the first of those that are alike.
            both = f"(({old[0]} != {old[0]}) & ({new[0]} != {new[0]}))"
            same = f"({old[0]} == {new[0]}) | {both}"
            first = f"({same}) & ({new[1]} < {old[1]})"
            e = ExpressionContext(dtype, dtype, operands=(dtype, dtype), contracts=True)
            beats = a.entry.test(e, old, new[0])
            code.calls.update(dict.fromkeys(e.calls))
            code.add(f"better = ({new[1]} >= 0) & ({beats} | ({first}))")
            found = [f"{n} if better else {o}" for o, n in zip(old, new, strict=True)]
        else:
            found = [code.joined(a.entry.fold, dtype, old[0], new[0])]
        for place, text in zip(target, found, strict=True):
            code.add(f"{place} = {text}")
