"""Arguments that are written where they are: what the program does not write of them
is not copied. Rules: update.*"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir_numba


def swapped(a: Any, b: Any) -> None:
    t = a * 1.0
    a[:] = b
    b[:] = t


def crossed(a: Any, b: Any) -> Any:
    a[:] = b * 2
    b[1:] = a[:-1] + 1
    return a + b, a


def chained(a: Any, b: Any) -> Any:
    a[:] = b
    c = a + b
    b *= 3
    a -= b
    return c


def doubled(a: Any, b: Any) -> Any:
    a[0] = b[-1]
    return a * 2


def itself(a: Any, b: Any) -> Any:
    a += b
    return a


def parts(a: Any, b: Any) -> Any:
    a += b
    return a[2:], a.reshape(2, -1), a.sum()


def backwards(a: Any, b: Any) -> None:
    a[::-1] = a.copy()
    b[1:] = b[:-1]


def in_order(a: Any, b: Any) -> None:
    a[:] = np.sort(a)
    b[2:-2] = 0.5 * (b[4:] + b[:-4])


def in_loops(a: Any, b: Any) -> None:
    for k in range(3):
        a[k] += b[k]
    for k in range(1, 5):
        b[k] = b[k - 1] + a[k]


FUNCTIONS = (
    *(swapped, crossed, chained, doubled, itself, parts, backwards, in_order),
    in_loops,
)
# How an argument of `n` elements lies in an array of twice as many.
LAYOUTS = {
    "whole": lambda x, n: x[:n],
    "apart": lambda x, n: x[::2],
    "inside": lambda x, n: x[n // 2 : n // 2 + n],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [6, 70_000])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_written_arguments_are_as_numpy_has_them(
    function: Any, n: int, layout: str
) -> None:
    random = np.random.default_rng(n)
    got = [random.normal(size=2 * n) for _ in range(2)]
    wanted = [x.copy() for x in got]
    place = LAYOUTS[layout]
    jitted = traceir_numba.jit(function)
    for _ in range(3):  # traced, by raw key, by a runner that is known
        found = jitted(*(place(x, n) for x in got))
        right = function(*(place(x, n) for x in wanted))
        np.testing.assert_allclose([*got], [*wanted], rtol=1e-12)
        pairs = zip(traceir.tree.leaves(found), traceir.tree.leaves(right), strict=True)
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-12)
            assert not any(np.shares_memory(one, x) for x in got)
    compiled = jitted.lower(*(place(x, n) for x in got)).compile()
    compiled(*(place(x, n) for x in got))
    function(*(place(x, n) for x in wanted))
    np.testing.assert_allclose([*got], [*wanted], rtol=1e-12)


def test_what_is_not_written_is_not_copied() -> None:
    @traceir_numba.jit
    def put(x: Any) -> None:
        x[3:6] = 1.5

    x = np.zeros(100_000)
    put(x)
    assert x.sum() == 4.5
    assert "empty(" not in put.source(x) and "[...]" not in put.source(x)


def test_a_program_that_may_fail_leaves_arguments_as_they_are() -> None:
    @traceir_numba.jit
    def put(x: Any, k: Any) -> None:
        x[:] = x + 1
        x[k] = 7.0

    x = np.zeros(10)
    put(x, np.array([2]))
    before = x.copy()
    with raises_rule("index.bounds", IndexError):
        put(x, np.array([3, 10]))
    np.testing.assert_array_equal(x, before)


def test_a_program_that_calls_the_host_leaves_arguments_as_they_are() -> None:
    def fails(x: Any) -> Any:
        raise ZeroDivisionError

    @traceir_numba.jit
    def put(x: Any) -> None:
        x[:] = x + 1
        x[0] = traceir.pure_callback(fails, traceir.ShapeDtypeStruct((), "float64"), x)

    x = np.zeros(10)
    with pytest.raises(ZeroDivisionError):
        put(x)
    assert not x.any()


def parts_of_parts(x: Any) -> None:
    x[2:9, 1:][3:5, 4:] = 1.5
    x[3:][2][1:4] *= 2


def turned(x: Any) -> None:
    x.T[1:3][:, 2:4] = 0.5
    x.T.T[3] += 1
    np.transpose(x[1:])[2] = x[0, 0]


def turned_whole(x: Any) -> None:
    x.T[:] = x.T[::-1, ::-1] + 1


def turned_cubes(x: Any) -> None:
    cube = x.reshape(2, 5, 8)
    cube.transpose(2, 0, 1)[3, 1] = 7
    cube.transpose(1, 2, 0)[1:4, 2:, 0] -= 1


VIEWS = parts_of_parts, turned, turned_whole, turned_cubes


@pytest.mark.parametrize("function", VIEWS, ids=lambda f: f.__name__)
def test_views_of_views_are_written_where_they_are(function: Any) -> None:
    got, wanted = np.arange(80.0).reshape(10, 8), np.arange(80.0).reshape(10, 8)
    jitted = traceir_numba.jit(function)
    for _ in range(2):
        jitted(got)
        function(wanted)
        assert got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("function", [parts_of_parts, turned])
def test_views_of_views_have_no_copies(function: Any) -> None:
    x = np.zeros((1000, 800))
    source = traceir_numba.jit(function).source(x)
    assert not re.search(r"empty\w*\(\(?\d{4,}", source), source


def test_every_second_element_is_written_where_it_is() -> None:
    @traceir_numba.jit
    def between(x: Any) -> Any:
        y = np.zeros(2 * len(x))
        y[::2] = x
        y[1:-1:2] = (x[1:] + x[:-1]) / 2
        return y

    x = np.arange(50_000.0)
    want = np.arange(100_000) / 2
    want[-1] = 0
    assert between(x).tobytes() == want.tobytes()
    made = re.findall(r"= empty\w*\(", between.source(x))
    assert len(made) == 1
