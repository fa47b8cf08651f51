"""Writes of plain functions, in how many equations. Rules: face.view, update.*"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir_numba
from traceir.jit.function import JitFunction, Options

SLICES = [
    *(slice(None, None, 2), slice(1, None, 2), slice(None, None, -1), slice(6, 1, -3)),
    *(slice(1, 6, 3), slice(5, None, 4), slice(2, 2, 2), slice(-1, None, -2), slice(3)),
]


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_every_slice_is_written_where_numpy_writes_it(backend: str) -> None:
    def write(x: Any, y: Any) -> Any:
        for k, index in enumerate(SLICES):
            x[index] = k
            x[index] += y[index]
        return x

    for n in (7, 8):
        x, y = np.zeros(n), np.arange(1.0, n + 1)
        wanted = write(x.copy(), y)
        np.testing.assert_array_equal(compiled(write, backend)(x, y), wanted)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_slices_of_two_dimensions_are_written(backend: str) -> None:
    pairs = list(itertools.product(SLICES, SLICES[:5]))[::3]

    def write(x: Any, y: Any) -> Any:
        for k, pair in enumerate(pairs):
            x[pair] = k + y[pair]
        x[:, ::-2, None] = y[0, ::-2, None]
        return x

    x, y = np.zeros((7, 6)), np.arange(42.0).reshape(7, 6)
    wanted = write(x.copy(), y)
    np.testing.assert_array_equal(compiled(write, backend)(x, y), wanted)


def compiled(function: Any, backend: str) -> JitFunction:
    """A plain function by a backend; arguments are left as they are."""
    options = Options(backend=backend, face="numpy", x64=True, numpy_out=True)
    return JitFunction(lambda x, y: function(x.copy(), y), None, None, options)


def equations(function: Any, *args: Any) -> str:
    """The program of a plain function."""
    return str(traceir_numba.jit(function).trace(*args).jaxpr)


@pytest.mark.parametrize(
    "index", [slice(1, -1), (slice(2, None),), slice(None, None, 2), (..., slice(3))]
)
def test_an_update_in_place_writes_once(index: Any) -> None:
    def update(x: Any) -> Any:
        y = x * 2
        y[index] += 1
        return y

    text = equations(update, np.ones(6))
    assert text.count("dynamic_update_slice") == 1
    assert "scatter" not in text


def test_views_of_views_are_written_back_once() -> None:
    def update(x: Any) -> Any:
        y = x * 2
        y[1:][::2] -= y[1:][::2].mean()
        return y

    x = np.arange(7.0)
    np.testing.assert_array_equal(traceir_numba.jit(update)(x), update(x))
    assert equations(update, x).count("= dynamic_update_slice") == 2


def test_a_running_maximum_is_one_equation_however_long() -> None:
    x = np.random.default_rng(0).normal(size=50_000)
    running = np.maximum.accumulate
    np.testing.assert_array_equal(
        traceir_numba.jit(lambda x: running(x))(x), running(x)
    )
    assert equations(lambda x: running(x), x).count(" = ") <= 2


@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.hypot])
def test_sums_between_places(ufunc: np.ufunc) -> None:
    x = np.arange(24.0).reshape(6, 4)

    def reduced(x: Any) -> Any:
        return ufunc.reduceat(x, [0, 3, 1, 5]), ufunc.reduceat(x, np.array([1, 2]), 1)

    found = traceir_numba.jit(reduced)(x)
    for one, other in zip(found, reduced(x), strict=True):
        np.testing.assert_allclose(one, other)
        assert one.dtype == other.dtype


def selections(x: Any) -> Any:
    """A selection that two names have, a copy of it, and one that is updated."""
    some = x[x > 1]
    same, copied = some, some.copy()
    some += 10
    x[x > 2] *= 3
    return same.sum(), some.sum(), copied.sum(), x


def test_a_selection_is_updated_for_all_that_have_it() -> None:
    x = np.arange(5.0)
    found, wanted = traceir_numba.jit(selections)(x.copy()), selections(x.copy())
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def halves(x: Any) -> Any:
    """An update that no caller sees, of what lies in memory as the argument does."""
    y = x / 2
    y.ravel()[0] = 1
    return y


def test_what_depends_on_the_layout_of_arguments_is_checked_in_each_call() -> None:
    x = np.arange(6.0).reshape(2, 3)
    f = traceir_numba.jit(halves, write_arguments=False)
    outer = traceir_numba.jit(lambda x: f(x) + 1)
    for _ in range(3):
        np.testing.assert_array_equal(f(x), halves(x))
        np.testing.assert_array_equal(outer(x), halves(x) + 1)
        with raises_rule("update.layout", ValueError, "argument x"):
            f(np.asfortranarray(x))
        with raises_rule("update.layout", ValueError, "argument x"):
            outer(np.asfortranarray(x))
    exported = traceir.export.export(traceir_numba.jit(halves))(x)
    np.testing.assert_array_equal(exported.call(x), halves(x))


def test_a_layout_that_decides_nothing_may_be_any() -> None:
    def update(x: Any, y: Any) -> Any:
        a = np.asarray(x)
        a[0] = 1
        b = y.reshape(2, 2)
        b[1] += a[0, :2]
        return x.astype(x.dtype, copy=False), b, x.copy()

    for x in (np.ones((2, 3), order="F"), np.ones((4, 6))[::2, ::-2]):
        given, plain = (x.copy("K"), np.arange(8.0)[::2]), (x.copy("K"), np.arange(4.0))
        plain[1][:] = given[1]
        for one, other in zip(
            traceir_numba.jit(update)(*given), update(*plain), strict=True
        ):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(given, plain, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("values", [[], [1.0, 2.0]])
def test_what_is_placed_through_a_traced_mask_is_one_element(values: Any) -> None:
    with raises_rule("update.mask", ValueError, f"{len(values)} elements"):
        traceir_numba.jit(lambda x: np.place(x, x > 0, values))(np.ones(2))


@traceir_numba.jit
def raised(a: Any, b: Any) -> Any:
    """Writes to the first argument are read from the second, if they overlap."""
    a[0] = 5.0
    return b[0] + 0


OVERLAPPING = (
    lambda x: raised(x, x),
    lambda x: raised(x, x[:2]),
    lambda x: raised(x.reshape(1, 3)[0], x.T),
    lambda x: raised(y := np.zeros(3), y[:1]) + x[0],
)


@pytest.mark.parametrize("outer", OVERLAPPING)
def test_an_inner_function_is_not_given_an_element_twice(outer: Any) -> None:
    with raises_rule("update.overlap", ValueError, "argument a, .* argument b"):
        traceir_numba.jit(outer)(np.zeros(3))
    apart = traceir_numba.jit(lambda x: raised(x[:1], x[1:]) + raised(x, x.copy()))
    assert apart(x := np.zeros(3)) == 5.0 and x[0] == 5.0


def test_what_is_written_nowhere_has_to_fit() -> None:
    def known(x: Any, i: Any) -> None:
        x[5:1, 2] = np.ones(4)

    def traced(x: Any, i: Any) -> None:
        x[i[0], 5:1] = np.ones(7)

    def added(x: Any, i: Any) -> None:
        np.add.at(x, i, np.ones(7))

    def fits(x: Any, i: Any) -> None:
        x[i[0], 5:1] = 7
        np.add.at(x, i[:0], np.ones((1, 4)))

    x = np.ones((3, 4))
    for write, i in ((known, [1]), (traced, [1]), (added, [])):
        places = np.array(i, int)
        with pytest.raises(ValueError, match="broadcast"):
            write(x.copy(), places)
        with raises_rule("update.shape", ValueError):
            compiled(write, "reference")(x.copy(), places)
    compiled(fits, "reference")(x, np.array([1]))
    np.testing.assert_array_equal(x, np.ones((3, 4)))
