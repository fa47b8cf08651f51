"""Reductions of rows whose length is a constant, as source: no loop ends halfway.

What a row needs is then straight-line code on vectors, so that the processor works on
the next row before it has ended one. The order is that of rows of any length.
Serves: choice.sum-order
"""

from __future__ import annotations

from traceir_numba.emit_forms import Accumulators, Emitter
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.entry import Expression, Scalar
from traceir_numba.functions import SHORT, width_of


def write(emitter: Emitter) -> None:
    """The loops of a nest of rows of a constant length."""
    emitter.make_accumulators()
    with emitter.code.block(*emitter.outer_loops()):
        for number in range(len(emitter.nest.passes)):
            emitter.enter(number)
            _Row(emitter).write()


class _Row:
    """One pass over a row; it may have several dimensions."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.code = emitter.code
        self.inner = emitter.loops.inner
        length = emitter.nest.fixed(self.inner[-1])
        assert length is not None
        self.length, self.width = length, width_of(length)

    def write(self) -> None:
        emitter, code = self.emitter, self.code
        if not emitter.reductions:
            with code.block(*emitter.inner_loops(self.inner)):
                emitter.body()
            return
        self.clear()
        with code.block(*emitter.inner_loops(self.inner[:-1])):
            self.chunks()
        for number, a in enumerate(emitter.reductions):
            found = self.folded(a)
            code.add(f"{a.result} = {emitter.as_result(number, found)}")
        emitter.finish()

    def clear(self) -> None:
        with self.code.block(f"for lane in range({self.width}):"):
            for a in self.emitter.reductions:
                for name, value in zip(a.names, a.initial(), strict=True):
                    self.code.add(f"{name}[lane] = {value}")

    def chunks(self) -> None:
        """All whole chunks of lanes, then what is left of the row."""
        whole = self.length // self.width * self.width
        if whole == self.width:
            self.chunk("lane", self.width)
        elif whole:
            with self.code.block(f"for base in range(0, {whole}, {self.width}):"):
                self.chunk("base + lane", self.width)
        if self.length > whole:
            index = f"{whole} + lane" if whole else "lane"
            self.chunk(index, self.length - whole)

    def chunk(self, index: str, count: int) -> None:
        with self.code.block(f"for lane in range({count}):"):
            self.code.add(f"i{self.inner[-1]} = {index}")
            self.emitter.body()
            self.emitter.update()

    def folded(self, a: Accumulators) -> str:
        """The accumulators as one, in the order of the function that folds them."""
        if a.entry.test or self.length <= SHORT:
            total = " * ".join(f"n{d}" for d in self.inner)
            counts = self.emitter.counts(a, str(self.width), total)
            return self.code.call(a.fold, *a.names, *counts)
        (name,) = a.names
        half = self.width // 2
        while half:
            with self.code.block(f"for lane in range({half}):"):
                self.join(a, half)
            half //= 2
        return f"{name}[0]"

    def join(self, a: Accumulators, distance: int) -> None:
        """Let the accumulators at a distance enter those before."""
        (name,), (dtype,) = a.names, a.dtypes
        entry = EMITTERS[a.entry.fold.removeprefix("fold_")]
        assert isinstance(entry, Scalar)
        e = Expression(dtype, dtype, operands=(dtype, dtype))
        old, new = f"{name}_old", f"{name}_new"
        self.code.add(f"{old} = {name}[lane]", f"{new} = {name}[lane + {distance}]")
        self.code.add(f"{name}[lane] = {entry.emit(e, old, new)}")
        self.code.calls.update(dict.fromkeys(e.calls))
