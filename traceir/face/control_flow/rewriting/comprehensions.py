"""Comprehensions as loops that append.

Serves: staged.list

`y = [f(v) for v in x if v > 0]` is rewritten to a loop before its statement, so that
values may decide which elements there are. Its names are its own. One in what is not
always evaluated, or in what is evaluated again, stays as it is, and so does one without
a condition, unless its statement evaluates it first, and over one iterable.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traceir.face.control_flow.rewriting.jumps import SCOPES
from traceir.face.control_flow.rewriting.syntax import LIST, at, name_of

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# What is not always evaluated, or has names of its own.
_APART = (ast.IfExp, ast.BoolOp, ast.NamedExpr, *SCOPES)
# What may ask for the names of a comprehension later, or sets others.
_INNER = (ast.NamedExpr, *SCOPES)
_PURE = frozenset(
    (
        *("abs", "bool", "float", "int", "len", "list", "max", "min", "range"),
        *("sorted", "sum", "tuple"),
    )
)
_MODULES = frozenset(("math", "np", "numpy"))
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
                lists = _Lists(self, node)
                lists.generic_visit(node)
                found += lists.before
            elif isinstance(node, ast.If):
                lists = _Lists(self, node.test)
                test = lists.visit(node.test)
                assert isinstance(test, ast.expr)
                node.test = test
                found += lists.before
            found.append(node)
        return found


class _Lists(ast.NodeTransformer):
    """The expressions of a statement with names of lists that are made before it."""

    def __init__(self, owner: Comprehensions, whole: ast.AST) -> None:
        self.owner = owner
        self.whole = whole
        # By identity, the nodes that have been put before the statement, in order.
        self.moved: set[int] = set()
        self.before: list[ast.stmt] = []

    def visit(self, node: ast.AST) -> ast.AST:
        """A node, unless it is apart."""
        if isinstance(node, _APART):
            return node
        found: ast.AST = super().visit(node)
        return found

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """A comprehension: the name of its list."""
        outer = node.generators[0]
        outer.iter = self.visit(outer.iter)  # type: ignore[assignment]  # an expression
        inner = [n for n in ast.walk(node) if isinstance(n, _INNER)]
        names = [n for g in node.generators for n in ast.walk(g.target)]
        plain = all(isinstance(n, (ast.Name, ast.Tuple, ast.Store)) for n in names)
        if inner or not plain:
            return node
        if not any(g.ifs for g in node.generators) and not self._is_simple(node):
            return node
        self.moved |= {id(n) for n in ast.walk(node)}
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

    def _is_simple(self, node: ast.ListComp) -> bool:
        """True for one over one iterable, before which nothing of effect is called."""
        parts = [n for n in ast.walk(node.elt) if isinstance(n, _COMPREHENSIONS)]
        if len(node.generators) > 1 or parts:
            return False
        around = {id(n) for n in ast.walk(self.whole) if node in ast.walk(n)}
        around |= self.moved
        return not any(
            isinstance(n, (ast.Call, *_COMPREHENSIONS))
            and not _is_pure(n)
            and id(n) not in around
            and (n.lineno, n.col_offset) < (node.lineno, node.col_offset)
            for n in ast.walk(self.whole)
        )


def _is_pure(node: ast.AST) -> bool:
    """True for a call of a function of NumPy's or Python's that has no effect."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Name):
        return function.id in _PURE
    names = []
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    is_module = isinstance(function, ast.Name) and function.id in _MODULES
    return is_module and "random" not in names


class _OwnNames(ast.NodeTransformer):
    """Names by other ones."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A name."""
        node.id = self.names.get(node.id, node.id)
        return node
