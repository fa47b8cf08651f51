"""Straight-line code of nests: names, constants, places, nodes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from os.path import basename

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir_numba.device_functions import short
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.folds.reductions import combined
from traceir_numba.emitters.kinds import Elementwise, ExpressionContext, IndexGenerator
from traceir_numba.loops.identifiers import safe_name
from traceir_numba.loops.nest import (
    Access,
    Apply,
    ClampIndex,
    EpilogueValue,
    IndexInBounds,
    InRange,
    LoadElement,
    LoopIndex,
    Node,
    Operand,
    ReductionResult,
    ScalarConstant,
    StoreElement,
)
from traceir_numba.loops.program import Label


def constant_text(text: str, dtype: str) -> str:
    """A typed constant as source: the shortest digits that give the same bits.

    >>> constant_text("1.6699999570846558", "float32")
    'f32(1.67)'
    """
    kind = np.dtype(dtype).kind
    if kind == "b":
        return text
    if kind == "f" and text not in ("inf", "-inf", "nan"):
        value = np.dtype(dtype).type(text)
        digits = repr(value.item()) if dtype == "float64" else str(value)
        # Numba reads all digits as float64 first: twice rounded may be another number.
        same = value.dtype.type(float(digits)) == value
        text = digits if same else repr(float(text))
    return text if dtype in ("float64", "int64") else f"{short(dtype)}({text})"


def plain(dtype: str) -> str:
    """A dtype in a function's name: `f32`, `bool`."""
    return short(dtype).rstrip("_")


def memory_dtype(dtype: str) -> str:
    """The dtype of a value in memory: Numba has no pointers to truths."""
    return "uint8" if dtype == "bool" else dtype


def as_memory(text: str, dtype: str) -> str:
    """A value as it is put in memory."""
    return f"u8({text})" if dtype == "bool" else text


def pointer_name(name: str) -> str:
    """The name of the memory that holds the values of a name."""
    return name.upper()


def index_text(access: Access, found: Iterable[str] = ()) -> str:
    """An access as an expression of the loops' indices and of dynamic ones.

    >>> index_text(Access(0, ((1,), ())))
    'i0 * n1 + i1'
    >>> index_text(Access(0, ((),), width=2, lane=1))
    'i0 * 2 + 1'
    """
    terms = []
    for d, stride in enumerate(access.strides):
        match stride:
            case None:
                continue
            case int():
                terms.append(f"i{d} * p{stride}")
            case _:
                terms.append(" * ".join([f"i{d}", *(f"n{k}" for k in stride)]))
    for text, (_, stride) in zip(found, access.dynamic, strict=True):
        terms.append(text if stride is None else f"{text} * p{stride}")
    if access.offset is not None:
        terms.append(f"p{access.offset}")
    if access.past:
        terms.append(str(access.past))
    return _of_lanes(" + ".join(terms) or "0", access)


def _of_lanes(place: str, access: Access) -> str:
    """The element of one lane where several lie together at each place."""
    if access.width == 1:
        return place
    place = f"({place})" if "+" in place else place
    first = f"{place} * {access.width}" if place != "0" else ""
    lane = str(access.lane) if access.lane or not first else ""
    return " + ".join(filter(None, (first, lane)))


def position_text(node: LoopIndex) -> str:
    """A loop's index as the program sees it.

    >>> position_text(LoopIndex(0, over=(1, 2)))
    'i0 * n1 * n2 + i1 * n2 + i2'
    """
    loops = node.dim, *node.over
    if node.over:
        return " + ".join(
            " * ".join([f"i{d}", *(f"n{later}" for later in loops[k + 1 :])])
            for k, d in enumerate(loops)
        )
    scaled = f"i{node.dim}" if node.step is None else f"i{node.dim} * p{node.step}"
    return scaled if node.start is None else f"{scaled} + p{node.start}"


def inside_text(node: InRange) -> str:
    """The test that a loop's index is in a range."""
    texts = []
    if node.low is not None:
        texts.append(f"i{node.dim} >= p{node.low}")
    if node.high is not None:
        texts.append(f"i{node.dim} < p{node.high}")
    return texts[0] if len(texts) == 1 else " & ".join(f"({t})" for t in texts)


def zero_text(dtype: str) -> str:
    """Zero of a dtype."""
    kind = np.dtype(dtype).kind
    text = "False" if kind == "b" else "0.0" if kind == "f" else "0"
    return constant_text(text, dtype)


