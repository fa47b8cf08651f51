"""Plain functions that make arrays with as many elements as values decide, and NumPy's
functions whose results have. Cites: slice.length, slice.lengths, slice.negative,
slice.step, staged.list"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir_numba
from traceir.base import cost_model

Case = tuple[Callable[..., Any], tuple[Any, ...]]
RANDOM = np.random.default_rng(0)
X = RANDOM.random(20)
MASK = X > 0.4
N = np.array([4, 9])
WHOLE = RANDOM.integers(0, 7, 24)
SQUARE = RANDOM.random((9, 9))
ROWS = np.arange(9) % 3 > 0


def sieve(n: Any) -> Any:
    """Primes up to a number: slices with traced steps."""
    prime = np.ones(n[1] * 5 + 1, dtype=np.bool_)
    prime[:2] = False
    for i in range(2, 7):
        if prime[i]:
            prime[i * i :: i] = False
    return np.nonzero(prime)[0]


def pairs(x: Any) -> Any:
    """All sums of chosen numbers, in an array made for them."""
    chosen = np.where(x > 0.5)[0]
    n = len(chosen)
    sums = np.empty(n * n, dtype=np.int32)
    k = 0
    for i in range(n):
        for j in range(n):
            sums[k] = chosen[i] + chosen[j]
            k += 1
    return len(np.unique(sums)), sums


def table(n: Any) -> Any:
    """An array with two extents that values decide."""
    found = np.zeros((n[0], n[1]))
    for i in range(n[0]):
        for j in range(n[1]):
            found[i, j] = 10 * i + j
    return found, found.sum(0), found.T.copy(), found[1], found[:, 1]


def in_turns(n: Any) -> Any:
    """Arrays of another size in each turn."""
    total = 0.0
    for k in n:
        found = np.ones(k)
        found[0] = 5
        total += found.sum() + np.arange(k).sum()
    return total


def groups(x: Any) -> Any:
    """Sums of groups, by their numbers."""
    names, which, counts = np.unique(x, return_inverse=True, return_counts=True)
    sums = np.zeros(len(names))
    for i in range(len(x)):
        sums[which[i]] += i
    return names, which, counts, sums


def first_places(x: Any) -> Any:
    """The values that differ, and their first places."""
    found, places = np.unique(x, return_index=True)
    return found * 2, places + 0


def clipped(x: Any, mask: Any) -> Any:
    """Some elements of those that a mask takes are written."""
    found = x[mask]
    found[found > 0.7] = 0
    return found


def clipped_copy(x: Any, mask: Any) -> Any:
    """The same, where they have memory."""
    found = np.sort(x[mask])
    found[found > 0.7] = -1.5
    return found[found < 0.6], found


def assigned(found: Any, value: Any) -> Any:
    """A traced number for some elements."""
    found[found > 0.7] = value
    return found


@traceir_numba.jit
def inner(a: Any) -> Any:
    """A jitted function that a part of an array is given to."""
    return np.zeros_like(a, dtype=np.int16), a.sum() + a[0]


CASES: dict[str, Case] = {
    "zeros": (lambda n: np.zeros(n[0]), (N,)),
    "empty": (lambda n: np.empty((n[0], 2), np.int8), (np.array([0]),)),
    "ones": (lambda n: np.ones((n.max(), 3), np.float32), (N,)),
    "full": (lambda n, x: np.full((2, n[0]), x[0]), (N, X)),
    "full of integers": (lambda n: np.full(n[0], n[1]), (N,)),
    "arange": (lambda n: np.arange(n[0]), (N,)),
    "arange from": (lambda n: np.arange(n[0], n[1]), (N,)),
    "arange by": (lambda n: np.arange(n[1], n[0], -2), (N,)),
    "arange of none": (lambda n: np.arange(n[1], n[0]), (N,)),
    "arange of floats": (lambda x: np.arange(x[0], 2.0, 0.125), (X,)),
    "arange of narrow numbers": (lambda n: np.arange(n[0]), (N.astype(np.int8),)),
    "arange of a narrow float": (lambda x: np.arange(x[0]), (4 * X.astype("f4"),)),
    "linspace of narrow ones": (
        lambda x, n: np.linspace(x[0], x[1], n[0]),
        (X.astype("f4"), N),
    ),
    "arange of a dtype": (lambda n: np.arange(n[0], dtype=np.float32), (N,)),
    "linspace": (lambda n: np.linspace(0, 1, n[0]), (N,)),
    "linspace of one": (lambda n: np.linspace(2, 3, n[0] - 3), (N,)),
    "linspace without": (lambda n: np.linspace(0, 1, n[0], endpoint=False), (N,)),
    "eye": (lambda n: np.eye(n[0]) @ np.arange(n[0]), (N,)),
    "identity": (lambda n: np.identity(n[0]), (N,)),
    "zeros_like": (lambda x, m: np.zeros_like(x[m]), (X, MASK)),
    "full_like": (lambda x, m: np.full_like(x[m], 3, dtype=np.int32), (X, MASK)),
    "sort": (lambda x, m: np.sort(x[m]), (X, MASK)),
    "sort with NaN": (lambda x, m: np.sort(x[m]), (np.where(X > 0.8, np.nan, X), MASK)),
    "sort of the greatest": (
        lambda x, m: np.sort(x[m]),
        (np.array([2**63 - 1, 5, 7]), np.array([True, True, False])),
    ),
    "argsort": (lambda x, m: np.argsort(x[m], kind="stable"), (WHOLE, WHOLE > 2)),
    "median of many": (lambda x, m: np.median(x[m]), (X, MASK)),
    "median of an even number": (lambda x, m: np.median(x[m]), (X[:8], X[:8] > 0.1)),
    "median with NaN": (
        lambda x, m: np.median(x[m]),
        (np.array([1, np.nan, 3]), np.array([True, True, False])),
    ),
    "median in float32": (lambda x, m: np.median(x[m]), (X.astype("f4"), MASK)),
    "percentile": (lambda x, m: np.percentile(x[m], 30), (X, MASK)),
    "percentiles": (lambda x, m: np.percentile(x[m], [0, 62, 100]), (X, MASK)),
    "percentile in float32": (
        lambda x, m: np.percentile(x[m], 30),
        (X.astype("f4"), MASK),
    ),
    "percentile of integers": (lambda x: np.percentile(x[x > 2], 30), (WHOLE,)),
    "quantile": (lambda x, m: np.quantile(x[m], 0.3), (X, MASK)),
    "histogram": (lambda x, m: np.histogram(x[m], 4, (0.0, 1.0)), (X, MASK)),
    "histogram of edges": (
        lambda x, m: np.histogram(x[m], np.array([0, 0.2, 0.6, 1.0])),
        (X, MASK),
    ),
    "histogram without a range": (lambda x, m: np.histogram(x[m], 4), (X, MASK)),
    "histogram of weights": (
        lambda x, m: np.histogram(x[m], 4, (0.0, 1.0), weights=x[m])[0],
        (X, MASK),
    ),
    "unique": (lambda x: np.unique(x) * 2, (WHOLE,)),
    "unique of some": (lambda x, m: len(np.unique(x[m])), (WHOLE, WHOLE > 2)),
    "unique with NaN": (
        lambda x: np.unique(x) + 1,
        (np.array([np.nan, 2, np.nan, 1]),),
    ),
    "unique of none": (lambda x: np.unique(x[x > 99]) + 1, (WHOLE,)),
    "groups": (groups, (WHOLE,)),
    "first places": (first_places, (WHOLE,)),
    "bincount": (lambda x: np.bincount(x) + 0, (WHOLE,)),
    "bincount of weights": (lambda x: np.bincount(x, np.sqrt(x)), (WHOLE,)),
    "bincount of at least": (lambda x: np.bincount(x, minlength=12) + 0, (WHOLE,)),
    "bincount of some": (lambda x: np.bincount(x[x > 3]).argmax(), (WHOLE,)),
    "repeat": (lambda x, n: np.repeat(x, n), (X, RANDOM.integers(0, 4, 20))),
    "repeat a number of times": (lambda x, n: np.repeat(x, n[0]), (X, N)),
    "tile": (lambda x, n: np.tile(x, n[0]), (X, N)),
    "compress": (lambda x, m: np.compress(m, x) * 2, (X, MASK)),
    "concatenate": (lambda x, m: np.concatenate((x[m], x[~m], x)), (X, MASK)),
    "concatenate rows": (
        lambda x, m: np.concatenate((x[m], x[~m])),
        (SQUARE, ROWS),
    ),
    "hstack": (lambda x, m: np.hstack((x[m], x)), (X, MASK)),
    "vstack": (lambda x, m: np.vstack((x[m], x)), (SQUARE, ROWS)),
    "append": (lambda x, m: np.append(x[m], 3.0), (X, MASK)),
    "append several": (lambda x, m: np.append(x[m], [3.0, 4.0]), (X, MASK)),
    "union1d": (lambda x: np.union1d(x, x + 3), (WHOLE,)),
    "intersect1d": (lambda x: np.intersect1d(x, x + 3), (WHOLE,)),
    "setdiff1d": (lambda x: np.setdiff1d(x, x + 3), (WHOLE,)),
    "ptp": (lambda x, m: np.ptp(x[m]), (X, MASK)),
    "nanmean": (lambda x, m: np.nanmean(x[m]), (np.where(X > 0.8, np.nan, X), MASK)),
    "cov": (lambda x, m: np.cov(x[m], x[m] ** 2), (X, MASK)),
    "corrcoef": (lambda x, m: np.corrcoef(x[m], x[m] ** 2), (X, MASK)),
    "interp": (lambda x, m: np.interp(x, np.sort(x[m]), x[m]), (X, MASK)),
    "interp at one place": (
        lambda x, m: np.interp(0.01, np.sort(x[m]), x[m], left=-1.0, right=9.0),
        (X, MASK),
    ),
    "where of some": (lambda x, m: np.where(x[m] > 0.6)[0], (X, MASK)),
    "mask of some": (lambda x, m: x[m][x[m] > 0.6] * 2, (X, MASK)),
    "a value for some of some": (
        lambda x, m: assigned(np.sort(x[m]), x[0]),
        (X, MASK),
    ),
    "a name for some": (clipped, (X, MASK)),
    "some in order": (clipped_copy, (X, MASK)),
    "columns": (lambda a, m: a[:, m], (SQUARE, ROWS)),
    "columns of rows": (lambda a, m: a[m][:, m], (SQUARE, ROWS)),
    "some of a row": (lambda a, m: a[2, m], (SQUARE, ROWS)),
    "columns at places": (lambda a, m: a[:, np.where(m)[0]].sum(1), (SQUARE, ROWS)),
    "product with rows": (lambda a, m: a[m].T @ a[m], (SQUARE, ROWS)),
    "reshape": (lambda n: np.arange(n[0] * 3).reshape(n[0], 3) * 2, (N,)),
    "reshape to a column": (lambda x, m: x[m].reshape(-1, 1) * x[:2], (X, MASK)),
    "reshape by the rest": (lambda n: np.arange(n[0] * 3).reshape(-1, 3).sum(1), (N,)),
    "flatten": (lambda n: np.ones((n[0], 3)).flatten() * 2, (N,)),
    "step": (lambda x, n: x[1 :: n[0]].sum() + x[:: n[0]][1], (X, N)),
    "sieve": (sieve, (N,)),
    "pairs": (pairs, (X,)),
    "table": (table, (N,)),
    "in turns": (in_turns, (np.array([3, 4, 1, 9]),)),
    "an inner function": (lambda x, n: inner(x[: n[0]]), (X, N)),
}


@pytest.mark.parametrize("name", CASES)
def test_values_decide_sizes_as_in_numpy(name: str) -> None:
    function, args = CASES[name]
    want = function(*args)
    made = traceir_numba.jit(function)
    for _ in range(2):
        assert_same(made(*args), want)


def assert_same(got: Any, want: Any) -> None:
    """Equal shapes, dtypes and values, but for the last bits."""
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want):
            assert_same(one, other)
        return
    assert np.shape(got) == np.shape(want)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(got, want, 1e-12, 1e-14)


# -- how many ------------------------------------------------------------------------


def counting(n: Any) -> Any:
    """As many even numbers as a sum says."""
    found = np.zeros(n.sum())
    for i in range(n.sum()):
        found[i] = 2 * i
    return found


@pytest.mark.parametrize("count", [0, 1, 1000, 5000, 40_000])
def test_there_is_room_for_what_is_asked(count: int) -> None:
    made = traceir_numba.jit(counting)
    for _ in range(2):
        assert_same(made(np.array([count, 0])), 2.0 * np.arange(count))


def test_a_program_that_has_no_room_is_made_anew_with_more() -> None:
    made = traceir_numba.jit(lambda n: counting(n) + 1)
    made(np.array([3]))
    made(np.array([cost_model.LIST_ROOM]))
    assert made.cache_info().misses == 1
    made(np.array([cost_model.LIST_ROOM + 1]))
    made(np.array([3]))
    assert made.cache_info().misses == 2


def test_one_program_is_for_all_sizes() -> None:
    made = traceir_numba.jit(lambda x, m: np.sort(x[m]))
    for most in (0.1, 0.5, 0.9):
        assert_same(made(X, most < X), np.sort(X[most < X]))
    assert made.cache_info().misses == 1


def test_too_many_are_told() -> None:
    made = traceir_numba.jit(lambda n: np.zeros(n[0]).sum())
    with raises_rule("slice.length", TypeError, "test_plain_sizes.py"):
        made(np.array([cost_model.MOST_LIST_ROOM * 2]))


def test_a_negative_number_is_told() -> None:
    made = traceir_numba.jit(lambda n: np.zeros(n[0]))
    with raises_rule("slice.negative", ValueError, "test_plain_sizes.py"):
        made(np.array([-2]))
    with raises_rule("slice.negative", ValueError):
        traceir_numba.jit(lambda x: np.bincount(x))(np.array([-2]))
    with raises_rule("slice.negative", ValueError):
        traceir_numba.jit(lambda x, n: np.repeat(x, n))(X[:2], np.array([2, -1]))
    with raises_rule("slice.step", TypeError):
        traceir_numba.jit(lambda x, n: x[:: n[0]].sum())(X, np.array([-1]))


@pytest.mark.parametrize("place", [9, -10, 10**9])
def test_places_are_looked_at(place: int) -> None:
    def written(n: Any) -> Any:
        found = np.zeros(n[0])
        found[place] = 1
        return found

    made = traceir_numba.jit(written)
    with raises_rule("index.bounds", IndexError):
        made(np.array([8]))
    assert made(np.array([10])).sum() == 1 if place < 10 else True


def test_extremes_and_middles_of_none_are_told() -> None:
    none = np.zeros(20, bool)
    for function in (np.max, lambda x: np.percentile(x, 30)):
        with raises_rule("slice.lengths", ValueError):
            traceir_numba.jit(lambda x, m, f=function: f(x[m]))(X, none)
    assert np.isnan(traceir_numba.jit(lambda x, m: np.median(x[m]))(X, none))


def test_other_faces_and_transforms_say_that_shapes_are_known() -> None:
    with raises_rule("face.shape"):
        traceir.jit(lambda n: traceir.numpy.zeros(n[0]))(N)
    with raises_rule("slice.length", TypeError):
        traceir.vmap(traceir_numba.jit(lambda n: np.zeros(n[0])))(np.array([[1], [2]]))
