"""Programs that were written for Numba, with another import.

Rules: compat.*
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

import math
from functools import partial
from typing import Any

import numba
import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir_numba import compat
from traceir_numba.compat import (
    float32,
    float64,
    guvectorize,
    int64,
    jit,
    njit,
    prange,
    stencil,
    types,
    vectorize,
    void,
)


@njit
def norm(x: Any) -> Any:
    """A function that another compiled one calls."""
    return math.sqrt((x * x).sum())


@jit(nopython=True, parallel=True, cache=True, fastmath=True, nogil=True)
def norms(rows: Any) -> Any:
    """A parallel loop with Numba's usual options."""
    out = np.empty(rows.shape[0])
    for i in prange(rows.shape[0]):
        out[i] = norm(rows[i])
    return out


@njit("float64(float64, int64)", inline="always")
def power(x: Any, n: Any) -> Any:
    """A function with a signature as text."""
    found = 1.0
    for _ in range(n):
        found *= x
    return found


@njit([float32(float32), float64(float64)], error_model="numpy", boundscheck=True)
def inverse(x: Any) -> Any:
    """A function with two signatures; it divides by zero."""
    return 1 / x


@njit(void(float64[:], float64[:, ::1], int64), locals={})
def accumulate(out: Any, table: Any, k: Any) -> None:
    """A function that writes to an argument."""
    for i in range(table.shape[0]):
        out[i] += table[i, k]


def test_functions_are_compiled() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3))
    np.testing.assert_allclose(norms(rows), np.sqrt((rows * rows).sum(1)), 1e-14)
    assert norms.py_func.__name__ == "norms"
    assert list(prange(3)) == [0, 1, 2]


def test_tuples_have_signatures() -> None:
    @compat.njit("Tuple((f8, i4[:]))(UniTuple(f4, 2), i4[:])")
    def spread(bounds: Any, steps: Any) -> Any:
        return bounds[1] - bounds[0], steps * 2

    length, doubled = spread((1, 4.5), np.arange(3, dtype=np.int32))
    assert length == 3.5 and length.dtype == np.float64 and doubled.dtype == np.int32
    for wrong in (1.0, (1.0,), (1.0, np.ones(2))):
        with raises_rule("compat.signature", TypeError, r"Tuple\(\(float32, float32\)"):
            spread(wrong, np.arange(3, dtype=np.int32))
    with raises_rule("compat.signature", TypeError):
        compat.vectorize(["Tuple((f8, f8))(f8)"])(lambda x: x)(1.0)


def test_numbas_own_types_are_taken() -> None:
    own = numba.types
    for given in (
        own.float64(own.float64, own.intp),
        (own.float64, own.intp),
        [own.float64(own.float64, own.int32), own.float64(own.float64, own.intp)],
    ):
        made = compat.njit(given)(lambda x, n: x**n)
        assert made(2, 10) == 1024.0
        with raises_rule("compat.signature", TypeError):
            made(np.ones(2), 1)
    assert repr(compat.signatures.signature(own.void(own.float64[:, ::1]))) == (
        "(float64[:, :]) -> void"
    )
    assert compat.njit(())(lambda: 3)() == 3
    pair = own.UniTuple(own.float64, 2)(own.Tuple((own.int32, own.float32[:])))
    assert repr(compat.signatures.signature(pair)) == (
        "(Tuple((int32, float32[:]))) -> Tuple((float64, float64))"
    )
    with raises_rule("compat.signature", TypeError, "unicode_type"):
        compat.njit((own.unicode_type,))


