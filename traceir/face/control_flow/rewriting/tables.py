"""Dicts and sets of a function's own to which recorded code may add.

Serves: staged.table

A name's `{}`, `dict()` or `set()` is rewritten to `table(False, [])` or
`table(True, [])`, and one that has elements likewise, where nothing else may have it:
no other name, no container, no function that keeps it.
"""

from __future__ import annotations

import ast

from traceir.face.control_flow.rewriting.growth import (
    LOOPS,
    Path,
    asks_for_membership,
    is_asked_for_truth,
    uses_of,
)
from traceir.face.control_flow.rewriting.jumps import SCOPES
from traceir.face.control_flow.rewriting.syntax import at, call

# Methods that dicts and sets have here, and functions that keep nothing of them.
_METHODS = frozenset(("add", "get", "items", "keys", "values"))
_BUILTIN = frozenset(("len", "list", "max", "min", "sorted", "sum", "enumerate"))


def tables(node: ast.FunctionDef) -> frozenset[str]:
    """The names of dicts and sets to which a loop adds.

    >>> function = '''
    ... def f(x):
    ...     seen, names = {}, {"a": 1}
    ...     for v in x:
    ...         seen[v] = seen.get(v, 0) + names["a"]
    ...     return len(seen)
    ... '''
    >>> sorted(tables(ast.parse(function).body[0]))
    ['seen']
    """
    return frozenset(
        name
        for name, paths in uses_of(node).items()
        if any(map(_is_added_to, paths))
        and any(_made(path) is not None for path in paths)
        and all(map(_is_kept, paths))
    )


def _is_added_to(path: Path) -> bool:
    """True where a loop adds to a dict or a set."""
    name, part = path[-1], path[-2]
    if not any(isinstance(one, LOOPS) for one in path):
        return False
    if isinstance(part, ast.Attribute):
        return part.attr == "add" and isinstance(path[-3], ast.Call)
    is_set = isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
    return is_set and part.value is name and not _is_text(part.slice)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _made(path: Path) -> bool | None:
    """True if an assignment to a name makes a set, False for a dict, else None."""
    name, part = path[-1], path[-2]
    match part:
        case ast.Assign([target], value) if target is name:
            return _is_set(value)
        case ast.AnnAssign(target, _, ast.expr() as value) if target is name:
            return _is_set(value)
    if isinstance(part, ast.Tuple) and isinstance(path[-3], ast.Assign):
        values = path[-3].value
        if isinstance(values, ast.Tuple) and len(values.elts) == len(part.elts):
            pairs = zip(part.elts, values.elts, strict=True)
            return next(_is_set(value) for one, value in pairs if one is name)
    return None


def _is_set(value: ast.expr) -> bool | None:
    """True for an expression that makes a set, False for a dict, else None."""
    match value:
        case ast.Dict(keys) if not any(k is None or _is_text(k) for k in keys):
            return False
        case ast.Set(keys) if not any(map(_is_text, keys)):
            return True
        case ast.Call(ast.Name("dict" | "set" as kind), [], []):
            return kind == "set"
        case ast.Call(ast.Name("set"), [ast.List() | ast.Tuple()], []):
            return True
        case ast.Call(ast.Attribute(of, "empty")):
            return False if _name_of(of) == "Dict" else None
    return None


def _name_of(node: ast.expr) -> str:
    """The last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _items(value: ast.expr) -> ast.expr:
    """The elements of a set, or the pairs of a dict, as a list."""
    found: list[ast.expr] = []
    match value:
        case ast.Dict(keys, values):
            pairs = zip(keys, values, strict=True)
            found = [ast.Tuple([k, v], ast.Load()) for k, v in pairs if k is not None]
        case ast.Set(keys):
            found = keys
        case ast.Call(ast.Name("set"), [items], []):
            return items
        case ast.Call(ast.Attribute()):  # what it makes is looked at
            return value
    return ast.List(found, ast.Load())


def _is_kept(path: Path) -> bool:
    """True if what a name has is nobody else's after this use of the name."""
    if any(isinstance(part, SCOPES) for part in path[1:]):
        return False
    name, part = path[-1], path[-2]
    if isinstance(name.ctx, ast.Store):
        return _made(path) is not None
    if isinstance(part, ast.Subscript):
        kept = part.value is name and not isinstance(part.ctx, ast.Del)
        return kept and not _is_text(part.slice)
    if isinstance(part, ast.Attribute):
        called = isinstance(path[-3], ast.Call) and path[-3].func is part
        return part.attr in _METHODS and called
    if isinstance(part, ast.Compare):
        return asks_for_membership(part, name)
    if isinstance(part, (ast.For, ast.comprehension)):
        return part.iter is name
    if isinstance(part, ast.Call):
        function = part.func
        return isinstance(function, ast.Name) and function.id in _BUILTIN
    if isinstance(part, ast.Tuple):
        return isinstance(path[-3], ast.Return)
    return isinstance(part, ast.Return) or is_asked_for_truth(path)


class MadeTables(ast.NodeTransformer):
    """Assignments that make some tables, rewritten."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> ast.AST:
        """A node; a function inside has names of its own, and stays as it is."""
        if isinstance(node, SCOPES):
            return node
        found: ast.AST = super().visit(node)
        return found

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`name = {}`, or several at once."""
        if len(node.targets) == 1:
            node.value = self._made(node.targets[0], node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`name: dict[int, int] = {}`."""
        if node.value is not None:
            node.value = self._made(node.target, node.value)
        return node

    def _made(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Name) and target.id in self.names:
            is_set = _is_set(value)
            if is_set is not None:
                return at(value, call("table", ast.Constant(is_set), _items(value)))
        match target, value:
            case ast.Tuple(names), ast.Tuple(values) if len(names) == len(values):
                made = list(map(self._made, names, values))
                return at(value, ast.Tuple(made, ast.Load()))
        return value
