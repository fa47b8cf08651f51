"""Instructions of numbers as instructions of vectors, in LLVM text.

A loop's index is a number, that of the first lane, and where it is computed with, a
vector. What is the same in all rounds is computed before the loop. Functions of numbers
that a body calls become functions of vectors: part of the loop, or called where there
are many calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from traceir_numba.llvm.vectors.functions import VectorModule
from traceir_numba.llvm.vectors.ir_text import (
    CASTS,
    COMPARE,
    INTRINSICS,
    LINE,
    OPERATIONS,
    SHORT,
    SIZES,
    FunctionText,
    LeftAlone,
    bytes_of,
    matched,
    spread,
)
from traceir_numba.llvm.vectors.reads import (
    ANYWHERE,
    LONGEST_STEP,
    VectorRead,
    anywhere,
    apart,
)
from traceir_numba.llvm.vectors.shared import PastRead
from traceir_numba.llvm.vectors.vector_loop import MOST, VectorLoop

_BINARY = re.compile(r"((?:nsw )?)(\S+) (\S+), (\S+)")
_SELECT = re.compile(r"i1 (\S+), (\S+) (\S+), \S+ (\S+)")
_CAST = re.compile(r"(\S+) (\S+) to (\S+)")
_CALL = re.compile(r"(\S+) @(\S+?)\((.*)\)")
_ELEMENT = re.compile(r"inbounds (\S+), ptr (\S+), i64 (\S+)")
# Registers that a function has at most.
OWN_NAMES = 1_000_000
_NAME = re.compile(r"%[ar](\d+)\b")
_STORE = re.compile(r"(\S+) (\S+), ptr (\S+)")


class Lanes:
    """Instructions of numbers as instructions of vectors."""

    def __init__(
        self, module: VectorModule, lanes: int, loop: VectorLoop | None
    ) -> None:
        self.module = module
        self.lanes = lanes
        self.loop = loop
        # What sets vectors apart from those of other parts of the same loop.
        self.apart = loop.suffix if loop and loop.suffix != MOST else ""
        self.vectors: dict[str, str] = {}
        self.out: list[str] = []
        # Indices that are others and a number more; elements of tables.
        self.offsets: dict[str, tuple[str, int]] = {}
        self.rows: dict[str, tuple[str, str, int]] = {}
        # What indices are of other numbers.
        self.keys: dict[str, str] = {}
        # Reads of vectors without a mask, by array, type and what they are past.
        self.whole: dict[tuple[str, str, str], list[PastRead]] = {}

    def type(self, kind: str) -> str:
        """A vector of numbers of a type."""
        if kind != "ptr" and kind not in SIZES:
            raise LeftAlone(kind)
        return f"<{self.lanes} x {kind}>"

    def mangled(self, kind: str) -> str:
        """The name of that type in those of LLVM's functions."""
        return f"v{self.lanes}{SHORT.get(kind, kind)}"

    def operand(self, kind: str, text: str) -> str:
        """A value in all lanes."""
        if text[0] != "%":
            return f"splat ({kind} {text})"
        found = self.vectors.get(text)
        if found is None:
            if self.loop is None:
                raise LeftAlone(text)
            # Another loop may have a vector of it, too.
            found = f"{self.vector(text)}.of{self.loop.counter[1:]}"
            self.vectors[text], t = found, self.type(kind)
            self.loop.before += spread(found, t, f"{kind} {text}", self.lanes)
        return found

    def is_same(self, *operands: str) -> bool:
        """True if values are the same in all rounds of the loop."""
        loop = self.loop
        return loop is not None and not any(x in loop.inside for x in operands)

    def lines_of(self, lines: Sequence[str]) -> None:
        """One instruction after the other."""
        for line in lines:
            register, name, rest = matched(LINE, line)
            self.line(line, register, name, rest)

    def put(self, register: str, text: str) -> None:
        """The instruction that gives a register's vector."""
        self.vectors[register] = self.vector(register)
        if self.loop is not None:
            self.loop.inside.add(register)
            self.vectors[register] += self.apart
        self.out.append(f"{self.vectors[register]} = {text}")

    def vector(self, register: str) -> str:
        """The name of a register's vector."""
        return f"{register}.v{self.lanes}"

    def number(self, line: str) -> None:
        """An instruction for the first lane alone."""
        assert self.loop is not None
        self.out.append(self.loop.renamed(line))

    def keep(self, line: str, register: str, *operands: str) -> bool:
        """Leave an instruction of what is the same in all rounds, before the loop."""
        if not self.is_same(*operands):
            return False
        assert self.loop is not None
        self.loop.before.append(line)
        self.loop.same.append(line)
        return True

    def line(self, line: str, register: str, name: str, rest: str) -> None:
        """An instruction: its register, its name, and what follows."""
        if name in OPERATIONS:
            self.operation(line, register, name, rest)
        elif name in ("fcmp", "icmp"):
            how, kind, x, y = matched(COMPARE, rest)
            if not self.keep(line, register, x, y):
                a, b = self.operand(kind, x), self.operand(kind, y)
                self.put(register, f"{name} {how} {self.type(kind)} {a}, {b}")
        elif name == "fneg":
            kind, x = rest.split(" ")
            if not self.keep(line, register, x):
                self.put(register, f"fneg {self.type(kind)} {self.operand(kind, x)}")
        elif name == "select":
            test, kind, x, y = matched(_SELECT, rest)
            if not self.keep(line, register, test, x, y):
                t, a, b = self.type(kind), self.operand(kind, x), self.operand(kind, y)
                of = f"{self.type('i1')} {self.operand('i1', test)}"
                self.put(register, f"select {of}, {t} {a}, {t} {b}")
        elif name in CASTS:
            kind, x, target = matched(_CAST, rest)
            if not self.keep(line, register, x):
                of = f"{self.type(kind)} {self.operand(kind, x)}"
                self.put(register, f"{name} {of} to {self.type(target)}")
        elif name == "call":
            self.call(register, rest)
        elif name == "getelementptr":
            self.element(line, register, rest)
        elif name == "load":
            self.load(line, register, rest)
        elif name == "store":
            self.store(rest)
        else:
            raise LeftAlone(line)

    def operation(self, line: str, register: str, name: str, rest: str) -> None:
        """Arithmetic of two numbers."""
        flag, kind, x, y = matched(_BINARY, rest)
        if kind == "i64":
            self.keys[register] = f"({name} {self.key(x)} {self.key(y)})"
        if self.keep(line, register, x, y):
            return
        loop = self.loop
        if loop is not None and kind == "i64":
            step = self.step(name, x, y)
            if step is not None:  # an index, whose number in the first lane is known
                loop.steps[register] = step
                loop.inside.add(register)
                self.number(line)
        if name == "add" and kind == "i64":
            for one, more in ((x, y), (y, x)):
                if more.isdigit():
                    self.offsets[register] = one, int(more)
        a, b = self.operand(kind, x), self.operand(kind, y)
        self.put(register, f"{name} {flag}{self.type(kind)} {a}, {b}")

    def key(self, index: str) -> str:
        """The same text for indices that are computed in the same way."""
        return self.keys.get(index, index)

    def step(self, name: str, x: str, y: str) -> int | None:
        """By how much a sum, difference or product is more in the next lane."""
        assert self.loop is not None
        a, b = (0 if self.is_same(one) else self.loop.steps.get(one) for one in (x, y))
        if a is None or b is None:
            return None
        match name:
            case "add":
                return a + b
            case "sub":
                return a - b
            case "mul" if a == 0 and re.fullmatch(r"-?\d+", x):
                return b * int(x)
            case "mul" if b == 0 and re.fullmatch(r"-?\d+", y):
                return a * int(y)
        return None

    def call(self, register: str, rest: str) -> None:
        """A call of a function of numbers."""
        result, symbol, args = matched(_CALL, rest)
        pairs = [arg.split(" ") for arg in args.split(", ")]
        given = ", ".join(f"{self.type(k)} {self.operand(k, x)}" for k, x in pairs)
        if symbol.startswith("llvm.arithmetic.fence."):
            # Vectors are rounded twice, as they are asked to.
            kind = self.type(result)
            self.put(register, f"bitcast {given} to {kind}")
            return
        if symbol.startswith("llvm."):
            name = symbol.split(".")[1]
            if name not in INTRINSICS:
                raise LeftAlone(symbol)
            symbol = f"llvm.{name}.{self.mangled(result)}"
            kinds = ", ".join(self.type(kind) for kind, _ in pairs)
            self.declare(f"declare {self.type(result)} @{symbol}({kinds})")
        elif self.is_mixed(*(x for _, x in pairs)):
            self.in_place(register, symbol, [x for _, x in pairs])
            return
        else:
            if self.loop is not None:
                self.module.count(symbol, self.lanes)
            symbol = self.module.of_vectors(
                symbol, self.lanes, self.function_of_vectors
            )
        text = f"call {self.type(result)} @{symbol}({given})"
        if self.is_same(*(x for _, x in pairs)):
            assert self.loop is not None
            found = self.vectors[register] = self.vector(register)
            self.loop.before.append(f"{found} = {text}")
            self.loop.inside.add(register)  # there is no number of it
        else:
            self.put(register, text)

    def is_mixed(self, *operands: str) -> bool:
        """True if some values are computed once for a short loop, and others in it."""
        if self.loop is None or not self.module.short or self.is_same(*operands):
            return False
        return any(x[0] == "%" and self.is_same(x) for x in operands)

    def in_place(self, register: str, symbol: str, given: Sequence[str]) -> None:
        """A function's instructions in place of its call: what is the same in all
        rounds leaves the loop.
        """
        loop, source = self.loop, self.module.body(symbol)
        assert loop is not None
        loop.calls += 1
        names = {f"%a{k}": x for k, x in enumerate(given)}

        def named(found: re.Match[str]) -> str:
            number = int(found[1])
            return names.get(found[0], f"%r{loop.calls * OWN_NAMES + number}")

        lines = [_NAME.sub(named, line) for line in _lines(source)]
        self.lines_of(lines[:-1])
        kind, value = lines[-1].removeprefix("ret ").split(" ")
        self.vectors[register] = self.operand(kind, value)
        loop.inside.add(register)

    def function_of_vectors(self, symbol: str, name: str) -> str:
        """The text of a function of numbers as one of vectors."""
        source = self.module.body(symbol)
        result, _, args, attributes = source.head
        body = Lanes(self.module, self.lanes, None)
        given = []
        for arg in args.split(", "):
            kind, register = arg.split(" ")
            given.append(f"{body.type(kind)} {register}.v")
            body.vectors[register] = f"{register}.v"
        *rest, last = _lines(source)
        body.lines_of(rest)
        kind, value = last.removeprefix("ret ").split(" ")
        body.out.append(f"ret {body.type(kind)} {body.operand(kind, value)}")
        head = (
            f"define internal {body.type(result)} @{name}({', '.join(given)}) "
            f"nounwind alwaysinline {attributes}{{"
        )
        return "\n".join([head, "b:", *body.out, "}"])

    def declare(self, text: str) -> None:
        """A function of LLVM's."""
        self.module.declared[text] = None

    # -- memory -------------------------------------------------------------------

    def element(self, line: str, register: str, rest: str) -> None:
        """The address of an element."""
        kind, base, index = matched(_ELEMENT, rest)
        loop = self.loop
        if base[0] == "@" and not self.is_same(index):
            self.rows[register] = base, *self.offsets.get(index, (index, 0))
            return
        if loop is None or base in loop.inside:
            raise LeftAlone(line)
        if self.is_same(index):
            self.keep(line, register, index)
            loop.places[register] = kind, base, index, 0
        elif 1 <= loop.steps.get(index, 0) <= LONGEST_STEP:
            loop.places[register] = kind, base, index, loop.steps[index]
            loop.inside.add(register)
            self.number(line)
        elif index in self.vectors and index not in loop.steps:
            loop.places[register] = kind, base, index, ANYWHERE
            loop.inside.add(register)
        else:
            raise LeftAlone(line)

    def load(self, line: str, register: str, rest: str) -> None:
        """An element of each lane, or the same for all."""
        kind, at = rest.split(", ptr ")
        t, of = self.type(kind), self.mangled(kind)
        size = bytes_of(kind)
        if at in self.rows:
            base, index, first = self.rows[at]
            symbol = self.module.read(base, first, self.lanes)
            i64 = self.type("i64")
            self.put(
                register, f"call {t} @{symbol}({i64} {self.operand('i64', index)})"
            )
            return
        loop = self.loop
        if loop is None:
            raise LeftAlone(line)
        if at not in loop.places:
            raise LeftAlone(line)
        _, base, index, step = loop.places[at]
        loop.read.add((base, index))
        if step == 0:
            self.keep(line, register)
            return
        name = self.vector(register) + self.apart
        if step == ANYWHERE:
            places = self.operand("i64", index)
            self.read(
                register, anywhere(name, kind, self.lanes, loop.mask, base, places)
            )
            return
        at = loop.renamed(at)
        if step > 1:
            self.read(register, apart(name, kind, self.lanes, loop.mask, at, step))
            return
        if loop.mask is None or base in loop.own:
            root, past = self.offsets.get(index, (index, 0))
            read = PastRead(past, len(self.out), name, at)
            self.whole.setdefault((base, kind, self.key(root)), []).append(read)
            self.put(register, f"load {t}, ptr {at}, align {size}")
            return
        symbol = f"llvm.masked.load.{of}.p0"
        self.declare(f"declare {t} @{symbol}(ptr, i32, {self.type('i1')}, {t})")
        given = (
            f"ptr {at}, i32 {size}, {self.type('i1')} {loop.mask}, {t} zeroinitializer"
        )
        self.put(register, f"call {t} @{symbol}({given})")

    def read(self, register: str, found: VectorRead) -> None:
        """Elements that do not lie side by side."""
        self.declare(found.declared)
        self.out += found.before
        self.put(register, found.text)

    def store(self, rest: str) -> None:
        """The elements of all lanes."""
        kind, x, at = matched(_STORE, rest)
        loop = self.loop
        if loop is None or at not in loop.places or loop.places[at][3] != 1:
            raise LeftAlone(rest)
        _, base, index, _ = loop.places[at]
        loop.written.add((base, index))
        t, size, at = self.type(kind), bytes_of(kind), loop.renamed(at)
        value = self.operand(kind, x)
        if loop.mask is not None and base in loop.own:
            old, new = f"{at}.old", f"{at}.new"
            truths = f"{self.type('i1')} {loop.mask}"
            self.out += [
                f"{old} = load {t}, ptr {at}, align {size}",
                f"{new} = select {truths}, {t} {value}, {t} {old}",
            ]
            value = new
        if loop.mask is None or base in loop.own:
            self.out.append(f"store {t} {value}, ptr {at}, align {size}")
            return
        symbol = f"llvm.masked.store.{self.mangled(kind)}.p0"
        self.declare(f"declare void @{symbol}({t}, ptr, i32, {self.type('i1')})")
        given = f"{t} {value}, ptr {at}, i32 {size}, {self.type('i1')} {loop.mask}"
        self.out.append(f"call void @{symbol}({given})")


def _lines(source: FunctionText) -> list[str]:
    return next(iter(source.blocks.values()))
