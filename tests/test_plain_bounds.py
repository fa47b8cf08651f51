"""Places outside of arrays in plain functions: an IndexError at the line, no write.

Rules: index.bounds, cache.flag.boundscheck
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_errors import raises_rule

import traceir
import traceir_numba
from traceir.errors import TraceirError
from traceir.jit.function import JitFunction, Options
from traceir.numpy.indexing.integer_ranges import RangeAnalysis

V, M = np.arange(5.0), np.arange(12.0).reshape(3, 4)


def put(x: Any, i: Any) -> Any:
    """It writes."""
    x[i] = 7.0
    return x.sum()


def add_at(x: Any, i: Any) -> None:
    """It adds, each place as often as it occurs."""
    np.add.at(x, i, 1.0)


def put_along(x: Any, i: Any) -> Any:
    """It writes along an axis."""
    np.put_along_axis(x, i, 9.0, 0)
    return x


def put_flat(x: Any, i: Any) -> None:
    """It writes to the flat array."""
    np.put(x, i, [7.0, 8.0])
    x.put(i[0], 1.0)


INDEXING: list[tuple[Callable[[Any, Any], Any], np.ndarray]] = [
    *((put, V), (add_at, V), (put_along, V), (put_flat, M)),
    (lambda x, i: x[i], V),
    (lambda x, i: x[i[0], 1:3] + x[1:, i[1]], M),
    (lambda x, i: x[i, i + 1], M),
    (lambda x, i: x[..., i] + x[None, 0, i], M),
    (lambda x, i: x.T[i][:, i % 3], M),
    (lambda x, i: np.take(x, i) + x.take(i), V),
    (lambda x, i: np.take(x, i, axis=1), M),
    (lambda x, i: np.take(x, i, mode="clip") + np.take(x, i, mode="wrap"), V),
    (lambda x, i: np.take_along_axis(x, i, 0), V),
    (lambda x, i: np.choose(i % 2, [x[:2], x[1:3]]), V),
    (lambda x, i: x.flat[i] + x.item(i[1]), M),
    (lambda x, i: np.eye(5)[i] * x, V),
    (lambda x, i: x[np.clip(i, -5, 4)] + x[i % 5] + x[i.astype("u1") % 5], V),
]
PLACES = [[1, 0], [-1, 2], [0, 7], [5, 1], [-6, 1], [2, -4]]


def outcome(function: Any, x: np.ndarray, i: np.ndarray) -> tuple[Any, list[Any]]:
    """The result of a function, or the class of its error; its argument after that."""
    own = x.copy()
    try:
        found = np.asarray(function(own, i)).tolist()
    except IndexError as error:
        assert not isinstance(error, TraceirError) or error.rule == "index.bounds"
        return IndexError, x.tolist()
    return found, own.tolist()


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_places_outside_are_errors_where_they_are_numpys(backend: str) -> None:
    options = Options(backend=backend, face="numpy", x64=True, numpy_out=True)
    wrong = []
    for k, (function, x) in enumerate(INDEXING):
        jitted = JitFunction(function, None, None, options)
        for places in PLACES:
            i = np.array(places)
            wanted = outcome(function, x, i)
            for _ in range(2):
                found = outcome(jitted, x, i)
                if found != wanted:
                    wrong.append((k, places, found, wanted))
        assert jitted.cache_info().misses == 1
    assert wrong == []


def test_the_error_has_the_first_place_and_its_line() -> None:
    @traceir_numba.jit
    def gathered(x: Any, i: Any, j: Any) -> Any:
        first = x[i]
        second = x[j]
        return first + second

    x, i = np.arange(4), np.array([0, 3])
    assert gathered(x, i, i).tolist() == [0, 6]
    for _ in range(3):
        with raises_rule("index.bounds", IndexError, r"(?s)place 4 in .* second = x"):
            gathered(x, i, np.array([3, 4]))
        with raises_rule("index.bounds", IndexError, r"(?s)place -5 in .* first = x"):
            gathered(x, np.array([-5, 3]), np.array([3, 4]))
    assert gathered(x, i, i).tolist() == [0, 6]


def test_an_inner_plain_function_tells_the_outer_one() -> None:
    inner = traceir_numba.jit(lambda x, k: x[k] * 2)

    @traceir_numba.jit
    def outer(x: Any, k: Any) -> Any:
        x[0] = 5
        return inner(x, k + 1)

    x = np.arange(3.0)
    assert outer(x, 1) == 4
    x[0] = 0
    with raises_rule("index.bounds", IndexError, r"(?s)place 3 .* inner = "):
        outer(x, 2)
    assert x[0] == 0


def looped(x: Any, i: Any) -> Any:
    """A loop over the elements of a vector of places, and some of another."""
    total = x[i[0] - 1]
    for k in range(1, 5):
        total = total + x[i[k]] * x[i[7 - k]] - x[i[k] - 1]
    return total


def test_the_places_of_a_loop_are_looked_at_together() -> None:
    jitted = traceir_numba.jit(looped)
    places = np.array([1, 2, 0, 4, 3, 1, -5, 9])
    assert jitted(V, places) == looped(V, places)
    checks = jitted.trace(V, places).entry.checks
    added = len(checks.closed.eqns) - len(jitted.trace(V, places).jaxpr.eqns)
    assert added < 45
    for k, bad in ((1, 5), (4, -6), (6, 7), (0, 6)):
        wrong = places.copy()
        wrong[k] = bad
        got = rf"(?s)place {bad - (k == 0)} in .*total = "
        with raises_rule("index.bounds", IndexError, got):
            jitted(V, wrong)


def test_a_name_promises_nothing() -> None:
    @traceir_numba.jit
    def remainder(x: Any, n: Any) -> Any:
        return x * n

    @traceir_numba.jit
    def taken(x: Any, i: Any) -> Any:
        return x[remainder(i, 5)]

    with raises_rule("index.bounds", IndexError, "place 10"):
        taken(V, np.array([2]))
    with raises_rule("index.bounds", IndexError, "place 7"):
        traceir_numba.jit(lambda x, i: np.insert(x, i, 1.0))(V, np.array([7]))


def test_nobody_looks_where_that_is_asked() -> None:
    def last(x: Any, k: Any) -> Any:
        x[k] = 1
        return x[k]

    x = np.arange(3)
    unchecked = traceir_numba.jit(last, boundscheck=False)
    assert [unchecked(x, 7) for _ in range(3)] == [2, 2, 2]
    checked = traceir_numba.jit(last)
    with raises_rule("index.bounds", IndexError, "place 7"):
        checked(x, 7)
    with traceir.boundscheck(False):
        assert checked(x, 7) == 2
    assert x.tolist() == [0, 1, 2]


INSIDE: list[Callable[[Any, Any], Any]] = [
    lambda x, i: x[i % 5],
    lambda x, i: x[np.clip(i, 0, 4)],
    lambda x, i: x[np.minimum(np.maximum(i, 0), 4)],
    lambda x, i: x[np.argsort(x)] + x[x.argmax()],
    lambda x, i: x[np.arange(5) - 2],
    lambda x, i: x[i & 3],
    lambda x, i: np.zeros(256)[i.astype(np.uint8)],
    lambda x, i: x[(i > 2).astype(int)],
    lambda x, i: x[np.where(i > 2, 4, i % 3)],
    lambda x, i: x[(i % 10) // 2],
    lambda x, i: x[np.array([0, 3])[i % 2]],
    lambda x, i: np.median(x) + np.percentile(x, 30) + np.interp(x, x, x),
    lambda x, i: np.sort(x)[np.searchsorted(x, x) % 5],
]


def test_places_that_cannot_be_outside_cost_nothing() -> None:
    checked = [
        k
        for k, function in enumerate(INSIDE)
        if traceir_numba.jit(function).trace(V, np.arange(5)).entry.checks is not None
    ]
    assert checked == []


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 9), st.integers(-7, 9)), min_size=1, max_size=6),
)
def test_ranges_hold_what_is_computed(values: Any, steps: Any) -> None:
    functions: list[Callable[[Any, int], Any]] = [
        *(lambda x, k: x + k, lambda x, k: k - x, lambda x, k: x * k),
        *(lambda x, k: x % (k or 3), lambda x, k: x // (k or 2), lambda x, k: abs(x)),
        *(lambda x, k: np.clip(x, k, k + 5), lambda x, k: x & k),
        *(lambda x, k: np.where(x > k, x, -x), lambda x, k: x >> abs(k)),
    ]

    def program(x: Any) -> Any:
        for which, k in steps:
            x = functions[which](x, k)
        return x

    x = np.array(values, np.int8)
    with np.errstate(all="ignore"):
        jaxpr = traceir_numba.jit(program).trace(x).jaxpr.jaxpr
        found = np.asarray(traceir_numba.jit(program)(x))
    analysis = RangeAnalysis(jaxpr.eqns)
    analysis.assume(jaxpr.invars[0], (min(values), max(values)))
    low, high = analysis.of(jaxpr.outvars[0])
    assert low <= found.min() and found.max() <= high


def test_the_sign_of_unsigned_integers_is_a_bit() -> None:
    x, k = np.uint8(200), np.uint8(1)
    jaxpr = traceir.make_jaxpr(traceir.lax.shift_right_arithmetic)(x, k).jaxpr
    analysis = RangeAnalysis(jaxpr.eqns)
    analysis.assume(jaxpr.invars[1], (1, 1))
    assert analysis.of(jaxpr.outvars[0]) == (0, 255)
    assert traceir.lax.shift_right_arithmetic(x, k) == 228
