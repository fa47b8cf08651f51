"""Mutants of the formulas: each must be told from the rule by some case.

An operator of a `holds`, `value`, `each`, `let` or `out` formula is swapped for its
neighbour and the cases of the primitives concerned are judged again, exactly.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from traceir.conform import Case, judge, load_cases
from traceir.conform.cases import attempt
from traceir.conform.implementations import Oracle
from traceir.errors import RuleTableError
from traceir.ir import ClosedJaxpr, subjaxprs
from traceir.rules import default, load

CASES = load_cases()
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
FORMULAS = ("holds", "value", "steps", "shape", "dtype", "weak_type", "parse")
PARTS = ("let", "each")


@dataclass(frozen=True)
class Spot:
    """A formula in the tables: where it stands, and the row that it belongs to."""

    table: str
    path: tuple[str | int, ...]
    row: str

    def __str__(self) -> str:
        return "/".join(map(str, self.path))

    def within(self, tables: Any) -> tuple[Any, str | int]:
        """The mapping or list that holds the formula, and its key there."""
        at = tables[self.table]
        for step in self.path[:-1]:
            at = at[step]
        return at, self.path[-1]


def spots() -> Iterator[Spot]:
    """Every formula of the primitives and of programs."""
    tables = default().tables
    for section in ("class", "prim"):
        for name, row in tables["primitives"][section].items():
            for path in _formulas(row):
                yield Spot("primitives", (section, name, *path), name)
    for n, clause in enumerate(tables["program"]["clause"]):
        yield Spot("program", ("clause", n, "holds"), clause["id"])


def _formulas(node: Any, inside: bool = False) -> Iterator[tuple[str | int, ...]]:
    pairs = enumerate(node) if isinstance(node, list) else node.items()
    for key, value in pairs:
        if isinstance(value, str):
            if inside or key in FORMULAS:
                yield (key,)
        elif isinstance(value, dict | list) and key != "params":
            for path in _formulas(value, inside or key in PARTS):
                yield (key, *path)


def mutants(text: str) -> Iterator[str]:
    """The formula with one operator swapped, for each operator."""
    for n, node in enumerate(ast.walk(ast.parse(text, mode="eval"))):
        operators = getattr(node, "ops", None) or [getattr(node, "op", None)]
        for k, operator in enumerate(operators):
            if type(operator) in SWAPS:
                yield _swapped(text, n, k)


def _swapped(text: str, n: int, k: int) -> str:
    tree = ast.parse(text, mode="eval")
    node: Any = list(ast.walk(tree))[n]
    if hasattr(node, "ops"):
        node.ops[k] = SWAPS[type(node.ops[k])]()
    else:
        node.op = SWAPS[type(node.op)]()
    return ast.unparse(tree)


@cache
def cases_by_row() -> dict[str, list[Case]]:
    """The cases that use a primitive, one of a class, or that cite a clause."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        if case.session is not None:
            continue
        names = set(case.cites) | {c.split(".")[0] for c in case.cites}
        program = attempt(case)
        if isinstance(program, ClosedJaxpr):
            names |= _primitives(program)
        for name in names:
            found[name].append(case)
    return found


def _primitives(closed: ClosedJaxpr) -> set[str]:
    found = set()
    for eqn in closed.eqns:
        row = default().prims.get(eqn.primitive)
        found |= {eqn.primitive, *(row.classes if row else ())}
        for inner in subjaxprs(eqn):
            found |= _primitives(inner)
    return found


def survivors(spot: Spot) -> list[str]:
    """The mutants of one formula that no case tells from it."""
    holder, key = spot.within(default().tables)
    found = []
    for mutant in mutants(holder[key]):
        tables = copy.deepcopy(dict(default().tables))
        inner, at = spot.within(tables)
        inner[at] = mutant
        if _survives(tables, cases_of(spot)):
            found.append(mutant)
    return found


def cases_of(spot: Spot) -> list[Case]:
    """The cases that can tell a formula from another: all, for one about programs."""
    return CASES if spot.table == "program" else cases_by_row()[spot.row]


def _survives(tables: Any, cases: list[Case]) -> bool:
    try:
        rules = load(tables)
    except RuleTableError:
        return False
    oracle = Oracle(rules)
    return all(judge(oracle, case, rules, exact=True) for case in cases)


@pytest.mark.parametrize("spot", list(spots()), ids=str)
def test_a_swapped_operator_is_noticed(spot: Spot) -> None:
    assert survivors(spot) == []


def test_the_swaps_are_made_one_at_a_time() -> None:
    assert list(mutants("a + 1 < b <= c")) == [
        "a + 1 <= b <= c",
        "a + 1 < b < c",
        "a - 1 < b <= c",
    ]
