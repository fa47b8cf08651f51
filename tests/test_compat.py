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
    with raises_rule("compat.missing", NotImplementedError, "objmode"):
        compat.objmode()
    with raises_rule("compat.signature", TypeError, "nonsense"):
        njit("nonsense(f8)")
    with raises_rule("compat.option", TypeError, "mode"):
        stencil("wrap")
    with pytest.raises(AttributeError):
        _ = compat.nothing_of_the_kind


@njit
def cubed(x: Any) -> Any:
    """A function that is an argument."""
    return x**3


@njit("f8(f8)")
def halved(x: Any) -> Any:
    """One with a signature."""
    return x / 2


@vectorize
def clipped(x: Any) -> Any:
    """One of elements."""
    return min(x, 1.0)


@njit
def total(function: Any, x: Any) -> Any:
    """The sum of a function's values."""
    found = 0.0
    for value in x:
        found += function(value)
    return found


@njit
def chained(functions: Any, x: Any) -> Any:
    """Functions one after another."""
    for function in functions:
        x = function(x)
    return x


def test_compiled_functions_are_arguments() -> None:
    """Rules: cache.key.known"""
    x = np.arange(4.0)
    for _ in range(2):
        assert total(cubed, x) == 36 and total(halved, x) == 3
        assert total(lambda value: value, x) == 6
        assert chained((cubed, halved), 2.0) == 4 and chained((halved, cubed), 2.0) == 1
    np.testing.assert_array_equal(chained((clipped,), x), [0, 1, 1, 1])


def test_typed_containers_are_pythons() -> None:
    from traceir_numba.compat import types
    from traceir_numba.compat.typed import Dict, List

    @njit
    def places(x: Any) -> Any:
        found = Dict.empty(key_type=types.int64, value_type=types.int64)
        order = List()
        for i in range(len(x)):
            if x[i] not in found:
                order.append(x[i])
            found[x[i]] = i
        return found, order

    found, order = places(np.array([5, 3, 5]))
    assert found == {5: 2, 3: 1} and order == [5, 3]
    assert type(found) is dict and type(order) is list
    assert List([1, 2]) == [1, 2] and Dict({1: 2}) == {1: 2}
    assert compat.typed.List.empty_list(types.int64) == []
