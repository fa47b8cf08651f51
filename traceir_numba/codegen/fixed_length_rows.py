"""Reductions of rows whose length is a compile-time constant.

The work of a row is then straight-line code on vectors, so that the processor works on
the next row before it has ended one. The order is that of rows of any length. Serves:
choice.sum-order
"""

from __future__ import annotations

from traceir_numba import cost_model
from traceir_numba.codegen.nest_emitter import Accumulators, NestEmitter
from traceir_numba.device_functions import width_of


def write(emitter: NestEmitter) -> None:
    """The loops of a nest of rows of a constant length."""
    emitter.make_accumulators()
    for _ in emitter.each_pass():
        for a in emitter.reductions:
            emitter.code.lanes(f"{a.result}_in", a.dtypes[0])
    with emitter.code.block(*emitter.outer_loops()):
        for _ in emitter.each_pass():
            _FixedLengthRow(emitter).write()


class _FixedLengthRow:
    """One pass over a row; it may have several dimensions."""

    def __init__(self, emitter: NestEmitter) -> None:
        self.emitter = emitter
        self.code = emitter.code
        self.inner = emitter.loops.inner
        length = emitter.nest.fixed(self.inner[-1])
        assert length is not None
        self.length, self.width = length, width_of(length)
        # Accumulators that none enters would change nothing.
        self.used = min(self.width, 1 << (length - 1).bit_length())

    def write(self) -> None:
        """Write the loops over rows, and the fold of each row."""
        emitter, code = self.emitter, self.code
        if not emitter.reductions:
            with code.block(*emitter.inner_loops(self.inner)):
                emitter.body()
            return
        with code.block(f"for lane in range({self.used}):"):
            emitter.start("[lane]")
        with code.block(*emitter.inner_loops(self.inner[:-1])):
            self.line()
        emitter.results(map(self.folded, emitter.reductions))
        emitter.epilogue()

    def line(self) -> None:
        """Compute all that is reduced, and then reduce it in lanes."""
        emitter, code, d = self.emitter, self.code, self.inner[-1]
        with code.block(f"for i{d} in range({self.length}):"):
            emitter.body()
            for a, x in zip(emitter.reductions, emitter.entering(), strict=True):
                code.add(f"{a.result}_in[i{d}] = {x}")
        whole = self.length // self.width * self.width
        if whole:
            with code.block(f"for base in range(0, {whole}, {self.width}):"):
                self.enter("base + lane", self.width)
        if self.length > whole:
            self.enter(f"{whole} + lane" if whole else "lane", self.length - whole)

    def enter(self, index: str, count: int) -> None:
        """Let some of the values enter the accumulators."""
        d = self.inner[-1]
        with self.code.block(f"for lane in range({count}):"):
            self.code.add(f"i{d} = {index}")
            values = [f"{a.result}_new" for a in self.emitter.reductions]
            for a, value in zip(self.emitter.reductions, values, strict=True):
                self.code.add(f"{value} = {a.result}_in[i{d}]")
            self.emitter.update(values=values)

    def folded(self, a: Accumulators) -> str:
        """The accumulators as one, in the order of the function that folds them."""
        if a.entry.test or self.length <= cost_model.SEQUENTIAL_ROW:
            total = " * ".join(f"n{d}" for d in self.inner)
            counts = self.emitter.counts(a, str(self.used), total)
            return self.code.call(a.fold, *a.names, *counts)
        return self.emitter.halved(a, self.used)
