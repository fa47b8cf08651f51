"""Lists that each turn of a plain loop appends to. Rule: staged.list"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir_numba

Function = Callable[..., Any]


def doubled(x: Any) -> Any:
    """A list, made an array."""
    out = []
    for i in range(len(x)):
        out.append(x[i] * 2)
    return np.array(out)


def several(x: Any) -> Any:
    """Two lists, and what Python does with them."""
    sums, digits, total = [], [], 0.0
    for v in x:
        total += v
        sums.append(total)
        digits.append(int(v * 10))
    summary = len(sums), sum(digits), max(digits), min(sums), digits[3] + 1, sums[-1]
    return np.array(sums), np.asarray(digits), *summary


def begun(x: Any) -> Any:
    """A list that has an element before, and more after."""
    out = [0.5]
    for v in x:
        out.append(v)
    out.append(2.0)
    return np.array(out), out[1], out[-1]


def inner(x: Any) -> Any:
    """A list for each turn of another loop."""
    total = 0.0
    for i in range(30):
        row = []
        for v in x:
            row.append(v * i)
        total += np.array(row).max()
    return total


def aliased(x: Any) -> Any:
    """A list with two names, one of which is read."""
    out = [1.0]
    other = out
    for v in x:
        out.append(v + other[-1])
    return np.array(out)


def read(x: Any) -> Any:
    """A list that the loop reads, by itself and by a function."""
    out = [0.0]
    again: Any = []

    def last() -> Any:
        return again[-1] if again else 0.0

    for v in x:
        out.append(out[-1] + v)
        again.append(v + last())
    return np.array(out), np.array(again)


def held(x: Any) -> Any:
    """A list that is an element of another one, and a list of arrays."""
    out: list[Any] = []
    holder, rows = [out], []
    for v in x:
        out.append(v + len(holder[0]))
        rows.append(x[:2] * v)
    return np.array(out), np.array(rows)


@pytest.mark.parametrize(
    "function", [doubled, several, begun, inner, aliased, read, held]
)
def test_lists_are_pythons(function: Function) -> None:
    x = np.random.default_rng(0).random(12)
    found, wanted = traceir_numba.jit(function)(x), function(x)
    pairs = [(found, wanted)]
    if isinstance(wanted, tuple):
        pairs = list(zip(found, wanted, strict=True))
    for one, other in pairs:
        np.testing.assert_allclose(one, other, 1e-14)
        assert np.asarray(one).dtype == np.asarray(other).dtype


def test_the_length_of_a_list_is_no_size_of_a_program() -> None:
    def equations(n: int) -> int:
        traced = traceir_numba.jit(doubled).trace(np.zeros(n))
        return len(str(traced.jaxpr).split("\n"))

    assert equations(50) == equations(5_000)
