"""Rows that a mask takes, and orders of arrays whose extents values decide.

Rules: face.selection, slice.length
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir_numba

RANDOM = np.random.default_rng(8)
POINTS = RANDOM.random((9, 3))
CENTRE = RANDOM.random(3)
TAKEN = np.array([1, 0, 1, 1, 0, 0, 1, 1, 0], bool)
NONE = np.zeros(9, bool)


def nearest(p: Any, c: Any, m: Any) -> Any:
    """The row that is the nearest to a centre, and its distance."""
    apart = np.sum((p[m] - c) ** 2, axis=1)
    first = np.argmin(apart)
    return p[np.where(m)[0][first]], apart.min(), p[m][np.argsort(apart)[:2]]


def ordered_in_place(p: Any, c: Any, m: Any) -> Any:
    """A part of an array, which is put in order where it is."""
    found = np.zeros(12)
    part = found[: np.sum(m)]
    part[:] = p[m, 0]
    part.sort()
    return found


def medians(p: Any, c: Any, m: Any) -> Any:
    """Medians of windows that grow at first."""
    found = np.zeros(len(p))
    for i in range(len(p)):
        window = p[max(0, i - 3) : i + 1, 0].copy()
        window.sort()
        found[i] = window[len(window) // 2]
    return found


Function = Callable[..., Any]
CASES: dict[str, Function] = {
    "sum": lambda p, c, m: (p[m] - c).sum(axis=1),
    "mean": lambda p, c, m: np.mean(p[m] * c, axis=-1),
    "extremes": lambda p, c, m: (p[m].max(axis=1), np.min(p[m], axis=1)),
    "deviation": lambda p, c, m: p[m].std(axis=1, ddof=1),
    "kept": lambda p, c, m: p[m] / p[m].sum(axis=1, keepdims=True),
    "places and columns": lambda p, c, m: np.sum(p[m], axis=(0, 1)),
    "columns": lambda p, c, m: p[m].mean(axis=(0,)),
    "several axes": lambda p, c, m: np.stack((p, p * 2), 1)[m].sum(axis=(1, -1)),
    "any": lambda p, c, m: (p[m] > 0.9).any(axis=1),
    "nearest": nearest,
    "norm": lambda p, c, m: np.linalg.norm(p[m] - c, axis=1),
    "norm of columns": lambda p, c, m: np.linalg.norm(p[m], axis=0),
    "norm by sums": lambda p, c, m: np.linalg.norm(p[m], 1, 1),
    "norm of a part": lambda p, c, m: np.linalg.norm(p[: np.sum(m)], np.inf, axis=0),
    "order": lambda p, c, m: p[: np.sum(m), 0].argsort(),
    "places": lambda p, c, m: (p[: np.sum(m), 0] > 0.5).nonzero()[0],
    "in place": ordered_in_place,
    "medians": medians,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mask", [TAKEN, ~TAKEN, ~NONE])
def test_rows_as_in_numpy(name: str, mask: Any) -> None:
    want = CASES[name](POINTS.copy(), CENTRE, mask)
    got = traceir_numba.jit(CASES[name])(POINTS.copy(), CENTRE, mask)
    several = want if isinstance(want, tuple) else (want,)
    found = got if isinstance(want, tuple) else (got,)
    for one, other in zip(found, several, strict=True):
        assert np.shape(one) == np.shape(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_no_rows() -> None:
    for name in ("sum", "norm", "any", "kept"):
        want = CASES[name](POINTS, CENTRE, NONE)
        got = traceir_numba.jit(CASES[name])(POINTS, CENTRE, NONE)
        assert got.shape == want.shape


def test_bound_that_a_loop_makes_beside_nan() -> None:
    def records(x: Any) -> Any:
        best, count = np.nan, 0
        for v in x:
            if not v <= best:
                best, count = v, count + 1
        return x[:count], count

    x = RANDOM.random(20)
    for one, other in zip(traceir_numba.jit(records)(x), records(x), strict=True):
        np.testing.assert_array_equal(one, other)