@dataclass(slots=True)
class CodeWriter:
    """The lines of one function, and the functions that they call.

    `slow` are the primitives that keep its loops from vectorising; `contracts` is that
    of expressions.
    """

    pointers: tuple[str, ...]
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    calls: dict[str, None] = field(default_factory=dict)
    slow: dict[str, None] = field(default_factory=dict)
    where: str = ""
    positions: dict[str, str] = field(default_factory=dict)
    labels: tuple[Label, ...] = ()
    contracts: bool = False

    def add(self, *lines: str) -> None:
        """Add lines at the present depth."""
        self.lines += [("    " * self.depth + line).rstrip() for line in lines]

    @contextmanager
    def block(self, *heads: str) -> Iterator[None]:
        """Indent lines that are added within, below one or more heads."""
        depth = self.depth
        for head in heads:
            self.add(head)
            self.depth += 1
        yield
        self.depth = depth

    def call(self, function: str, *args: str) -> str:
        """A call of a function, which the kernel then needs."""
        self.calls[function] = None
        return f"{function}({', '.join(args)})"

    def lanes(self, name: str, dtype: str) -> None:
        """Name accumulators of a dtype."""
        self.add(f"{name} = {self.call(f'lanes_{plain(dtype)}')}")

    def joined(self, fold: str, dtype: str, x: str, y: str) -> str:
        """Two values joined by what a fold is named for."""
        e = ExpressionContext(dtype, dtype, operands=(dtype, dtype))
        e.contracts = self.contracts
        text = combined(fold.removeprefix("fold_"), e, x, y)
        self.calls.update(dict.fromkeys(e.calls))
        return text

    def nodes(
        self,
        nodes: tuple[Node, ...],
        labels: tuple[Label, ...],
        only: Container[int] | None = None,
    ) -> None:
        """A line for each node, or only some, that is not known by another name."""
        self.labels = labels
        for number, (node, label) in enumerate(zip(nodes, labels, strict=True)):
            if only is not None and number not in only:
                continue
            name = safe_name(label.name)
            match node:
                case LoadElement(access, dtype, None):
                    text = self.load(access, dtype)
                    if text != name:
                        self.add(f"{name} = {text}")
                case LoadElement(access, dtype, int(guard)):
                    self.add(f"{name} = {zero_text(dtype)}")
                    with self.block(f"if {self.operand(guard, labels)}:"):
                        self.add(f"{name} = {self.load(access, dtype)}")
                case InRange():
                    self.add(f"{name} = {inside_text(node)}")
                case ClampIndex(value, last) | IndexInBounds(value, last):
                    called = "nearest" if isinstance(node, ClampIndex) else "is_place"
                    args = self.operand(value, labels), self.parameter(last)
                    self.add(f"{name} = {self.call(called, *args)}")
                case LoopIndex(dim, None, None, over=()):
                    self.positions[label.name] = f"i{dim}"
                case LoopIndex():
                    self.positions.pop(label.name, None)
                    self.add(f"{name} = {position_text(node)}")
                case Apply():
                    self.comment(label)
                    self.add(f"{name} = {self.apply(node, labels)}")
                case ReductionResult() | EpilogueValue():
                    pass  # the code that reduces has named it

    def comment(self, label: Label) -> None:
        """The user's line, once for all that it computes in a row."""
        source = label.source
        if source is None or not source.text:
            return
        text = f"# {basename(source.file)}:{source.line}: {source.text}"
        if text != self.where:
            self.where = text
            self.add(text)

    def apply(self, node: Apply, labels: tuple[Label, ...]) -> str:
        """A primitive as an expression."""
        entry = EMITTERS[node.primitive]
        assert isinstance(entry, Elementwise | IndexGenerator)
        e = ExpressionContext(
            node.dtype, node.dtypes[0], dict(node.params), node.dtypes
        )
        e.contracts = self.contracts
        text = entry.emit(e, *(self.operand(a, labels) for a in node.args))
        self.calls.update(dict.fromkeys(e.calls))
        if isinstance(entry, Elementwise) and node.dtypes[0] in entry.slow:
            self.slow[node.primitive] = None
        return text

    def operand(self, operand: Operand, labels: tuple[Label, ...]) -> str:
        """An operand by name, or a constant."""
        if isinstance(operand, ScalarConstant):
            return constant_text(operand.text, operand.dtype)
        name = labels[operand].name
        return self.positions.get(name) or safe_name(name)

    def stores(
        self, stores: tuple[StoreElement, ...], labels: tuple[Label, ...]
    ) -> None:
        """A line for each store."""
        self.labels = labels
        for store in stores:
            value = self.operand(store.value, labels)
            if store.guard is None:
                self.store(store.access, value, store.dtype)
                continue
            with self.block(f"if {self.operand(store.guard, labels)}:"):
                self.store(store.access, value, store.dtype)

    def load(self, access: Access, dtype: str) -> str:
        """The value at a place as an expression."""
        return f"{self.place(access)}{' != 0' if dtype == 'bool' else ''}"

    def store(self, access: Access, value: str, dtype: str) -> None:
        """A line that puts a value in a place."""
        self.add(f"{self.place(access)} = {as_memory(value, dtype)}")

    def place(self, access: Access) -> str:
        """A place in memory as an expression."""
        pointer = pointer_name(self.pointers[access.buffer])
        return f"{pointer}[{index_text(access, self.found(access))}]"

    def found(self, access: Access) -> list[str]:
        """The indices that are found and added to an index."""
        return [self.operand(value, self.labels) for value, _ in access.dynamic]

    def parameter(self, number: int) -> str:
        """A runtime parameter."""
        return f"p{number}"
