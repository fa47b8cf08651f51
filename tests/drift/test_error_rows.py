"""Rows about requests: each is raised somewhere, and each is expected by a test.

Cites every row of errors.toml and the clauses of cache.toml.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from fewer_rows import without

from traceir.errors import RuleTableError
from traceir.rules import default

ROOT = Path(__file__).parents[2]
RAISERS = {"error", "problem", "refusal"}
TESTED = re.compile(r'"([a-z_0-9]+(?:\.[a-z0-9_-]+)+)"')
REJECTED = re.compile(r"(?:reject|raises)\s+([a-z_0-9]+(?:\.[a-z0-9_-]+)+)")


@cache
def texts(*folders: str) -> tuple[str, ...]:
    """The Python files below some folders."""
    paths = (p for folder in folders for p in (ROOT / folder).rglob("*.py"))
    return tuple(path.read_text() for path in paths)


def constants(text: str) -> Iterator[str]:
    """The string arguments of calls that raise, in one file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _name(node.func) in RAISERS:
            for argument in node.args:
                if isinstance(argument, ast.Constant):
                    yield str(argument.value)


@cache
def raised_ids() -> frozenset[str]:
    """Every id that the packages raise by name."""
    found = (i for t in texts("traceir", "traceir_numba") for i in constants(t))
    return frozenset(i for i in found if re.fullmatch(r"[a-z_0-9.-]+", i) and "." in i)


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def rows() -> list[str]:
    """The ids of rows that code raises by name."""
    table = default()
    named = {row["id"] for row in table.tables["cache"]["clause"]}
    return sorted({*table.errors, *named, *table.levels.asks})


def test_every_id_that_code_raises_is_a_row() -> None:
    tables = {i.split(".")[0] for i in default().clauses}
    raised = {i for i in raised_ids() if i.split(".")[0] in tables}
    assert raised
    assert not raised - set(default().clauses)


@pytest.mark.parametrize("rule", sorted(default().errors))
def test_every_row_is_raised_and_expected(rule: str) -> None:
    sources = texts("traceir", "traceir_numba")
    assert any(f'"{rule}"' in text for text in sources), "no code raises it"
    cases = [p.read_text() for p in (ROOT / "spec/cases").glob("*.tir")]
    expected = {i for text in texts("tests") for i in TESTED.findall(text)}
    expected |= {i for text in cases for i in REJECTED.findall(text)}
    assert rule in expected, "no test expects it"


@pytest.mark.parametrize("rule", rows())
def test_a_deleted_row_cannot_be_raised(rule: str) -> None:
    with pytest.raises(RuleTableError):
        raise without(rule).error(rule)
