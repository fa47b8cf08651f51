"""Assignments, and the joins of branches."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traceir_numba.llvm.expressions import ExpressionLowering
from traceir_numba.llvm.ir_builder import BasicBlock
from traceir_numba.llvm.types import IRValue, NotInLanguage, common, llvm_type

Names = dict[str, IRValue]
Way = tuple[BasicBlock, Names]


class StatementLowering(ExpressionLowering):
    """The straight code and the branches of one function that gives `result`."""

    def __init__(self, globals: Mapping[str, Any], result: str | None) -> None:
        super().__init__(globals)
        self.result = result
        self.open = True  # whether the next instruction can be reached

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """One after the other."""
        for node in nodes:
            if not self.open:
                raise NotInLanguage(f"line {node.lineno}, which is never reached")
            visit = _STATEMENTS.get(type(node))
            if visit is None:
                self.other(node)
            else:
                visit(self, node)

    def other(self, node: ast.stmt) -> None:
        """A statement that is none of these."""
        raise NotInLanguage(f"{type(node).__name__}: {ast.unparse(node)}")

    def assign(self, node: ast.Assign) -> None:
        """Variables and elements get values."""
        if len(node.targets) != 1:
            raise NotInLanguage(ast.unparse(node))
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple):
            found = self.several(value)
            for part, one in zip(target.elts, found, strict=True):
                self.put(part, one)
            return
        self.put(target, self.value(value))

    def several(self, node: ast.expr) -> list[IRValue]:
        """The values of a tuple, or of a choice of two."""
        match node:
            case ast.Tuple(elts=parts):
                return [self.value(part) for part in parts]
            case ast.IfExp(body=ast.Tuple(elts=xs), orelse=ast.Tuple(elts=ys)):
                return self.choice(node, tuple(xs), tuple(ys))
        raise NotInLanguage(f"several values of {ast.unparse(node)}")

    def put(self, target: ast.expr, value: IRValue) -> None:
        """Give a variable or an element its value."""
        match target:
            case ast.Name(id=name):
                self.names[name] = IRValue(value.text, value.dtype)
            case ast.Subscript(value=pointer, slice=index):
                self.builder.store(self.value(pointer), self.value(index), value)
            case _:
                raise NotInLanguage(f"a value for {ast.unparse(target)}")

    def augment(self, node: ast.AugAssign) -> None:
        """A variable and a number combined."""
        if not isinstance(node.target, ast.Name):
            raise NotInLanguage(ast.unparse(node))
        old = self.name(ast.Name(node.target.id))
        self.put(node.target, self.operation(node.op, old, self.value(node.value)))

    def expression(self, node: ast.Expr) -> None:
        """A call for its effect; the docstring."""
        match node.value:
            case ast.Constant(value=str()):
                pass  # the docstring
            case ast.Call():
                self.called(node.value)
            case _:
                raise NotInLanguage(ast.unparse(node))

    def return_(self, node: ast.Return) -> None:
        """The result."""
        b = self.builder
        if node.value is None or self.result is None:
            if node.value is not None or self.result is not None:
                raise NotInLanguage(ast.unparse(node))
            b.line("ret void")
        else:
            found = b.cast(self.value(node.value), self.result)
            b.line(f"ret {llvm_type(found.dtype)} {found.text}")
        self.open = False

    def branch(self, node: ast.If) -> None:
        """One of two ways."""
        b = self.builder
        test = b.truth(self.value(node.test))
        head, before = b.at, self.names
        ways: list[Way] = []
        starts = []
        for body in (node.body, node.orelse):
            starts.append(b.block())
            self.names, self.open = dict(before), True
            self.statements(body)
            if self.open:
                ways.append((b.at, self.names))
        b.fork(test, starts[0], starts[1], head)
        self.meet(ways)

    def meet(self, ways: Sequence[Way]) -> None:
        """Go on where several ways meet, with the variables that all of them have."""
        self.open = bool(ways)
        if not ways:
            return
        b = self.builder
        if len(ways) == 1:
            b.at, self.names = ways[0]
            return
        _, first = ways[0]
        shared = [n for n in first if all(n in names for _, names in ways[1:])]
        same, chosen = {}, {}
        for name in shared:
            values = [names[name] for _, names in ways]
            if all(v.text == values[0].text for v in values):
                same[name] = values[0]
                continue
            dtype = values[0].dtype
            for v in values[1:]:
                dtype = common(dtype, v.dtype)
            cast = [self.cast_in(w, [v], [dtype])[0] for (w, _), v in zip(ways, values)]
            chosen[name] = dtype, cast
        end = b.block()
        for block, _ in ways:
            b.jump(block, end)
        self.names = same
        for name, (dtype, values) in chosen.items():
            pairs = [(v.text, block) for v, (block, _) in zip(values, ways)]
            self.names[name] = b.phi(dtype, pairs)

    def nothing(self, node: ast.Pass) -> None:
        """No instruction."""


_STATEMENTS: dict[type[ast.stmt], Callable[[Any, Any], None]] = {
    ast.Assign: StatementLowering.assign,
    ast.AugAssign: StatementLowering.augment,
    ast.Expr: StatementLowering.expression,
    ast.Return: StatementLowering.return_,
    ast.If: StatementLowering.branch,
    ast.Pass: StatementLowering.nothing,
}
