"""Routines as source: loops, choices and scalars around kernel calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from math import prod
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir_numba import cost_model
from traceir_numba.buffers.lower_control_flow import is_inline
from traceir_numba.codegen.body import (
    CodeWriter,
    as_memory,
    constant_text,
    memory_dtype,
    plain,
    pointer_name,
)
from traceir_numba.codegen.nest import KernelSource
from traceir_numba.device_functions import short
from traceir_numba.loops.nest import Access, ScalarConstant
from traceir_numba.loops.program import (
    Assign,
    Branch,
    Buffer,
    CallForeign,
    CallMatmul,
    Copy,
    Counter,
    Exchange,
    Label,
    Launch,
    LeaveLoop,
    LoadScalar,
    Loop,
    Step,
    StoreScalar,
    While,
)
from traceir_numba.loops.schedule import LaunchRange, range_of
from traceir_numba.lowering.matmul import call_arguments, is_strided


@dataclass(slots=True)
class RoutineLines(CodeWriter):
    """Straight-line code among a routine's steps: scalars are variables."""

    slots: tuple[Buffer, ...] = ()
    params: tuple[int, ...] = field(default=())

    def load(self, access: Access, dtype: str) -> str:
        """A scalar by name, or an element of an array."""
        buffer = self.slots[access.buffer]
        if buffer.role == "scalar":
            return buffer.name
        return CodeWriter.load(self, access, dtype)

    def store(self, access: Access, value: str, dtype: str) -> None:
        """A scalar's new value, or an element's."""
        buffer = self.slots[access.buffer]
        if buffer.role != "scalar":
            CodeWriter.store(self, access, value, dtype)
        elif buffer.name != value:
            self.add(f"{buffer.name} = {value}")

    def place(self, access: Access) -> str:
        """An element of an array; its index is known."""
        at = 0 if access.offset is None else self.params[access.offset]
        at = (at + access.past) * access.width + access.lane
        terms = [str(at)] if at or not access.dynamic else []
        for text, (_, stride) in zip(self.found(access), access.dynamic, strict=True):
            factor = access.width * (1 if stride is None else self.params[stride])
            terms.append(text if factor == 1 else f"{text} * {factor}")
        return f"{pointer_name(self.slots[access.buffer].name)}[{' + '.join(terms)}]"

    def parameter(self, number: int) -> str:
        """A parameter's value: a routine is for one launch."""
        return str(self.params[number])


