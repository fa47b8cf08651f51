"""Decisions about loops and choices follow the table: another row, another program.

Cites staged.choice, staged.loop, staged.while, staged.known, staged.lengths,
staged.run, staged.join.*
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir import rules
from traceir.ir.jaxpr import ClosedJaxpr, subjaxprs
from traceir.rules import Rules, load

X = np.arange(6.0)


def altered(rule: str, **columns: Any) -> Rules:
    """The rules with another row of this id."""
    tables: Any = copy.deepcopy(dict(rules.default().tables))
    (row,) = (r for r in tables["staged"]["decision"] if r["id"] == rule)
    row.update(columns)
    return load(tables, like=rules.default())


def primitives(program: ClosedJaxpr) -> frozenset[str]:
    """The primitives of a program, and of the programs in it."""
    inner = (primitives(sub) for eqn in program.eqns for sub in subjaxprs(eqn))
    return frozenset(e.primitive for e in program.eqns).union(*inner)


def recorded(function: Callable[..., Any], *args: Any) -> frozenset[str]:
    """The loops and choices of what a function is traced to, anew."""
    again = FunctionType(function.__code__, function.__globals__)
    found = primitives(traceir_numba.jit(again).trace(*args).jaxpr)
    return found & {"cond", "while", "scan"}


def loop(x: Any) -> Any:
    """A loop over six elements."""
    total = 0.0
    for value in x:
        total = total + value
    return total


def searched(x: Any) -> Any:
    """A loop of three steps that a value may end."""
    for k in range(3):
        if x[k] > 1:
            return k
    return -1


def nested(x: Any) -> Any:
    """Short loops in each other."""
    total = 0.0
    for i in range(3):
        for j in range(3):
            for k in range(3):
                total += x[i] * x[j] - x[k]
    return total


def halved(x: Any) -> Any:
    """A loop whose test is a value."""
    value = x[5]
    while value > 1:
        value = value / 2
    return value


def sized(x: Any) -> Any:
    """A loop that computes a shape."""
    size = 1
    for _ in range(x.shape[0]):
        size = size + 2
    return np.roll(np.zeros(size), 1)


def lagged(x: Any) -> Any:
    """A loop over parts of a long array."""
    long, found = np.repeat(x, 4000), np.zeros(6)
    for lag in range(6):
        found[lag] = np.dot(long[: len(long) - lag], long[lag:])
    return found


def listed(x: Any) -> Any:
    """A loop whose body can't be recorded."""
    found = {}
    other = found
    for k in range(x.shape[0]):
        other[k] = x[k]
    return found[0] + found[5]


def numbers(x: Any) -> Any:
    """Numbers of two dtypes."""
    return 1 if x[0] > 0 else 2.5


def tuples(x: Any) -> Any:
    """Tuples."""
    return (x[0], 1) if x[0] > 0 else (x[1], 2.5)


def words(x: Any) -> Any:
    """Equal texts that are two objects."""
    word = "-".join(["a", "b"]) if x[0] > 0 else "+a-b"[1:]
    return x if word == "a-b" else -x


# By the row: its columns as they are to be, a function, and what is recorded of it
# with the row as it is, and with these; or the rule by which it is refused then.
ROWS: list[tuple[str, Mapping[str, Any], Callable[..., Any], str, str]] = [
    ("staged.choice", {"when": "False"}, numbers, "cond", "level.concretize.bool"),
    ("staged.loop", {"when": "False"}, loop, "scan", ""),
    (
        "staged.loop",
        {"when": "traced and steps and (count is None or count > unrolled_steps)"},
        searched,
        "cond while",
        "staged.exit",
    ),
    (
        "staged.loop",
        {"when": "traced and steps and count > unrolled_steps"},
        nested,
        "scan",
        "",
    ),
    ("staged.while", {"when": "False"}, halved, "while", "staged.exit"),
    ("staged.known", {"when": "False"}, sized, "", "slice.length"),
    ("staged.lengths", {"when": "False"}, lagged, "", "scan while"),
    ("staged.run", {"when": "False"}, listed, "", "staged.effect"),
    ("staged.join.values", {"when": "False"}, numbers, "cond", "staged.join"),
    ("staged.join.tuples", {"when": "False"}, tuples, "cond", "staged.join"),
    ("staged.join.others", {"kinds": []}, words, "", "staged.join"),
]


@pytest.mark.parametrize(
    ("rule", "columns", "function", "was", "then"),
    ROWS,
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_another_row_is_another_program(
    rule: str,
    columns: Mapping[str, Any],
    function: Callable[..., Any],
    was: str,
    then: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert recorded(function, X) == set(was.split())
    table = altered(rule, **columns)
    monkeypatch.setattr(rules, "default", lambda: table)
    if "." in then:
        with raises_rule(then):
            recorded(function, X)
    else:
        assert recorded(function, X) == set(then.split())


def test_every_decision_has_a_test() -> None:
    assert {rule for rule, *_ in ROWS} == rules.default().decisions.keys()
