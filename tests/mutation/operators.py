"""Mutants of one formula: each says something slightly different from the rule.

>>> list(mutants("a < b and not c", Siblings()))[:3]
['a < b or not c', 'not c', 'a < b']
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

COMPARE: Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
BINARY: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Pow: ast.Mult,
}
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# What swapping the operands leaves as it is.
COMMUTES = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
CALLS = {
    "all": "any",
    "any": "all",
    "min": "max",
    "max": "min",
    "sum": "prod",
    "prod": "sum",
    "take": "drop",
    "drop": "take",
}
SYMMETRIC = ("min", "max", "broadcast_shapes", "broadcastable")


@dataclass(frozen=True)
class Siblings:
    """Replacements: names, attributes and quoted words of a kind."""

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attributes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def mutants(text: str, siblings: Siblings) -> Iterator[str]:
    """The formula with one thing changed, for each thing; each mutant once."""
    tree = ast.parse(text, mode="eval").body
    seen = {ast.unparse(tree)}
    firsts, numbers = set(_firsts(tree)), set(_numbers(tree))
    distances = set(_distances(tree))
    places = _places(tree)
    for node in list(ast.walk(tree)):
        for other in _others(node, siblings):
            if node in firsts and ast.unparse(other) == "-1":
                continue
            if node in numbers and _is_swapped(node, other, ast.Add):
                continue
            if node in distances and _is_swapped(node, other, ast.Sub):
                continue
            mutant = _put(tree, places.get(node), other)
            if mutant not in seen:
                seen.add(mutant)
                yield mutant


def _firsts(tree: ast.expr) -> Iterator[ast.AST]:
    """The indices of first items, which do not become last ones: where any item would
    do, the first is asked for, and a second may not be there."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(_, ast.Constant(0) as index):
                yield index


def _numbers(tree: ast.expr) -> Iterator[ast.AST]:
    """The nodes that are numbers by where they stand: the index of one item, in the
    bounds of a slice, or ordered.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Slice() | ast.Subscript(_, ast.BinOp() | ast.Name()):
                yield from ast.walk(getattr(node, "slice", node))
            case ast.Compare(_, ops) if all(isinstance(op, ORDERS) for op in ops):
                yield from ast.walk(node)


def _distances(tree: ast.expr) -> Iterator[ast.AST]:
    """The differences of which only the magnitude is asked."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name("abs"), [ast.BinOp(_, ast.Sub()) as difference]):
                yield difference
            case ast.Call(ast.Name("abs"), [ast.Call(ast.Name("sum"), [terms, *_])]):
                match terms:
                    case ast.GeneratorExp(ast.BinOp(_, ast.Sub()) as difference):
                        yield difference


def _is_swapped(node: ast.AST, other: ast.expr, op: type[ast.operator]) -> bool:
    """True if one sum or difference is the other with its operands swapped."""
    match node, other:
        case ast.BinOp(a, ast.Add() | ast.Sub() as one, b), ast.BinOp(c, two, d):
            return isinstance(one, op) and type(one) is type(two) and (a, b) == (d, c)
    return False


Place = tuple[dict[str, Any] | list[Any], Any]


def _places(tree: ast.expr) -> dict[ast.AST, Place]:
    """The place of each node within a tree: its holder, and the key there."""
    found: dict[ast.AST, Place] = {}
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                found |= {item: (value, n) for n, item in enumerate(value)}
            elif isinstance(value, ast.AST):
                found[value] = (vars(node), name)
    return found


def _put(tree: ast.expr, place: Place | None, other: ast.expr) -> str:
    """The text of the tree with another node in a place; None is the tree itself."""
    if place is None:
        return ast.unparse(other)
    holder, key = place
    before, holder[key] = holder[key], other
    text = ast.unparse(tree)
    holder[key] = before
    return text