class RoutineEmitter:
    """A writer of the source of a routine's steps, in one function."""

    def __init__(
        self, buffers: Sequence[Buffer], kernels: Mapping[Any, KernelSource]
    ) -> None:
        self.buffers = buffers
        self.kernels = kernels
        self.code = RoutineLines(())
        # What has been written of the loop around costs, how much of that loops in it
        # count themselves, and a round of each loop: see `with_safepoints`.
        self.cost = self.counted = 0
        self.rounds: list[int] = []

    def name(self, slot: int) -> str:
        """A scalar by its name, an array by its pointer's."""
        buffer = self.buffers[slot]
        if buffer.role == "scalar":
            return buffer.name
        return pointer_name(buffer.name)

    def text(self, source: int | ScalarConstant) -> str:
        """A value by name, or a constant."""
        if isinstance(source, ScalarConstant):
            return constant_text(source.text, source.dtype)
        return self.name(source)

    def is_scalar(self, slot: int) -> bool:
        """True if a slot has a variable of its own, and is no pointer."""
        return self.buffers[slot].role == "scalar"

    def size(self, slot: int) -> int:
        """The elements of an array."""
        return prod(self.buffers[slot].shape)

    # -- steps --------------------------------------------------------------------

    def steps(self, steps: Iterable[Step]) -> None:
        """The lines of some steps, in order."""
        for step in steps:
            self.step(step)

    def step(self, step: Step) -> None:
        """The lines of one step."""
        if isinstance(step, Loop | While | Branch):
            self.code.comment(Label("", step.line))
        match step:
            case Launch():
                self.inline(step) if is_inline(step) else self.launch(step)
            case CallMatmul():
                self.product(step)
            case CallForeign(name, inputs, output, order):
                self.cost += cost_model.SCALAR_COST
                called = self.code.call(name, *map(self.text, inputs))
                self.code.add(f"{self.name(output)} = {called}")
                self.assign([order])
            case LoadScalar(slot):
                self.code.add(f"{self.name(slot)} = {self.element(slot)}")
            case StoreScalar(slot):
                self.save(slot)
            case Copy():
                self.copy(step)
            case Exchange(one, other):
                self.whole("exchange", one, other)
            case Assign(pairs):
                self.assign(pairs)
            case Loop():
                self.loop(step)
            case While():
                self.repeat(step)
            case Branch(index, branches):
                self.branch(self.name(index), branches)
            case LeaveLoop():
                self.code.add("break")
            case _:
                raise AssertionError(step)

    def names(self, inputs: Iterable[int], output: int) -> tuple[str, ...]:
        """The names of a product's operands and its result."""
        return tuple(self.name(k) for k in (*inputs, output))

    def product(self, step: CallMatmul) -> None:
        """A product of matrices: a call."""
        dtype = plain(self.buffers[step.output].dtype)
        names = self.names(step.inputs, step.output)
        given = [*names, *map(str, call_arguments(step.eqn))]
        self.cost += 2 * prod(call_arguments(step.eqn)[:5])
        head = "strided" if is_strided(step.eqn) else "product"
        self.code.add(self.code.call(f"{head}_{dtype}", *given))

    def copy(self, step: Copy) -> None:
        """All elements of an array."""
        self.whole("copy", step.source, step.target)

    def whole(self, head: str, one: int, other: int) -> None:
        """A call of a function of all elements of two arrays."""
        dtype = plain(memory_dtype(self.buffers[other].dtype))
        self.cost += self.size(other)
        size = str(self.size(other))
        self.code.add(
            self.code.call(f"{head}_{dtype}", self.name(one), self.name(other), size)
        )

    def element(self, slot: int, at: str = "0", stack: int | None = None) -> str:
        """A scalar's value in memory."""
        buffer = self.buffers[slot if stack is None else stack]
        truth = " != 0" if buffer.dtype == "bool" else ""
        return f"{pointer_name(buffer.name)}[{at}]{truth}"

    def save(self, slot: int) -> None:
        """Put a scalar in its memory."""
        buffer = self.buffers[slot]
        value = as_memory(buffer.name, buffer.dtype)
        self.code.add(f"{pointer_name(buffer.name)}[0] = {value}")

    def inline(self, step: Launch) -> None:
        """A nest without loops, written among the steps."""
        code = self.code
        self.cost += cost_model.SCALAR_COST * len(step.nest.body)
        code.slots = tuple(self.buffers[k] for k in step.buffers)
        code.params = step.params
        code.nodes(step.nest.body, step.labels.body)
        code.stores(step.nest.stores, step.labels.body)

    def launch(self, step: Launch) -> None:
        """A call of a kernel, which finds scalars in their memory."""
        kernel = self.kernels[step.nest]
        scalars = [(k, slot) for k, slot in enumerate(step.buffers)]
        scalars = [(k, slot) for k, slot in scalars if self.is_scalar(slot)]
        for k, slot in scalars:
            if k in step.nest.loaded:
                self.save(slot)
        sizes = range_of(step.nest, step.extents, step.params)
        pointers = [pointer_name(self.buffers[k].name) for k in step.buffers]
        blocks = [pointer_name(self.buffers[k].name) for k in step.scratch]
        self.call_kernel(kernel, [*pointers, *blocks], sizes)
        for k, slot in scalars:
            if k in step.nest.written:
                self.code.add(f"{self.name(slot)} = {self.element(slot)}")

    def call_kernel(
        self, kernel: KernelSource, given: list[str], sizes: LaunchRange
    ) -> None:
        """A call of a kernel, in pieces where it is long."""
        values = {name: str(value) for name, value in sizes.values.items()}
        pieces = (
            1
            if sizes.blocks
            else min(sizes.length, -(-sizes.work // cost_model.KERNEL_WORK))
        )
        if pieces <= 1:
            self.cost += sizes.work
            sizes_given = [values[name] for name in kernel.sizes]
            self.code.add(f"{kernel.name}({', '.join([*given, *sizes_given])})")
            return
        step = -(-sizes.length // pieces)
        low, end = f"piece_{len(self.rounds)}", sizes.length
        high = f"{low} + {step} if {low} + {step} < {end} else {end}"
        values |= {"lo": low, "hi": f"{low}_end"}
        self.rounds.append(sizes.work // pieces)
        with self.code.block(f"for {low} in range(0, {end}, {step}):"):
            self.code.add(f"{low}_end = {high}")
            sizes_given = [values[name] for name in kernel.sizes]
            self.code.add(f"{kernel.name}({', '.join([*given, *sizes_given])})")

    @contextmanager
    def repeated(self, length: int | None, exact: bool = True) -> Iterator[None]:
        """The cost of a round around the lines of a loop, and of all rounds if it is
        little.

        Rounds are counted where there may be fewer than the length.
        """
        number, before, counted = len(self.rounds), self.cost, self.counted
        self.rounds.append(0)
        self.cost, self.counted = cost_model.ROUND_COST, 0
        yield
        own = self.cost - self.counted
        whole = cost_model.SAFEPOINT_WORK if length is None else self.cost * length
        self.counted = counted
        if length is None or whole >= cost_model.SAFEPOINT_WORK:
            self.rounds[number], whole = own, 0
        elif exact:
            self.counted += whole - own * length
        else:
            self.rounds[number] = -own
            self.counted += whole
        self.cost = before + whole

    def assign(self, pairs: Iterable[tuple[int, int | ScalarConstant]]) -> None:
        """Assignments that happen at once, in an order that does the same."""
        left = {self.name(t): self.text(s) for t, s in pairs}
        left = {t: s for t, s in left.items() if t != s}
        while left:
            free = [t for t in left if t not in left.values()]
            if not free:  # each value is needed elsewhere: keep one
                target = next(iter(left))
                self.code.add(f"{target}_old = {target}")
                left = {
                    t: f"{target}_old" if s == target else s for t, s in left.items()
                }
                continue
            for target in free:
                self.code.add(f"{target} = {left.pop(target)}")

    def loop(self, step: Loop) -> None:
        """A loop over rows."""
        ends = f"{step.length - 1}, -1, -1" if step.reverse else str(step.length)
        at = step.index
        with (
            self.repeated(step.length),
            self.code.block(f"for {at} in range({ends}):"),
        ):
            self.rows(step)

    def rows(self, step: Loop) -> None:
        """A turn of a loop over rows."""
        at = step.index
        for stack, row in step.read:
            if self.is_scalar(row):
                self.load_row(stack, row, at)
            else:
                self.point(stack, row, at)
        for stack, row in step.written:
            if not self.is_scalar(row):
                self.point(stack, row, at)
        self.steps(step.steps)
        for stack, row in step.written:
            if self.is_scalar(row):
                self.store_row(stack, row, at)

    def load_row(self, stack: int, row: int, at: str) -> None:
        """Take a scalar from its place in a stack."""
        self.code.add(f"{self.name(row)} = {self.element(row, at, stack)}")

    def store_row(self, stack: int, row: int, at: str) -> None:
        """Put a scalar in its place in a stack."""
        value = as_memory(self.name(row), self.buffers[row].dtype)
        self.code.add(f"{self.name(stack)}[{at}] = {value}")

    def repeat(self, step: While) -> None:
        """A loop whose end the values say."""
        if step.counter is not None:
            self.count(step, step.counter)
            return
        most = step.most_turns
        with self.repeated(most, exact=False), self.code.block("while True:"):
            self.steps(step.test)
            with self.code.block(f"if not {self.text(step.holds)}:"):
                self.code.add("break")
            self.steps(step.steps)

    def count(self, step: While, counter: Counter) -> None:
        """A loop over a range whose ends are values, if it runs at all."""
        self.steps(step.test)
        ends = self.name(counter.slot), self.text(counter.stop), str(counter.step)
        with (
            self.code.block(f"if {self.text(step.holds)}:"),
            self.repeated(step.most_turns, exact=False),
            self.code.block(f"for {counter.index} in range({', '.join(ends)}):"),
        ):
            # Indices are of the machine's own size, whatever the counter's dtype is.
            counted = short(self.buffers[counter.slot].dtype)
            self.code.add(f"{self.name(counter.slot)} = {counted}({counter.index})")
            self.steps(step.steps)

    def point(self, stack: int, row: int, at: str) -> None:
        """Let a pointer be that of a row."""
        where = f"{at} * {self.size(row)}"
        self.code.add(f"{self.name(row)} = row_of({self.name(stack)}, {where})")

    def branch(self, index: str, branches: tuple[tuple[Step, ...], ...]) -> None:
        """A choice."""
        if len(branches) == 1:  # whatever the index is
            self.alternative(branches[0])
            return
        for k, steps in enumerate(branches):
            last = k == len(branches) - 1
            head = "else:" if last else f"{'el' if k else ''}if {index} == {k}:"
            with self.code.block(head):
                self.alternative(steps)
                if not steps:
                    self.code.add("pass")

    def alternative(self, steps: tuple[Step, ...]) -> None:
        """The lines of one branch."""
        self.steps(steps)
