"""Values of params that the grammar spells in ways of their own.

Serves: text.syntax, text.params
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.oracle.grammar import Tree
from traceir.rules import Rules


@dataclass(frozen=True)
class ReadText:
    """The text that is read, for errors at its places."""

    text: str
    rules: Rules

    def error(self, rule: str, got: str, at: int) -> TraceirError:
        """The error of a rule at a place."""
        line = self.text.count("\n", 0, at) + 1
        got = got or self.text[at:].strip()[:20] or "the end"
        where = f"line {line}, column {at - self.text.rfind(chr(10), 0, at)}"
        return self.rules.error(rule, got=f"`{got}`", where=where)

    def axes(self, tree: Tree, sizes: Sequence[Any], kinds: Sequence[Any]) -> Hashable:
        """The axes of a mesh: of each its name, its size and its type."""
        names, every = strings(tree), [*kinds, ()][0]
        if len(every) != len(names):
            raise self.error("text.syntax", "a type for each axis", tree.at)
        return tuple(zip(names, sizes, every, strict=True))


def is_application(value: Hashable, primitive: str) -> bool:
    """True for a program that applies a primitive to its operands as they are."""
    if not isinstance(value, ClosedJaxpr) or len(value.eqns) != 1:
        return False
    jaxpr, (eqn,) = value.jaxpr, value.eqns
    straight = eqn.inputs == jaxpr.invars and eqn.outputs == jaxpr.outvars
    return eqn.primitive == primitive and straight


def unquoted(text: str) -> str:
    """The text that a param is, quoted or not."""
    quoted = len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]
    return str(ast.literal_eval(text)) if quoted else text


def structured(tree: Tree | None) -> Any:
    """A value of the structure that a tree's text shows: its leaves are zeros."""
    assert tree is not None
    first = tree.parts[0]
    if isinstance(first, Tree) and first.rule != "node":
        return ast.literal_eval(first.text)
    nodes = [structured(part) for part in tree.all("node")]
    match first:
        case "(":
            return tuple(nodes)
        case "[":
            return nodes
        case "{":
            return dict(zip(nodes[::2], nodes[1::2], strict=True))
    return None if first == "None" else 0


def strings(tree: Tree) -> list[str]:
    """The quoted texts of a list."""
    return [str(ast.literal_eval(part.text)) for part in tree.all("string")]


def divisions(entries: Iterable[Any]) -> tuple[tuple[str, ...], ...]:
    """The axes that divide each dimension, by the entries of a spec.

    >>> divisions([None, "x", ("x", "y")])
    ((), ('x',), ('x', 'y'))
    """
    found = [() if e is None else e for e in entries]
    return tuple(e if isinstance(e, tuple) else (e,) for e in found)
