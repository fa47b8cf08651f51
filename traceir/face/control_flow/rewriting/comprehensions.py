"""Comprehensions with conditions, as loops that append.

Serves: staged.list

`y = [f(v) for v in x if v > 0]` is rewritten to a loop before its statement, so that
values may decide which elements there are. Its names are its own. One in what is not
always evaluated, or in what is evaluated again, stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traceir.face.control_flow.rewriting.jumps import SCOPES
from traceir.face.control_flow.rewriting.syntax import LIST, at, name_of

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
# What is not always evaluated, or has names of its own.
_APART = (ast.IfExp, ast.BoolOp, ast.NamedExpr, *SCOPES)
# What may ask for the names of a comprehension later, or sets others.
_INNER = (ast.NamedExpr, *SCOPES)
_BLOCKS = ("body", "orelse", "finalbody")


class Comprehensions:
    """The rewriting of one function's comprehensions, which have numbers."""

    def __init__(self) -> None:
        self.count = 0

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, rewritten.

        >>> body = ast.parse("y = np.sum([2 * v for v in x if v > 0])").body
        >>> print(*map(ast.unparse, Comprehensions().block(body)), sep="\\n")
        _traceir_list_1 = []
        for _traceir_v_1 in x:
            if _traceir_v_1 > 0:
                _traceir_list_1.append(2 * _traceir_v_1)
        y = np.sum(_traceir_list_1)
        """
        found: list[ast.stmt] = []
        for node in body:
            if isinstance(node, SCOPES):
                found.append(node)
                continue
            for field in _BLOCKS:
                if isinstance(own := getattr(node, field, None), list):
                    setattr(node, field, self.block(own))
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                part.body = self.block(part.body)
            if isinstance(node, _STATEMENTS):
                lists = _Lists(self)
                lists.generic_visit(node)
                found += lists.before
            found.append(node)
        return found


class _Lists(ast.NodeTransformer):
    """The expressions of a statement with names of lists that are made before it."""

    def __init__(self, owner: Comprehensions) -> None:
        self.owner = owner
        self.before: list[ast.stmt] = []

    def visit(self, node: ast.AST) -> ast.AST:
        """A node, unless it is apart."""
        if isinstance(node, _APART):
            return node
        found: ast.AST = super().visit(node)
        return found

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """A comprehension with a condition: the name of its list."""
        outer = node.generators[0]
        outer.iter = self.visit(outer.iter)  # type: ignore[assignment]  # an expression
        inner = [n for n in ast.walk(node) if isinstance(n, _INNER)]
        names = [n for g in node.generators for n in ast.walk(g.target)]
        plain = all(isinstance(n, (ast.Name, ast.Tuple, ast.Store)) for n in names)
        if inner or not plain or not any(g.ifs for g in node.generators):
            return node
        self.owner.count += 1
        number = self.owner.count
        own = {n.id for n in names if isinstance(n, ast.Name)}
        out = f"{LIST}{number}"
        append = ast.Attribute(name_of(out), "append", ast.Load())
        first = outer.iter  # it is evaluated outside
        renamed = _OwnNames({name: f"_traceir_{name}_{number}" for name in own})
        body: ast.stmt = ast.Expr(ast.Call(append, [renamed.visit(node.elt)], []))
        for part in reversed(node.generators):
            for test in reversed(part.ifs):
                body = ast.If(renamed.visit(test), [body], [])
            items = part.iter if part.iter is first else renamed.visit(part.iter)
            body = ast.For(renamed.visit(part.target), items, [body], [])
        made = ast.Assign([ast.Name(out, ast.Store())], ast.List([], ast.Load()))
        self.before += [at(node, made), at(node, body)]
        return at(node, name_of(out))


class _OwnNames(ast.NodeTransformer):
    """Names by other ones."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A name."""
        node.id = self.names.get(node.id, node.id)
        return node
