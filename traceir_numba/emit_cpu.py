"""Loop nests as Numba source: one short function for each kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from traceir_numba.emit_lines import (
    Code,
    as_memory,
    memory_dtype,
    plain,
    pointer_name,
    safe_name,
)
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.entry import Expression, Reduce
from traceir_numba.functions import TILE, short
from traceir_numba.nests import Nest
from traceir_numba.program import Labels
from traceir_numba.schedule import loops_of, sizes_of


@dataclass(frozen=True, slots=True)
class Kernel:
    """The source of one kernel and the functions that it calls.

    `pointers` are the dtypes of its pointers, scratch memory last; `sizes` the names of
    the 64-bit integers that follow; `slow` the calls that keep it from vectorising;
    `kernels` those that a routine calls, by the names that they have in its text.
    """

    name: str
    text: str
    pointers: tuple[str, ...]
    scratch: tuple[str, ...]
    sizes: tuple[str, ...]
    calls: tuple[str, ...]
    slow: tuple[str, ...]
    kernels: tuple[tuple[str, Nest], ...] = ()


def emit(nest: Nest, labels: Labels, name: str) -> Kernel:
    """The source of a nest, with the names that its labels give."""
    return _Emitter(nest, labels).kernel(name)


@dataclass(slots=True)
class _Accumulators:
    """The names of a reduction's accumulators and of its result."""

    result: str
    entry: Reduce
    dtypes: tuple[str, ...]
    names: tuple[str, ...]
    scratch: tuple[str, ...]
    fold: str


