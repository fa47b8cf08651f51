"""Reductions of columns: neighbours are reduced side by side.

Of few columns some rows are reduced beside one another, too, and then halved. Columns
that threads share are reduced in blocks of rows. With several passes a tile of columns
stays in the cache, and the blocks are taken one after the other: the order is the same.
Serves: choice.sum-order
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from traceir_numba import cost_model
from traceir_numba.codegen.body import plain
from traceir_numba.codegen.nest_emitter import Accumulators, NestEmitter
from traceir_numba.emitters.kinds import ExpressionContext
from traceir_numba.loops.schedule import tile_of
from traceir_numba.loops.specialize import few_columns, weight


def write(emitter: NestEmitter) -> None:
    """The loops of a nest of columns."""
    emitter.make_accumulators()
    columns = _ColumnReduction(emitter)
    columns.make_totals()
    match emitter.loops.split:
        case "blocks":
            columns.by_block()
        case "tiles":
            columns.by_tile()
        case _:
            columns.within()


class _ColumnReduction:
    """`few` columns have an extent that is a constant, and many rows."""

    def __init__(self, emitter: NestEmitter) -> None:
        self.emitter = emitter
        self.code = emitter.code
        self.inner = emitter.loops.inner
        lanes = emitter.loops.lanes
        assert lanes is not None
        self.lanes, self.extent = lanes, f"n{lanes}"
        self.few = few_columns(emitter.nest)
        self.step = tile_of(emitter.nest)
        # Several passes take blocks one after the other.
        self.in_turn = emitter.nest.blocks and emitter.loops.split != "blocks"

    # -- which columns ------------------------------------------------------------

    def within(self) -> None:
        """All columns for each point of outer loops, tile by tile."""
        tiles = [f"for base in range(0, {self.extent}, {self.step}):"]
        with self.code.block(*self.emitter.outer_loops(), *tiles[: not self.few]):
            self.tile()

    def by_tile(self) -> None:
        """Tiles of columns, which threads share."""
        with self.code.block("for tile in range(lo, hi):"):
            if not self.few:
                self.code.add(f"base = tile * {self.step}")
            self.tile()

    def by_block(self) -> None:
        """Blocks of rows, which threads share; the last call joins their results."""
        with self.code.block("for block in range(lo, hi):"):
            self.code.add("start = block * step")
            self.code.add(f"stop = {self.code.call('smaller', 'start + step', 'n0')}")
            base = f"for base in range(0, {self.extent}, {self.step}):"
            with self.code.block(*[base][: not self.few]):
                self.measure()
                self.reduce("start, stop")
                self.leave()
        with self.code.block("if last:"):
            self.join()
            with self.code.block(f"for i{self.lanes} in range({self.extent}):"):
                self.name_results(f"[i{self.lanes}]", scratch=True)
                self.emitter.epilogue()

    def tile(self) -> None:
        """All passes over a tile of adjacent columns, one lane each."""
        self.measure()
        for _ in self.emitter.each_pass():
            if not self.emitter.reductions:
                with self.over_lanes(*self.heads(self.rows("n0"))):
                    self.emitter.body()
                continue
            if self.in_turn:
                self.blocks_in_turn()
            else:
                self.reduce()
            with self.over_lanes():
                self.name_results("[lane]")
                self.emitter.epilogue()

    def measure(self) -> None:
        """Write the number of columns of the tile: the last one may be narrower."""
        if not self.few:
            columns = f"{self.extent} - base"
            width = self.code.call("smaller", str(self.step), columns)
            self.code.add(f"width = {width}")

    @contextmanager
    def over_lanes(self, *heads: str) -> Iterator[None]:
        """A loop over the columns of a tile, within other loops."""
        width, base = (self.extent, "") if self.few else ("width", "base + ")
        with self.code.block(*heads, f"for lane in range({width}):"):
            self.code.add(f"i{self.lanes} = {base}lane")
            yield

    # -- which rows ---------------------------------------------------------------

    def rows(self, first: str) -> list[str]:
        """The ranges of the reduced loops, the outermost one as it is given."""
        return [first if d == 0 else f"n{d}" for d in self.inner]

    def heads(self, ranges: Sequence[str]) -> list[str]:
        """The reduced loops over those ranges."""
        loops = zip(self.inner, ranges, strict=True)
        return [f"for i{d} in range({r}):" for d, r in loops]

    def reduce(self, first: str = "n0") -> None:
        """Let rows enter the accumulators of a tile, one for each column in the end."""
        ranges = self.rows(first)
        if self.few:
            self.interleave(ranges)
            return
        self.emitter.clear()
        if self.has_cheap_rows():
            ranges[-1] = self.rows_at_once(ranges)
        with self.over_lanes(*self.heads(ranges)):
            self.emitter.body()
            self.emitter.update()

    def has_cheap_rows(self) -> bool:
        """True if reading and writing accumulators is much of what a row costs."""
        nest = self.emitter.nest
        several = weight(nest) * cost_model.SUMMED_ROWS
        searches = any(a.entry.test for a in self.emitter.reductions)
        one = len(self.inner) == 1 and not searches
        return one and several <= cost_model.INTERLEAVED_COST

    def rows_at_once(self, ranges: list[str]) -> str:
        """Let some rows enter each time, one after the other; gives the rest of the
        range.
        """
        count, d = cost_model.SUMMED_ROWS, self.inner[-1]
        start, _, stop = ranges[-1].rpartition(", ")
        start = start or "0"
        self.code.add(f"whole = {stop} - ({stop} - {start}) % {count}")
        tops = f"for top in range({start}, whole, {count}):"
        with self.over_lanes(tops), self.code.block(f"for row in range({count}):"):
            self.code.add(f"i{d} = top + row")
            self.emitter.body()
            self.emitter.update()
        return f"whole, {stop}"

    def interleave(self, ranges: list[str]) -> None:
        """Reduce some rows beside one another, then the rows that they leave."""
        n, d, count = self.extent, self.inner[-1], str(cost_model.INTERLEAVED_ROWS)
        self.emitter.clear(f"{count} * {n}")
        start, _, stop = ranges[-1].rpartition(", ")
        left = self.code.call("smaller", count, f"{stop} - top")
        pair = [f"for row in range({left}):", f"for lane in range({n}):"]
        # A body that is too long to be unrolled vectorises along the rows.
        nest = self.emitter.nest
        if (
            weight(nest) * (nest.fixed(self.lanes) or 1)
            > cost_model.UNROLLED_INSTRUCTIONS
        ):
            pair.reverse()
        with self.code.block(
            *self.heads(ranges)[:-1],
            f"for top in range({start or 0}, {stop}, {count}):",
            *pair,
        ):
            self.code.add(f"i{d} = top + row", f"i{self.lanes} = lane")
            self.emitter.body()
            self.emitter.update(f"[row * {n} + lane]")
        for a in self.emitter.reductions:
            self.halve(a, a.names, count)

    def halve(self, a: Accumulators, names: tuple[str, ...], count: str) -> None:
        """Join rows of accumulators to one, half of them with the other half."""
        function = a.fold.replace("fold_", "fold_columns_", 1)
        self.code.add(self.code.call(function, *names, count, self.extent))

    def name_results(self, place: str, scratch: bool = False) -> None:
        """The accumulators of one column as results."""
        every = self.emitter.reductions
        names = (a.scratch if scratch else self.totals(a) for a in every)
        self.emitter.results(f"{found[-1]}{place}" for found in names)

    def leave(self) -> None:
        """Store the partial result of a block."""
        base = "" if self.few else "base + "
        place = f"block * {self.extent} + {base}lane"
        width = self.extent if self.few else "width"
        with self.code.block(f"for lane in range({width}):"):
            for a in self.emitter.reductions:
                for memory, name in zip(a.scratch, a.names, strict=True):
                    self.code.add(f"{memory}[{place}] = {name}[lane]")

    def join(self) -> None:
        """Join the blocks' partial results, from the first to the last."""
        with self.code.block(
            "for block in range(1, blocks):", f"for lane in range({self.extent}):"
        ):
            for a in self.emitter.reductions:
                place = f"block * {self.extent} + lane"
                self.add(a, a.scratch, [f"{m}[{place}]" for m in a.scratch])

    def add(
        self, a: Accumulators, memory: Sequence[str], values: Sequence[str]
    ) -> None:
        """Fold the result of some rows into a column's place."""
        dtype = a.dtypes[0]
        e = ExpressionContext(dtype, dtype, operands=(dtype, dtype))
        old = tuple(f"{name}_old" for name in a.names)
        new = tuple(f"{name}_new" for name in a.names)
        for before, name in zip(old, memory, strict=True):
            self.code.add(f"{before} = {name}[lane]")
        for name, value in zip(new, values, strict=True):
            self.code.add(f"{name} = {value}")
        if a.entry.test:
            self.code.add(f"better = {a.entry.test(e, old, new[0])}")
        found = a.entry.update(e, old, new[0], new[-1])
        self.code.calls.update(dict.fromkeys(e.calls))
        for name, value in zip(memory, found, strict=True):
            self.code.add(f"{name}[lane] = {value}")

    def totals(self, a: Accumulators) -> tuple[str, ...]:
        """The names of accumulators that all rows have entered in the end."""
        return tuple(f"{name}_all" for name in a.names) if self.in_turn else a.names

    def make_totals(self) -> None:
        """Further accumulators where blocks are taken in turn."""
        if self.in_turn:
            for _ in self.emitter.each_pass():
                for a in self.emitter.reductions:
                    for name, dtype in zip(self.totals(a), a.dtypes, strict=True):
                        self.code.lanes(name, dtype)
            self.emitter.enter(0)

    def blocks_in_turn(self) -> None:
        """Reduce the rows in blocks, and join their results."""
        reductions = self.emitter.reductions
        width = self.extent if self.few else "width"
        for a in reductions:
            for name, dtype, first in zip(
                self.totals(a), a.dtypes, a.initial(), strict=True
            ):
                fill = f"fill_{plain(dtype)}"
                self.code.add(self.code.call(fill, name, width, first))
        between = " * ".join(f"n{d}" for d in self.inner[1:]) or "1"
        self.code.add(f"step = {self.code.call('block_rows', between, self.extent)}")
        with self.code.block("for start in range(0, n0, step):"):
            self.code.add(f"stop = {self.code.call('smaller', 'start + step', 'n0')}")
            self.reduce("start, stop")
            with self.over_lanes():
                for a in reductions:
                    self.add(a, self.totals(a), [f"{n}[lane]" for n in a.names])
