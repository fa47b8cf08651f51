"""Formulas as trees of JSON, and back. Serves: table.formula

Every node is an object whose member `is` tells its form:

    constant   value                      a number, text, true, false or null
    name       name                       of an operand, a param, a part, a dtype, a set
    attribute  of, name                   of.name
    tuple      items                      (a, b)
    element    of, at                     of[at]; in arrays at is a tuple of numbers
    slice      of, from, to               of[from:to], either end may be null
    binary     op, left, right            op is + - * / // % & or |
    negate     of                         -of
    not        of                         not of
    and, or    parts                      the value that decides, the rest is not asked
    compare    first, rest                rest is a list of op, to: a < b <= c; op is
                                          == != < <= > >= in, not in, is, is not
    if         test, then, else           only one of the two is asked
    call       function, arguments        function is a name of the vocabulary
    fold       function, item, names, over, where
                                          function(item for names in over if where);
                                          names is one name, or a list of names that an
                                          element, a tuple, is taken apart into; where
                                          may be null

A number that JSON's readers may round is an object: `{"int": "9007199254740993"}`,
`{"float": "0x1.8p-3"}`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Final

from traceir.conform.protocol.encoding import SAFE
from traceir.rules.formulas.language import BINARY, COMPARE, Formula, parse

Json = Any
BINARY_SIGNS: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}
COMPARE_SIGNS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
assert BINARY_SIGNS.keys() == BINARY.keys() and COMPARE_SIGNS.keys() == COMPARE.keys()


def number(value: int | float) -> Json:
    """A number, exactly; booleans are JSON's own.

    >>> number(3), number(2**60), number(0.1)
    (3, {'int': '1152921504606846976'}, {'float': '0x1.999999999999ap-4'})
    """
    if isinstance(value, float):
        return {"float": value.hex()}
    return value if abs(value) < SAFE else {"int": str(value)}


def read_number(data: Json) -> Any:
    """The number of `number`.

    >>> read_number(number(-0.0)), read_number(True), read_number({"int": "7"})
    (-0.0, True, 7)
    """
    match data:
        case {"float": str(text)}:
            return float.fromhex(text)
        case {"int": str(text)}:
            return int(text)
    return data


def tree(node: ast.expr) -> dict[str, Json]:
    """The tree of a formula's node.

    >>> tree(parse("x.shape").node)
    {'is': 'attribute', 'of': {'is': 'name', 'name': 'x'}, 'name': 'shape'}
    """
    match node:
        case ast.Constant(bool() | str() | None as value):
            return {"is": "constant", "value": value}
        case ast.Constant(int() | float() as value):
            return {"is": "constant", "value": number(value)}
        case ast.Name(name):
            return {"is": "name", "name": name}
        case ast.Attribute(value, attr):
            return {"is": "attribute", "of": tree(value), "name": attr}
        case ast.Tuple(items):
            return {"is": "tuple", "items": list(map(tree, items))}
        case ast.Subscript(value, ast.Slice(low, high)):
            ends = {"from": _maybe(low), "to": _maybe(high)}
            return {"is": "slice", "of": tree(value), **ends}
        case ast.Subscript(value, index):
            return {"is": "element", "of": tree(value), "at": tree(index)}
        case ast.BinOp(left, op, right):
            sides = {"left": tree(left), "right": tree(right)}
            return {"is": "binary", "op": BINARY_SIGNS[type(op)], **sides}
        case ast.UnaryOp(op, operand):
            form = "not" if isinstance(op, ast.Not) else "negate"
            return {"is": form, "of": tree(operand)}
        case ast.BoolOp(op, values):
            form = "and" if isinstance(op, ast.And) else "or"
            return {"is": form, "parts": list(map(tree, values))}
        case ast.Compare(left, ops, rights):
            rest = [
                {"op": COMPARE_SIGNS[type(op)], "to": tree(right)}
                for op, right in zip(ops, rights, strict=True)
            ]
            return {"is": "compare", "first": tree(left), "rest": rest}
        case ast.IfExp(test, then, other):
            parts = {"test": tree(test), "then": tree(then), "else": tree(other)}
            return {"is": "if", **parts}
        case ast.Call(ast.Name(function), [ast.GeneratorExp(item, [loop])]):
            return {"is": "fold", "function": function, **_fold(item, loop)}
        case ast.Call(ast.Name(function), arguments):
            found = list(map(tree, arguments))
            return {"is": "call", "function": function, "arguments": found}
    raise AssertionError(f"unchecked node {node!r}")


def _maybe(node: ast.expr | None) -> Json:
    return None if node is None else tree(node)


def _fold(item: ast.expr, loop: ast.comprehension) -> dict[str, Json]:
    names: Json
    match loop.target:
        case ast.Name(names):
            pass
        case ast.Tuple(items):
            names = [i.id for i in items if isinstance(i, ast.Name)]
    where = _maybe(next(iter(loop.ifs), None))
    return {"item": tree(item), "names": names, "over": tree(loop.iter), "where": where}


# Back ---------------------------------------------------------------------------------

_OPERATORS: Final = {sign: made for made, sign in BINARY_SIGNS.items()}
_COMPARISONS: Final = {sign: made for made, sign in COMPARE_SIGNS.items()}


def formula(data: Json) -> Formula:
    """The formula of a tree, its text written anew; RuleTableError if it is none.

    >>> print(formula(tree(parse("tuple(a for a, b in t if a != b)[1:]").node)))
    tuple((a for a, b in t if a != b))[1:]
    """
    return parse(ast.unparse(ast.fix_missing_locations(_node(data))))


def _node(data: Json) -> ast.expr:
    match data:
        case {"is": "constant", "value": value}:
            return ast.Constant(read_number(value))
        case {"is": "name", "name": name}:
            return ast.Name(name)
        case {"is": "attribute", "of": of, "name": name}:
            return ast.Attribute(_node(of), name)
        case {"is": "tuple", "items": items}:
            return ast.Tuple(list(map(_node, items)))
        case {"is": "slice", "of": of, "from": low, "to": high}:
            ends = (None if end is None else _node(end) for end in (low, high))
            return ast.Subscript(_node(of), ast.Slice(*ends))
        case {"is": "element", "of": of, "at": at}:
            return ast.Subscript(_node(of), _node(at))
        case {"is": "binary", "op": op, "left": left, "right": right}:
            return ast.BinOp(_node(left), _OPERATORS[op](), _node(right))
        case {"is": "negate" | "not" as form, "of": of}:
            op = ast.Not() if form == "not" else ast.USub()
            return ast.UnaryOp(op, _node(of))
        case {"is": "and" | "or" as form, "parts": parts}:
            joined = ast.And() if form == "and" else ast.Or()
            return ast.BoolOp(joined, list(map(_node, parts)))
        case {"is": "compare", "first": first, "rest": rest}:
            ops: list[ast.cmpop] = [_COMPARISONS[part["op"]]() for part in rest]
            return ast.Compare(_node(first), ops, [_node(part["to"]) for part in rest])
        case {"is": "if", "test": test, "then": then, "else": other}:
            return ast.IfExp(*map(_node, (test, then, other)))
        case {"is": "call", "function": function, "arguments": arguments}:
            return ast.Call(ast.Name(function), list(map(_node, arguments)), [])
        case {"is": "fold", "function": function, "item": item}:
            loop = ast.GeneratorExp(_node(item), [_loop(data)])
            return ast.Call(ast.Name(function), [loop], [])
    raise ValueError(f"no node of a formula: {data!r}")


def _loop(data: Mapping[str, Json]) -> ast.comprehension:
    names, where = data["names"], data["where"]
    target: ast.expr = ast.Name(names) if isinstance(names, str) else _names(names)
    tests = [] if where is None else [_node(where)]
    return ast.comprehension(target, _node(data["over"]), tests, 0)


def _names(names: list[str]) -> ast.expr:
    return ast.Tuple([ast.Name(name) for name in names])
