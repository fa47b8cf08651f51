"""Bodies, accumulators and loops of nests, for all their writers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from traceir.base.fast_dataclass import dataclass
from traceir_numba import cost_model
from traceir_numba.codegen.body import CodeWriter, as_memory, memory_dtype, plain
from traceir_numba.device_functions import short
from traceir_numba.emitters.kinds import ExpressionContext, Reduce, reduce_of
from traceir_numba.loops.identifiers import safe_name
from traceir_numba.loops.nest import (
    EpilogueValue,
    LoopNest,
    Node,
    Pass,
    ReductionResult,
)
from traceir_numba.loops.program import Label, Labels
from traceir_numba.loops.schedule import loops_of


@dataclass(frozen=True, slots=True)
class Accumulators:
    """The names of a reduction's accumulators and of its result.

    `scratch` is the memory for what blocks leave, `fold` the function that joins
    accumulators.
    """

    result: str
    entry: Reduce
    dtypes: tuple[str, ...]
    names: tuple[str, ...]
    scratch: tuple[str, ...]
    fold: str

    def initial(self) -> tuple[str, ...]:
        """The accumulators' first values."""
        return self.entry.initial(self.dtypes[0])


class NestEmitter:
    """A writer of the source of a nest: its body, its accumulators, its loops."""

    def __init__(self, nest: LoopNest, labels: Labels) -> None:
        self.nest = nest
        self.labels = labels
        self.loops = loops_of(nest)
        self.code = CodeWriter(labels.pointers)
        # Whether passes of several points run beside one another.
        self.several = nest.form == "columns" and not nest.short
        self.every = [
            self.accumulators_of(one, finish)
            for one, (_, finish) in zip(nest.passes, labels.passes, strict=True)
        ]
        self.enter(0)

    def enter(self, number: int) -> None:
        """Write the pass of that number from now on."""
        self.now = self.nest.passes[number]
        self.body_labels, self.finish_labels = self.labels.passes[number]
        self.reductions = self.every[number]

    def each_pass(self) -> Iterator[Pass]:
        """The passes, each of which is written as it comes."""
        for number, one in enumerate(self.nest.passes):
            self.enter(number)
            yield one

    def constants(self) -> None:
        """Name the extents and parameters that are known."""
        for letter, known in (("n", self.nest.extents), ("p", self.nest.constants)):
            for k, value in enumerate(known):
                if value is not None:
                    self.code.add(f"{letter}{k} = {value}")

    def accumulators_of(
        self, one: Pass, labels: tuple[Label, ...]
    ) -> list[Accumulators]:
        """The accumulators of a pass, named for the results."""
        names = {
            node.number: safe_name(label.name)
            for node, label in zip(one.epilogue, labels, strict=True)
            if isinstance(node, ReductionResult)
        }
        return [
            self.accumulators(r.primitive, memory_dtype(r.dtype), names[k])
            for k, r in enumerate(one.reductions)
        ]

    def accumulators(self, primitive: str, dtype: str, result: str) -> Accumulators:
        """The accumulators that reduce values of a dtype."""
        entry = reduce_of(primitive)
        dtypes = entry.accumulators(dtype)
        suffixes = ("acc", "at")[: len(dtypes)]
        return Accumulators(
            result,
            entry,
            dtypes,
            tuple(f"{result}_{s}" for s in suffixes),
            tuple(f"{result}_{s}s".upper() for s in suffixes),
            f"{entry.fold}_{plain(dtype)}",
        )

    def scratch(self) -> tuple[list[str], list[str]]:
        """The dtypes and names of the memory for blocks' partial results."""
        if self.loops.split != "blocks":
            return [], []
        every = self.reductions
        dtypes = [d for a in every for d in a.dtypes]
        return dtypes, [s for a in every for s in a.scratch]

    # -- loops --------------------------------------------------------------------

    def outer_loops(self) -> list[str]:
        """Loops over points that are kept, the first one over the launch's range."""
        loops = self.loops
        heads = [
            f"for i{d} in range({f'n{d}' if k else 'lo, hi'}):"
            for k, d in enumerate(loops.outer)
        ]
        if loops.tiled:
            at = sum(self.nest.fixed(d) is None for d in loops.outer) - 2
            heads[at : at + 2] = self.tiles(at)
        return heads

    def tiles(self, at: int) -> list[str]:
        """Two loops in tiles, so that both sides of a transposition stay in the cache.

        Neighbours of what crosses follow each other, as the processor foresees.
        """
        two = self.loops.outer[at : at + 2]
        ends = "hi" if at == 0 else f"n{two[0]}", f"n{two[1]}"
        heads: list[str] = []
        for d, end, side in zip(two, ends, cost_model.TRANSPOSED_TILE, strict=True):
            start = "lo" if end == "hi" else "0"
            heads.insert(0, f"for t{d} in range({start}, {end}, {side}):")
        for d, end, side in zip(two, ends, cost_model.TRANSPOSED_TILE, strict=True):
            stop = self.code.call("smaller", f"t{d} + {side}", end)
            heads.append(f"for i{d} in range(t{d}, {stop}):")
        return heads

    def inner_loops(self, dims: Iterable[int]) -> list[str]:
        """Loops over all indices of some dimensions."""
        return [f"for i{d} in range(n{d}):" for d in dims]

    def make_accumulators(self) -> None:
        """Name the accumulators, and the values that later passes need."""
        for a in (a for one in self.every for a in one):
            for name, dtype in zip(a.names, a.dtypes, strict=True):
                self.code.lanes(name, dtype)
        for one in self.nest.passes:
            for name, dtype in self.kept_names(one):
                self.code.lanes(f"{name}_kept", memory_dtype(dtype))

    def clear(self, lanes: str = "width") -> None:
        """Give the accumulators their first values."""
        for a in self.reductions:
            first = a.entry.initial(a.dtypes[0])
            for name, dtype, value in zip(a.names, a.dtypes, first, strict=True):
                self.code.add(
                    self.code.call(f"fill_{plain(dtype)}", name, lanes, value)
                )

    # -- reductions ---------------------------------------------------------------

    def folded(
        self, a: Accumulators, names: tuple[str, ...], count: str, total: str
    ) -> str:
        """So many accumulators joined."""
        return self.code.call(a.fold, *names, *self.counts(a, count, total))

    def halved(self, a: Accumulators, count: int) -> str:
        """A power of two of accumulators joined as their function does, in place."""
        (name,), (dtype,) = a.names, a.dtypes
        old, new = f"{name}_old", f"{name}_new"
        while count > 1:
            count //= 2
            with self.code.block(f"for lane in range({count}):"):
                there = f"{name}[lane + {count}]"
                self.code.add(f"{old} = {name}[lane]", f"{new} = {there}")
                joined = self.code.joined(a.entry.fold, dtype, old, new)
                self.code.add(f"{name}[lane] = {joined}")
        return f"{name}[0]"

    def counts(self, a: Accumulators, lanes: str, total: str) -> tuple[str, ...]:
        """The counts that a fold is told: a search finds the same in any order."""
        return (lanes,) if a.entry.test else (lanes, total)

    def start(self, place: str = "") -> None:
        """Give the accumulators at a place their first values."""
        for a in self.reductions:
            for name, value in zip(a.names, a.initial(), strict=True):
                self.code.add(f"{name}{place} = {value}")

    def results(self, texts: Iterable[str]) -> None:
        """Name the results of the pass's reductions."""
        found = zip(self.reductions, texts, strict=True)
        for number, (a, text) in enumerate(found):
            self.code.add(f"{a.result} = {self.as_result(number, text)}")

    def as_result(self, number: int, text: str) -> str:
        """An accumulator as the result of that number."""
        a, result = self.reductions[number], self.now.reductions[number].result
        if result == "bool":
            return f"{text} != 0"
        return text if a.dtypes[-1] == result else f"{short(result)}({text})"

    def entering(self) -> list[str]:
        """The body's values that are reduced."""
        return [
            as_memory(self.code.operand(r.value, self.body_labels), r.dtype)
            for r in self.now.reductions
        ]

    def update(
        self, place: str = "[lane]", values: Sequence[str] | None = None
    ) -> None:
        """Let values enter the accumulators: the body's, unless others are given."""
        position = f"i{self.position_of_search()}"
        entering = self.entering() if values is None else values
        for a, x in zip(self.reductions, entering, strict=True):
            dtype = a.dtypes[0]
            e = ExpressionContext(dtype, dtype, operands=(dtype, dtype))
            e.contracts = self.code.contracts
            old = tuple(f"{name}_old" for name in a.names)
            new = a.entry.update(e, old, x, position)
            if "".join(new).count(old[0]) == 1 and not a.entry.test:
                new = (new[0].replace(old[0], f"{a.names[0]}{place}"),)
            else:
                for before, name in zip(old, a.names, strict=True):
                    self.code.add(f"{before} = {name}{place}")
            if a.entry.test:
                self.code.add(f"better = {a.entry.test(e, old, x)}")
            self.code.calls.update(dict.fromkeys(e.calls))
            for name, value in zip(a.names, new, strict=True):
                self.code.add(f"{name}{place} = {value}")

    def position_of_search(self) -> int:
        """The reduced loop, whose index a search remembers."""
        return next(d for d, reduced in enumerate(self.nest.reduced) if reduced)

    # -- straight-line code -------------------------------------------------------

    def body(self) -> None:
        """The straight-line code of one point."""
        self.recall(self.now.body, self.body_labels)
        self.code.nodes(self.now.body, self.body_labels)
        self.code.stores(self.now.stores, self.body_labels)

    def epilogue(self) -> None:
        """Write the epilogue, which computes from the results."""
        self.recall(self.now.epilogue, self.finish_labels)
        self.code.nodes(self.now.epilogue, self.finish_labels)
        self.code.stores(self.now.epilogue_stores, self.finish_labels)
        self.remember()

    # -- what passes leave to later ones ------------------------------------------

    def recall(self, nodes: tuple[Node, ...], labels: tuple[Label, ...]) -> None:
        """Name the results of earlier passes: a row's values still have their names."""
        if self.several:
            for node, label in zip(nodes, labels, strict=True):
                if isinstance(node, EpilogueValue):
                    truth = " != 0" if node.dtype == "bool" else ""
                    name = safe_name(label.name)
                    self.code.add(f"{name} = {label.name}_kept[lane]{truth}")

    def remember(self) -> None:
        """Store the values that later passes need, for each column."""
        for name, dtype in self.kept_names(self.now):
            value = as_memory(safe_name(name), dtype)
            self.code.add(f"{name}_kept[lane] = {value}")

    def kept_names(self, now: Pass) -> list[tuple[str, str]]:
        """The names and dtypes of values that passes after this one need."""
        if not self.several:
            return []
        passes = self.nest.passes
        at = next(k for k, one in enumerate(passes) if one is now)
        first = sum(len(one.epilogue) for one in passes[:at])
        own = self.labels.passes[at][1]
        needed = {
            node.number - first: node.dtype
            for one in passes[at + 1 :]
            for node in (*one.body, *one.epilogue)
            if isinstance(node, EpilogueValue)
        }
        return [(own[k].name, needed[k]) for k in sorted(needed) if 0 <= k < len(own)]
