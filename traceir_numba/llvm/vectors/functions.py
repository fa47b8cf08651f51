"""Functions of numbers as functions of vectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from traceir.base.fast_dataclass import dataclass
from traceir_numba.llvm.vectors.ir_text import FunctionText, LeftAlone, function_text
from traceir_numba.llvm.vectors.tables import TableRead, constant_table

# Instructions that the calls of one function come to, those of float64 counted thrice,
# up to which they are part of the loops of short kernels; of longer ones, a tenth.
# Functions of few instructions always are: a call would cost more than they do.
CALLED_LINES = 350
FEW_LINES = 24
_CALLED = re.compile(r"call \S+ @(\w+)\(")


@dataclass(slots=True)
class VectorModule:
    """A module in the making: functions of vectors, and what they need."""

    sources: Mapping[str, str]  # of the functions of numbers, by symbol
    short: bool  # so few instructions that loops may be in several copies
    declared: dict[str, None] = field(default_factory=dict)
    functions: dict[str, str | None] = field(default_factory=dict)
    insides: dict[str, list[str]] = field(default_factory=dict)
    # The instructions that each call of a function comes to.
    lines: dict[str, list[int]] = field(default_factory=dict)

    tables: dict[str, str] = field(default_factory=dict)

    def of_vectors(
        self, symbol: str, lanes: int, make: Callable[[str, str], str]
    ) -> str:
        """The symbol of a function of numbers, as one of vectors."""
        name = f"{symbol}_v{lanes}"
        if name not in self.functions:
            self.functions[name] = None
            if symbol not in self.sources:
                raise LeftAlone(symbol)
            self.functions[name] = make(symbol, name)
        elif self.functions[name] is None:
            raise LeftAlone(symbol)
        return name

    def read(self, table: str, first: int, lanes: int) -> str:
        """The symbol of a function that reads a table from an element on."""
        read = TableRead(constant_table(self.tables[table]), first, lanes)
        if read.symbol not in self.functions:
            self.functions[read.symbol] = read.text()
            self.declared.update(dict.fromkeys(read.declared()))
        return read.symbol

    def called(self, lines: Sequence[str]) -> list[str]:
        """Instructions, and those of the functions that they call."""
        found = [*lines]
        for symbol in _CALLED.findall("\n".join(lines)):
            found += self.within(symbol)
        return found

    def within(self, symbol: str) -> list[str]:
        """The instructions of a function of numbers, and of those that it calls."""
        if symbol not in self.insides:
            blocks: list[list[str]] = []
            if symbol in self.sources:
                blocks = [*function_text(self.sources[symbol]).blocks.values()]
            self.insides[symbol] = self.called([x for block in blocks for x in block])
        return self.insides[symbol]

    def count(self, symbol: str, lanes: int) -> None:
        """One more call of a function in a loop."""
        within = self.within(symbol)
        lines = len(within) + 2 * sum(" double " in line for line in within)
        if len(within) >= FEW_LINES:
            name = f"{symbol}_v{lanes}"
            self.lines.setdefault(name, []).append(lines)

    def texts(self) -> Iterator[str]:
        """The functions of vectors; those that would be most of the code are called."""
        for name, text in self.functions.items():
            assert text is not None
            most = CALLED_LINES // (1 if self.short else 10)
            calls = self.lines.get(name, [])
            own = len(calls) > 1 and sum(calls) > most
            yield text.replace("alwaysinline", "noinline" if own else "alwaysinline", 1)

    def body(self, symbol: str) -> FunctionText:
        """A function of numbers, which has no branches."""
        source = function_text(self.sources[symbol])
        if len(source.blocks) != 1:
            raise LeftAlone(symbol)
        for text in source.around:
            if text.startswith("@"):
                self.declared[text] = None
                self.tables[text.split(" ", 1)[0]] = text
        return source
