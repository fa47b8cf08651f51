"""The syntax that stands for constructs: calls of `runtime`, and statements.

Serves: staged.construct
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
RUNTIME = "_traceir"
LOCALS = "_traceir_locals"
SUPER = "_traceir_super"
# A parameter that no argument is for: that of expressions evaluated later, whose code
# has the name of the function around it.
LATER = "_traceir_later"
# How names of lists that comprehensions make begin.
LIST = "_traceir_list_"
# An element that is appended to a list.
EACH = "_traceir_each"


class ConstructSyntax:
    """The statements around the sides of a choice or the turns of a loop."""

    def __init__(self, kind: str, own: str, place: ast.AST, state: list[str]) -> None:
        self.kind = kind
        self.own = own
        self.place = place
        self.state = state

    def attribute(self, name: str) -> ast.expr:
        """An attribute of the construct's object."""
        return ast.Attribute(ast.Name(self.own, ast.Load()), name, ast.Load())

    def restore(self) -> list[ast.stmt]:
        """Statements that give the names of the state their values."""
        if not self.state:
            return []
        targets = ast.Tuple([ast.Name(n, ast.Store()) for n in self.state], ast.Store())
        assign = ast.Assign([targets], self.attribute("values"))
        return [ast.If(self.attribute("moved"), [assign], [])]

    def statements(self, parts: list[ast.expr], body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that stand for the construct."""
        own = ast.Name(self.own, ast.Store())
        now = ast.Call(ast.Name(LOCALS, ast.Load()), [], [])
        done = ast.Expr(ast.Call(self.attribute("done"), [now], []))
        again = ast.Call(self.attribute("next"), [now], [])
        if self.kind == "While":
            turn = body[-1]
            assert isinstance(turn, ast.If)
            turn.body.append(done)
        else:
            body = [*body, done]
        within = ast.With([ast.withitem(ast.Name(self.own, ast.Load()))], body)
        made = [
            ast.Assign([own], call(self.kind, strings(self.state), *parts)),
            ast.While(again, [within], []),
            *self.restore(),
        ]
        return [at(self.place, statement) for statement in made]


def strings(values: Sequence[str]) -> ast.expr:
    """A tuple of texts."""
    return ast.Tuple([ast.Constant(v) for v in values], ast.Load())


def call(name: str, *args: ast.expr) -> ast.expr:
    """A call of a function of `runtime`."""
    function = ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())
    return ast.Call(function, list(args), [])


def name_of(name: str) -> ast.expr:
    """A name that is read."""
    return ast.Name(name, ast.Load())


def later(body: ast.expr, *parameters: str) -> ast.expr:
    """An expression that is evaluated when it is called for."""
    given = [ast.arg(p) for p in parameters]
    args = ast.arguments([], given, ast.arg(LATER), [], [], None, [])
    return at(body, ast.Lambda(args, body))


def at(node: ast.AST, made: Node) -> Node:
    """A node with the place of another one in the file."""
    return ast.fix_missing_locations(ast.copy_location(made, node))
