"""Elements of constant tables, one for each lane of a vector.

A processor reads them from memory one by one. So a short table stays in registers,
among whose elements an instruction chooses. Of a longer one that begins with many equal
elements, these and the next ones stay there: where all lanes ask for one of these, none
is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from traceir_numba.llvm.vectors.ir_text import SIZES, matched

# The bits of a register, and the elements of it that chooses one of two registers'.
REGISTER = 512
# Elements that a table may have to stay in registers.
SHORT_TABLE = 64
# Equal elements at the beginning of a table, from which on these and their neighbours
# do; not in a table of several columns, whose reads would each be a branch.
EQUAL_ELEMENTS = 32
COLUMN = 256
_TABLE = re.compile(r"@(\S+) = private constant \[\d+ x (\w+)\] \[(.*)\], align 64")


# What reads so many elements of a type by the processor's own instruction, to whose
# vectors LLVM prefers reads one by one.
EIGHT = 8
GATHERS = {
    "double": "llvm.x86.avx512.mask.gather.qpd.512",
    "float": "llvm.x86.avx512.mask.gather.qps.512",
    "i64": "llvm.x86.avx512.mask.gather.qpq.512",
    "i32": "llvm.x86.avx512.mask.gather.qpi.512",
}


class ConstantTable(NamedTuple):
    """A table's symbol, the type of its elements, and these."""

    symbol: str
    kind: str
    elements: tuple[str, ...]


@cache
def constant_table(definition: str) -> ConstantTable:
    """The table of a definition; raises LeftAlone for what is none."""
    symbol, kind, elements = matched(_TABLE, definition)
    return ConstantTable(
        symbol, kind, tuple(x.split(" ")[1] for x in elements.split(", "))
    )


