"""Kernels whose blocks reduce: into lanes, then by a fixed tree.

A block has one point of the kept loops, or neighbouring ones. The results of passes for
later ones are in variables of all threads, or for several points in shared memory.
Serves: choice.sum-order
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from traceir_numba.cuda.codegen.writer import BLOCKS, NestWriter
from traceir_numba.loops.nest import Pass


def write(w: NestWriter) -> None:
    """All passes, or of parts their fold."""
    _Tiles(w).main()


def write_end(w: NestWriter) -> None:
    """Write the second kernel, which joins the parts' results."""
    _Tiles(w).end()


class _Tiles:
    def __init__(self, w: NestWriter) -> None:
        self.w, self.emitter, self.code = w, w.emitter, w.code
        self.lanes, self.wide = w.form.lanes, w.form.wide
        self.all = self.lanes * self.wide

    # -- kernels ------------------------------------------------------------------

    def main(self) -> None:
        """The kernel, or the first of two."""
        w = self.w
        self.memory()
        with self.blocks(w.form.parts):
            for number in range(len(w.nest.passes)):
                self.emitter.enter(number)
                self.one_pass()

    def one_pass(self) -> None:
        """One pass over a block's points."""
        w, emitter = self.w, self.emitter
        if not emitter.reductions and self.wide == 1:
            first, step = "cuda.threadIdx.x", "cuda.blockDim.x"
            with w.over(w.reduced, first, step, "element"):
                emitter.body()
            return
        parts = w.form.parts
        first = f"part * {self.lanes} + " if parts else ""
        step = f"parts * {self.lanes}" if parts else str(self.lanes)
        with self.each_lane() as (place, row):
            w.emitter.start()
            with w.over(w.reduced, f"{first}{row}", step, "element"):
                emitter.body()
                if emitter.reductions:
                    emitter.update(place="")
            self.put(place)
        if not emitter.reductions:
            return
        self.tree()
        if parts:
            self.leave()
        else:
            self.epilogue(emitter.now)

    def end(self) -> None:
        """The second kernel: the parts of a block's points."""
        w, emitter, code = self.w, self.emitter, self.code
        self.memory()
        with self.blocks(False):
            with self.each_lane() as (place, row):
                w.emitter.start()
                with code.block(f"for part in range({row}, parts, {self.lanes}):"):
                    for a in emitter.reductions:
                        left = [f"{s}[{self.left()}]" for s in a.scratch]
                        w.join(a, a.names, left)
                self.put(place)
            self.tree()
            self.epilogue(emitter.now)

    # -- memory -------------------------------------------------------------------

    def memory(self) -> None:
        """The lanes of all accumulators, and the passes' results for several points."""
        w = self.w
        for a in w.every():
            for name, dtype in zip(a.names, a.dtypes, strict=True):
                w.shared(f"{name}_lanes", self.all, dtype)
        for one in w.nest.passes:
            for name, dtype in self.emitter.kept_names(one):
                w.shared(f"{name}_kept", self.wide, dtype)

    def put(self, place: str) -> None:
        """Put the accumulators in their lane."""
        for a in self.emitter.reductions:
            for name in a.names:
                self.code.add(f"{name}_lanes[{place}] = {name}")

    def left(self) -> str:
        """The scratch memory of a point's part."""
        kept = self.w.kept
        return f"part * ({self.w.count(kept)}) + point" if kept else "part"

    # -- loops --------------------------------------------------------------------

    @contextmanager
    def blocks(self, parts: bool) -> Iterator[None]:
        """The points of a block, and its part of their reductions."""
        w, code, kept = self.w, self.code, self.w.kept
        first, step = BLOCKS
        if self.wide == 1 and not parts:
            if len(kept) == 1 and w.form.parts:  # scratch is by points
                with w.over(kept, first, step):
                    code.add(f"point = i{kept[0]}")
                    yield
                return
            with w.over(kept, first, step):
                yield
            return
        if not kept and self.wide == 1:
            with code.block(f"for part in range({first}, parts, {step}):"):
                yield
            return
        code.add(f"count = {w.count(kept)}")
        groups = "count"
        if self.wide > 1:
            code.add(f"groups = (count + {self.wide - 1}) // {self.wide}")
            groups = "groups"
        groups = f"{groups} * parts" if parts else groups
        with code.block(f"for block in range({first}, {groups}, {step}):"):
            block = "block"
            if parts:
                code.add("part = block % parts")
                block = "block // parts"
            if self.wide > 1:
                code.add(f"base = {block} * {self.wide}")
            else:
                code.add(f"point = {block}")
                w.indices(kept, "point")
            yield

    @contextmanager
    def each_lane(self) -> Iterator[tuple[str, str]]:
        """The lanes that are a thread's: their places in memory, and their rows."""
        w, code = self.w, self.code
        if self.wide == 1:
            with w.within_block("lane", str(self.all)):
                yield "lane", "lane"
            return
        by = self.wide if w.form.across else self.lanes
        names = ("lane", "row") if w.form.across else ("row", "lane")
        place = "thread" if w.form.across else f"row * {self.wide} + lane"
        with w.within_block("thread", str(self.all)):
            code.add(f"{names[0]} = thread % {by}", f"{names[1]} = thread // {by}")
            with self.point():
                yield place, "row"

    @contextmanager
    def point(self) -> Iterator[None]:
        """The point of a lane, if there is one."""
        self.code.add("point = base + lane")
        with self.code.block("if point < count:"):
            self.w.indices(self.w.kept, "point")
            yield

    # -- results ------------------------------------------------------------------

    def tree(self) -> None:
        """Join the lanes of each point by a tree."""
        w, code = self.w, self.code
        lanes = f" * {self.wide}" if self.wide > 1 else ""
        code.add("cuda.syncthreads()", f"width = {self.lanes // 2}")
        with code.block("while width > 0:"):
            with w.within_block("lane", f"width{lanes}"):
                for a in self.emitter.reductions:
                    memory = [f"{name}_lanes" for name in a.names]
                    there = [f"{name}[lane + width{lanes}]" for name in memory]
                    w.join(a, [f"{name}[lane]" for name in memory], there)
            code.add("cuda.syncthreads()", "width //= 2")

    @contextmanager
    def each_point(self) -> Iterator[str]:
        """The points of a block: where its lanes have been joined."""
        if self.wide == 1:
            with self.code.block("if cuda.threadIdx.x == 0:"):
                yield "0"
            return
        with self.w.within_block("lane", str(self.wide)), self.point():
            yield "lane"

    def leave(self) -> None:
        """Write the result of a part, for the second kernel."""
        with self.each_point() as place:
            for a in self.emitter.reductions:
                for memory, name in zip(a.scratch, a.names, strict=True):
                    self.code.add(f"{memory}[{self.left()}] = {name}_lanes[{place}]")
        self.code.add("cuda.syncthreads()")

    def epilogue(self, now: Pass) -> None:
        """Write the epilogue, which all threads compute from a point's results."""
        emitter, code = self.emitter, self.code
        if self.wide > 1:
            with self.each_point() as place:
                emitter.results(
                    f"{a.names[-1]}_lanes[{place}]" for a in emitter.reductions
                )
                emitter.epilogue()
            code.add("cuda.syncthreads()")
            return
        emitter.results(f"{a.names[-1]}_lanes[0]" for a in emitter.reductions)
        code.add("cuda.syncthreads()")
        code.nodes(now.epilogue, emitter.finish_labels)
        if now.epilogue_stores:
            with code.block("if cuda.threadIdx.x == 0:"):
                code.stores(now.epilogue_stores, emitter.finish_labels)
