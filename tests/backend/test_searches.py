"""Searches along rows: the first extreme, whatever the length and the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compiling import executable, traced

import traceir as jax
import traceir.numpy as jnp
from traceir_numba import cost_model

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 3.0]
DTYPES = ["float32", "float64", "float16", "int32", "int8", "uint64"]
LENGTHS = [2, 8, 9, 10, 15, 16, 19, 20, 21, 25, 32, 33, 64, 100, 511, 512, 513, 5000]


def searched(x: Any) -> Any:
    """The places of the extremes of rows."""
    return x.argmax(1), x.argmin(1)


def rows(dtype: str, length: int) -> np.ndarray:
    """Rows in which the same extremes are often, and special numbers."""
    rng = np.random.default_rng(length)
    count = cost_model.FIXED_ROW_ELEMENTS // length + 2
    x = rng.integers(0, 50, (count, length)).astype(dtype)
    if x.dtype.kind not in "iu":
        some = rng.integers(0, x.size, count)
        x.flat[some] = rng.choice(SPECIAL, count)
        x[0], x[1], x[2] = np.nan, -np.inf, np.inf
        x[3, : length // 2] = np.nan
        x[4] = np.where(np.arange(length) % 2, 0.0, -0.0)
    return x


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_first_extreme_of_a_row_is_found(dtype: str, length: int) -> None:
    x = rows(dtype, length)
    with jax.enable_x64(dtype[-2:] == "64"):
        found = executable(traced(searched, x)).run(x)
        assert np.array_equal(found[0], x.argmax(1))
        assert np.array_equal(found[1], x.argmin(1))


@pytest.mark.parametrize("length", [10, 16, 25, 100])
def test_what_is_searched_may_be_expensive(length: int) -> None:
    def fun(x: Any) -> Any:
        return jnp.argmax(jnp.sin(jnp.exp(x) + x[0]), axis=-1), jnp.exp(x).max(1)

    x = np.random.default_rng(1).normal(size=(40_000 // length, length))
    exe = executable(traced(fun, x.astype("float32")))
    values = executable(traced(lambda x: jnp.sin(jnp.exp(x) + x[0]), x.astype("f4")))
    (expected,) = values.run(x.astype("float32"))
    found, most = exe.run(x.astype("float32"))
    assert np.array_equal(found, np.asarray(expected).argmax(1))
    assert np.allclose(most, np.exp(x).max(1), rtol=1e-5)


def test_rows_of_a_number_or_more_have_places_of_their_own_type() -> None:
    x = rows("float32", 100)
    closed = traced(lambda x: jax.lax.argmax(x, 1, np.int8), x)
    (found,) = executable(closed).run(x)
    assert found.dtype == np.int8
    assert np.array_equal(found, x.argmax(1))


def test_long_rows_are_two_reductions_and_short_ones_a_search() -> None:
    for length, searches in ((10, True), (100, False)):
        exe = executable(traced(lambda x: x.argmax(1), rows("float32", length)))
        assert ("better = argmax_beats" in exe.source) == searches
        assert "fold_argmax" not in exe.source
