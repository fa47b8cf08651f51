"""Reductions of columns as source: neighbours are reduced beside one another.

Serves: choice.sum-order
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from traceir_numba.emit_forms import Accumulators, Emitter
from traceir_numba.functions import ABREAST
from traceir_numba.schedule import tile_of


def write(emitter: Emitter) -> None:
    """The loops of a nest of columns."""
    emitter.make_accumulators()
    columns = _Columns(emitter)
    match emitter.loops.split:
        case "blocks":
            columns.by_block()
        case "tiles":
            columns.by_tile()
        case _:
            columns.within()


class _Columns:
    """`few` columns have an extent that is a constant, and many rows."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.code = emitter.code
        lanes = emitter.loops.lanes
        assert lanes is not None
        self.lanes = lanes
        self.few = emitter.nest.fixed(lanes) is not None
        self.step = tile_of(emitter.nest)

    def within(self) -> None:
        """All columns for each point of outer loops, tile by tile."""
        n = f"n{self.lanes}"
        outer = self.emitter.outer_loops()
        if self.few:
            with self.code.block(*outer):
                self.abreast(self.rows())
                self.results()
            return
        with self.code.block(*outer, f"for base in range(0, {n}, {self.step}):"):
            self.tile()

    def by_tile(self) -> None:
        """Tiles of columns, which threads share."""
        with self.code.block("for tile in range(lo, hi):"):
            if self.few:
                self.abreast(self.rows())
                self.results()
                return
            self.code.add(f"base = tile * {self.step}")
            self.tile()

    def by_block(self) -> None:
        """Blocks of rows, which threads share; the last call joins what they left."""
        n = f"n{self.lanes}"
        with self.code.block("for block in range(lo, hi):"):
            self.code.add("start = block * step")
            self.code.add(f"stop = {self.code.call('smaller', 'start + step', 'n0')}")
            rows = self.rows()
            rows[0] = "start, stop"
            if self.few:
                self.abreast(rows)
                self.leave(n, "")
            else:
                with self.code.block(f"for base in range(0, {n}, {self.step}):"):
                    self.narrower()
                    self.reduce(rows)
                    self.leave("width", "base + ")
        with self.code.block("if last:"):
            for a in self.emitter.reductions:
                self.fold(a, a.scratch, "blocks")
            self.results(scratch=True)

    def rows(self) -> list[str]:
        """The ranges of the reduced loops."""
        return [f"n{d}" for d in self.emitter.loops.inner]

    def heads(self, ranges: Sequence[str]) -> list[str]:
        """The reduced loops over those ranges."""
        loops = self.emitter.loops.inner
        return [f"for i{d} in range({r}):" for d, r in zip(loops, ranges, strict=True)]

    # -- tiles of many columns ----------------------------------------------------

    def narrower(self) -> None:
        """The last tile may be narrower."""
        columns = f"n{self.lanes} - base"
        width = self.code.call("smaller", str(self.step), columns)
        self.code.add(f"width = {width}")

    def tile(self) -> None:
        """Reduce a tile of adjacent columns, one lane each."""
        self.narrower()
        for number in range(len(self.emitter.nest.passes)):
            self.emitter.enter(number)
            self.reduce(self.rows())
            if self.emitter.reductions:
                with self.over_lanes():
                    for k, a in enumerate(self.emitter.reductions):
                        found = self.emitter.as_result(k, f"{a.names[-1]}[lane]")
                        self.code.add(f"{a.result} = {found}")
                    self.emitter.finish()

    def reduce(self, ranges: Sequence[str]) -> None:
        """Let the rows of a tile enter the accumulators."""
        self.emitter.clear()
        with self.over_lanes(*self.heads(ranges)):
            self.emitter.body()
            self.emitter.update()

    @contextmanager
    def over_lanes(self, *heads: str) -> Iterator[None]:
        """What is done for each column of a tile, within other loops."""
        with self.code.block(*heads, "for lane in range(width):"):
            self.code.add(f"i{self.lanes} = base + lane")
            yield

    # -- few columns --------------------------------------------------------------

    def abreast(self, ranges: list[str]) -> None:
        """Reduce some rows side by side, then the rows that they leave."""
        n, d = f"n{self.lanes}", self.emitter.loops.inner[-1]
        count = str(ABREAST)
        self.emitter.clear(f"{count} * {n}")
        start, stop = (
            ("start", "stop") if ranges[-1] == "start, stop" else ("0", f"n{d}")
        )
        rows = self.code.call("smaller", count, f"{stop} - base")
        with self.code.block(
            *self.heads(ranges)[:-1],
            f"for base in range({start}, {stop}, {count}):",
            f"for lane in range({rows}):",
            f"for i{self.lanes} in range({n}):",
        ):
            self.code.add(f"i{d} = base + lane")
            self.emitter.body()
            self.emitter.update(f"[lane * {n} + i{self.lanes}]")
        for a in self.emitter.reductions:
            self.fold(a, a.names, count)

    def fold(self, a: Accumulators, names: tuple[str, ...], count: str) -> None:
        """Join rows of accumulators to one."""
        function = a.fold.replace("fold_", "fold_columns_", 1)
        self.code.add(self.code.call(function, *names, count, f"n{self.lanes}"))

    def results(self, scratch: bool = False) -> None:
        """What is made of the row of accumulators that is left."""
        with self.code.block(f"for i{self.lanes} in range(n{self.lanes}):"):
            for k, a in enumerate(self.emitter.reductions):
                memory = (a.scratch if scratch else a.names)[-1]
                found = self.emitter.as_result(k, f"{memory}[i{self.lanes}]")
                self.code.add(f"{a.result} = {found}")
            self.emitter.finish()

    # -- blocks -------------------------------------------------------------------

    def leave(self, width: str, base: str) -> None:
        """Keep what a block has reduced."""
        place = f"block * n{self.lanes} + {base}lane"
        with self.code.block(f"for lane in range({width}):"):
            for a in self.emitter.reductions:
                for memory, name in zip(a.scratch, a.names, strict=True):
                    self.code.add(f"{memory}[{place}] = {name}[lane]")
