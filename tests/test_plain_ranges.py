"""Ranges that a choice or a loop gives a name, as NumPy's users write them.

Rules: staged.join, staged.loop
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plain.compare import equals
from rule_errors import raises_rule

import traceir_numba

X = np.arange(1.0, 8.0)


def diagonal(x: Any, k: Any) -> Any:
    """Bounds by a sign."""
    if k[0] < 0:  # noqa: SIM108 -- a statement is meant
        places = range(-k[0], len(x))
    else:
        places = range(len(x) - k[0])
    found = 0.0
    for i in places:
        found += x[i] * i
    return found


def one_of_two(x: Any, k: Any) -> Any:
    """Known bounds of which one is chosen."""
    places = range(3) if k[0] > 0 else range(5)
    found = 0.0
    for i in places:
        found += x[i] * i
    return found


def twice(x: Any, k: Any) -> Any:
    """A known range, or another one; each loop begins it anew."""
    places = range(3)
    if k[0] > 0:
        places = range(1, k[0])
    found = 0
    for i in places:
        found += i
    for i in places:
        found += 2 * i
    return found


def backwards(x: Any, k: Any) -> Any:
    """A step that both have."""
    places = range(4, 0, -1) if k[0] > 0 else range(2, -1, -1)
    found = 0.0
    for i in places:
        found = found * 2 + x[i]
    return found


def carried(x: Any, k: Any) -> Any:
    """A range that each turn sets for the next."""
    places, found = range(2), 0.0
    for j in range(k[1]):
        for i in places:
            found += x[i] + j
        places = range(j, len(x))
    return found


@pytest.mark.parametrize("sign", [-2, 2])
@pytest.mark.parametrize("function", [diagonal, one_of_two, twice, backwards, carried])
def test_a_range_is_a_value(function: Any, sign: int) -> None:
    equals(function, (X, np.array([sign, 3])))


@traceir_numba.jit
def either_way(x: Any) -> Any:
    """Ranges whose steps differ."""
    places = range(4, 0, -1) if x[0] > 1 else range(3)
    found = 0.0
    for i in places:
        found += x[i]
    return found


def test_steps_that_differ_have_no_range_in_common() -> None:
    with raises_rule("staged.join"):
        either_way(X)
