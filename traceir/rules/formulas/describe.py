"""Explanations of a failed clause: its two sides, evaluated. Serves: every error"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from traceir.rules.formulas.language import COMPARE, Env, Formula, bind_loop, walk
from traceir.rules.formulas.scope import Scope

Show = Callable[[Any], str]
# An error has a line for what was got.
WIDTH = 100


def show(value: Any) -> str:
    """A value as an error shows it: types and dtypes by their names.

    >>> show((np.dtype("int8"), (2, 3)))
    '(int8, (2, 3))'
    """
    if isinstance(value, np.ndarray):  # it may pass for a sequence, a scalar one too
        return repr(value)
    match value:
        case np.dtype():
            return str(value.name)
        case (tuple() as shape, np.dtype() as dtype):
            return f"{dtype.name}[{','.join(map(str, shape))}]"
        case (str(), *_) if all(isinstance(v, str) for v in value):
            return ", ".join(value)
        case tuple():
            inner = ", ".join(map(show, value))
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        case str():
            return value
    short = getattr(value, "str_short", None)
    return short() if short else repr(value)


def describe(formula: Formula, env: Env, display: Show = show) -> str:
    """The values that a false formula compares, in a line.

    >>> from traceir.rules.formulas.language import parse
    >>> describe(parse("all(a < n for a in axes)"), {"n": 1, "axes": (0, 1)})
    '1 and 1'
    """
    shown = [display(v) for v in _sides(formula.node, env)]
    text = " and ".join(shown)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _sides(node: ast.expr, env: Env) -> Iterator[Any]:
    """The values of the parts that make a formula false."""
    match node:
        case ast.BoolOp(ast.And(), values):
            yield from _sides(next(v for v in values if not walk(v, env)), env)
        case ast.BoolOp(_, values):
            for value in values:
                yield from _sides(value, env)
        case ast.UnaryOp(ast.Not(), operand):
            yield from _sides(operand, env)
        case ast.IfExp(test, then, other):
            yield from _sides(then if walk(test, env) else other, env)
        case ast.Compare(left, ops, rights):
            yield from _failed_pair(left, ops, rights, env)
        case ast.Call(ast.Name("all"), [ast.GeneratorExp(item, [loop])]):
            for value in walk(loop.iter, env):
                inner = Scope(bind_loop(loop.target, value), outer=env)
                if all(walk(t, inner) for t in loop.ifs) and not walk(item, inner):
                    yield from _sides(item, inner)
                    return
        case ast.Call(ast.Name(), arguments):
            for argument in arguments:
                yield from _leaf(argument, env)
        case _:
            yield from _leaf(node, env)


def _failed_pair(
    left: ast.expr, ops: Sequence[ast.cmpop], rights: Sequence[ast.expr], env: Env
) -> Iterator[Any]:
    """The first two neighbours of a chain that do not compare as it says."""
    for op, right in zip(ops, rights, strict=True):
        a, b = walk(left, env), walk(right, env)
        if not COMPARE[type(op)](a, b):
            yield from _leaf(left, env)
            if not isinstance(op, (ast.In, ast.NotIn)):
                yield from _leaf(right, env)
            return
        left = right


def _leaf(node: ast.expr, env: Env) -> Iterator[Any]:
    """The value of a part, unless it stands in the formula as it is."""
    if not isinstance(node, ast.Constant) and ast.unparse(node) != "()":
        yield walk(node, env)
