"""NaN and infinity stand in an order as NumPy has it, bit for bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba

NAN, INF = np.nan, np.inf
X = np.array([0.5, -3.0, 2.0, 4.5, 1.0, INF, -INF, NAN, 7.0])
EDGES = [
    *([1.0, 2.0, 4.5], [4.5, 2.0, 1.0], [1.0, NAN], [NAN, 1.0], [1.0, 4.0, NAN, NAN]),
    *([NAN, NAN], [2.0, 2.0], [3.0], [], [-INF, 1.0, 1.0, INF], [INF, 2.0, -INF]),
    [NAN, NAN, 7.0, 2.0],
]


def digitize(x: Any, bins: Any) -> Any:
    return np.digitize(x, bins), np.digitize(x, bins, True)


@pytest.mark.parametrize("edges", EDGES, ids=str)
def test_bins_may_have_edges_that_are_nan(edges: list[float]) -> None:
    bins = np.array(edges)
    for mine, right in zip(
        traceir_numba.jit(digitize)(X, bins), digitize(X, bins), strict=True
    ):
        np.testing.assert_array_equal(mine, right)


def test_edges_without_an_order_are_an_error() -> None:
    for edges in ([1.0, 3.0, 2.0], [3.0, 1.0, 2.0]):
        with raises_rule("order.sorted", ValueError, "neither ascend nor descend"):
            traceir_numba.jit(digitize)(X, np.array(edges))


POINTS = np.array([0.0, 1.0, 4.0, 9.0])
VALUES = [
    *([-INF, 0.1, 0.9, INF], [0.1, INF, INF, 0.3], [NAN, 1.0, 2.0, NAN]),
    *([INF, -INF, 1.0, 1.0], [0.1, 0.7, 0.7, 0.2], [1 + 2j, INF + 1j, 3 - 1j, 0.0]),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("values", VALUES, ids=str)
def test_a_line_through_points_is_numpys(values: list[Any]) -> None:
    def line(x: Any, xp: Any, fp: Any) -> Any:
        return np.interp(x, xp, fp), np.interp(x, xp, fp, left=-1.5, right=8)

    at = np.concatenate([X, np.linspace(-1, 10, 45)])
    for points in (POINTS, np.array([-INF, 1.0, 4.0, INF]), np.array([0, 1, 1, 5])):
        given = at, points, np.array(values)
        for mine, right in zip(
            traceir_numba.jit(line)(*given), line(*given), strict=True
        ):
            assert mine.dtype == right.dtype
            np.testing.assert_array_equal(mine, right)


def test_a_line_is_of_64_bits() -> None:
    x = np.linspace(0, 3, 7, dtype=np.float32)

    def line(x: Any) -> Any:
        return np.interp(x, x, x * 2)

    found = traceir_numba.jit(line)(x)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, line(x))


PARTS = (1.0, -2.0, 0.0, NAN, INF)
COMPLEX = np.array([complex(a, b) for a, b in itertools.product(PARTS, PARTS)])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_with_nan_come_last(dtype: Any) -> None:
    def ordered(x: Any) -> Any:
        y = x.copy()
        y.sort()
        places = np.argsort(x, kind="stable")
        return np.sort(x), y, places, np.sort(x.reshape(5, 5), axis=0), x[places]

    x = np.random.default_rng(0).permutation(COMPLEX).astype(dtype)
    for mine, right in zip(traceir_numba.jit(ordered)(x), ordered(x), strict=True):
        assert mine.dtype == right.dtype
        np.testing.assert_array_equal(mine, right)
