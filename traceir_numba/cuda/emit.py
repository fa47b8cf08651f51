"""Loop nests as `@cuda.jit` source: the data that the CPU's source is written from.

A thread takes points of the kept loops in turn, with all that is reduced for them
("points"); a block takes rows, its threads striding over the elements ("rows"); or
blocks reduce parts of everything, and one block joins the parts ("parts"). What is
reduced side by side enters a fixed number of lanes, which a fixed tree joins, so that
no bit depends on how many threads or blocks there are. Serves: choice.sum-order
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod

from traceir_numba.emit_cpu import NestEmitter
from traceir_numba.emit_forms import Accumulators
from traceir_numba.emit_lines import memory_dtype, pointer_name
from traceir_numba.emitters.cumulative import combined
from traceir_numba.emitters.entry import Expression
from traceir_numba.nests import Nest, Pass
from traceir_numba.program import Labels, Shape

# The accumulators that a row, or a part of everything, is folded into.
LANES = 128
# Rows of up to so many elements are one thread's work; of everything, so many are one
# block's. A part has at least so many.
FEW, ONE_BLOCK, PART = 32, 8192, 4096
# No more parts than this: each leaves one value, and one block joins them.
PARTS = 512
# Up to so many columns of at least so many elements have a block each.
COLUMNS, TALL = 1024, 256


@dataclass(frozen=True, slots=True)
class Kernel:
    """The source of one kernel, and of a second one that ends what it has begun.

    The arguments are arrays of `pointers`, of `scratch` (one element for each part),
    then the integers `sizes`. `form` says who does what; `calls` are the functions
    that it needs.
    """

    name: str
    form: str
    text: str
    end: str | None
    pointers: tuple[str, ...]
    scratch: tuple[str, ...]
    sizes: tuple[str, ...]
    calls: tuple[str, ...]


def form_of(nest: Nest, extents: Shape) -> str:
    """Who does what: "alone", "points", "rows" or "parts"."""
    kept, reduced = _counts(nest, extents)
    if nest.ordered:
        return "alone"
    if not any(nest.reduced) or nest.running or reduced <= FEW:
        return "points"
    match nest.form:
        case "whole" if reduced > ONE_BLOCK and not nest.later:
            return "parts"
        case "columns" if kept > COLUMNS or reduced < TALL:
            return "points"
    return "rows"


def parts_of(nest: Nest, extents: Shape) -> int:
    """How many parts everything is reduced in."""
    return max(1, min(PARTS, _counts(nest, extents)[1] // PART))


def items_of(nest: Nest, extents: Shape, form: str) -> tuple[int, int]:
    """How many threads could each have something to do in a block, and blocks."""
    kept, reduced = _counts(nest, extents)
    match form:
        case "alone":
            return 1, 1
        case "points":
            return kept, kept
        case "rows":
            return min(reduced, LANES), kept
    return LANES, parts_of(nest, extents)


def _counts(nest: Nest, extents: Shape) -> tuple[int, int]:
    pairs = list(zip(extents, nest.reduced, strict=True))
    kept = prod(n for n, fold in pairs if not fold)
    return kept, prod(n for n, fold in pairs if fold)


def emit(nest: Nest, labels: Labels, form: str, name: str) -> Kernel:
    """The source of a nest in a form, with the names that its labels give."""
    return _Emitter(nest, labels, form).kernel(name)


class _Emitter:
    def __init__(self, nest: Nest, labels: Labels, form: str) -> None:
        # Values stay in variables, as in a short nest of the CPU's.
        nest = replace(nest, short=True, masked=False, long=False, blocks=False)
        self.nest, self.form = nest, form
        self.emitter = NestEmitter(nest, labels)
        self.code = self.emitter.code
        self.kept = [d for d, fold in enumerate(nest.reduced) if not fold]
        self.reduced = [d for d, fold in enumerate(nest.reduced) if fold]

    def kernel(self, name: str) -> Kernel:
        nest = self.nest
        text = self.function(name, self.main)
        end = self.function(f"{name}_end", self.end) if self.form == "parts" else None
        found = [a for one in self.emitter.every for a in one]
        scratch = [d for a in found for d in a.dtypes] if end else []
        return Kernel(
            name,
            self.form,
            text,
            end,
            tuple(map(memory_dtype, nest.buffers)),
            tuple(scratch),
            self.sizes(),
            tuple(self.code.calls),
        )

    def sizes(self) -> tuple[str, ...]:
        """The names of the integers among the arguments."""
        nest = self.nest
        known = {k for k, value in enumerate(nest.constants) if value is not None}
        sizes = [f"n{d}" for d in range(nest.rank) if nest.fixed(d) is None]
        sizes += [f"p{k}" for k in range(nest.parameters) if k not in known]
        return (*sizes, "parts") if self.form == "parts" else tuple(sizes)

    def function(self, name: str, write: object) -> str:
        """One kernel's text."""
        assert callable(write)
        nest, code = self.nest, self.code
        code.lines.clear()
        code.where = ""
        for d, extent in enumerate(nest.extents):
            if extent is not None:
                code.add(f"n{d} = {extent}")
        for k, value in enumerate(nest.constants):
            if value is not None:
                code.add(f"p{k} = {value}")
        write()
        found = [a for one in self.emitter.every for a in one]
        parts = [s for a in found for s in a.scratch] if self.form == "parts" else []
        pointers = map(pointer_name, self.emitter.labels.pointers)
        args = ", ".join([*pointers, *parts, *self.sizes()])
        return "\n".join([f"def {name}({args}):", *code.lines])

    def main(self) -> None:
        """The body of the kernel, or of the first of two."""
        match self.form:
            case "alone":
                loops = [f"for i{d} in range(n{d}):" for d in range(self.nest.rank)]
                with self.code.block("if cuda.grid(1) == 0:", *loops):
                    self.emitter.body()
            case "points":
                with self.over(self.kept, "cuda.grid(1)", "cuda.gridsize(1)"):
                    self.point()
            case "rows":
                self.shared()
                first, step = "cuda.blockIdx.x", "cuda.gridDim.x"
                with self.over(self.kept, first, step):
                    for number in range(len(self.nest.passes)):
                        self.emitter.enter(number)
                        self.row()
            case _:
                self.parts()

    # -- loops --------------------------------------------------------------------

    @contextmanager
    def over(
        self, dims: list[int], first: str, step: str, name: str = "point"
    ) -> Iterator[None]:
        """Points of some loops, from the first, so many further each time."""
        code = self.code
        if not dims:
            with code.block(f"for {name} in range({first}, 1, {step}):"):
                yield
            return
        count = " * ".join(f"n{d}" for d in dims)
        index = f"i{dims[0]}" if len(dims) == 1 else name
        with code.block(f"for {index} in range({first}, {count}, {step}):"):
            rest = name
            for d in reversed(dims[1:]):
                code.add(f"i{d} = {rest} % n{d}")
                code.add(f"rest = {rest} // n{d}")
                rest = "rest"
            if len(dims) > 1:
                code.add(f"i{dims[0]} = rest")
            yield

    # -- points -------------------------------------------------------------------

    def point(self) -> None:
        """All of one point of the kept loops."""
        emitter, code = self.emitter, self.code
        for number in range(len(self.nest.passes)):
            emitter.enter(number)
            if not self.reduced:
                emitter.body()
                continue
            self.clear()
            if self.nest.running:
                self.running()
                continue
            with code.block(*(f"for i{d} in range(n{d}):" for d in self.reduced)):
                emitter.body()
                emitter.update(place="")
            for number, a in enumerate(emitter.reductions):
                found = emitter.as_result(number, a.names[-1])
                code.add(f"{a.result} = {found}")
            emitter.finish()

    def clear(self) -> None:
        """Give the accumulators their first values."""
        for a in self.emitter.reductions:
            for name, value in zip(a.names, a.initial(), strict=True):
                self.code.add(f"{name} = {value}")

    def running(self) -> None:
        """Leave what there is so far at each element."""
        emitter, code, (d,) = self.emitter, self.code, self.reduced
        back = self.nest.running < 0
        with code.block(f"for {'step' if back else f'i{d}'} in range(n{d}):"):
            if back:
                code.add(f"i{d} = n{d} - 1 - step")
            emitter.body()
            emitter.update(place="")
            for number, a in enumerate(emitter.reductions):
                code.add(f"{a.result} = {emitter.as_result(number, a.names[-1])}")
            emitter.finish()

    # -- rows ---------------------------------------------------------------------

    def shared(self) -> None:
        """The lanes of all accumulators, in the memory that a block shares."""
        for a in (a for one in self.emitter.every for a in one):
            for memory, dtype in zip(self.lanes(a), a.dtypes, strict=True):
                self.code.add(f"{memory} = cuda.shared.array({LANES}, np.{dtype})")

    def lanes(self, a: Accumulators) -> tuple[str, ...]:
        """The names of the lanes."""
        return tuple(f"{name}_lanes" for name in a.names)

    def row(self) -> None:
        """One pass over a row."""
        emitter, code = self.emitter, self.code
        if not emitter.reductions:
            first, step = "cuda.threadIdx.x", "cuda.blockDim.x"
            with self.over(self.reduced, first, step, "element"):
                emitter.body()
            return
        self.fold("lane", str(LANES))
        self.join()
        for number, a in enumerate(emitter.reductions):
            found = emitter.as_result(number, f"{self.lanes(a)[-1]}[0]")
            code.add(f"{a.result} = {found}")
        code.add("cuda.syncthreads()")
        self.finish(emitter.now)

    def finish(self, now: Pass) -> None:
        """What is computed from the results: by all threads, and stored by one."""
        emitter, code = self.emitter, self.code
        code.nodes(now.finish, emitter.finish_labels)
        if now.finish_stores:
            with code.block("if cuda.threadIdx.x == 0:"):
                code.stores(now.finish_stores, emitter.finish_labels)

    def fold(self, first: str, step: str) -> None:
        """Fold elements into lanes, of which each thread has some."""
        emitter, code = self.emitter, self.code
        with self.each_lane():
            self.clear()
            with self.over(self.reduced, first, step, "element"):
                emitter.body()
                emitter.update(place="")
            for a in emitter.reductions:
                for memory, name in zip(self.lanes(a), a.names, strict=True):
                    code.add(f"{memory}[lane] = {name}")

    @contextmanager
    def each_lane(self, count: str = str(LANES)) -> Iterator[None]:
        """The lanes that are a thread's."""
        bounds = f"cuda.threadIdx.x, {count}, cuda.blockDim.x"
        with self.code.block(f"for lane in range({bounds}):"):
            yield

    def join(self) -> None:
        """Join the lanes by a tree."""
        code = self.code
        code.add("cuda.syncthreads()", f"width = {LANES // 2}")
        with code.block("while width > 0:"):
            with self.each_lane("width"):
                for a in self.emitter.reductions:
                    memory = self.lanes(a)
                    there = [f"{name}[lane + width]" for name in memory]
                    self.enter(a, [f"{name}[lane]" for name in memory], there)
            code.add("cuda.syncthreads()", "width //= 2")

    def enter(
        self, a: Accumulators, target: Iterable[str], source: Iterable[str]
    ) -> None:
        """Let one set of accumulators enter another."""
        code, dtype = self.code, a.dtypes[0]
        e = Expression(dtype, dtype, operands=(dtype, dtype))
        old = tuple(f"{name}_old" for name in a.names)
        new = tuple(f"{name}_new" for name in a.names)
        for name, place in (*zip(old, target), *zip(new, source)):
            code.add(f"{name} = {place}")
        if a.entry.test:
            # A search: the first of those that are alike.
            alike = f"(({old[0]} == {new[0]}) | _NAN) & ({new[1]} < {old[1]})"
            both = f"(({old[0]} != {old[0]}) & ({new[0]} != {new[0]}))"
            alike = alike.replace("_NAN", both)
            beats = a.entry.test(e, old, new[0])
            code.add(f"better = ({new[1]} >= 0) & ({beats} | ({alike}))")
            found = [f"{n} if better else {o}" for o, n in zip(old, new, strict=True)]
        else:
            found = [combined(a.entry.fold.removeprefix("fold_"), e, old[0], new[0])]
        code.calls.update(dict.fromkeys(e.calls))
        for place, text in zip(target, found, strict=True):
            code.add(f"{place} = {text}")

    # -- parts --------------------------------------------------------------------

    def parts(self) -> None:
        """Parts of everything, each by a block: neighbours by neighbouring threads."""
        self.shared()
        code = self.code
        with code.block("for part in range(cuda.blockIdx.x, parts, cuda.gridDim.x):"):
            self.fold(f"part * {LANES} + lane", f"parts * {LANES}")
            self.join()
            with code.block("if cuda.threadIdx.x == 0:"):
                for a in self.emitter.reductions:
                    for place, name in zip(a.scratch, self.lanes(a), strict=True):
                        code.add(f"{place}[part] = {name}[0]")
            code.add("cuda.syncthreads()")

    def end(self) -> None:
        """The second kernel, of one block: what the parts give."""
        emitter, code = self.emitter, self.code
        self.shared()
        with self.each_lane():
            self.clear()
            with code.block(f"for part in range(lane, parts, {LANES}):"):
                for a in emitter.reductions:
                    self.enter(a, a.names, [f"{place}[part]" for place in a.scratch])
            for a in emitter.reductions:
                for memory, name in zip(self.lanes(a), a.names, strict=True):
                    code.add(f"{memory}[lane] = {name}")
        self.join()
        for number, a in enumerate(emitter.reductions):
            found = emitter.as_result(number, f"{self.lanes(a)[-1]}[0]")
            code.add(f"{a.result} = {found}")
        self.finish(emitter.now)
