"""A builder of one function's LLVM text: blocks and registers.

Serves: the arithmetic of kernels, which is Numba's with `error_model="numpy"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from traceir.base.fast_dataclass import dataclass
from traceir_numba.llvm.types import (
    BITS,
    FLOATS,
    IRValue,
    NotInLanguage,
    arithmetic,
    common,
    constant,
    is_signed,
    llvm_type,
)


@dataclass(slots=True, eq=False)
class BasicBlock:
    """A basic block. One that is `pure` may run where its results are not needed."""

    label: str
    lines: list[str] = field(default_factory=list)
    pure: bool = True


FLOAT_OPS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
INTEGER_OPS = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
# Of floating numbers, of signed and of unsigned integers; only `!=` holds of NaN.
COMPARISONS = {
    "==": ("oeq", "eq", "eq"),
    "!=": ("une", "ne", "ne"),
    "<": ("olt", "slt", "ult"),
    "<=": ("ole", "sle", "ule"),
    ">": ("ogt", "sgt", "ugt"),
    ">=": ("oge", "sge", "uge"),
}


class IRBuilder:
    """The blocks of a function, and where the next instruction goes."""

    def __init__(self) -> None:
        self.count = 0
        self.stack: list[str] = []  # what the function begins with: its own memory
        self.declared: dict[str, str] = {}
        self.blocks: list[BasicBlock] = []
        self.at = self.block()

    # -- blocks -------------------------------------------------------------------

    def block(self) -> BasicBlock:
        """A new block, which instructions are added to from now on."""
        self.at = BasicBlock(f"b{len(self.blocks)}_{self.count}")
        self.blocks.append(self.at)
        return self.at

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self.at.lines.append(text)

    def new(self, text: str) -> str:
        """The register that an instruction defines."""
        self.count += 1
        register = f"%r{self.count}"
        self.at.lines.append(f"{register} = {text}")
        return register

    def jump(self, source: BasicBlock, target: BasicBlock, note: str = "") -> None:
        """The end of a block; a `note` is metadata that LLVM reads."""
        source.lines.append(f"br label %{target.label}{note}")

    def fork(
        self, test: IRValue, then: BasicBlock, other: BasicBlock, source: BasicBlock
    ) -> None:
        """The end of a block, two ways."""
        targets = f"label %{then.label}, label %{other.label}"
        source.lines.append(f"br i1 {test.text}, {targets}")

    def phi(self, dtype: str, ways: Sequence[tuple[str, BasicBlock]]) -> IRValue:
        """The value that comes from the block that was left last."""
        pairs = ", ".join(f"[{text}, %{block.label}]" for text, block in ways)
        return IRValue(self.new(f"phi {llvm_type(dtype)} {pairs}"), dtype)

    def declare(self, symbol: str, result: str, args: Sequence[str]) -> None:
        """A function that is defined elsewhere."""
        if symbol not in self.declared:
            text = f"declare {result} @{symbol}({', '.join(args)})"
            self.declared[symbol] = text

    # -- numbers ------------------------------------------------------------------

    def cast(self, x: IRValue, dtype: str) -> IRValue:
        """A number as one of another type."""
        if x.dtype == dtype:
            return x if x.literal is None else IRValue(x.text, dtype)
        if x.dtype[-1] == "*" or dtype[-1] == "*":
            raise NotInLanguage(f"a {x.dtype} where a {dtype} is due")
        if x.literal is not None:
            known = constant(x.literal, dtype)
            if known is not None:
                return known
        if dtype == "bool":
            zero = constant(0, x.dtype)
            assert zero is not None
            return self.compare("!=", x, zero)
        instruction = _conversion(x.dtype, dtype)
        if instruction is None:
            return IRValue(x.text, dtype)
        source, target = llvm_type(x.dtype), llvm_type(dtype)
        return IRValue(self.new(f"{instruction} {source} {x.text} to {target}"), dtype)

    def binary(self, op: str, x: IRValue, y: IRValue) -> IRValue:
        """Arithmetic and logic."""
        if op in ("<<", ">>"):
            return self.shift(op, x, y)
        if op in "&|^" and x.dtype == y.dtype == "bool":
            return IRValue(self.new(f"{INTEGER_OPS[op]} i1 {x.text}, {y.text}"), "bool")
        dtype = arithmetic(x.dtype, y.dtype)
        if op == "/" and dtype not in FLOATS:
            dtype = "float64"
        a, b = self.cast(x, dtype), self.cast(y, dtype)
        if dtype in FLOATS:
            if op not in FLOAT_OPS:
                raise NotInLanguage(f"{op} of {dtype}")
            name = FLOAT_OPS[op]
        elif op in ("//", "%"):
            return self.divide(op, a, b, y.literal)
        else:
            name = INTEGER_OPS[op]
        register = self.new(f"{name} {llvm_type(dtype)} {a.text}, {b.text}")
        return IRValue(register, dtype)

    def shift(self, op: str, x: IRValue, y: IRValue) -> IRValue:
        """A shift by as many bits as y says, which is less than 64."""
        if x.dtype not in BITS or y.dtype not in BITS:
            raise NotInLanguage(f"{x.dtype} {op} {y.dtype}")
        dtype = "uint64" if x.dtype[0] == "u" else "int64"
        a, b = self.cast(x, dtype), self.cast(y, dtype)
        right = "ashr" if is_signed(dtype) else "lshr"
        name = "shl" if op == "<<" else right
        return IRValue(self.new(f"{name} i64 {a.text}, {b.text}"), dtype)

    def divide(self, op: str, x: IRValue, y: IRValue, divisor: float | None) -> IRValue:
        """Quotient or remainder of 64 bits, rounded down; x // 0 and x % 0 are 0.

        So are those of the least number by -1, the quotient of which is too large.
        """
        unsafe = None
        if divisor is None or divisor in (0, -1):
            unsafe = self.new(f"icmp eq i64 {y.text}, 0")
            if is_signed(x.dtype):
                low = self.new(f"icmp eq i64 {x.text}, {-(1 << 63)}")
                minus = self.new(f"icmp eq i64 {y.text}, -1")
                over = self.new(f"and i1 {low}, {minus}")
                unsafe = self.new(f"or i1 {unsafe}, {over}")
            y = IRValue(self.new(f"select i1 {unsafe}, i64 1, i64 {y.text}"), y.dtype)
        if is_signed(x.dtype):
            found = self._floored(op, x, y)
        else:
            name = "udiv" if op == "//" else "urem"
            found = self.new(f"{name} i64 {x.text}, {y.text}")
        if unsafe is not None:
            found = self.new(f"select i1 {unsafe}, i64 0, i64 {found}")
        return IRValue(found, x.dtype)

    def _floored(self, op: str, x: IRValue, y: IRValue) -> str:
        """Floor division or modulo of Python's, from LLVM's, which truncate."""
        quotient = self.new(f"sdiv i64 {x.text}, {y.text}")
        rest = self.new(f"srem i64 {x.text}, {y.text}")
        some = self.new(f"icmp ne i64 {rest}, 0")
        mixed = self.new(f"xor i64 {rest}, {y.text}")
        unlike = self.new(f"icmp slt i64 {mixed}, 0")
        down = self.new(f"and i1 {some}, {unlike}")
        if op == "//":
            lower = self.new(f"add i64 {quotient}, -1")
            return self.new(f"select i1 {down}, i64 {lower}, i64 {quotient}")
        upper = self.new(f"add i64 {rest}, {y.text}")
        return self.new(f"select i1 {down}, i64 {upper}, i64 {rest}")

    def negative(self, x: IRValue) -> IRValue:
        """Integers become 64 bits wide."""
        if x.dtype in FLOATS:
            return IRValue(self.new(f"fneg {llvm_type(x.dtype)} {x.text}"), x.dtype)
        zero = IRValue("0", "uint64" if x.dtype[0] == "u" else "int64")
        return self.binary("-", zero, x)

    def inverted(self, x: IRValue) -> IRValue:
        """All bits turned; integers become 64 bits wide."""
        if x.dtype == "bool":
            return self.negation(x)
        ones = IRValue("-1", "uint64" if x.dtype[0] == "u" else "int64")
        return self.binary("^", x, ones)

    def negation(self, x: IRValue) -> IRValue:
        """The negation of a truth, or the test that a number is zero."""
        holds = self.truth(x)
        return IRValue(self.new(f"xor i1 {holds.text}, true"), "bool")

    def truth(self, x: IRValue) -> IRValue:
        """The truth of a value: itself, or the test that a number is not zero."""
        return self.cast(x, "bool")

    def compare(self, op: str, x: IRValue, y: IRValue) -> IRValue:
        """A comparison of two numbers."""
        dtype = common(x.dtype, y.dtype)
        a, b = self.cast(x, dtype), self.cast(y, dtype)
        floating, signed, unsigned = COMPARISONS[op]
        if dtype in FLOATS:
            name = f"fcmp {floating}"
        else:
            name = f"icmp {signed if is_signed(dtype) else unsigned}"
        register = self.new(f"{name} {llvm_type(dtype)} {a.text}, {b.text}")
        return IRValue(register, "bool")

    def select(self, test: IRValue, x: IRValue, y: IRValue) -> IRValue:
        """One of two values of the same type."""
        t = llvm_type(x.dtype)
        chosen = f"select i1 {test.text}, {t} {x.text}, {t} {y.text}"
        return IRValue(self.new(chosen), x.dtype)

    # -- memory and calls -----------------------------------------------------------

    def element(self, pointer: IRValue, index: IRValue) -> tuple[str, str]:
        """The address of an element and its type."""
        if pointer.dtype[-1] != "*" or index.dtype not in BITS:
            raise NotInLanguage(f"a {pointer.dtype} indexed by a {index.dtype}")
        dtype = pointer.dtype[:-1]
        at = self.cast(index, "int64").text
        step = f"{llvm_type(dtype)}, ptr {pointer.text}, i64 {at}"
        return self.new(f"getelementptr inbounds {step}"), dtype

    def load(self, pointer: IRValue, index: IRValue) -> IRValue:
        """An element."""
        where, dtype = self.element(pointer, index)
        self.at.pure = False
        return IRValue(self.new(f"load {llvm_type(dtype)}, ptr {where}"), dtype)

    def store(self, pointer: IRValue, index: IRValue, x: IRValue) -> None:
        """Put a number in the place of an element."""
        where, dtype = self.element(pointer, index)
        self.at.pure = False
        value = self.cast(x, dtype)
        self.line(f"store {llvm_type(dtype)} {value.text}, ptr {where}")

    def call(
        self,
        symbol: str,
        args: Sequence[IRValue],
        result: str | None,
        pure: bool = False,
    ) -> IRValue | None:
        """Call a function of that symbol with arguments of exactly its types."""
        types = [llvm_type(a.dtype) for a in args]
        given = ", ".join(f"{t} {a.text}" for t, a in zip(types, args, strict=True))
        of = "void" if result is None else llvm_type(result)
        self.declare(symbol, of, types)
        self.at.pure &= pure
        text = f"call {of} @{symbol}({given})"
        if result is None:
            self.line(text)
            return None
        return IRValue(self.new(text), result)

    def memory(self, dtype: str, count: int) -> IRValue:
        """Room for so many elements on the stack, aligned for vectors."""
        self.count += 1
        register = f"%r{self.count}"
        room = f"alloca [{count} x {llvm_type(dtype)}], align 64"
        self.stack.append(f"{register} = {room}")
        return IRValue(register, dtype + "*")


def _conversion(source: str, target: str) -> str | None:
    """The instruction that casts a number; None where the bits are the same."""
    if source in FLOATS:
        if target in FLOATS:
            return "fptrunc" if target == "float32" else "fpext"
        return "fptosi" if is_signed(target) else "fptoui"
    if target in FLOATS:
        return "sitofp" if is_signed(source) else "uitofp"
    have, want = BITS[source], BITS[target]
    if have == want:
        return None
    if have > want:
        return "trunc"
    return "sext" if is_signed(source) else "zext"
