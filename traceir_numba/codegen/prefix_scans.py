"""Prefix scans as source: each element gets the fold up to it.

Along rows a chunk of values is stored first, which vectorises, and then folded in
place; along columns neighbours are folded beside one another. Serves: class.cumulative,
choice.sum-order
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from traceir_numba import cost_model
from traceir_numba.codegen.body import as_memory, index_text, plain
from traceir_numba.codegen.nest_emitter import NestEmitter
from traceir_numba.emitters.kinds import reduce_of
from traceir_numba.loops.identifiers import safe_name
from traceir_numba.loops.schedule import tile_of


def write(emitter: NestEmitter) -> None:
    """The loops of a prefix scan."""
    scan = _PrefixScanWriter(emitter)
    match emitter.loops.split:
        case "blocks":
            scan.whole()
        case "tiles":
            scan.columns_by_tile()
        case _ if emitter.nest.form == "rows":
            scan.rows()
        case _:
            scan.columns()


class _PrefixScanWriter:
    def __init__(self, emitter: NestEmitter) -> None:
        nest = emitter.nest
        self.emitter = emitter
        self.code = emitter.code
        (self.reduction,), (store,) = nest.reductions, nest.epilogue_stores
        self.access = store.access
        self.dtype = self.reduction.dtype
        self.axis = nest.reduced.index(True)
        entry = reduce_of(self.reduction.primitive)
        (self.initial,) = entry.initial(self.dtype)
        self.back = nest.scan_direction < 0
        ((_, ends),) = emitter.labels.passes
        self.result = safe_name(ends[0].name)
        self.acc = f"{self.result}_acc"
        self.totals = f"{self.result}_accs".upper()
        self.combine = entry.fold.removeprefix("fold_")
        self.way = f"{'back_' if self.back else ''}{self.combine}"

    def value(self) -> str:
        """The element that is folded, as the body has it."""
        ((labels, _),) = self.emitter.labels.passes
        found = self.code.operand(self.reduction.value, labels)
        return as_memory(found, self.dtype)

    def joined(self, x: str, y: str) -> str:
        """Two values folded."""
        return self.code.joined(self.combine, self.dtype, x, y)

    # -- along columns ------------------------------------------------------------

    def columns(self) -> None:
        """Tiles of adjacent columns, within the loops around them."""
        self.code.lanes(self.acc, self.dtype)
        tile = tile_of(self.emitter.nest)
        tiles = f"for base in range(0, n{self.emitter.loops.lanes}, {tile}):"
        with self.code.block(*self.emitter.outer_loops(), tiles):
            self.tile()

    def columns_by_tile(self) -> None:
        """Tiles of adjacent columns, some of them by each thread."""
        self.code.lanes(self.acc, self.dtype)
        with self.code.block("for tile in range(lo, hi):"):
            self.code.add(f"base = tile * {tile_of(self.emitter.nest)}")
            self.tile()

    def tile(self) -> None:
        """Fold a tile of adjacent columns, one lane each."""
        code, d = self.code, self.emitter.loops.lanes
        tile, rest = str(tile_of(self.emitter.nest)), f"n{d} - base"
        code.add(f"width = {code.call('smaller', tile, rest)}")
        fill = code.call(f"fill_{plain(self.dtype)}", self.acc, "width", self.initial)
        code.add(fill)
        with self.along_axis(), code.block("for lane in range(width):"):
            code.add(f"i{d} = base + lane")
            self.emitter.body()
            code.add(f"so_far = {self.acc}[lane]")
            code.add(f"{self.result} = {self.joined('so_far', self.value())}")
            code.add(f"{self.acc}[lane] = {self.result}")
            code.store(self.access, self.result, self.dtype)

    @contextmanager
    def along_axis(self) -> Iterator[None]:
        """The loop over the axis, from its start or from its end."""
        a = self.axis
        if not self.back:
            with self.code.block(f"for i{a} in range(n{a}):"):
                yield
            return
        with self.code.block(f"for step in range(n{a}):"):
            self.code.add(f"i{a} = n{a} - 1 - step")
            yield

    # -- along rows ---------------------------------------------------------------

    def rows(self) -> None:
        """One row after the other."""
        with self.code.block(*self.emitter.outer_loops()):
            self.code.add(f"{self.acc} = {self.initial}")
            self.line("0", f"n{self.axis}")

    def line(self, start: str, stop: str) -> None:
        """Fold a line, going on from the accumulator."""
        code, a = self.code, self.axis
        chunk = cost_model.SCAN_CHUNK
        with code.block(f"for base in range({start}, {stop}, {chunk}):"):
            code.add(f"width = {code.call('smaller', str(chunk), f'{stop} - base')}")
            first = "base"
            if self.back:
                whole = f"{start} + {stop}" if start != "0" else stop
                code.add(f"tile = {whole} - base - width")
                first = "tile"
            with code.block("for lane in range(width):"):
                code.add(f"i{a} = {first} + lane")
                self.emitter.body()
                code.store(self.access, self.value(), self.dtype)
            code.add(f"i{a} = {first}")
            fold = f"running_{self.way}_{plain(self.dtype)}"
            memory, _, _ = code.place(self.access).partition("[")
            given = memory, index_text(self.access), "width", self.acc
            code.add(f"{self.acc} = {code.call(fold, *given)}")

    def whole(self) -> None:
        """Blocks by themselves, and then the prefix of each of them."""
        code, a = self.code, self.axis
        with code.block("for block in range(lo, hi):"):
            self.bounds()
            code.add(f"{self.acc} = {self.initial}")
            self.line("start", "stop")
            code.add(f"{self.totals}[block] = {self.acc}")
        with code.block("if last:"):
            code.add(f"{self.acc} = {self.initial}")
            with code.block("for tile in range(1, blocks):"):
                code.add(f"block = {'blocks - 1 - tile' if self.back else 'tile'}")
                before = f"{self.totals}[block {'+' if self.back else '-'} 1]"
                code.add(f"so_far = {before}")
                code.add(f"{self.acc} = {self.joined(self.acc, 'so_far')}")
                self.bounds()
                code.add(f"i{a} = start")
                memory, _, _ = code.place(self.access).partition("[")
                after = f"after_{self.combine}_{plain(self.dtype)}"
                given = memory, index_text(self.access), "stop - start", self.acc
                code.add(code.call(after, *given))

    def bounds(self) -> None:
        """Write the first and the last index of a block."""
        self.code.add("start = block * step")
        stop = self.code.call("smaller", "start + step", f"n{self.axis}")
        self.code.add(f"stop = {stop}")
