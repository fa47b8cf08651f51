"""Statements that change lists which grow, rewritten to set names.

Serves: staged.list
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traceir.face.control_flow.rewriting.growth import (
    BLOCKS,
    Functions,
    Path,
    is_change,
    is_changed,
    is_users,
    line_of_borrower,
    makes_a_list,
    paths_of,
)
from traceir.face.control_flow.rewriting.syntax import EACH, at, call, name_of

# The parts of expressions that change nothing when they are evaluated.
_PURE = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)


class NamedChanges(ast.NodeTransformer):
    """Statements that change some lists, rewritten to set their names."""

    def __init__(self, names: frozenset[str], functions: Functions) -> None:
        self.names = names
        self.functions = functions
        # Those that have a list by now, and how many constructs are around.
        self.made: set[str] = set()
        self.depth = 0

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, rewritten."""
        return [made for node in body for made in self._statement(node)]

    def _inner(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a construct, which need not run."""
        made = set(self.made)
        self.depth += 1
        found = self.block(body)
        self.depth -= 1
        self.made = made
        return found

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign([ast.Name(out)], ast.List() as items) if out in self.names:
                again = self.depth and out in self.made
                self.made.add(out)
                value = self.visit(items)
                if again:  # nobody else has the list, so it may be the same
                    value = call("renewed", name_of(out), value)
                return [_named(node, out, value)]
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                pairs = zip(targets, values, strict=False)
                lists = [a for a, b in pairs if makes_a_list(b)]
                self.made |= {a.id for a in lists if isinstance(a, ast.Name)}
            case ast.AnnAssign(ast.Name(out), value=ast.List()):
                self.made.add(out)
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(out), "append"), [value])):
                if out in self.names:
                    item = self.visit(value)
                    return [_named(node, out, call("appended", name_of(out), item))]
            case ast.AugAssign(ast.Name(out), ast.Add(), value) | ast.Expr(
                ast.Call(ast.Attribute(ast.Name(out), "extend"), [value], [])
            ) if out in self.names and (loop := _appending(out, value)) is not None:
                return self._statement(at(node, loop))
            case ast.AugAssign(ast.Name(out), ast.Add(), value):
                if out in self.names and (loop := _appending(out, value)):
                    return self._statement(at(node, loop))
                if out in self.names:
                    method = ast.Attribute(name_of(out), "extend", ast.Load())
                    added = ast.Call(method, [self.visit(value)], [])
                    return [*self._setting(node, [out]), at(node, ast.Expr(added))]
        setting = self._setting(node, sorted(set(self._changed(node))))
        given = sorted(set(self._given(node)))
        setting += [_named(node, out, call("given", name_of(out))) for out in given]
        for field, value in ast.iter_fields(node):
            if field in BLOCKS and value:
                first = setting if field == "body" else []
                setattr(node, field, [*first, *self._inner(value)])
            elif field in ("handlers", "cases"):
                for part in value:
                    part.body = self._inner(part.body)
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list):
                setattr(node, field, [self.visit(part) for part in value])
        return [*setting, node]

    def _setting(self, node: ast.stmt, names: Sequence[str]) -> list[ast.stmt]:
        """Statements that set names to what they have."""
        return [
            _named(node, out, call("same", name_of(out), *_places(node, out)))
            for out in names
        ]

    def _changed(self, node: ast.stmt) -> Iterator[str]:
        """The lists that a statement's own expressions change."""
        for path in _own_paths(node):
            name = path[-1]
            own = isinstance(name, ast.Name) and name.id in self.names
            if own and is_change((None, *path)):
                yield name.id

    def _given(self, node: ast.stmt) -> Iterator[str]:
        """The lists that a statement's own expressions give to what changes them."""
        for path in _own_paths(node):
            name = path[-1]
            own = isinstance(name, ast.Name) and name.id in self.names
            if own and is_changed(path, self.functions):
                yield name.id

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call of a user's function, to which lists are lent."""
        self.generic_visit(node)
        if is_users(node.func):
            lent = [self._lent(node, (None, node, value)) for value in node.args]
            for part in node.keywords:
                part.value = self._lent(node, (node, part, part.value))
            node.args = lent
        return node

    def _lent(self, node: ast.Call, path: Path) -> ast.expr:
        value: ast.expr = path[-1]
        if not isinstance(value, ast.Name) or value.id not in self.names:
            return value
        line = ast.Constant(line_of_borrower(path, self.functions))
        return at(value, call("lent", value, node.func, line))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """`out and ...`, of which only the truth is asked for."""
        self.generic_visit(node)
        node.values = [
            at(v, call("truth", v))
            if isinstance(v, ast.Name) and v.id in self.names
            else v
            for v in node.values
        ]
        return node


def _appending(out: str, value: ast.expr) -> ast.For | None:
    """A loop that appends the elements of an expression, one after the other; None for
    one that shows its elements, or asks for the list itself."""
    if any(isinstance(n, ast.Name) and n.id == out for n in ast.walk(value)):
        return None
    match value:
        case ast.List() | ast.Tuple() | ast.ListComp() | ast.Starred():
            return None
        case ast.BinOp(ast.List(elements), ast.Mult(), count):
            if not all(isinstance(one, (ast.Constant, ast.Name)) for one in elements):
                return None
            items: ast.expr = ast.Call(name_of("range"), [count], [])
        case _:
            items, elements = value, [name_of(EACH)]
    method = ast.Attribute(name_of(out), "append", ast.Load())
    body: list[ast.stmt] = [ast.Expr(ast.Call(method, [e], [])) for e in elements]
    return ast.For(ast.Name(EACH, ast.Store()), items, body or [ast.Pass()], [])


def _places(node: ast.stmt, name: str) -> list[ast.expr]:
    """The places at which an assignment sets elements of a list, if they can be
    evaluated twice."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    every = [part for one in targets for part in ast.walk(one)]
    found = [
        part.slice
        for part in every
        if isinstance(part, ast.Subscript)
        and isinstance(part.value, ast.Name)
        and part.value.id == name
    ]
    return [one for one in found if all(isinstance(n, _PURE) for n in ast.walk(one))]


def _own_paths(node: ast.stmt) -> Iterator[Path]:
    """The nodes of a statement, each after those around it; no statements in it."""
    for field, value in ast.iter_fields(node):
        if field not in (*BLOCKS, "handlers", "cases"):
            parts = value if isinstance(value, list) else [value]
            yield from paths_of((node,), [p for p in parts if isinstance(p, ast.AST)])


def _named(node: ast.stmt, name: str, value: ast.expr) -> ast.stmt:
    return at(node, ast.Assign([ast.Name(name, ast.Store())], value))
