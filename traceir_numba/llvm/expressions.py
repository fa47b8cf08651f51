"""Expressions of generated source as typed registers.

A construct that is not listed here is not in the language, and is an error that names
it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import add, floordiv, lshift, mod, mul, sub, truediv
from typing import Any

from traceir_numba.llvm.ir_builder import BasicBlock, IRBuilder
from traceir_numba.llvm.symbols import (
    KNOWN,
    Bits,
    Callee,
    Cast,
    Intrinsic,
    LaneArray,
    Table,
)
from traceir_numba.llvm.types import (
    FLOATS,
    IRValue,
    NotInLanguage,
    arithmetic,
    common,
    constant,
    is_signed,
    literal,
    llvm_type,
)

BINARY = {
    ast.Add: ("+", add),
    ast.Sub: ("-", sub),
    ast.Mult: ("*", mul),
    ast.Div: ("/", truediv),
    ast.FloorDiv: ("//", floordiv),
    ast.Mod: ("%", mod),
    ast.LShift: ("<<", lshift),
    ast.RShift: (">>", None),
    ast.BitAnd: ("&", None),
    ast.BitOr: ("|", None),
    ast.BitXor: ("^", None),
    ast.Pow: ("**", pow),
}
COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
UNARY: dict[type[ast.unaryop], Callable[[IRBuilder, IRValue], IRValue]] = {
    ast.USub: IRBuilder.negative,
    ast.Invert: IRBuilder.inverted,
    ast.Not: IRBuilder.negation,
}


class ExpressionLowering:
    """Expressions of one function: `globals` are the values of its names."""

    def __init__(self, globals: Mapping[str, Any]) -> None:
        self.globals = globals
        self.builder = IRBuilder()
        self.names: dict[str, IRValue] = {}
        self.tables: dict[str, str] = {}

    def value(self, node: ast.expr) -> IRValue:
        """The value of an expression."""
        visit = _VISITORS.get(type(node))
        if visit is None:
            raise NotInLanguage(f"{type(node).__name__}: {ast.unparse(node)}")
        return visit(self, node)

    def constant(self, node: ast.Constant) -> IRValue:
        """A number as it is written."""
        return literal(node.value)

    def name(self, node: ast.Name) -> IRValue:
        """A variable, or a global value."""
        found = self.names.get(node.id)
        if found is not None:
            return found
        known = self.globals.get(node.id)
        match known:
            case Table():
                self.tables[known.symbol] = known.text
                return IRValue(f"@{known.symbol}", known.dtype + "*")
            case IRValue():
                return known
        raise NotInLanguage(f"the name {node.id}, which has no value here")

    def unary(self, node: ast.UnaryOp) -> IRValue:
        """A unary operation: a sign, the inversion of bits, a negation."""
        x = self.value(node.operand)
        if isinstance(node.op, ast.USub) and x.literal is not None:
            return literal(-x.literal)
        visit = UNARY.get(type(node.op))
        if visit is None:
            raise NotInLanguage(ast.unparse(node))
        return visit(self.builder, x)

    def binary(self, node: ast.BinOp) -> IRValue:
        """Arithmetic."""
        x, y = self.value(node.left), self.value(node.right)
        return self.operation(node.op, x, y)

    def operation(self, op: ast.operator, x: IRValue, y: IRValue) -> IRValue:
        """Two numbers combined; numbers as written are, as Python does it, at once."""
        found = BINARY.get(type(op))
        if found is None:
            raise NotInLanguage(type(op).__name__)
        sign, fold = found
        if x.literal is not None and y.literal is not None and fold is not None:
            # The processor divides by 0, and wraps what is too large.
            with suppress(ArithmeticError, NotInLanguage):
                return literal(fold(x.literal, y.literal))
        if sign == "**":
            raise NotInLanguage("a power of what is not known")
        return self.builder.binary(sign, x, y)

    def compare(self, node: ast.Compare) -> IRValue:
        """One comparison of two numbers."""
        sign = COMPARE.get(type(node.ops[0]))
        if sign is None or len(node.ops) > 1:
            raise NotInLanguage(ast.unparse(node))
        x, y = self.value(node.left), self.value(node.comparators[0])
        return self.builder.compare(sign, x, y)

    def subscript(self, node: ast.Subscript) -> IRValue:
        """An element."""
        return self.builder.load(self.value(node.value), self.value(node.slice))

    # -- choices ------------------------------------------------------------------

    def either(self, node: ast.IfExp) -> IRValue:
        """One of two values."""
        (found,) = self.choice(node, (node.body,), (node.orelse,))
        return found

    def choice(
        self,
        node: ast.IfExp,
        bodies: tuple[ast.expr, ...],
        others: tuple[ast.expr, ...],
    ) -> list[IRValue]:
        """One of two tuples of values; cheap and safe values are computed anyway."""
        b = self.builder
        test = b.truth(self.value(node.test))
        head, start = b.at, len(b.blocks)
        then, xs, first = self.arm(bodies)
        other, ys, second = self.arm(others)
        dtypes = [common(x.dtype, y.dtype) for x, y in zip(xs, ys, strict=True)]
        xs, ys = self.cast_in(first, xs, dtypes), self.cast_in(second, ys, dtypes)
        if len(b.blocks) == start + 2 and then.pure and other.pure:
            del b.blocks[start:]
            head.lines += then.lines + other.lines
            b.at = head
            return [b.select(test, x, y) for x, y in zip(xs, ys, strict=True)]
        b.fork(test, then, other, head)
        end = b.block()
        b.jump(first, end)
        b.jump(second, end)
        end.pure = False
        pairs = zip(xs, ys, dtypes, strict=True)
        return [b.phi(t, ((x.text, first), (y.text, second))) for x, y, t in pairs]

    def arm(
        self, nodes: tuple[ast.expr, ...]
    ) -> tuple[BasicBlock, list[IRValue], BasicBlock]:
        """A new block, the values that are computed from there on, and its end."""
        start = self.builder.block()
        values = [self.value(node) for node in nodes]
        return start, values, self.builder.at

    def cast_in(
        self, block: BasicBlock, values: list[IRValue], dtypes: list[str]
    ) -> list[IRValue]:
        """Values cast at the end of a block."""
        self.builder.at = block
        pairs = zip(values, dtypes, strict=True)
        return [self.builder.cast(value, dtype) for value, dtype in pairs]

    def logic(self, node: ast.BoolOp) -> IRValue:
        """`and`, `or` of truths: later operands may not be computed."""
        first, *rest = node.values
        if rest[1:]:
            rest = [ast.BoolOp(node.op, rest)]
        ends = ast.Constant(isinstance(node.op, ast.Or))
        body, other = (
            (rest[0], ends) if isinstance(node.op, ast.And) else (ends, rest[0])
        )
        found = self.either(ast.IfExp(first, body, other))
        if found.dtype != "bool":
            raise NotInLanguage(f"a number as a truth: {ast.unparse(node)}")
        return found

    # -- calls --------------------------------------------------------------------

    def call(self, node: ast.Call) -> IRValue:
        """A call that has a value."""
        found = self.called(node)
        if found is None:
            raise NotInLanguage(f"the value of {ast.unparse(node)}, which gives none")
        return found

    def called(self, node: ast.Call) -> IRValue | None:
        """A call as it is written; functions of pointers may give nothing."""
        if node.keywords:
            raise NotInLanguage(ast.unparse(node))
        name = ast.unparse(node.func)
        args = [self.value(a) for a in node.args]
        known = self.globals.get(name) or KNOWN.get(name)
        b = self.builder
        match known:
            case Cast(dtype) if len(args) == 1:
                return b.cast(args[0], dtype)
            case Callee(symbol, dtypes, result) if len(args) == len(dtypes):
                given = [b.cast(a, t) for a, t in zip(args, dtypes, strict=True)]
                return b.call(symbol, given, result)
            case Bits(operand, result) if len(args) == 1:
                x = b.cast(args[0], operand)
                kinds = f"{llvm_type(operand)} {x.text} to {llvm_type(result)}"
                return IRValue(b.new(f"bitcast {kinds}"), result)
            case LaneArray(dtype, count) if not args:
                return b.memory(dtype, count)
            case Intrinsic(symbol, count) if len(args) == count:
                return self.intrinsic(symbol, args)
        write = BUILT_IN.get(name)
        if write is None:
            raise NotInLanguage(f"a call of {ast.unparse(node)}")
        return write(b, *args)

    def intrinsic(self, name: str, args: list[IRValue]) -> IRValue:
        """An operation that LLVM has, on numbers of the type that holds them all."""
        dtype = args[0].dtype
        for other in args[1:]:
            dtype = arithmetic(dtype, other.dtype)
        if dtype not in FLOATS:
            raise NotInLanguage(f"{name} of {dtype}")
        given = [self.builder.cast(a, dtype) for a in args]
        if name == "frem":
            x, y = (a.text for a in given)
            self.builder.at.pure = False
            text = f"frem {llvm_type(dtype)} {x}, {y}"
            return IRValue(self.builder.new(text), dtype)
        symbol = f"llvm.{name}.f{dtype[-2:]}"
        found = self.builder.call(symbol, given, dtype, pure=True)
        assert found is not None
        return found


def magnitude(b: IRBuilder, x: IRValue) -> IRValue:
    """A number without its sign; the least integer is its own."""
    if x.dtype in FLOATS:
        found = b.call(f"llvm.fabs.f{x.dtype[-2:]}", [x], x.dtype, pure=True)
        assert found is not None
        return found
    zero = constant(0, x.dtype)
    assert zero is not None
    if not is_signed(x.dtype):
        return x
    less = b.compare("<", x, zero)
    t = llvm_type(x.dtype)
    return b.select(less, IRValue(b.new(f"sub {t} 0, {x.text}"), x.dtype), x)


def row_of(b: IRBuilder, pointer: IRValue, offset: IRValue) -> IRValue:
    """The pointer to a place so many elements further."""
    return IRValue(b.element(pointer, offset)[0], pointer.dtype)


BUILT_IN: dict[str, Callable[..., IRValue]] = {"abs": magnitude, "row_of": row_of}

_VISITORS: dict[type[ast.expr], Callable[[ExpressionLowering, Any], IRValue]] = {
    ast.Constant: ExpressionLowering.constant,
    ast.Name: ExpressionLowering.name,
    ast.UnaryOp: ExpressionLowering.unary,
    ast.BinOp: ExpressionLowering.binary,
    ast.Compare: ExpressionLowering.compare,
    ast.Subscript: ExpressionLowering.subscript,
    ast.IfExp: ExpressionLowering.either,
    ast.BoolOp: ExpressionLowering.logic,
    ast.Call: ExpressionLowering.call,
}
