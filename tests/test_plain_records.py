"""Structured arrays as arguments of plain functions.

Rules: face.records
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba

BODY = np.dtype([("x", float), ("v", np.float32, 3), ("id", np.int32), ("name", "U5")])
NEST = np.dtype([("at", [("x", float), ("y", float)]), ("on", bool)], align=True)


def bodies(count: int = 6) -> np.ndarray:
    """Bodies with a name each."""
    rng = np.random.default_rng(0)
    made = np.zeros(count, BODY)
    made["x"], made["id"] = rng.normal(size=count), np.arange(count)[::-1]
    made["v"], made["name"] = rng.normal(size=(count, 3)), "body"
    return made


def numbers() -> np.ndarray:
    """Bodies without names."""
    return bodies()[["x", "v", "id"]].copy()


def records() -> np.recarray:
    """The same as records."""
    return bodies().view(np.recarray)


def grid() -> np.ndarray:
    """A grid of structures with structures inside."""
    made = np.zeros((3, 4), NEST)
    made["at"]["x"], made["on"][1] = np.arange(12).reshape(3, 4), True
    return made


def fields(a: Any) -> Any:
    """Whole fields, read and written."""
    a["x"] += a["v"].sum(axis=1)
    a["v"][1:, 0] = 5
    a["id"] = a["id"][::-1].copy()
    return a["x"].max(), a["id"] * 2, len(a), a.size, a.shape, len(a.dtype.names)


def elements(a: Any) -> Any:
    """Elements in a loop, by both orders of indexing."""
    total = 0.0
    for i in range(len(a)):
        a[i]["x"] += a["v"][i, 1] + a[i]["v"][2]
        a["id"][i] = i
        total += a[i]["x"] * a["id"][i - 1]
        if a["x"][i] > 0:
            a[i]["v"][0] = total
    return total


def attributes(a: Any) -> Any:
    """Fields of records, by attributes."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a.x[i] * a[i].id
        a.x[i] = total
        a[i].id = 7
    a.v = 2.0
    return total, a.x


def steps(a: Any) -> Any:
    """Elements that a loop is over, which are views."""
    total = 0.0
    for one in a:
        one["x"] *= 2
        total += one["x"] + one["id"]
    for k, one in enumerate(a[1:4]):
        one["id"] = k
    return total


def moved(a: Any) -> Any:
    """Elements that are copied, swapped as Python does it, and written as tuples."""
    kept = a[0].copy()
    for i in range(len(a) - 1):
        if a[i]["x"] > a[i + 1]["x"]:
            a[i], a[i + 1] = a[i + 1], a[i]
    some = a[["x", "id"]]
    some[2] = (1.5, 3)
    a[-1]["x"] = kept["x"]
    return a[1:]["x"].sum()


def nested(a: Any) -> Any:
    """Structures in structures, at places of two dimensions."""
    total = 0.0
    for i in range(3):
        for j in range(4):
            a[i, j]["at"]["y"] += a["at"]["x"][i, j] * 2
            if a["on"][i, j]:
                total += a["at"][i, j]["y"]
    a["at"]["x"][0] = 3
    return total


def given_back(a: Any) -> Any:
    """An array that is a result."""
    a["x"] *= 2
    return a[["x", "id"]]


CASES = [
    (fields, bodies),
    (elements, bodies),
    (attributes, records),
    (steps, bodies),
    (moved, numbers),
    (nested, grid),
    (given_back, bodies),
]


@pytest.mark.parametrize(("function", "make"), CASES)
def test_fields_are_read_and_written(function: Any, make: Any) -> None:
    jitted = traceir_numba.jit(function)
    mine, own = make(), make()
    for _ in range(2):
        found, wanted = jitted(mine), function(own)
        if not isinstance(wanted, tuple):
            found, wanted = (found,), (wanted,)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(mine, own)
    assert jitted._traced == 1


def test_arrays_in_containers_and_of_other_lengths() -> None:
    def total(parts: Any) -> Any:
        return sum(part["a"]["x"].sum() for part in parts)

    jitted = traceir_numba.jit(total)
    for count in (2, 5):
        given = [{"a": bodies(count)}, {"a": bodies(3)[::-1]}]
        np.testing.assert_allclose(jitted(given), total(given))


def refused(a: Any) -> Any:
    """Text."""
    return a["name"][0]


def compared(a: Any) -> Any:
    """A method that only NumPy has."""
    return a.tobytes()


def swapped(a: Any) -> Any:
    """Elements with text."""
    a[0] = a[1]


def missing(a: Any) -> Any:
    """A field that is not there."""
    return a["y"]


OPERATORS: list[Any] = [
    *(lambda a: a == a, lambda a: a[0] != a[1], lambda a: a + 1, lambda a: 2 * a),
    *(lambda a: -a, lambda a: a < a, lambda a: a @ a, lambda a: bool(a[0])),
]


def test_what_is_no_number_is_refused_at_the_line() -> None:
    for function in (refused, compared, swapped):
        with raises_rule("face.records", TypeError, "test_plain_records.py"):
            traceir_numba.jit(function)(bodies())
    for function in OPERATORS:
        with raises_rule("face.records", TypeError, "test_plain_records.py"):
            traceir_numba.jit(function)(np.zeros(2, [("x", float), ("y", float)]))
    with raises_rule("face.records", TypeError):
        traceir_numba.jit(lambda a: a)(bodies())
    with pytest.raises(ValueError, match="no field of name y"):
        traceir_numba.jit(missing)(bodies())
