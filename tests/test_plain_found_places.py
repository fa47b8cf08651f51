"""Functions of NumPy's that find elements, in plain functions. Rules: face.selection

Also: `np.unique`, and arguments that NumPy makes arrays of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba

N = np.array([3, 0, 2, 0, 4, 3, 3, 1])
Y = np.arange(12.0).reshape(3, 4) % 5 - 1
Z = np.array([1.0, np.nan, 2.0, np.nan, 1.0])


def zeroed(x: Any) -> Any:
    """Places that are found are written to."""
    x[np.where(x > 1)] = 0
    return x


def raised(x: Any) -> Any:
    """Doubles what it finds."""
    found = np.nonzero(x > 1)
    x[found] = x[found] * 2
    return x


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: np.where(x > 1),
    lambda x: np.nonzero(x),
    lambda x: x.nonzero(),
    lambda x: np.flatnonzero(x > 2),
    lambda x: np.argwhere(x > 0),
    lambda x: np.extract(x > 1, x),
    lambda x: np.unique(x),
    lambda x: np.unique(x, return_counts=True),
    lambda x: np.unique(x, True, True, True),
    lambda x: np.unique(x, equal_nan=False),
    lambda x: np.unique(x).size,
]
VECTORS: list[Callable[[Any], Any]] = [
    raised,
    zeroed,
    lambda x: x[np.where(x > 1)].sum(),
    lambda x: x[np.where(x > 100)],
    lambda x: x[np.where(x > 1)],
    lambda x: len(np.where(x > 1)[0]),
    lambda x: np.where(x > 1)[0] + 1,
    lambda x: x[np.where(x > 1)[0]] * 2,
]


@pytest.mark.parametrize("x", [N, Y, Z, N[:0]], ids=["ints", "matrix", "nans", "none"])
def test_what_is_found_is_numpys(x: Any) -> None:
    calls = [*FUNCTIONS, *(VECTORS if x.ndim == 1 else [])]
    for k, function in enumerate(calls):
        wanted, found = function(x.copy()), traceir_numba.jit(function)(x.copy())
        several = isinstance(wanted, tuple)
        pairs = zip(found, wanted, strict=True) if several else [(found, wanted)]
        for one, other in pairs:
            np.testing.assert_array_equal(one, other, str(k))
            assert np.asarray(one).dtype == np.asarray(other).dtype, k


def test_a_place_that_is_found_may_be_outside() -> None:
    shifted = traceir_numba.jit(lambda x: x[np.where(x > 1)[0] + 5])
    with raises_rule("index.bounds", IndexError):
        shifted(N)
    assert shifted(np.array([2, 0, 0, 0, 0, 1])).tolist() == [1]


def test_known_arrays_are_numpys() -> None:
    known = traceir_numba.jit(lambda x: x + np.unique(N)[np.where(N > 3)[0][0]])
    assert known(1) == 5


class Series:
    """A series as of pandas: no array, but NumPy makes one of it."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype, copy=copy)


def test_an_argument_is_what_numpy_makes_of_it() -> None:
    jitted = traceir_numba.jit(lambda x, y: {"sum": x + y, "top": np.max(x)})
    found = jitted(Series([1.0, 4.0]), y=Series([[1], [2]]))
    assert found["sum"].tolist() == [[2, 5], [3, 6]] and found["top"] == 4
    assert type(found["sum"]) is np.ndarray
    assert jitted(Series([2.0]), Series([1]))["sum"].tolist() == [3]
    assert traceir_numba.jit(lambda x: np.mean(x))([1.0, 2.0, 3.0]) == 2
    rows = traceir_numba.jit(lambda x: np.sum(x, axis=1))
    assert rows([[1, 2], [3, 4]]).tolist() == [3, 7]


def test_nothing_is_written_to_what_may_be_a_copy() -> None:
    values = Series([1.0, 2.0])
    with raises_rule("update.readonly", ValueError, "x"):
        traceir_numba.jit(zeroed)(values)
    assert values.values.tolist() == [1, 2]
