"""Pieces as `@cuda.jit` source: a routine run by one block.

All threads know all scalars and take the same way. A nest's points are shared among
them as those of its kernel are, which is a function here; one thread puts what all
know. Values put in memory are read after a barrier. Serves: choice.dot-order
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from textwrap import dedent

from traceir.base.fast_dataclass import dataclass
from traceir_numba.codegen.body import memory_dtype, pointer_name
from traceir_numba.codegen.routine import RoutineEmitter, RoutineLines
from traceir_numba.cuda.codegen.nest import CudaKernelSource
from traceir_numba.cuda.codegen.thread_mapping import Key, key_of
from traceir_numba.cuda.routines import step_arguments
from traceir_numba.cuda.routines.barriers import Memories, Touched
from traceir_numba.cuda.routines.block_plans import Piece
from traceir_numba.cuda.runtime.launching import values_of
from traceir_numba.device_functions import short
from traceir_numba.loops.nest import Access, ScalarConstant
from traceir_numba.loops.program import CallMatmul, Copy, Launch, Loop, Step, While
from traceir_numba.lowering.matmul import call_arguments

# The thread that puts what all threads know, and what one takes of a block's work.
ONE = "if cuda.threadIdx.x == 0:"
BLOCK = "cuda.threadIdx.x", "cuda.blockDim.x"


@dataclass(frozen=True, slots=True)
class PieceKernel:
    """The source of a piece: a kernel of arrays alone, of the dtypes `pointers`.

    `functions` are the texts of what it calls: kernels and products of the piece;
    `calls` are the functions of numbers that they need.
    """

    name: str
    text: str
    functions: tuple[str, ...]
    pointers: tuple[str, ...]
    calls: tuple[str, ...]


# What is pending, and the scalars that are as in their memory.
_State = tuple[Touched, frozenset[int]]


@dataclass(slots=True)
class _PieceLines(RoutineLines):
    """Scalars are variables of all threads; one of them puts elements of arrays.

    No other thread runs code that is `alone`.
    """

    alone: bool = False

    def by_one(self) -> AbstractContextManager[None]:
        """Lines for one thread."""
        return nullcontext() if self.alone else self.block(ONE)

    def store(self, access: Access, value: str, dtype: str) -> None:
        """A scalar's new value, or an element's, which one thread puts."""
        if self.slots[access.buffer].role == "scalar":
            RoutineLines.store(self, access, value, dtype)
            return
        with self.by_one():
            RoutineLines.store(self, access, value, dtype)


class PieceEmitter(RoutineEmitter):
    """A writer of the source of steps that all threads of a block run."""

    code: _PieceLines

    def __init__(
        self, memories: Memories, functions: Mapping[Key, CudaKernelSource]
    ) -> None:
        super().__init__(memories.buffers, {})
        self.code = _PieceLines((), contracts=True)
        self.memories = memories
        self.known = functions
        self.functions: dict[str, str] = {}
        self.pending = Touched()
        self.kept: frozenset[int] = frozenset()  # scalars that are as in their memory
        self.forks: list[tuple[_State, list[_State]]] = []
        self.share = BLOCK
        self.scratch: dict[str, str] = {}  # memory for parts: names and dtypes

    def kernel(self, name: str, pointers: Iterable[int]) -> PieceKernel:
        """The whole kernel."""
        found = [self.buffers[k] for k in pointers]
        dtypes = [memory_dtype(b.dtype) for b in found]
        args = ", ".join([*(pointer_name(b.name) for b in found), *self.scratch])
        return PieceKernel(
            name,
            "\n".join([f"def {name}({args}):", *self.code.lines]),
            tuple(self.functions.values()),
            (*dtypes, *self.scratch.values()),
            tuple(self.code.calls),
        )

    def piece(self, piece: Piece) -> None:
        """Scalars from memory, all steps, and scalars to memory."""
        self.wait(self.memories.of(piece.loads))
        for slot in piece.loads:
            self.recall(slot)
        self.steps(piece.steps)
        for slot in piece.saves:
            self.save(slot)

    # -- barriers -----------------------------------------------------------------

    def wait(self, next_: Touched) -> None:
        """Wait for all threads if that must be before the next step."""
        if self.pending.must_precede(next_):
            self.code.add("cuda.syncthreads()")
            self.pending = Touched()
        self.pending |= next_

    @contextmanager
    def over(self, step: Step) -> Iterator[None]:
        """Steps that are run again, or not at all."""
        self.pending |= self.memories.touched([step])
        self.kept -= step_arguments.assigned([step], self.buffers)
        before = self.pending, self.kept
        yield
        self.pending, self.kept = before

    def loop(self, step: Loop) -> None:
        """A loop over rows: any step in it may be the one before."""
        with self.over(step):
            super().loop(step)

    def repeat(self, step: While) -> None:
        """A loop whose end the values say: likewise."""
        with self.over(step):
            super().repeat(step)

    def branch(self, index: str, branches: tuple[tuple[Step, ...], ...]) -> None:
        """A choice, which is the same for all threads."""
        self.forks.append(((self.pending, self.kept), []))
        super().branch(index, branches)
        _, ends = self.forks.pop()
        for pending, kept in ends:
            self.pending |= pending
            self.kept &= kept

    def alternative(self, steps: tuple[Step, ...]) -> None:
        """One branch, which no other branch precedes."""
        before, ends = self.forks[-1]
        self.pending, self.kept = before
        super().alternative(steps)
        ends.append((self.pending, self.kept))

    # -- steps --------------------------------------------------------------------

    def inline(self, step: Launch) -> None:
        """A nest without loops: all threads compute it, and one puts it."""
        code, nest = self.code, step.nest
        code.slots = tuple(self.buffers[k] for k in step.buffers)
        code.params = step.params
        touched = self.memories.touched([step])
        self.wait(Touched(read=touched.read))
        code.nodes(nest.body, step.labels.body)
        self.wait(Touched(put=touched.put))
        code.stores(nest.stores, step.labels.body)
        self.kept -= step_arguments.assigned([step], self.buffers)

    def launch(self, step: Launch) -> None:
        """A call of a kernel, which finds scalars in their memory."""
        scalars = dict(enumerate(step.buffers))
        scalars = {k: slot for k, slot in scalars.items() if self.is_scalar(slot)}
        for k, slot in scalars.items():
            if k in step.nest.loaded:
                self.save(slot)
        self.wait(replace(self.memories.touched([step]), put=frozenset()))
        self.call(step)
        for k, slot in scalars.items():
            if k in step.nest.written:
                self.wait(self.memories.of([slot]))
                self.recall(slot)

    def call(
        self, step: Launch, scratch: Iterable[str] = (), last: bool = False
    ) -> None:
        """The call: threads share the points as in a launch of the kernel."""
        kernel = self.known[key_of(step)]
        text = kernel.end if last else kernel.text
        name = f"{kernel.name}_end" if last else kernel.name
        assert text is not None
        self.functions[name] = text
        self.code.calls.update(dict.fromkeys(kernel.calls))
        pointers = [pointer_name(self.buffers[k].name) for k in step.buffers]
        values = values_of(step, kernel.form)
        sizes = (str(values[size]) for size in kernel.sizes)
        self.code.add(f"{name}({', '.join([*pointers, *scratch, *sizes])})")

    def product(self, step: CallMatmul) -> None:
        """A product of small matrices: threads take elements of the result."""
        dtype = memory_dtype(self.buffers[step.output].dtype)
        name = f"small_product_{short(dtype)}"
        self.functions[name] = small_product(name, dtype)
        self.wait(self.memories.touched([step]))
        names = self.names(step.inputs, step.output)
        given = [*names, *map(str, call_arguments(step.eqn))]
        self.code.add(f"{name}({', '.join(given)})")

    def copy(self, step: Copy) -> None:
        """All elements of an array."""
        self.wait(self.memories.touched([step]))
        first, stride = self.share
        source, target = self.name(step.source), self.name(step.target)
        size = self.size(step.target)
        with self.code.block(f"for element in range({first}, {size}, {stride}):"):
            self.code.add(f"{target}[element] = {source}[element]")

    def save(self, slot: int) -> None:
        """Put a scalar in its memory, unless that has it."""
        if slot in self.kept:
            return
        self.wait(self.memories.of(put=[slot]))
        with self.code.by_one():
            super().save(slot)
        self.kept |= {slot}

    def recall(self, slot: int) -> None:
        """Take a scalar from its memory."""
        self.code.add(f"{self.name(slot)} = {self.element(slot)}")
        self.kept |= {slot}

    def assign(self, pairs: Iterable[tuple[int, int | ScalarConstant]]) -> None:
        """Assignments that happen at once; memory stays as it was."""
        pairs = tuple(pairs)
        super().assign(pairs)
        self.kept -= {target for target, _ in pairs}

    def load_row(self, stack: int, row: int, at: str) -> None:
        """Take a scalar from its place in a stack."""
        self.wait(self.memories.of([stack]))
        super().load_row(stack, row, at)
        self.kept -= {row}

    def store_row(self, stack: int, row: int, at: str) -> None:
        """Put a scalar in its place in a stack."""
        self.wait(self.memories.of(put=[stack]))
        with self.code.by_one():
            super().store_row(stack, row, at)

    def point(self, stack: int, row: int, at: str) -> None:
        """Let a pointer be that of a row."""
        size = self.size(row)
        part = f"{at} * {size} : ({at} + 1) * {size}"
        self.code.add(f"{self.name(row)} = {self.name(stack)}[{part}]")


def small_product(name: str, dtype: str) -> str:
    """The function of products that one block computes.

    Sums run from the first product to the last, as in the kernel of large ones.
    """
    t, zero = short(dtype), "0.0" if dtype.startswith("float") else "0"
    along = "X[x_at + k * x_along] * Y[y_at + k * y_along]"
    text = f"""
    def {name}(
        X, Y, Z, outer, batch, rows, inner, columns,
        x_outer, x_batch, x_row, x_along, y_outer, y_batch, y_along, y_column,
    ):
        count = outer * batch * rows * columns
        for point in range(cuda.threadIdx.x, count, cuda.blockDim.x):
            rest = point // columns
            b = rest // rows
            x_at = b // batch * x_outer + b % batch * x_batch + rest % rows * x_row
            y_at = b // batch * y_outer + b % batch * y_batch
            y_at = y_at + point % columns * y_column
            total = {t}({zero})
            for k in range(inner):
                total = {t}(total + {along})
            Z[point] = total
    """
    return dedent(text).strip()
