"""Reductions along rows: in lanes, then across the lanes.

Serves: choice.sum-order
"""

from __future__ import annotations

from traceir_numba import cost_model
from traceir_numba.codegen import fixed_length_rows
from traceir_numba.codegen.nest_emitter import Accumulators, NestEmitter
from traceir_numba.loops.schedule import pass_cost


def write(emitter: NestEmitter) -> None:
    """The loops of a nest whose innermost loop is reduced, or of a short one."""
    rows = _RowReduction(emitter)
    if emitter.loops.split == "blocks":
        rows.whole()
    elif emitter.nest.short:
        rows.short()
    elif emitter.nest.fixed(emitter.loops.inner[-1]) is not None:
        fixed_length_rows.write(emitter)
    else:
        rows.rows()


class _RowReduction:
    """`width` is the number of accumulators where it is known: of rows that are `long`,
    or `masked`, whose last vectors may be in part.
    """

    def __init__(self, emitter: NestEmitter) -> None:
        self.emitter = emitter
        self.code = emitter.code
        self.inner = emitter.loops.inner
        nest = emitter.nest
        self.masked = nest.masked
        self.long = nest.long and emitter.loops.split != "blocks"
        short = cost_model.SHORT_ROW_ACCUMULATORS if nest.masked else None
        self.width = cost_model.ROW_ACCUMULATORS if self.long else short

    # -- rows ---------------------------------------------------------------------

    def rows(self) -> None:
        """A line of elements, or several, for each result."""
        emitter = self.emitter
        emitter.make_accumulators()
        if self.width is None:
            lanes = self.code.call("lanes_for", f"n{self.inner[-1]}")
            self.code.add(f"width = {lanes}")
        with self.code.block(*emitter.outer_loops()):
            for _ in emitter.each_pass():
                self.row()

    def row(self) -> None:
        """One pass over a row; it may have several dimensions."""
        emitter = self.emitter
        if not emitter.reductions and (self.long or not self.masked):
            with self.code.block(*emitter.inner_loops(self.inner)):
                emitter.body()
            return
        self.clear()
        with self.code.block(*emitter.inner_loops(self.inner[:-1])):
            self.chunks("0", f"n{self.inner[-1]}")
        emitter.results(map(self.folded, emitter.reductions))
        emitter.epilogue()

    def clear(self) -> None:
        """Give the accumulators their first values."""
        if self.width is None:
            self.emitter.clear()
        elif self.emitter.reductions:
            with self.code.block(f"for lane in range({self.width}):"):
                self.emitter.start("[lane]")

    def folded(self, a: Accumulators) -> str:
        """The accumulators as one."""
        if self.width and not a.entry.test:
            return self.emitter.halved(a, self.width)
        total = " * ".join(f"n{d}" for d in self.inner)
        return self.emitter.folded(a, a.names, str(self.width or "width"), total)

    def chunks(self, start: str, stop: str) -> None:
        """The innermost loop, one chunk of lanes after the other.

        Chunks of a long line have a constant length, so that the accumulators stay in
        registers; what is left comes last, masked where little is computed.
        """
        width = self.width or cost_model.ROW_ACCUMULATORS
        if self.width or self.emitter.nest.long:
            whole = f"{stop} - ({stop} - {start}) % {width}"
            if not self.width:
                whole = f"{whole} if width == {width} else {start}"
            self.code.add(f"whole = {whole}")
            self.chunk(f"{start}, whole, {width}", str(width))
            start = "whole"
        if self.has_masked_rest():
            self.vectors(start, stop)
        elif self.width:
            self.chunk(f"{start}, {stop}, {width}", f"{stop} - base")
        else:
            lanes = self.code.call("smaller", "width", f"{stop} - base")
            self.chunk(f"{start}, {stop}, width", lanes)

    def has_masked_rest(self) -> bool:
        """True if what is left of a row is a chunk of which a part is masked.

        A search would compare what is masked, too: a long row has more of that.
        """
        searches = any(a.entry.test for a in self.emitter.reductions)
        cheap = pass_cost(self.emitter.now) <= cost_model.MASKED_REST_COST
        return self.masked and (not self.long or (cheap and not searches))

    def chunk(self, bounds: str, lanes: str) -> None:
        """Some of the chunks."""
        with self.code.block(
            f"for base in range({bounds}):", f"for lane in range({lanes}):"
        ):
            self.code.add(f"i{self.inner[-1]} = base + lane")
            self.emitter.body()
            self.emitter.update()

    def vectors(self, base: str, stop: str) -> None:
        """A chunk of the innermost loop of one length; elements beyond the end are
        masked.

        With a constant length, and elements that are masked where there are none, the
        accumulators stay in registers.
        """
        emitter, d = self.emitter, self.inner[-1]
        inside = any(a.entry.test for a in emitter.reductions)
        values = [f"{a.names[0]}_in" for a in emitter.reductions]
        with self.code.block(f"for lane in range({self.width}):"):
            self.code.add(f"i{d} = {base} + lane")
            if not inside:
                for a, value in zip(emitter.reductions, values, strict=True):
                    self.code.add(f"{value} = {a.initial()[0]}")
            with self.code.block(f"if i{d} < {stop}:"):
                emitter.body()
                if inside:
                    emitter.update()
                else:
                    for x, value in zip(emitter.entering(), values, strict=True):
                        self.code.add(f"{value} = {x}")
            if not inside:
                emitter.update(values=values)

    def short(self) -> None:
        """Reductions of few elements: one after the other, in variables."""
        emitter = self.emitter
        with self.code.block(*emitter.outer_loops()):
            for _ in emitter.each_pass():
                emitter.start()
                with self.code.block(*emitter.inner_loops(self.inner)):
                    emitter.body()
                    emitter.update("")
                emitter.results(a.names[-1] for a in emitter.reductions)
                emitter.epilogue()

    # -- everything ---------------------------------------------------------------

    def whole(self) -> None:
        """Blocks, which threads share; the last call joins their results."""
        emitter, d = self.emitter, self.inner[-1]
        emitter.make_accumulators()
        with self.code.block("for block in range(lo, hi):"):
            self.code.add("start = block * step")
            self.code.add(f"stop = {self.code.call('smaller', 'start + step', 'n0')}")
            self.code.add("rows = stop - start")
            line = "rows" if d == 0 else f"n{d}"
            self.code.add(f"width = {self.code.call('lanes_for', line)}")
            emitter.clear()
            if d == 0:
                self.chunks("start", "stop")
            else:
                between = emitter.inner_loops(self.inner[1:-1])
                with self.code.block("for i0 in range(start, stop):", *between):
                    self.chunks("0", f"n{d}")
            self.leave()
        with self.code.block("if last:"):
            emitter.results(
                emitter.folded(a, a.scratch, "blocks", "blocks")
                for a in emitter.reductions
            )
            emitter.epilogue()

    def leave(self) -> None:
        """Store the partial result of a block."""
        total = " * ".join(["rows", *(f"n{d}" for d in self.inner[1:])])
        for a in self.emitter.reductions:
            *others, main = zip(a.names, a.scratch, strict=True)
            # The fold leaves the first accumulator in place, too.
            counts = self.emitter.counts(a, "width", total)
            best = self.code.call(a.fold, *a.names, *counts)
            self.code.add(f"{main[1]}[block] = {best}")
            for name, memory in others:
                self.code.add(f"{memory}[block] = {name}[0]")
