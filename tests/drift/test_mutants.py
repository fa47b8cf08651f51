"""Mutants of the formulas: each must be told from the rule by some case.

A sample of `make mutants`: an operator of a formula of a primitive or of a program is
swapped for its neighbour, and the cases that concern it are judged again, exactly. What
is about transforms alone, and what the record has as open, is left to the hunt.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

import pytest
from mutation.edges import Application, probes_of
from mutation.known import relevant
from mutation.record import read_allowed, read_record
from mutation.tables import Enumeration, Mutant, leaves
from soak import sample

from traceir.conform import Case, judge, load_cases
from traceir.conform.systems.implementations import Oracle
from traceir.errors import RuleTableError
from traceir.rules import default, load

CASES = load_cases()
ALLOWED = read_allowed()
OPEN = frozenset(read_record()["surviving"])
TRANSFORMS = {"jvp", "transpose", "batch", "identity", "folds"}
OPERATORS = (ast.cmpop, ast.boolop, ast.operator)
MULTIPLICATION = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr)


@cache
def swaps() -> dict[str, list[Mutant]]:
    """The mutants that swap one operator, by where the formula stands."""
    tables, stems = default().tables, ("primitives", "program")
    texts = dict(leaves({stem: tables[stem] for stem in stems}))
    found: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in Enumeration(tables).mutants(stems):
        text = texts.get(mutant.path)
        if text is None or mutant.kind != "formula" or "params" in mutant.path:
            continue
        if is_of_transforms(mutant.path, texts) or str(mutant) in OPEN:
            continue
        if is_swap(text, mutant.what):
            found[mutant.where].append(mutant)
    return found


Path = tuple[str | int, ...]


def is_of_transforms(path: Path, texts: Mapping[Path, str]) -> bool:
    """True if a formula is one of how a primitive is derived or batched, or is a part
    that only those name.
    """
    if TRANSFORMS.intersection(path):
        return True
    if "let" not in path:
        return False
    word = re.compile(rf"\b{path[-1]}\b")
    row = (p for p in texts if p[:3] == path[:3])
    apart = TRANSFORMS | {"let", "says", "hint"}
    others = (p for p in row if not apart.intersection(p))
    return not any(word.search(texts[p]) for p in others)


def is_swap(text: str, mutant: str) -> bool:
    """True if one formula has another operator than the other, and is alike otherwise.

    Of several neighbours of a comparison, the nearest one is meant.
    """
    pairs = list(zip(operators(text), operators(mutant), strict=False))
    changed = [(a, b) for a, b in pairs if a != b]
    far = {(ast.Lt, ast.GtE), (ast.LtE, ast.Gt), (ast.Gt, ast.LtE), (ast.GtE, ast.Lt)}
    if len(changed) != 1 or changed[0] in far or changed[0][0] in MULTIPLICATION:
        return False
    return skeleton(text) == skeleton(mutant)


@cache
def operators(text: str) -> list[type[ast.AST]]:
    """The operators of a formula."""
    nodes = ast.walk(ast.parse(text, mode="eval"))
    return [type(n) for n in nodes if isinstance(n, OPERATORS)]


@cache
def skeleton(text: str) -> str:
    """A formula with all operators alike."""
    return ast.dump(Alike().visit(ast.parse(text, mode="eval")))


class Alike(ast.NodeTransformer):
    """Puts one operator in the place of each."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The operator, or the node with what is in it changed."""
        if isinstance(node, OPERATORS):
            return ast.Add()
        return super().generic_visit(node)


@cache
def cases_by_row() -> dict[str, list[Case]]:
    """The cases that use a primitive, one of a class, or that cite a clause."""
    return dict(relevant([c for c in CASES if c.session is None]))


@cache
def citing(rule: str) -> list[Case]:
    """All cases, those first that cite a rule, then those with a constant."""

    def order(case: Case) -> tuple[bool, bool]:
        return rule not in case.cites, not has_constant(case)

    return sorted(CASES, key=order)


def has_constant(case: Case) -> bool:
    """True if the program of a case has a constant."""
    texts = (s.text[s.start : s.stop] for s in case.verbs.get("given", ()))
    return any(re.search(r"\{\s*lambda\s+\w", text) for text in texts)


def survives(mutant: Mutant) -> bool:
    """True if every case that can tell a formula from another passes."""
    try:
        rules = load(mutant.tables(default().tables), like=default())
    except RuleTableError:
        return False
    oracle = Oracle(rules)
    of_row = cases_by_row().get(mutant.row, [])
    cases = citing(mutant.row) if mutant.table == "program" else of_row
    return all(judge(oracle, case, rules, exact=True) for case in cases)


@pytest.mark.parametrize("where", sample(swaps(), 6))
def test_a_swapped_operator_is_noticed(where: str) -> None:
    mutants = [m for m in swaps()[where] if m not in ALLOWED]
    assert [m.what for m in mutants if survives(m)] == []


def test_what_a_clause_makes_equal_is_no_mutant() -> None:
    row = {"let": {"rows": "x.shape[0]", "columns": "x.shape[1]"}, "value": "rows"}
    square = {"id": "square", "holds": "rows == columns"}

    def values(row: Mapping[str, object]) -> set[str]:
        tables = {"primitives": {"prim": {"p": {"in": ["x"], **row}}}}
        found = Enumeration(tables).mutants()
        return {m.what for m in found if m.where == "primitives/prim/p/value"}

    assert "columns" in values(row)
    assert "columns" not in values({**row, "clause": [square]})


def test_each_relation_is_asked_of_right_and_of_wrong_results() -> None:
    case = next(case for case in CASES if case.name == "qr/identity")
    here, relations = Application.of(case), range(3)
    found = {(p.relation, here.holds(p, default())) for p in probes_of(case, default())}
    assert found >= {(k, holds) for k in relations for holds in (True, False)}


def test_only_one_operator_makes_a_swap() -> None:
    assert is_swap("a + 1 < b", "a - 1 < b")
    assert is_swap("a < b <= c", "a <= b <= c")
    assert not is_swap("a < b", "a >= b")
    assert not is_swap("a + 1 < b", "a < b")
    assert not is_swap("a + b", "b + a")