class _Emitter:
    def __init__(self, nest: Nest, labels: Labels) -> None:
        self.nest = nest
        self.labels = labels
        self.loops = loops_of(nest)
        self.code = Code(labels.pointers)
        results = [label.name for label in labels.finish]
        self.reductions = [
            self.accumulators(r.primitive, memory_dtype(r.dtype), safe_name(results[k]))
            for k, r in enumerate(nest.reductions)
        ]

    def accumulators(self, primitive: str, dtype: str, result: str) -> _Accumulators:
        entry = EMITTERS[primitive]
        assert isinstance(entry, Reduce)
        dtypes = entry.accumulators(dtype)
        suffixes = ("acc", "at")[: len(dtypes)]
        return _Accumulators(
            result,
            entry,
            dtypes,
            tuple(f"{result}_{s}" for s in suffixes),
            tuple(f"{result}_{s}s".upper() for s in suffixes),
            f"{entry.fold}_{plain(dtype)}",
        )

    def kernel(self, name: str) -> Kernel:
        match self.loops.split:
            case "none":
                self.body()
            case "blocks":
                self.whole()
            case "tiles":
                self.columns_by_tile()
            case _ if self.nest.form == "rows":
                self.rows()
            case _ if self.nest.form == "columns":
                self.columns()
            case _:
                with self.code.block(*self.outer_loops()):
                    self.body()
        whole = self.loops.split == "blocks"
        scratch = [d for a in self.reductions for d in a.dtypes] if whole else []
        memory = [s for a in self.reductions for s in a.scratch] if whole else []
        sizes = sizes_of(self.nest)
        args = [*map(pointer_name, self.labels.pointers), *memory, *sizes]
        head = f"def {name}({', '.join(args)}):"
        return Kernel(
            name,
            "\n".join([head, *self.code.lines]),
            (*map(memory_dtype, self.nest.buffers), *scratch),
            tuple(scratch),
            sizes,
            tuple(self.code.calls),
            tuple(self.code.slow),
        )

    # -- loops --------------------------------------------------------------------

    def outer_loops(self) -> list[str]:
        """Loops over points that are kept, the first one over the launch's range."""
        return [
            f"for i{d} in range({f'n{d}' if k else 'lo, hi'}):"
            for k, d in enumerate(self.loops.outer)
        ]

    def inner_loops(self, dims: Iterable[int]) -> list[str]:
        """Loops over all indices of some dimensions."""
        return [f"for i{d} in range(n{d}):" for d in dims]

    def make_accumulators(self) -> None:
        for a in self.reductions:
            for name, dtype in zip(a.names, a.dtypes, strict=True):
                self.code.add(f"{name} = {self.code.call(f'lanes_{plain(dtype)}')}")

    def clear(self) -> None:
        for a in self.reductions:
            first = a.entry.initial(a.dtypes[0])
            for name, dtype, value in zip(a.names, a.dtypes, first, strict=True):
                self.code.add(
                    self.code.call(f"fill_{plain(dtype)}", name, "width", value)
                )

    def chunks(self, start: str, stop: str) -> None:
        """The innermost loop, one chunk of lanes after the other."""
        d = self.loops.lanes
        lanes = self.code.call("smaller", "width", f"{stop} - base")
        with self.code.block(
            f"for base in range({start}, {stop}, width):",
            f"for lane in range({lanes}):",
        ):
            self.code.add(f"i{d} = base + lane")
            self.body()
            self.update()

    def rows(self) -> None:
        d = self.loops.lanes
        self.make_accumulators()
        self.code.add(f"width = {self.code.call('lanes_for', f'n{d}')}")
        with self.code.block(*self.outer_loops()):
            self.clear()
            with self.code.block(*self.inner_loops(self.loops.inner[:-1])):
                self.chunks("0", f"n{d}")
            for a in self.reductions:
                self.code.add(f"{a.result} = {self.folded(a, 'width', a.names)}")
            self.finish()

    def whole(self) -> None:
        d = self.loops.lanes
        self.make_accumulators()
        with self.code.block("for block in range(lo, hi):"):
            self.code.add("start = block * step")
            self.code.add(f"stop = {self.code.call('smaller', 'start + step', 'n0')}")
            line = "stop - start" if d == 0 else f"n{d}"
            self.code.add(f"width = {self.code.call('lanes_for', line)}")
            self.clear()
            if d == 0:
                self.chunks("start", "stop")
            else:
                between = self.inner_loops(self.loops.inner[1:-1])
                with self.code.block("for i0 in range(start, stop):", *between):
                    self.chunks("0", f"n{d}")
            for a in self.reductions:
                *others, main = zip(a.names, a.scratch, strict=True)
                # The fold leaves the first accumulator in place, too.
                best = self.code.call(a.fold, *a.names, "width")
                self.code.add(f"{main[1]}[block] = {best}")
                for name, memory in others:
                    self.code.add(f"{memory}[block] = {name}[0]")
        with self.code.block("if last:"):
            for a in self.reductions:
                self.code.add(f"{a.result} = {self.folded(a, 'blocks', a.scratch)}")
            self.finish()

    def columns(self) -> None:
        d = self.loops.lanes
        self.make_accumulators()
        tiles = f"for base in range(0, n{d}, {TILE}):"
        with self.code.block(*self.outer_loops(), tiles):
            self.tile()

    def columns_by_tile(self) -> None:
        self.make_accumulators()
        with self.code.block("for tile in range(lo, hi):"):
            self.code.add(f"base = tile * {TILE}")
            self.tile()

    def tile(self) -> None:
        """Reduce a tile of adjacent columns, one lane each."""
        d = self.loops.lanes
        self.code.add(f"width = {self.code.call('smaller', str(TILE), f'n{d} - base')}")
        self.clear()
        lanes = "for lane in range(width):"
        with self.code.block(*self.inner_loops(self.loops.inner), lanes):
            self.code.add(f"i{d} = base + lane")
            self.body()
            self.update()
        with self.code.block(lanes):
            self.code.add(f"i{d} = base + lane")
            for k, a in enumerate(self.reductions):
                found = f"{a.names[-1]}[lane]"
                self.code.add(f"{a.result} = {self.as_result(k, found)}")
            self.finish()

    # -- reductions ---------------------------------------------------------------

    def folded(self, a: _Accumulators, count: str, names: tuple[str, ...]) -> str:
        found = self.code.call(a.fold, *names, count)
        return self.as_result(self.reductions.index(a), found)

    def as_result(self, number: int, text: str) -> str:
        a, result = self.reductions[number], self.nest.reductions[number].result
        if result == "bool":
            return f"{text} != 0"
        return text if a.dtypes[-1] == result else f"{short(result)}({text})"

    def update(self) -> None:
        """Let the body's values enter the accumulators."""
        position = f"i{self.position_of_search()}"
        for a, r in zip(self.reductions, self.nest.reductions, strict=True):
            x = as_memory(self.code.operand(r.value, self.labels.body), r.dtype)
            dtype = a.dtypes[0]
            e = Expression(dtype, dtype, operands=(dtype, dtype))
            old = tuple(f"{name}_old" for name in a.names)
            new = a.entry.update(e, old, x, position)
            if "".join(new).count(old[0]) == 1 and not a.entry.test:
                new = (new[0].replace(old[0], f"{a.names[0]}[lane]"),)
            else:
                for before, name in zip(old, a.names, strict=True):
                    self.code.add(f"{before} = {name}[lane]")
            if a.entry.test:
                self.code.add(f"better = {a.entry.test(e, old, x)}")
            self.code.calls.update(dict.fromkeys(e.calls))
            for name, value in zip(a.names, new, strict=True):
                self.code.add(f"{name}[lane] = {value}")

    def position_of_search(self) -> int:
        """The reduced loop, whose index a search remembers."""
        return next(d for d, reduced in enumerate(self.nest.reduced) if reduced)

    # -- straight-line code -------------------------------------------------------

    def body(self) -> None:
        self.code.nodes(self.nest.body, self.labels.body)
        self.code.stores(self.nest.stores, self.labels.body)

    def finish(self) -> None:
        self.code.nodes(self.nest.finish, self.labels.finish)
        self.code.stores(self.nest.finish_stores, self.labels.finish)
