"""Functions of elements, of rows and of neighbours, written for Numba.

Rules: compat.*
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

from traceir_numba.compat import float64, guvectorize, njit, stencil, vectorize


@vectorize
def collatz(n: Any) -> Any:
    """The number of steps to one."""
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@vectorize(["f4(f4, f4)", "f8(f8, f8)"], target="parallel")
def larger(x: Any, y: Any) -> Any:
    """The larger of two numbers."""
    if x > y:
        return x
    return y


def test_functions_of_elements() -> None:
    n = np.arange(1, 30).reshape(1, -1)
    wanted = [[collatz.py_func(int(k)) for k in n[0]]]
    assert collatz(n).tolist() == wanted
    assert collatz(27) == 111
    x, y = np.arange(6.0).reshape(2, 3), np.array([3, 1, 5])
    np.testing.assert_array_equal(larger(x, y), np.maximum(x, y))
    assert larger(np.float32(2), np.float32(3)).dtype == np.float32
    out = np.empty((2, 3))
    assert larger(x, 2, out=out) is out and out[0, 0] == 2
    with raises_rule("compat.missing", NotImplementedError, "reduce"):
        larger.reduce(x)


@guvectorize(["void(int64[:], int64, int64[:])", "(f8[:], f8, f8[:])"], "(n),()->(n)")
def shifted(x: Any, by: Any, out: Any) -> None:
    """A number added to rows."""
    for i in range(x.shape[0]):
        out[i] = x[i] + by


@guvectorize([(float64[:], float64[:], float64[:])], "(n),(n)->()")
def dotted(x: Any, y: Any, out: Any) -> None:
    """Products of rows."""
    out[0] = 0.0
    for i in range(len(x)):
        out[0] += x[i] * y[i]


def test_functions_of_rows() -> None:
    x = np.arange(12).reshape(2, 2, 3)
    by = np.array([1.5, 2.0])
    np.testing.assert_array_equal(shifted(x, 5), x + 5)
    np.testing.assert_array_equal(shifted(x, by), x + by[:, None])
    np.testing.assert_allclose(dotted(x, [1, 2, 3]), x @ np.array([1.0, 2, 3]))
    out = np.zeros(3)
    assert shifted(np.ones(3), 2, out) is out and out.tolist() == [3, 3, 3]


@guvectorize(["(f8[:], f8[:], f8[:])"], "(n) -> (), (n)")
def mean_and_rest(x: Any, mean: Any, rest: Any) -> None:
    """Two results."""
    mean[0] = x.mean()
    for i in range(len(x)):
        rest[i] = x[i] - mean[0]


@guvectorize(["(f8[:], f8[:])"], "(n), (k)", nopython=True, target="parallel")
def steps(x: Any, out: Any) -> None:
    """No results: an operand is written."""
    x.sort()
    out[0] = x[0]
    for i in range(1, x.shape[0]):
        out[i] = x[i] - x[i - 1]


@guvectorize("(n)->(n)")
def doubled(x: Any, out: Any) -> None:
    """No signatures: results are given."""
    for i in range(len(x)):
        out[i] = 2 * x[i]


def test_rows_with_other_results_than_one() -> None:
    x = np.array([[3.0, 1.0, 5.0], [2.0, 2.0, 8.0]])
    mean, rest = mean_and_rest(x)
    np.testing.assert_allclose(mean, x.mean(1))
    np.testing.assert_allclose(rest, x - x.mean(1)[:, None])
    one, _ = mean_and_rest([1.0, 2.0])
    assert one == 1.5 and np.ndim(one) == 0
    out = np.full((2, 4), -1.0)
    assert steps(x, out) == ()
    assert x.tolist() == [[1, 3, 5], [2, 2, 8]]
    assert out.tolist() == [[1, 2, 2, -1], [2, 0, 6, -1]]
    columns = np.full((4, 2), -1.0)
    steps(x, columns.T)
    assert columns.T.tolist() == out.tolist()
    given = np.zeros((2, 3), np.float32)
    doubled(x.astype(np.float32), given)
    assert given.tolist() == (2 * x).tolist()
    with raises_rule("compat.signature"):
        doubled(x)
    with raises_rule("compat.option"):
        guvectorize(["(f8[:], f8[:])"], "(n), (n) -> (n)")(steps.py_func)


@stencil(cval=-1.0)
def smooth(a: Any, w: Any) -> Any:
    """The mean of four neighbours, weighted."""
    return w * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@stencil(neighborhood=((-2, 0),))
def trailing(a: Any) -> Any:
    """The sum of an element and two before it."""
    total = 0.0
    for k in range(-2, 1):
        total += a[k]
    return total


def test_functions_of_neighbours() -> None:
    a = np.random.default_rng(1).normal(size=(6, 5))
    wanted = np.full(a.shape, -1.0)
    inner = (a[1:-1, 2:] + a[2:, 1:-1]) + a[1:-1, :-2] + a[:-2, 1:-1]
    wanted[1:-1, 1:-1] = 0.25 * inner
    np.testing.assert_array_equal(smooth(a, 0.25), wanted)
    x = np.arange(6.0)
    assert trailing(x).tolist() == [0, 0, 3, 6, 9, 12]
    out = np.full(6, 7.0)
    assert trailing(x, out=out).tolist() == [7, 7, 3, 6, 9, 12]


@vectorize
def clipped(x: Any) -> Any:
    """The lesser of an element and one."""
    return min(x, 1.0)


@njit
def of_rows(x: Any) -> Any:
    """Functions of elements, of rows and of neighbours, inside another one."""
    mean, rest = mean_and_rest(x)
    return shifted(rest, mean), clipped(x) + clipped(x[0, 0]), x_of_neighbours(x)


@stencil
def x_of_neighbours(x: Any) -> Any:
    """Two neighbours."""
    return x[0, -1] + x[0, 1]


def test_functions_of_rows_in_compiled_ones() -> None:
    x = np.arange(12.0).reshape(3, 4)
    back, small, around = of_rows(x)
    np.testing.assert_allclose(back, x)
    np.testing.assert_array_equal(small, np.minimum(x, 1) + 0)
    np.testing.assert_array_equal(around[:, 1:-1], x[:, :-2] + x[:, 2:])


@guvectorize(["(i8, f8[:], i8[:])"], "(),(k)->(k)", nopython=True)
def drawn(n: Any, parts: Any, out: Any) -> None:
    """Numbers below n, each once: how many there are is a row's own."""
    pool = np.roll(np.arange(n), 0)
    for j in range(parts.shape[0]):
        place = np.intp(np.floor(parts[j] * (n - j)))
        out[j] = pool[place]
        pool[place] = pool[n - j - 1]


def test_rows_whose_arrays_differ_in_length() -> None:
    parts = np.array([[0.0, 0.5, 0.9], [0.9, 0.9, 0.0]])
    with pytest.warns(UserWarning, match="each row anew") as told:
        found = drawn(np.array([5, 3]), parts)
        assert drawn(5, parts[0]).tolist() == found[0].tolist() == [0, 2, 3]
    assert found[1].tolist() == [2, 1, 0]
    assert len(told) == 1 and told[0].filename == __file__
