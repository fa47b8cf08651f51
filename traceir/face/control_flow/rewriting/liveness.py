"""Liveness of names: those whose values a construct has to hand on.

Serves: staged.carry

The usual backward analysis, on statements whose jumps have been lowered. A name that is
set in a loop and not read after it, nor in the next turn before it is set again, is no
part of what the loop carries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from traceir.face.control_flow.rewriting import names
from traceir.face.control_flow.rewriting.jumps import SCOPES

Names = frozenset[str]
NONE: Names = frozenset()


class Liveness:
    """The names that each construct of a function hands on, by the identity of its
    statement."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        # What functions inside read may be read whenever these are called.
        every = ast.walk(ast.Module(list(body), []))
        inner = [node for node in every if isinstance(node, SCOPES)]
        self._always = _reads(inner)
        self._found: dict[int, Names] = {}
        self._after: dict[int, Names] = {}
        self._block(body, self._always)

    def handed_on(self, node: ast.stmt) -> Names:
        """The names that a construct sets and that are read after it, in the next turn,
        or on another side."""
        return self._found[id(node)] & names.assigned([node])

    def kept(self, node: ast.If) -> Names:
        """The names that a choice sets and that are read after it."""
        return self._after[id(node)] & names.assigned([node])

    def _block(self, body: Sequence[ast.stmt], after: Names) -> Names:
        for node in reversed(body):
            after = self._before(node, after)
        return after

    def _before(self, node: ast.stmt, after: Names) -> Names:
        """The names that are live before a statement, by those after it."""
        if isinstance(node, ast.If):
            sides = self._block(node.body, after) | self._block(node.orelse, after)
            self._found[id(node)], self._after[id(node)] = after | sides, after
            return sides | _reads([node.test])
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, after)
        if isinstance(node, ast.Return):
            return self._always | _reads([node])
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = [node.value] if node.value else []
            kept = after - _set_by(targets) if node.value else after
            return kept | self._always | _reads([*value, *targets])
        inner = [part for part in _blocks(node) if part]
        if inner:
            around = after | _reads([node])
            for part in inner:
                self._block(part, around)
            return around
        return after | _reads([node])

    def _loop(self, node: ast.For | ast.While, after: Names) -> Names:
        stops = frozenset(getattr(node, "stops", ()))
        outside: list[ast.expr]
        if isinstance(node, ast.For):
            outside, test, targets = [node.iter], [node.target], _set_by([node.target])
        else:
            outside, test, targets = [], [node.test], NONE
        head = after | stops | _reads(test)  # of a target: the base of an element
        while True:
            more = head | (self._block(node.body, head) - targets)
            if more == head:
                break
            head = more
        self._found[id(node)] = head
        return head | _reads(outside)


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement that is neither a loop nor a choice nor a scope."""
    if isinstance(node, SCOPES):
        return []
    found = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(node, "handlers", [])]
    return found + [case.body for case in getattr(node, "cases", [])]


def _set_by(targets: Iterable[ast.expr]) -> Names:
    """The names that targets set for certain."""
    found: set[str] = set()
    for target in targets:
        if isinstance(target, ast.Name):
            found.add(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            found |= _set_by(target.elts)
        elif isinstance(target, ast.Starred):
            found |= _set_by([target.value])
    return frozenset(found)


def _reads(nodes: Iterable[ast.AST]) -> Names:
    """The names that some code may read, its inner functions included."""
    every = [part for node in nodes for part in ast.walk(node)]
    named = [n for n in every if isinstance(n, ast.Name)]
    read = {n.id for n in named if isinstance(n.ctx, ast.Load)}
    updated = {
        n.target.id
        for n in every
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    held = {n for part in every if isinstance(part, ast.Nonlocal) for n in part.names}
    return frozenset(read | updated | held)
