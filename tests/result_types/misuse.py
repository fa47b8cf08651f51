"""Calls with something wrong in them: each argument of a call is replaced by others.

A name such as `0text` says which argument, and by what.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from result_types.calls import DTYPE, FIXED, KEY, SHAPES, Call, calls

NO_ARRAYS = {
    "text": "'text'",
    "none": "None",
    "list": "[1.0, 2.0]",
    "object": "object()",
}
SHAPED = {
    "long": "jnp.ones_like({0}, shape=(5,))",
    "rank": "jnp.ones_like({0}, shape=(2, 3, 4, 5))",
    "scalar": "jnp.ones_like({0}, shape=())",
    "empty": "jnp.ones_like({0}, shape=(0,))",
}
NUMBERS = {"far": "9", "below": "-9", "text": "'text'", "part": "1.5", "none": "None"}
NUMBERS |= {"twice": "(0, 0)", "traced": "jnp.int32(1)"}
TEXTS = {"text": "'nonsense'", "number": "3", "none": "None"}
DTYPES = {"text": "'nonsense'", "number": "3", "object": "object"}


# Of a function with many calls, so many are made wrong.
FEW = 2


def mistaken() -> Iterator[tuple[Call, dict[str, Call]]]:
    """Calls, and what is made of them with something wrong in it."""
    met: Counter[str] = Counter()
    for call in calls():
        met[call.function] += 1
        few = met[call.function] <= FEW or "." not in call.function
        if few and not call.eager and (wrong := misused(call)):
            yield call, wrong


def misused(call: Call) -> dict[str, Call]:
    """The wrong calls, by their names."""
    tree = ast.parse(call.text, mode="eval").body
    found: dict[str, Call] = {}
    if isinstance(tree, ast.Subscript):
        for name, text in {**NUMBERS, **NO_ARRAYS}.items():
            whole = ast.unparse(ast.Subscript(tree.value, _parsed(text), ast.Load()))
            found[f"place-{name}"] = Call(whole)
    if not isinstance(tree, ast.Call):
        return found
    for k, argument in enumerate(tree.args):
        for name, text in _instead(argument):
            args = [*tree.args[:k], _parsed(text), *tree.args[k + 1 :]]
            found[f"{k}{name}"] = _call(tree.func, args, tree.keywords)
    for k, keyword in enumerate(tree.keywords):
        for name, text in _instead(keyword.value):
            new = ast.keyword(keyword.arg, _parsed(text))
            keywords = [*tree.keywords[:k], new, *tree.keywords[k + 1 :]]
            found[f"{keyword.arg}-{name}"] = _call(tree.func, tree.args, keywords)
    if tree.args:
        found["missing"] = _call(tree.func, tree.args[:-1], tree.keywords)
    unknown = ast.keyword("nonsense", _parsed("1"))
    found["unknown"] = _call(tree.func, tree.args, [*tree.keywords, unknown])
    return found


def _instead(argument: ast.expr) -> Iterator[tuple[str, str]]:
    """The replacements of an argument."""
    match argument:
        case ast.Name(id) if id in {*SHAPES, *FIXED}:
            yield from NO_ARRAYS.items()
            yield from ((name, text.format(id)) for name, text in SHAPED.items())
        case ast.Name(id) if id == KEY:
            yield from NO_ARRAYS.items()
            yield "number", "3"
        case ast.Name(id) if id == DTYPE:
            yield from DTYPES.items()
        case ast.Constant(str()):
            yield from TEXTS.items()
        case ast.Constant() | ast.UnaryOp():
            yield from NUMBERS.items()
        case ast.Tuple() | ast.List():
            yield from {**NUMBERS, "empty": "()"}.items()


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _call(
    function: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]
) -> Call:
    return Call(ast.unparse(ast.Call(function, args, keywords)))
