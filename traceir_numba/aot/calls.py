"""A program as one LLVM function of pointers that calls kernels in order.

The caller gives the memory of arguments and results. That of values between, and what
products lay out, is asked of the system at once, before anything is computed, and given
back at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from hashlib import sha256

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import as_dtype
from traceir_numba import cost_model
from traceir_numba.aot.entries import AotFunction
from traceir_numba.aot.instructions import plain
from traceir_numba.aot.parts import ALIGNMENT, SUM, WORK, constant_text
from traceir_numba.buffers.buffer_assignment import size_of
from traceir_numba.codegen.nest import KernelSource
from traceir_numba.gemm import blocked, strided
from traceir_numba.gemm.parallel import is_long
from traceir_numba.loops.program import (
    BufferProgram,
    CallMatmul,
    CallRoutine,
    Copy,
    Launch,
    Reshape,
)
from traceir_numba.loops.schedule import range_of, scratch_of
from traceir_numba.loops.step_effects import walk
from traceir_numba.lowering.matmul import call_arguments, is_strided

Text = list[str]


@dataclass(slots=True)
class Calls:
    """The lines of one entry's function, and where each buffer's memory is."""

    entry: AotFunction
    instructions: tuple[str, ...]  # that it may use
    lines: Text = field(default_factory=list)
    declared: dict[str, str] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=dict)  # a register or a global
    globals: Text = field(default_factory=list)
    large: dict[str, bytes] = field(default_factory=dict)  # constants, by symbol
    bytes: int = 0
    work: int = 0  # the bytes that the greediest product lays out
    roots: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.roots = roots_of(self.program)

    @property
    def program(self) -> BufferProgram:
        """The entry's program."""
        return self.entry.build.program

    def text(self) -> str:
        """The whole module: constants, declarations, the function `SYMBOL_body`."""
        self.given()
        for number, step in enumerate(self.program.steps):
            self.step(number, step)
        self.written()
        own = [*self.memory(), *self.lines]
        heap = self.bytes > cost_model.AOT_STACK_BYTES
        end = ["call void @free(ptr %memory)"] if heap else []
        body = "\n  ".join([*own, *end, "ret i32 0"])
        head = f"define i32 @{self.entry.symbol}_body({self.parameters}) nounwind {{"
        return "\n".join(
            [*self.globals, *self.declared.values(), head, f"  {body}", "}\n"]
        )

    @property
    def parameters(self) -> str:
        """The parameters as LLVM has them."""
        count = len(self.entry.inputs) + len(self.entry.outputs)
        return ", ".join(f"ptr %a{k}" for k in range(count))

    # -- memory -------------------------------------------------------------------

    def given(self) -> None:
        """Place the caller's arguments, and constants."""
        program = self.program
        results = len(program.inputs)
        for k, slot in enumerate(program.inputs):
            self.places[slot] = f"%a{k}"
        for k, slot in enumerate(program.outputs[: len(self.entry.outputs)]):
            self.places[self.roots.get(slot, slot)] = f"%a{results + k}"
        for k, (slot, value) in enumerate(program.constants):
            # Entries with the same data share it.
            if value.nbytes > cost_model.AOT_TEXT_BYTES:
                data = np.ascontiguousarray(value).tobytes()
                name = f"traceir_constant_{sha256(data).hexdigest()[:16]}"
                self.large[name] = data
                self.globals.append(f"@{name} = external hidden constant i8")
            else:
                name = f"{self.entry.symbol}_constant_{k}"
                self.globals.append(constant_text(name, value))
            self.places[slot] = f"@{name}"

    def written(self) -> None:
        """Copy written values to the arguments, when all is read."""
        values = self.program.outputs[len(self.entry.outputs) :]
        for argument, slot in zip(self.entry.written, values, strict=True):
            self.move(f"%a{argument}", self.place(slot), slot)

    def place(self, slot: int) -> str:
        """The pointer to a buffer's memory, which is found now if it has none."""
        slot = self.roots.get(slot, slot)
        if slot not in self.places:
            self.places[slot] = self.allocate(size_of(self.program.buffers[slot]))
        return self.places[slot]

    def allocate(self, size: int) -> str:
        """A pointer to memory of the function's own."""
        name = f"%m{self.bytes}_{len(self.lines)}_{len(self.places)}"
        at = f"getelementptr i8, ptr %line, i64 {self.bytes}"
        self.lines.append(f"{name} = {at}")
        self.bytes += max(1, -(-size // ALIGNMENT)) * ALIGNMENT
        return name

    def memory(self) -> Text:
        """The lines that get the memory."""
        shared = self.shared() if self.work else []
        if not self.bytes:
            return []
        if self.bytes <= cost_model.AOT_STACK_BYTES:
            kind = f"[{self.bytes} x i8]"
            return [f"%line = alloca {kind}, align {ALIGNMENT}", *shared]
        self.declare("malloc", "ptr", ["i64"])
        self.declare("free", "void", ["ptr"])
        size = self.bytes + ALIGNMENT
        return [
            f"%memory = call ptr @malloc(i64 {size})",
            "%none = icmp eq ptr %memory, null",
            "br i1 %none, label %refused, label %begin",
            "refused:",
            "ret i32 1",
            "begin:",
            "%address = ptrtoint ptr %memory to i64",
            f"%past = and i64 %address, {ALIGNMENT - 1}",
            f"%forward = sub i64 {ALIGNMENT}, %past",
            "%line = getelementptr i8, ptr %memory, i64 %forward",
            *shared,
        ]

    def shared(self) -> Text:
        """The lines that give products their memory, one after the other the same."""
        self.globals.append(f"@{WORK} = external thread_local global ptr")
        at, self.bytes = self.bytes, self.bytes + self.work
        return [
            f"%work = getelementptr i8, ptr %line, i64 {at}",
            f"store ptr %work, ptr @{WORK}",
        ]

    def lays_out(self, step: CallMatmul, dtype: str) -> None:
        """Note the memory that a product lays out."""
        _, _, _, inner, columns, *_ = call_arguments(step.eqn)
        work_size = strided.work_size if is_strided(step.eqn) else blocked.work_size
        size = work_size(dtype, inner, columns, self.instructions)
        self.work = max(self.work, size)

    # -- steps --------------------------------------------------------------------

    def step(self, number: int, step: object) -> None:
        """Add a step."""
        built = self.entry.build
        match step:
            case Launch():
                kernel = built.sources.steps[number]
                self.call(built.kernels[kernel.name].symbol, self.launch(step, kernel))
            case CallRoutine(routine, slots):
                kernel = built.sources.steps[number]
                for inner in walk(routine.steps):
                    if isinstance(inner, CallMatmul):
                        self.lays_out(inner, routine.buffers[inner.output].dtype)
                given = [f"ptr {self.place(k)}" for k in slots]
                self.call(built.kernels[kernel.name].symbol, given)
            case CallMatmul():
                self.product(step)
            case Copy(source, target):
                self.copy(source, target)
            case Reshape(source, output, copied):
                if copied:
                    self.copy(source, output)
            case _:
                raise AssertionError(step)

    def launch(self, step: Launch, kernel: KernelSource) -> Iterator[str]:
        """The launch of a kernel for all of its work at once."""
        for slot in step.buffers:
            yield f"ptr {self.place(slot)}"
        for length, dtype in scratch_of(step.nest, step.extents, step.params):
            yield f"ptr {self.allocate(length * as_dtype(dtype).itemsize)}"
        values = range_of(step.nest, step.extents, step.params).values
        for name in kernel.sizes:
            yield f"i64 {values[name]}"

    def copy(self, source: int, target: int) -> None:
        """Copy all bytes of a buffer."""
        self.move(self.place(target), self.place(source), target)

    def move(self, to: str, source: str, slot: int) -> None:
        """Copy as many bytes as a buffer has."""
        kinds = ["ptr", "ptr", "i64", "i1"]
        name = self.declare("llvm.memcpy.p0.p0.i64", "void", kinds)
        size = size_of(self.program.buffers[slot])
        pointers = f"ptr {to}, ptr {source}"
        self.lines.append(f"call void @{name}({pointers}, i64 {size}, i1 false)")

    def product(self, step: CallMatmul) -> None:
        """A product of matrices, as `matmul.product` computes it, by one thread."""
        dtype = self.program.buffers[step.output].dtype
        self.lays_out(step, dtype)
        outer, batch, rows, inner, columns, *strides = call_arguments(step.eqn)
        given = [self.place(k) for k in (*step.inputs, step.output)]
        lines, symbol = outer * batch * rows, strided.symbol_of(dtype)
        if not is_strided(step.eqn):
            symbol = blocked.symbol_of(dtype)
            if is_long(outer * batch, lines, inner, columns):
                self.long(symbol, dtype, given, (rows, inner, columns), strides)
                return
            strides.append(columns)
        sizes = (0, lines, 0, columns, rows, columns, inner, batch, *strides)
        self.call(symbol, [*_pointers(*given), *_sizes(sizes)])

    def long(
        self,
        symbol: str,
        dtype: str,
        given: list[str],
        shape: tuple[int, int, int],
        strides: list[int],
    ) -> None:
        """One product with long sums: parts of them, then their sum in order."""
        (x, y, z), (rows, inner, columns) = given, shape
        _, _, x_row, x_along, _, _, y_along, y_column = strides
        part = cost_model.SPLIT_SUM_PART
        count, rest = divmod(inner, part)
        size = as_dtype(dtype).itemsize
        parts = self.allocate((count + bool(rest)) * rows * columns * size)
        steps = (x_row, x_along, 0, part * y_along, y_along, y_column, columns)
        sizes = (0, columns, rows, columns, part, count, 0, part * x_along, *steps)
        self.call(symbol, [*_pointers(x, y, parts), *_sizes((0, count * rows, *sizes))])
        if rest:
            last = [
                self.further(pointer, offset * size)
                for pointer, offset in (
                    (x, count * part * x_along),
                    (y, count * part * y_along),
                    (parts, count * rows * columns),
                )
            ]
            sizes = (0, columns, rows, columns, rest, 1, 0, 0, *steps)
            self.call(symbol, [*_pointers(*last), *_sizes((0, rows, *sizes))])
        sums = [count + bool(rest), rows * columns]
        self.call(f"{SUM}{np.dtype(dtype).name}", [*_pointers(parts, z), *_sizes(sums)])

    def further(self, pointer: str, offset: int) -> str:
        """A pointer so many bytes further."""
        name = f"%p{len(self.lines)}"
        self.lines.append(f"{name} = getelementptr i8, ptr {pointer}, i64 {offset}")
        return name

    def call(self, symbol: str, given: Iterable[str]) -> None:
        """Call a function without a result."""
        arguments = list(given)
        self.declare(symbol, "void", [one.split()[0] for one in arguments])
        self.lines.append(f"call void @{symbol}({', '.join(arguments)})")

    def declare(self, symbol: str, result: str, kinds: list[str]) -> str:
        """Declare a function of another module."""
        text = f"declare {result} @{symbol}({', '.join(kinds)})"
        self.declared[symbol] = text
        return symbol


def roots_of(program: BufferProgram) -> dict[int, int]:
    """The buffers whose memory others have, for each of these."""
    over = dict(program.reuses)
    for step in program.steps:
        if isinstance(step, Reshape) and not step.copied:
            over[step.output] = step.source
    found: dict[int, int] = {}
    for slot in over:
        chain = []
        while slot in over and slot not in found:
            chain.append(slot)
            slot = over[slot]
        found.update(dict.fromkeys(chain, found.get(slot, slot)))
    return found


def _pointers(*names: str) -> list[str]:
    return [f"ptr {name}" for name in names]


def _sizes(values: Iterable[int]) -> list[str]:
    return [f"i64 {value}" for value in values]


def entry_text(calls: Calls, missing: str) -> str:
    """LLVM text of the entry for C: the body, unless the processor lacks something.

    It asks once; before, what is known is -1.
    """
    entry, body = calls.entry, calls.text()
    known = f"@{entry.symbol}_known"
    arguments = calls.parameters
    return f"""{body}
{known} = internal global i64 -1
declare i64 @{missing}()
define i32 @{entry.symbol}({arguments}) {plain()} {{
  %before = load atomic i64, ptr {known} monotonic, align 8
  %unknown = icmp eq i64 %before, -1
  br i1 %unknown, label %ask, label %test
ask:
  %asked = call i64 @{missing}()
  store atomic i64 %asked, ptr {known} monotonic, align 8
  br label %test
test:
  %lacks = phi i64 [%before, %0], [%asked, %ask]
  %fits = icmp eq i64 %lacks, 0
  br i1 %fits, label %run, label %refuse
run:
  %code = call i32 @{entry.symbol}_body({arguments})
  ret i32 %code
refuse:
  ret i32 2
}}
"""