class TableRead(NamedTuple):
    """Reads of a table from an element on, by vectors of so many indices."""

    table: ConstantTable
    first: int
    lanes: int

    @property
    def symbol(self) -> str:
        """The function's."""
        return f"{self.table.symbol}_{self.first}_v{self.lanes}"

    @property
    def chosen(self) -> int:
        """The elements of two registers."""
        return 2 * REGISTER // SIZES[self.table.kind]

    def equal(self) -> int:
        """The number of equal elements at the beginning."""
        elements = self.table.elements[self.first :]
        others = (k for k, x in enumerate(elements) if x != elements[0])
        return next(others, len(elements))

    def text(self) -> str:
        """The function, and what it declares."""
        kind, n = self.table.kind, self.lanes
        rows = self.table.elements[self.first :]
        whole = n % (self.chosen // 2) == 0 and kind == "double"
        equal = self.equal()
        if whole and len(rows) <= SHORT_TABLE:
            body = [*self._among(rows, "%i", "%r"), f"ret <{n} x {kind}> %r"]
        elif whole and equal >= EQUAL_ELEMENTS and len(self.table.elements) <= COLUMN:
            body = [*self._near(rows, equal - 1)]
        else:
            body = [*self._gathered("%r"), f"ret <{n} x {kind}> %r"]
        head = f"define internal <{n} x {kind}> @{self.symbol}(<{n} x i64> %i)"
        return "\n".join([f"{head} nounwind alwaysinline {{", "b:", *body, "}"])

    def declared(self) -> Iterator[str]:
        """Declarations of what the text calls."""
        t, n, v = self.table.kind, self.lanes, f"<{EIGHT} x {self.table.kind}>"
        yield (
            f"declare {v} @{GATHERS[t]}({v}, ptr, <{EIGHT} x i64>, <{EIGHT} x i1>, i32)"
        )
        if t == "double":
            yield (
                "declare <8 x double> @llvm.x86.avx512.vpermi2var.pd.512"
                "(<8 x double>, <8 x i64>, <8 x double>)"
            )
        yield f"declare <{n} x i64> @llvm.umax.v{n}i64(<{n} x i64>, <{n} x i64>)"

    def _gathered(self, to: str) -> Iterator[str]:
        """Reads of memory, eight by one instruction: as fast as one by one, but LLVM
        takes a third of the time over it.
        """
        t, n, size = self.table.kind, self.lanes, SIZES[self.table.kind] // 8
        first = f"ptr getelementptr inbounds ({t}, ptr @{self.table.symbol}, i64 "
        v, i = f"<{EIGHT} x {t}>", f"<{EIGHT} x i64>"
        parts = []
        for k in range(0, n, EIGHT):
            at, part = f"{to}.i{k}", f"{to}.g{k}"
            parts.append(part)
            # Of fewer than eight the last is read again.
            yield _shuffled(at, n, "i64", "%i", range(k, k + EIGHT))
            # Tables never change: two reads of one place are one.
            yield (
                f"{part} = call {v} @{GATHERS[t]}({v} poison, {first}{self.first}), "
                f"{i} {at}, <{EIGHT} x i1> splat (i1 true), i32 {size}) memory(none)"
            )
        yield from self._together(parts, EIGHT, to)

    def _near(self, rows: tuple[str, ...], first: int) -> Iterator[str]:
        """Reads of two registers, as long as all lanes find their element there."""
        n, t = self.lanes, f"<{self.lanes} x {self.table.kind}>"
        i = f"<{n} x i64>"
        yield f"%f = freeze {i} %i"
        yield f"%near = icmp ult {i} %f, splat (i64 {first + self.chosen})"
        yield f"%bits = bitcast <{n} x i1> %near to i{n}"
        yield f"%all = icmp eq i{n} %bits, -1"
        yield "br i1 %all, label %n, label %o"
        yield "n:"
        yield f"%m = call {i} @llvm.umax.v{n}i64({i} %f, {i} splat (i64 {first}))"
        yield f"%j = sub {i} %m, splat (i64 {first})"
        yield from self._among(rows[first : first + self.chosen], "%j", "%r")
        yield "br label %d"
        yield "o:"
        yield from self._gathered("%g")
        yield "br label %d"
        yield "d:"
        yield f"%x = phi {t} [%r, %n], [%g, %o]"
        yield f"ret {t} %x"

    def _among(self, rows: tuple[str, ...], at: str, to: str) -> Iterator[str]:
        """Reads of registers, of which the index's higher bits choose two."""
        n, each = self.lanes, self.chosen // 2
        parts = []
        for k in range(n // each):
            part = f"{at}.{k}"
            parts.append(f"{to}.{k}")
            yield _shuffled(part, n, "i64", at, range(k * each, (k + 1) * each))
            yield from self._one(rows, part, f"{to}.{k}")
        yield from self._together(parts, each, to)

    def _together(self, parts: list[str], each: int, to: str) -> Iterator[str]:
        """The vectors of some parts, of so many elements each, as one."""
        kind, size = self.table.kind, each
        while len(parts) > 1:
            t, size = f"<{size} x {kind}>", 2 * size
            places = ", ".join(f"i32 {j}" for j in range(size))
            for k in range(len(parts) // 2):
                a, b = parts[2 * k : 2 * k + 2]
                parts[k] = f"{to}.{size}.{k}"
                yield (
                    f"{parts[k]} = shufflevector {t} {a}, {t} {b}, "
                    f"<{size} x i32> <{places}>"
                )
            del parts[len(parts) // 2 :]
        yield _shuffled(to, size, kind, parts[0], range(self.lanes))

    def _one(self, rows: tuple[str, ...], at: str, to: str) -> Iterator[str]:
        each = self.chosen // 2
        t, i = f"<{each} x double>", f"<{each} x i64>"
        rows += (rows[-1],) * (-len(rows) % self.chosen)
        found = []
        for k in range(0, len(rows), self.chosen):
            low, high = (
                f"{t} <{', '.join(f'double {x}' for x in rows[a : a + each])}>"
                for a in (k, k + each)
            )
            found.append(f"{to}.c{k}")
            yield (
                f"{found[-1]} = call {t} @llvm.x86.avx512.vpermi2var.pd.512("
                f"{low}, {i} {at}, {high})"
            )
        bit = self.chosen
        while len(found) > 1:
            yield f"{to}.a{bit} = and {i} {at}, splat (i64 {bit})"
            yield f"{to}.b{bit} = icmp ne {i} {to}.a{bit}, zeroinitializer"
            if len(found) % 2:
                found.append(found[-1])
            for k in range(len(found) // 2):
                a, b = found[2 * k : 2 * k + 2]
                found[k] = f"{to}.s{bit}.{k}"
                yield (
                    f"{found[k]} = select <{each} x i1> {to}.b{bit}, {t} {b}, {t} {a}"
                )
            del found[len(found) // 2 :]
            bit *= 2
        yield f"{to} = freeze {t} {found[0]}"


def _shuffled(to: str, n: int, kind: str, source: str, places: range) -> str:
    """Elements of a vector of `n`; beyond its end, the last one."""
    t, last = f"<{n} x {kind}>", n - 1
    at = ", ".join(f"i32 {min(k, last)}" for k in places)
    return (
        f"{to} = shufflevector {t} {source}, {t} poison, <{len(places)} x i32> <{at}>"
    )