def _others(node: ast.AST, siblings: Siblings) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left, ops, rights):
            yield from _compared(left, ops, rights)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for n in range(len(values)):
                rest = values[:n] + values[n + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.BinOp(left, op, right):
            yield ast.BinOp(left, BINARY[type(op)](), right)
            yield left
            yield right
            joins = isinstance(op, ast.Add) and _is_sequence(left, right)
            if joins or not isinstance(op, COMMUTES):
                yield ast.BinOp(right, op, left)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.IfExp(test, then, other):
            yield ast.IfExp(test, other, then)
            yield then
            yield other
        case ast.Constant(value):
            yield from map(ast.Constant, _constants(value, siblings))
        case ast.Attribute(value, attr):
            if other := after(attr, siblings.attributes):
                yield ast.Attribute(value, other)
        case ast.Name(name, ast.Load()):
            yield from map(ast.Name, siblings.names.get(name, ()))
        case ast.Subscript(value, ast.Slice(low, high)):
            yield from _sliced(value, low, high)
        case ast.Call(ast.Name(name), arguments):
            yield from _called(name, arguments)


def _compared(
    left: ast.expr, ops: list[ast.cmpop], rights: list[ast.expr]
) -> Iterator[ast.expr]:
    for n, op in enumerate(ops):
        for other in COMPARE[type(op)]:
            yield ast.Compare(left, [*ops[:n], other(), *ops[n + 1 :]], rights)
    if len(ops) > 1:  # a chain is a conjunction
        for n, (a, b) in enumerate(pairwise([left, *rights])):
            yield ast.Compare(a, [ops[n]], [b])


def _is_sequence(left: ast.expr, right: ast.expr) -> bool:
    """True if `+` joins two sequences, which are told by how they are written."""
    known = ("take", "drop", "tuple", "place")
    if any(
        isinstance(side, ast.Constant) or _is_number(side) for side in (left, right)
    ):
        return False
    return any(
        isinstance(side, ast.Tuple)
        or (isinstance(side, ast.Call) and ast.unparse(side.func) in known)
        or (isinstance(side, ast.Name) and len(side.id) > 1)
        for side in (left, right)
    )


def _is_number(side: ast.expr) -> bool:
    """True if a term is a number whatever its operands are."""
    match side:
        case ast.Call(ast.Name("at" | "sum" | "abs" | "prod" | "len" | "real")):
            return True
        case ast.BinOp(left, op, right):
            joins = isinstance(op, ast.Add) and not (
                _is_number(left) or _is_number(right)
            )
            return not joins and not isinstance(op, ast.Mult)
    return False


def _constants(value: Any, siblings: Siblings) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
            yield value - 1
        case str():
            if other := after(value, siblings.words):
                yield other


def _sliced(
    value: ast.expr, low: ast.expr | None, high: ast.expr | None
) -> Iterator[ast.expr]:
    one = ast.Constant(1)
    if low is not None:
        yield ast.Subscript(value, ast.Slice(None, high))
        yield ast.Subscript(value, ast.Slice(ast.BinOp(low, ast.Add(), one), high))
    if high is not None:
        yield ast.Subscript(value, ast.Slice(low, None))
        yield ast.Subscript(value, ast.Slice(low, ast.BinOp(high, ast.Sub(), one)))


def _called(name: str, arguments: list[ast.expr]) -> Iterator[ast.expr]:
    if name in CALLS:
        yield ast.Call(ast.Name(CALLS[name]), arguments, [])
    if name == "abs":
        yield arguments[0]
    if name == "range":
        fewer = ast.BinOp(arguments[-1], ast.Sub(), ast.Constant(1))
        yield ast.Call(ast.Name(name), [*arguments[:-1], fewer], [])
        yield ast.Call(ast.Name(name), [ast.Constant(1), arguments[-1]], [])
    if name in SYMMETRIC:
        return
    for n in range(len(arguments) - 1):
        a, b = arguments[n : n + 2]
        swapped = [*arguments[:n], b, a, *arguments[n + 2 :]]
        yield ast.Call(ast.Name(name), swapped, [])


def equations_of(holds: str) -> list[tuple[str, str]]:
    """The pairs that are equal where a formula is true.

    >>> equations_of("rows == columns and (rank == 2 or rank == 3)")
    [('columns', 'rows')]
    """
    tree = ast.parse(holds, mode="eval").body
    parts = [tree]
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        parts = tree.values
    found = []
    for part in parts:
        match part:
            case ast.Compare(left, [ast.Eq()], [right]):
                found.append(sorted([ast.unparse(left), ast.unparse(right)]))
    return [(a, b) for a, b in found]


def alike(text: Any, equal: Iterable[tuple[str, str]]) -> Any:
    """A text in which one of two equal terms stands in the place of the other.

    >>> alike("rows + columns + x.rows", [("columns", "rows")])
    'columns + columns + x.rows'
    """
    if isinstance(text, str):
        for a, b in equal:
            text = re.sub(
                rf"(?<![\w.]){re.escape(b)}(?![\w(\[])", lambda _, a=a: a, text
            )
    return text


def _constant(text: str) -> Callable[[re.Match[str]], str]:
    return lambda _: text


def after(item: str, items: tuple[str, ...]) -> str | None:
    """The next of the sorted items, the first after the last; None if it is alone."""
    ordered = sorted({*items, item})
    found = ordered[(ordered.index(item) + 1) % len(ordered)]
    return None if found == item else found
