"""The straight-line code of a nest while it is built."""

from __future__ import annotations

from dataclasses import field

from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source
from traceir_numba.fusion.dataflow import Place
from traceir_numba.loops.nest import EpilogueValue, Node, Operand, StoreElement
from traceir_numba.loops.program import Label


@dataclass(eq=False, slots=True)
class BodyBuilder:
    """Straight-line code over some of the loops: `loops` are their numbers.

    `first` is the number of its first node among all that passes finish.
    """

    loops: tuple[int, ...]
    first: int = 0
    nodes: list[Node] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    values: dict[Place, Operand] = field(default_factory=dict)
    stores: list[StoreElement] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    numbers: dict[Node, int] = field(default_factory=dict)

    def add(self, node: Node, name: str, source: Source | None = None) -> int:
        """A further node, under a name of its own."""
        self.nodes.append(node)
        self.numbers.setdefault(node, len(self.nodes) - 1)
        # One variable can be read at several places.
        while True:
            count = self.taken[name] = self.taken.get(name, 0) + 1
            label = name if count == 1 else f"{name}_{count}"
            if label not in self.reserved:
                self.labels.append(Label(label, source))
                return len(self.nodes) - 1

    def once(self, node: Node, name: str) -> int:
        """A node that may be there already."""
        found = self.numbers.get(node)
        return self.add(node, name) if found is None else found

    def recall(self, number: int, dtype: str, label: Label) -> int:
        """The value that an earlier pass finished, under its own name."""
        node = EpilogueValue(number, dtype)
        if node not in self.numbers:
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.labels.append(label)
        return self.numbers[node]
