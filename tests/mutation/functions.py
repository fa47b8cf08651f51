"""Mutants of functions that rows name and no table holds: sets, real functions.

A set is a function of `oracle.accuracy`; its mutants are those of the formulas in it. A
real function is changed as a whole: it is another one, or wrong somewhere on a grid. A
change that shows at no point of the grid is none.

>>> [mutant.what for mutant in mutants() if mutant.where == "reals/cos"]
['a millionth more', '0 in place of NaN', 'cosh']
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from types import FunctionType
from typing import Any

from mutation.operators import Siblings
from mutation.operators import mutants as changed
from mutation.tables import Mutant

from traceir.exact import functions
from traceir.exact.reals import NAN, Real, number
from traceir.oracle import accuracy

TABLES = frozenset({"sets", "reals"})
KIND = "function"
# Points that are alike in every dtype.
POINTS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -2.5, float("inf"), float("-inf"))
GRID = (*map(Real.of, POINTS), NAN)
NEARLY = Fraction(2**20 + 1, 2**20)


def mutants() -> Iterator[Mutant]:
    """The mutants of sets and of real functions, in a fixed order."""
    for name, function in sorted(_own(accuracy).items()):
        for part, text, other in _of_code(function):
            path = ("sets", name, part, text)
            yield Mutant(f"sets/{name}/{part}", other, name, path, other, KIND)
    for name in sorted(functions.FUNCTIONS):
        for what in _of_values(name):
            path = ("reals", name, what)
            yield Mutant(f"reals/{name}", what, name, path, what, KIND)


def _own(module: Any) -> Mapping[str, FunctionType]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }


def apply(mutant: Mutant) -> None:
    """Make the change in this process."""
    if mutant.path[0] == "reals":
        name, what = mutant.path[1:]
        functions.FUNCTIONS[str(name)] = _wrapped(str(name), str(what))
        return
    function = _own(accuracy)[str(mutant.path[1])]
    tree = _tree(function)
    node, key = _formulas(tree)[int(mutant.path[2])]
    setattr(node, key, ast.parse(mutant.value, mode="eval").body)
    scope = dict(vars(accuracy))
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), scope)
    function.__code__ = scope[function.__name__].__code__


@cache
def digest_text(mutant: Mutant) -> str:
    """The text that the mutants of a function rest on."""
    if mutant.path[0] == "reals":
        return ast.dump(ast.parse(inspect.getsource(functions)))
    return ast.dump(_tree(_own(accuracy)[str(mutant.path[1])]))


# Functions as text --------------------------------------------------------------------


def _tree(function: FunctionType) -> ast.Module:
    tree = ast.parse(inspect.getsource(function))
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list, definition.returns = [], None
    if ast.get_docstring(definition) is not None:
        definition.body = definition.body[1:]
    return tree


def _formulas(tree: ast.Module) -> list[tuple[Any, str]]:
    """The statements of a function that have a formula, and where they have it."""
    keys = {ast.Return: "value", ast.Assign: "value", ast.If: "test"}
    return [
        (node, keys[type(node)])
        for node in ast.walk(tree)
        if type(node) in keys and getattr(node, keys[type(node)]) is not None
    ]


def _of_code(function: FunctionType) -> Iterator[tuple[int, str, str]]:
    names = Siblings({"re": ("im",), "im": ("re",), "got": (), "want": ()})
    for n, (node, key) in enumerate(_formulas(_tree(function))):
        text = ast.unparse(getattr(node, key))
        for other in changed(text, names):
            yield n, text, other


# Functions as values ------------------------------------------------------------------


def _more(value: Any) -> Any:
    return number(value.value * NEARLY) if value.finite and not value.zero else value


def _other_zero(value: Any) -> Any:
    return -value if value.zero else value


def _no_nan(value: Any) -> Any:
    return number(Fraction(0)) if value.nan else value


def _no_infinity(value: Any) -> Any:
    return number(Fraction(0)) if value.special and not value.nan else value


CHANGES: Mapping[str, Callable[[Any], Any]] = {
    "a millionth more": _more,
    "the other zero": _other_zero,
    "0 in place of NaN": _no_nan,
    "0 in place of infinity": _no_infinity,
}


def _wrapped(name: str, what: str) -> Callable[..., Any]:
    """A real function with one change."""
    was = functions.FUNCTIONS[name]
    if what not in CHANGES:
        return functions.FUNCTIONS[what]

    def wrapped(*xs: Any) -> Any:
        value = was(*xs)
        return CHANGES[what](value) if type(value) is Real else value

    return wrapped


def _of_values(name: str) -> Iterator[str]:
    """The changes of a real function that show on the grid, and its neighbour."""
    known = _values(name)
    if known is None:
        return
    for what, change in CHANGES.items():
        if _differ(known, tuple(change(v) if type(v) is Real else v for v in known)):
            yield what
    names = sorted(functions.FUNCTIONS)
    for other in (*names[names.index(name) + 1 :], *names[: names.index(name)]):
        if _differ(known, _values(other)):
            yield other
            return


@cache
def _values(name: str) -> tuple[Any, ...] | None:
    """The values on the grid, of one operand or two; None if it takes others."""
    function = functions.FUNCTIONS[name]
    for points in ([(x,) for x in GRID], [(x, y) for x in GRID for y in GRID]):
        try:
            return tuple(_value(function, *xs) for xs in points)
        except TypeError:
            continue
    return None


def _value(function: Callable[..., Any], *xs: Real) -> Any:
    try:
        return function(*xs)
    except (ArithmeticError, ValueError, AttributeError) as error:
        return type(error).__name__


def _differ(known: tuple[Any, ...], others: tuple[Any, ...] | None) -> bool:
    """True if values at the same points are not all the same."""
    if others is None or len(others) != len(known):
        return False
    return list(map(repr, known)) != list(map(repr, others))
