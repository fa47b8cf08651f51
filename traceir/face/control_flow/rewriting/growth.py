"""Lists of a function's own to which it appends as often as values decide.

Serves: staged.list

An `out.append(value)` is rewritten to `out = appended(out, value)`, since such a list
is another object once a construct that appends to it is recorded. So nothing else may
have the list: no other name, no container, no function that keeps what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from traceir.face.control_flow.rewriting.jumps import SCOPES
from traceir.face.control_flow.rewriting.syntax import at, call, name_of

_LOOPS = (ast.For, ast.While)
_JUMPS = (ast.Break, ast.Continue, ast.Return)
# Functions that keep nothing of a list.
_BUILTIN = frozenset(("all", "any", "len", "max", "min", "print", "sorted", "sum"))
_MODULES = frozenset(("np", "numpy", "jnp"))
_ITERATORS = frozenset(("enumerate", "reversed", "zip"))

# The nodes around a node, and itself.
Path = tuple[Any, ...]


def growing(node: ast.FunctionDef) -> frozenset[str]:
    """The names of lists to which a choice appends, or a loop in another construct.

    >>> function = '''
    ... def f(x):
    ...     out, every = [], []
    ...     for v in x:
    ...         every.append(v)
    ...         if v > 0:
    ...             out.append(v)
    ...     return np.array(out), every
    ... '''
    >>> sorted(growing(ast.parse(function).body[0]))
    ['out']
    """
    uses: dict[str, list[Path]] = {}
    for path in _paths((node,), node.body):
        if isinstance(path[-1], ast.Name):
            uses.setdefault(path[-1].id, []).append(path)
    appends = {
        name: [path for path in paths if _is_append(path)]
        for name, paths in uses.items()
    }
    return frozenset(
        name
        for name, paths in uses.items()
        if appends[name]
        and all(map(_is_kept, paths))
        and any(_is_conditional(p, paths) for p in appends[name])
    )


def _paths(around: Path, nodes: Sequence[ast.AST]) -> Iterator[Path]:
    """The nodes of a function, each after those around it; of functions inside, too."""
    for node in nodes:
        path = (*around, node)
        yield path
        yield from _paths(path, list(ast.iter_child_nodes(node)))


def _is_append(path: Path) -> bool:
    is_method = isinstance(path[-2], ast.Attribute) and path[-2].attr == "append"
    if not is_method or not isinstance(path[-4], ast.Expr):
        return False
    match path[-3]:
        case ast.Call(args=[value], keywords=[]):
            return not isinstance(value, ast.Starred)
    return False


def _is_kept(path: Path) -> bool:
    """True if the list that a name has is nobody else's after this use of the name."""
    if any(isinstance(part, SCOPES) for part in path[1:]):
        return False
    name, part = path[-1], path[-2]
    if _is_append(path):
        return True
    if isinstance(name.ctx, ast.Store):
        return _is_made(path[-3] if isinstance(part, ast.Tuple) else part)
    if isinstance(part, (ast.If, ast.While, ast.IfExp)):
        return part.test is name
    if isinstance(part, (ast.For, ast.comprehension)):
        return part.iter is name
    if isinstance(part, ast.Tuple):
        return isinstance(path[-3], ast.Return)
    if isinstance(part, ast.Call):
        inside = isinstance(path[-3], (ast.For, ast.comprehension))
        return name in part.args and _keeps_nothing(part.func, inside)
    if isinstance(part, ast.UnaryOp):
        return isinstance(part.op, ast.Not)
    if isinstance(part, ast.Subscript):
        return part.value is name and isinstance(part.ctx, ast.Load)
    return isinstance(part, ast.Return)


def _is_made(node: ast.AST) -> bool:
    """True for an assignment of lists that are made there."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    parts = [node.value]
    if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
        parts = node.value.elts
    return all(isinstance(part, ast.List) for part in parts)


def _keeps_nothing(function: ast.expr, is_iterated: bool) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _BUILTIN or (is_iterated and function.id in _ITERATORS)
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id in _MODULES


def _is_conditional(path: Path, uses: Sequence[Path]) -> bool:
    """True if it depends on values how often a statement appends to a list that has
    been made, or if that is not told by one loop."""
    made = [p for p in uses if isinstance(p[-1].ctx, ast.Store)]
    between = min((_constructs(path, one[:-2]) for one in made), key=len, default=[])
    if not between:
        return False
    (loop, *rest) = between
    jumps = any(isinstance(n, _JUMPS) for n in ast.walk(loop))
    return bool(rest) or not isinstance(loop, ast.For) or jumps


def _constructs(path: Path, around: Path) -> list[ast.AST]:
    """The constructs around a node that are not around another."""
    kinds = (ast.If, *_LOOPS, ast.Try, ast.With)
    return [p for p in path if isinstance(p, kinds) and not any(p is a for a in around)]


class NamedAppends(ast.NodeTransformer):
    """Statements that append to some lists, rewritten to set their names."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """`out.append(value)`."""
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(name), "append"), [value], []):
                if name in self.names:
                    made = call("appended", name_of(name), value)
                    return at(node, ast.Assign([ast.Name(name, ast.Store())], made))
        return node
