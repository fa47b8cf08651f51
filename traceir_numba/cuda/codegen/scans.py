"""Kernels whose blocks compute prefix scans along lines.

A tile of the line is computed by neighbouring threads, into memory that they share.
Each lane folds its own stretch of it, one thread then runs over what the lanes have,
and what is before a lane enters all of its elements. The value before a lane is the one
that the lane before leaves at its last element, so a sum of positive numbers never
falls. The cuts of a line depend on its length alone. Serves: class.cumulative,
choice.sum-order
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from traceir_numba.codegen.body import memory_dtype
from traceir_numba.cuda.codegen.writer import BLOCKS, NestWriter


def write(w: NestWriter) -> None:
    """Lines, or parts of them by themselves."""
    _ScanOfLines(w).main()


def write_end(w: NestWriter) -> None:
    """Write the second kernel: the prefix of each part enters its elements."""
    _ScanOfLines(w).end()


class _ScanOfLines:
    def __init__(self, w: NestWriter) -> None:
        self.w, self.code = w, w.code
        ((self.one,),) = w.emitter.every
        (self.axis,) = w.reduced
        self.dtype = memory_dtype(w.nest.reductions[0].dtype)
        (self.first,) = self.one.initial()
        (self.store,) = w.nest.epilogue_stores
        # A stretch of one lane has a place more, or lanes would wait for each other.
        self.lanes, self.items = w.form.lanes, w.form.wide
        self.stretch = self.items + (self.items > 1)

    def joined(self, before: str, x: str) -> str:
        """An element after the fold of those before it."""
        return self.code.joined(self.one.entry.fold, self.dtype, before, x)

    def main(self) -> None:
        """The kernel, or the first of two."""
        w, code = self.w, self.code
        w.shared("line", self.lanes * self.stretch, self.dtype)
        w.shared("totals", self.lanes, self.dtype)
        with self.blocks():
            code.add(f"before = {self.first}")
            tile = self.lanes * self.items
            with code.block(f"for base in range(start, stop, {tile}):"):
                rest = f"stop - base if stop - base < {tile} else {tile}"
                code.add(f"width = {rest}")
                self.read()
                self.fold()
                self.run_over()
                self.epilogue()
            if w.form.parts:
                (memory,) = self.one.scratch
                with code.block("if cuda.threadIdx.x == 0:"):
                    code.add(f"{memory}[{self.left('part')}] = before")

    def end(self) -> None:
        """The second kernel: each part from the results of the earlier ones."""
        code, (memory,) = self.code, self.one.scratch
        with self.blocks():
            code.add(f"before = {self.first}")
            with code.block("for base in range(part):"):
                code.add(f"value = {memory}[{self.left('base')}]")
                code.add(f"before = {self.joined('before', 'value')}")
            bounds = "start + cuda.threadIdx.x, stop, cuda.blockDim.x"
            with code.block(f"for element in range({bounds}):"):
                self.index("element")
                place = code.place(self.store.access)
                code.add(f"value = {place}")
                code.add(f"{place} = {self.joined('before', 'value')}")

    # -- loops --------------------------------------------------------------------

    @contextmanager
    def blocks(self) -> Iterator[None]:
        """The lines of a block, or its parts of them: where each begins and ends."""
        w, code, n = self.w, self.code, f"n{self.axis}"
        first, step = BLOCKS
        if not w.form.parts:
            with w.over(w.kept, first, step):
                code.add("start = 0", f"stop = {n}")
                yield
            return
        count = f"({w.count(w.kept)}) * parts" if w.kept else "parts"
        with code.block(f"for block in range({first}, {count}, {step}):"):
            code.add("part = block % parts")
            if w.kept:
                code.add("point = block // parts")
                w.indices(w.kept, "point")
            code.add(f"stop = ({n} + parts - 1) // parts", "start = part * stop")
            code.add("stop = start + stop", f"stop = {n} if stop > {n} else stop")
            yield

    def left(self, part: str) -> str:
        """The scratch memory of a part's result."""
        return (
            f"{part} * ({self.w.count(self.w.kept)}) + point" if self.w.kept else part
        )

    def index(self, element: str) -> None:
        """The loop's index at an element of a line, which may run down."""
        d = self.axis
        back = self.w.nest.scan_direction < 0
        self.code.add(f"i{d} = {f'n{d} - 1 - {element}' if back else element}")

    @contextmanager
    def elements(self) -> Iterator[str]:
        """The elements of a tile, neighbours by neighbouring threads."""
        code = self.code
        with self.w.within_block("element", "width"):
            back = self.w.nest.scan_direction < 0
            self.index("(base + element)" if back else "base + element")
            whole = self.items == 1
            yield f"line[element{'' if whole else f' + element // {self.items}'}]"
        code.add("cuda.syncthreads()")

    # -- a tile -------------------------------------------------------------------

    def read(self) -> None:
        """Compute the elements to fold."""
        emitter = self.w.emitter
        with self.elements() as place:
            emitter.body()
            (text,) = emitter.entering()
            self.code.add(f"{place} = {text}")

    def fold(self) -> None:
        """Fold the stretch of each lane in place."""
        code = self.code
        with self.w.within_block("lane", str(self.lanes)):
            code.add(f"so_far = {self.first}")
            if self.items == 1:
                with code.block("if lane < width:"):
                    code.add("so_far = line[lane]")
            else:
                items = self.items
                code.add(f"first = lane * {self.stretch}")
                code.add(f"count = width - lane * {items}")
                code.add(f"count = {items} if count > {items} else count")
                with code.block("for element in range(first, first + count):"):
                    code.add("value = line[element]")
                    code.add(f"so_far = {self.joined('so_far', 'value')}")
                    code.add("line[element] = so_far")
            code.add("totals[lane] = so_far")
        code.add("cuda.syncthreads()")

    def run_over(self) -> None:
        """Store the prefix of each lane."""
        code = self.code
        lanes = f"for lane in range({self.lanes}):"
        with code.block("if cuda.threadIdx.x == 0:", lanes):
            code.add("value = totals[lane]", "totals[lane] = before")
            code.add(f"before = {self.joined('before', 'value')}")
        code.add("cuda.syncthreads()")

    def epilogue(self) -> None:
        """Write the epilogue: the value at each element."""
        code, emitter = self.code, self.w.emitter
        with self.elements() as place:
            lane = "element" if self.items == 1 else f"element // {self.items}"
            code.add(f"so_far = totals[{lane}]", f"value = {place}")
            self.w.emitter.results([self.joined("so_far", "value")])
            emitter.epilogue()
