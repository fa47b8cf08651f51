"""The reasons for which mutants survive hold: what they name is there, and is equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutation.record import ROOT, enumeration, read_allowed
from mutation.tables import Mutant
from soak import sample

from traceir.conform import load_cases
from traceir.conform.drawing import reach
from traceir.conform.drawing.aims import plain_primitives
from traceir.conform.drawing.strategies import DrawnApplication, applications
from traceir.dtypes import is_key, kind_of
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.typecheck import infer
from traceir.oracle import scalar_interpreter
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import Rules, default, load
from traceir.rules.rules import PRIMITIVES

REASONS = read_allowed().reasons
# Columns that are read where a primitive is applied.
APPLIED = frozenset({"clause", "let", "each", "value", "out", "params"})
DRAWS = 10
# Elements of operands and results that the oracle is asked about, which is slow.
MOST = 30


def naming() -> Iterator[tuple[str, str]]:
    """The rows whose reason is that certain tests expect them, and these tests."""
    for (where, what), reason in REASONS.items():
        if what == "deleted" and re.search("expects? the rows?", reason):
            yield where.split("/")[2], " ".join(re.findall(r"tests/[\w/.]*\w", reason))


@pytest.mark.parametrize("rule, paths", sorted({*naming()}))
def test_tests_that_a_reason_names_expect_the_row(rule: str, paths: str) -> None:
    found = [ROOT / path for path in paths.split()]
    files = [f for path in found for f in ([path] if path.is_file() else _tests(path))]
    assert any(rule in file.read_text(encoding="utf-8") for file in files)


def test_what_a_reason_names_is_there() -> None:
    cases = {case.name for case in load_cases()}
    for reason in {*REASONS.values()}:
        assert all((ROOT / p).exists() for p in re.findall(r"tests/[\w/.]*\w", reason))
        assert {*re.findall(r"the case ([\w/-]+)", reason)} <= cases, reason


def _tests(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


@cache
def equal() -> dict[str, Mutant]:
    """The mutants of applications that are said to be equal to the tables."""
    tables = default().tables
    plain = set(plain_primitives())
    return {
        str(mutant): mutant
        for mutant in enumeration(tables)
        if (mutant.where, mutant.what) in REASONS
        and mutant.table in PRIMITIVES
        and APPLIED.intersection(mutant.path[3:])
        and not {"batch", "jvp", "transpose", "print"}.intersection(mutant.path)
        and plain.intersection(_primitives(mutant))
    }


def _primitives(mutant: Mutant) -> list[str]:
    """The primitives of a mutant's row, or of its class."""
    if mutant.path[1] == "prim":
        return [mutant.row]
    prims = default().prims.values()
    return [row.name for row in prims if mutant.row in row.classes]


@cache
def drawn(primitive: str) -> Sequence[tuple[DrawnApplication, list[Any]]]:
    """Applications of a primitive, right ones and wrong ones, and operands for each."""
    found = reach.sample(applications(primitive, wide=True), DRAWS)
    return [(it, [_operand(aval) for aval in it.avals]) for it in found]


def _operand(aval: ShapedArray) -> Any:
    if is_key(aval.dtype):
        return None
    # Small ones: of a large one a formula may make as many factors.
    numbers = np.arange(aval.size) % 7 - 2 * (kind_of(aval.dtype) != "u")
    return numbers.astype(aval.dtype).reshape(aval.shape)


def said(it: DrawnApplication, operands: list[Any], rules: Rules) -> Any:
    """The rule that rejects an application by some tables, or its types and results."""
    try:
        types = infer(it.primitive, it.avals, it.params, rules)
    except TraceirError as error:
        return error.rule
    if any(operand is None for operand in operands):
        return types
    if sum(aval.size for aval in (*it.avals, *types)) > MOST:
        return types
    with np.errstate(all="ignore"):
        got = [np.asarray(r) for r in evaluate_eqn(it.primitive, it.params, operands)]
    params = dict(it.params)
    faults = scalar_interpreter.faults(it.primitive, params, operands, got, rules)
    return types, bool(faults)


@pytest.mark.parametrize("name", sample(sorted(equal()), 6))
def test_what_is_said_to_be_equal_is_equal_on_applications(name: str) -> None:
    mutant = equal()[name]
    changed = load(mutant.tables(default().tables), like=default())
    for primitive in _primitives(mutant)[:2]:
        if primitive not in plain_primitives():
            continue
        for it, operands in drawn(primitive):
            assert said(it, operands, changed) == said(it, operands, default())


def test_another_formula_is_told_on_applications() -> None:
    mutants = enumeration(default().tables)
    found = (m for m in mutants if m.where == "primitives/prim/sub/value")
    mutant = next(m for m in found if m.kind == "formula")
    changed = load(mutant.tables(default().tables), like=default())
    pairs = ((said(*it, changed), said(*it, default())) for it in drawn("sub"))
    assert any(one != other for one, other in pairs)
