"""The names that statements set, and those that may have no value.

Serves: staged.carry
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from traceir.face.control_flow.rewriting.jumps import SCOPES, walk
from traceir.face.control_flow.rewriting.syntax import LIST, RUNTIME

_COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)
# Parts of statements that may set a name.
_NAMING = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parameters(node: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    """The parameters of a function."""
    args = node.args
    stars = [arg for arg in (args.vararg, args.kwarg) if arg]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *stars]


def assigned(body: Sequence[ast.AST]) -> frozenset[str]:
    """The names that statements may set, in the function that they are of.

    >>> sorted(assigned(ast.parse("x, *y = [k for k in s]; t[i] = 1").body))
    ['x', 'y']
    """
    return frozenset(_assigned(body))


def _assigned(body: Iterable[ast.AST]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, SCOPES) and not isinstance(node, ast.Lambda):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (a.asname or a.name.split(".")[0] for a in node.names)
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name
        ):
            yield node.name
        if isinstance(node, _COMPREHENSIONS):
            inner = [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            yield from (n.target.id for n in inner)
        elif not isinstance(node, SCOPES):
            yield from _assigned(ast.iter_child_nodes(node))


def declared(
    node: ast.FunctionDef, kind: type[ast.Global | ast.Nonlocal]
) -> frozenset[str]:
    """The names that a function declares to be global, or of a function around it."""
    found = [n for n in walk(node.body) if isinstance(n, kind)]
    return frozenset(name for n in found for name in n.names)


def set_inside(node: ast.FunctionDef) -> frozenset[str]:
    """The names of a function that functions inside of it set."""
    inner = [n for n in ast.walk(node) if isinstance(n, ast.Nonlocal)]
    here = [n for n in walk(node.body) if isinstance(n, ast.Nonlocal)]
    own = assigned(node.body) | {arg.arg for arg in parameters(node)}
    own |= {name for n in here for name in n.names}
    return frozenset(name for n in inner for name in n.names if name in own)


def unsure(node: ast.FunctionDef) -> frozenset[str]:
    """Names of a function that may have no value where they are read, or one that can't
    be told: those that are set inside of a loop or a choice."""
    inside = [s for s in node.body if isinstance(s, _COMPOUND)]
    found = (assigned(inside) | set_inside(node)) - declared(node, ast.Global)
    return frozenset(name for name in found if not name.startswith("_traceir_"))


def written(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names of arrays to which statements write elements, or may.

    >>> sorted(written(ast.parse("x[0][1] = y[2]; z += 1").body))
    ['x', 'z']
    """
    found = set()
    for node in walk(body):
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if isinstance(node, ast.AugAssign):
            targets = [node.target]
        for target in targets:
            base, depth = target, isinstance(node, ast.AugAssign)
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base, depth = base.value, True
            if isinstance(base, ast.Name) and depth:
                found.add(base.id)
    return frozenset(found)


def appended(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names whose only use in a loop's body is a statement `name.append(value)`,
    which each turn reaches, or leaves the loop.

    >>> sorted(appended(ast.parse("a.append(1); b.append(2); print(b)").body))
    ['a']
    """
    calls = [s.value for s in body if isinstance(s, ast.Expr)]
    found = [name for call in calls if (name := _appended(call)) is not None]
    used = [n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    # Lists of comprehensions are set to what they have.
    again = [name for s in body if (name := _set_again(s)) is not None]
    own = frozenset(name for name in again if used.count(name) == 2)
    return own | frozenset(name for name in found if used.count(name) == 1)


def _appended(call: ast.expr) -> str | None:
    match call:
        case ast.Call(ast.Attribute(ast.Name(name), "append"), [value], []):
            return None if isinstance(value, ast.Starred) else name
    return None


def _set_again(node: ast.stmt) -> str | None:
    match node:
        case ast.Assign(
            [ast.Name(name)],
            ast.Call(ast.Attribute(ast.Name(runtime), "appended"), [_, _]),
        ):
            own = runtime == RUNTIME and name.startswith(LIST)
            return name if own else None
    return None


def used_inside(node: ast.FunctionDef) -> frozenset[str]:
    """The names that functions inside of a function use."""
    inner = [n for s in node.body for n in ast.walk(s) if isinstance(n, SCOPES)]
    found = (n.id for s in inner for n in ast.walk(s) if isinstance(n, ast.Name))
    return frozenset(found)