def test_signatures_convert() -> None:
    assert power(2, 3) == 8.0 and isinstance(power(2, 3), np.float64)
    assert inverse(np.float32(3)).dtype == np.float32
    assert inverse(np.int64(4)) == 0.25 and inverse(0.0) == np.inf
    out, table = np.zeros(3), np.arange(6.0).reshape(3, 2)
    accumulate(out, table, 1)
    assert out.tolist() == [1, 3, 5]
    with raises_rule("compat.signature", TypeError, r"\(float64\[:\], int64\) for"):
        power(np.zeros(2), 3)
    assert types.float64 is float64 and float64(3) == 3.0
    assert repr(compat.signatures.signature("void(f8[:,:], i4)")) == (
        "(float64[:, :], int32) -> void"
    )


@njit
def rounded(x: Any) -> Any:
    """Types that are called convert, as in Numba."""
    return int64(x) + float32(0.1)


def test_types_convert_in_compiled_functions() -> None:
    assert rounded(2.7) == rounded.py_func(2.7)


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


@njit(cache=True)
def norms_above(rows: Any, least: Any) -> Any:
    """A generator that calls a compiled function."""
    for row in rows:
        found = norm(row)
        if found > least:
            yield found


def test_python_runs_a_generator_and_says_so() -> None:
    """Rules: compat.generator"""
    rows = np.array([[3.0, 4.0], [0.0, 1.0], [6.0, 8.0]])
    with pytest.warns(UserWarning, match="run by Python") as told:
        assert list(norms_above(rows, 2)) == [5, 10]
        assert list(norms_above(rows, 7)) == [10]
    assert len(told) == 1 and told[0].filename == __file__
    assert norms_above.py_func(rows, 7) is not None


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


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"forceobj": True}, 'fallback="numpy"'),
        ({"locals": {"x": float32}}, "np.float32"),
        ({"error_model": "java"}, '"python"'),
        ({"target_backend": "gpu"}, "leave it out"),
        ({"pipeline_class": object}, "no passes"),
        ({"nopyton": True}, "write `nopython=`"),
        ({"nothing_like_it": True}, "leave it out"),
    ],
)
def test_options_without_a_counterpart(options: dict[str, Any], hint: str) -> None:
    told = f"(?s)got: {next(iter(options))}=.*hint: .*{hint}"
    for decorator in (njit, traceir_numba.jit, partial(vectorize, [])):
        with raises_rule("compat.option", TypeError, told):
            decorator(**options)
    with raises_rule("compat.option", TypeError, "target='cuda'"):
        njit(target="cuda")


def test_the_decorator_takes_numbas_options() -> None:
    taken = traceir_numba.jit(
        nopython=True, parallel=True, fastmath=True, cache=True, nogil=True
    )
    assert taken(norm)(np.array([3.0, 4.0])) == 5.0

    def inverse(n: int) -> float:
        return 1 / n

    assert traceir_numba.jit(inverse, error_model="numpy")(0) == math.inf
    with pytest.raises(ZeroDivisionError):
        traceir_numba.jit(inverse, error_model="python")(0)

    def at(x: Any, k: int) -> Any:
        return x[k]

    with pytest.raises(IndexError):
        traceir_numba.jit(at, boundscheck=None)(np.zeros(2), 2)
    with raises_rule("compat.option", TypeError, "hint: write `fallback=`"):
        traceir_numba.jit(at, fallbock="numpy")
    with raises_rule("jit.callable", TypeError, "hint: leave the signature out"):
        traceir_numba.jit("f8(f8)")
    with raises_rule("jit.backend", ValueError, "write target='cpu' or target='cuda'"):
        traceir_numba.jit(at, target="gpu")


def test_names_without_a_counterpart() -> None:
    with raises_rule("compat.missing", NotImplementedError, "jitclass"):
        compat.jitclass([("x", int64)])
    with raises_rule("compat.missing", NotImplementedError, "typed.List"):
        compat.typed.List()
    with raises_rule("compat.signature", TypeError, "nonsense"):
        njit("nonsense(f8)")
    with raises_rule("compat.option", TypeError, "mode"):
        stencil("wrap")
    with pytest.raises(AttributeError):
        _ = compat.nothing_of_the_kind
