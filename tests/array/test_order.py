"""Order: ways that must agree, sizes that are told, derivatives.

Cites sort, top_k, order.*
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.reference.kernels import KERNELS

SPECIAL = [0.0, -0.0, 1.5, -2.0, np.nan, -np.nan, np.inf, -np.inf]
NARROW = [0, 1, 3, 127]


def drawn(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Few different values, so that many are equal."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    return rng.choice(SPECIAL if kind == "f" else NARROW, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint64"])
@pytest.mark.parametrize("k", [1, 17, 250])
def test_few_of_many_are_the_first_of_all_in_order(dtype: str, k: int) -> None:
    x = drawn(dtype, (3, 400))
    few = KERNELS["top_k"](x, axis=1, k=k)
    every = KERNELS["top_k"](x, axis=1, k=400)
    for some, full in zip(few, every, strict=True):
        np.testing.assert_array_equal(some, full[:, :k])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("kind", ["normal", "equal", "zeros", "special", "one"])
@pytest.mark.parametrize("shape, axis", [((1000,), 0), ((3, 4097), 1), ((2001, 2), 0)])
def test_few_of_long_lines_are_the_first_of_all(
    dtype: str, kind: str, shape: tuple[int, ...], axis: int
) -> None:
    """Bit for bit: of equal elements the first, 0 before -0, every NaN before them."""
    rng = np.random.default_rng(len(kind) + shape[0])
    x = 3 * rng.normal(size=shape)
    at = rng.random(shape)
    if kind == "equal":
        x = np.round(x)
    if kind == "zeros":
        x = np.where(at < 0.01, 0.0, np.where(at < 0.02, -0.0, -np.abs(x)))
    if kind == "special" and np.dtype(dtype).kind == "f":
        for k, value in enumerate(SPECIAL[2:]):
            x[(k < 100 * at) & (100 * at < k + 1)] = value
    if kind == "one":
        x[...] = np.nan if np.dtype(dtype).kind == "f" else 1
    x = x.astype(dtype)
    every = KERNELS["top_k"](x, axis=axis, k=shape[axis])
    for k in (1, 5, shape[axis] // 64):
        few = KERNELS["top_k"](x, axis=axis, k=k)
        for some, full in zip(few, every, strict=True):
            wanted = full.take(np.arange(k), axis)
            assert (some.dtype, some.tobytes()) == (full.dtype, wanted.tobytes())


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8"])
def test_one_key_moves_others_as_numpy_does(dtype: str, n: int) -> None:
    x = drawn(dtype, (5, n))
    places = np.broadcast_to(np.arange(n), x.shape)
    _, order = KERNELS["sort"](x, places, dimension=1, num_keys=1)
    np.testing.assert_array_equal(order, np.argsort(x, axis=1, kind="stable"))


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_zeros_keep_their_order_in_a_sort_of_one_operand(backend: str) -> None:
    x = np.array([0.0, -0.0, -1.0, 0.0, -0.0], "float32")
    found = traceir.jit(lax.sort, backend=backend)(x)
    assert np.signbit(found).tolist() == [True, False, True, False, True]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("method", ["scan", "scan_unrolled", "sort", "compare_all"])
@pytest.mark.parametrize("dtype", ["float32", "int16", "bool"])
def test_every_way_of_searching_finds_the_same(
    side: Any, method: str, dtype: str
) -> None:
    x, v = np.sort(drawn(dtype, (13,))), drawn(dtype, (4, 5), 1)
    found = jnp.searchsorted(x, v, side, method=method)
    np.testing.assert_array_equal(found, np.searchsorted(x, v, side))


@pytest.mark.parametrize("method", ["auto", "compare_all", "binary_search", "sort"])
@pytest.mark.parametrize("count", [0, 3, 50])
def test_every_way_of_looking_for_a_value_finds_it(method: str, count: int) -> None:
    x, others = drawn("float32", (4, 5)), drawn("float32", (count,), 1)
    found = jnp.isin(x, others, method=method)
    np.testing.assert_array_equal(found, np.isin(x, others))


SIZED: dict[str, Any] = {
    "unique": lambda x, y, **size: jnp.unique(x, **size),
    "unique_values": lambda x, y, **size: jnp.unique_values(x, **size),
    "union1d": jnp.union1d,
    "intersect1d": jnp.intersect1d,
    "setdiff1d": jnp.setdiff1d,
    "setxor1d": jnp.setxor1d,
}


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("name", sorted(SIZED))
def test_what_is_missing_is_filled_and_what_is_too_much_is_cut(
    name: str, backend: str
) -> None:
    x, y = np.array([5, 1, 5, 3, 8]), np.array([3, 4, 8])
    full = np.asarray(SIZED[name](x, y))
    filled = traceir.jit(
        lambda x, y: SIZED[name](x, y, size=9, fill_value=-7), backend=backend
    )(x, y)
    assert filled.tolist() == full.tolist() + [-7] * (9 - len(full))
    cut = traceir.jit(lambda x, y: SIZED[name](x, y, size=2), backend=backend)(x, y)
    assert cut.tolist() == full.tolist()[:2]


@pytest.mark.parametrize("name", sorted(SIZED))
def test_a_size_that_values_decide_is_asked_for(name: str) -> None:
    with pytest.raises(traceir.errors.ConcretizationTypeError, match="size="):
        traceir.jit(SIZED[name])(np.arange(3), np.arange(3))


def test_all_that_is_told_of_values_has_the_size_too() -> None:
    told = traceir.jit(lambda x: tuple(jnp.unique_all(x, size=4)))(np.array([7, 2, 7]))
    assert [part.tolist() for part in told] == [
        [2, 7, 2, 2],
        [1, 0, 1, 1],
        [1, 0, 1],
        [1, 2, 0, 0],
    ]


def test_trimming_asks_for_values() -> None:
    with pytest.raises(traceir.errors.ConcretizationTypeError):
        traceir.jit(jnp.trim_zeros)(np.arange(3))


DIFFERENTIATED: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: (jnp.sort(x, axis=0) ** 2 * jnp.arange(1.0, 4)[:, None]).sum(),
    "two operands": lambda x: (lax.sort((x[0], x[1] * 2))[1] * jnp.arange(4.0)).sum(),
    "top_k": lambda x: (lax.top_k(x, 2)[0] ** 3).sum(),
    "median": lambda x: (jnp.median(x, axis=1) ** 2).sum(),
    "nanquantile": lambda x: (jnp.nanquantile(x, jnp.array([0.2, 0.7])) ** 2).sum(),
    "interp": lambda x: jnp.interp(x, jnp.array([-3.0, 0.0, 3.0]), x[:, 0]).sum(),
    "unique": lambda x: (jnp.unique(x, size=12) * jnp.arange(12.0)).sum(),
    "cov": lambda x: (jnp.cov(x) ** 2).sum(),
    "nanvar": lambda x: jnp.nanvar(x, axis=0).sum(),
    "cross": lambda x: (jnp.cross(x[:, :3], x[:, 1:]) ** 2).sum(),
}


@pytest.mark.parametrize("name", sorted(DIFFERENTIATED))
def test_gradients_are_those_of_differences(name: str) -> None:
    function = DIFFERENTIATED[name]
    rng = np.random.default_rng(3)
    with traceir.enable_x64(True):
        x = rng.permutation(12).reshape(3, 4) / 4 - 1.1
        slope = np.asarray(traceir.grad(function)(x))
        step = rng.normal(size=x.shape) * 1e-6
        change = float(function(x + step) - function(x - step)) / 2
        assert change == pytest.approx(float((slope * step).sum()), rel=1e-4, abs=1e-10)
        rows = traceir.vmap(traceir.grad(function))(np.stack([x, x + 0.01]))
        np.testing.assert_allclose(rows[0], slope)


SETS: dict[str, Callable[..., Any]] = {
    "unique": lambda x, **size: jnp.unique(x, **size),
    "unique_values": lambda x, **size: jnp.unique_values(x, **size),
    "unique_counts": lambda x, **size: jnp.unique_counts(x, **size).values,
    "union1d": lambda x, **size: jnp.union1d(x, OTHER, **size),
    "intersect1d": lambda x, **size: jnp.intersect1d(x, OTHER, **size),
    "setdiff1d": lambda x, **size: jnp.setdiff1d(x, OTHER, **size),
    "setxor1d": lambda x, **size: jnp.setxor1d(x, OTHER, **size),
}
OTHER = np.array([-1.0, 5.0], "float32")


@pytest.mark.parametrize("name", sorted(SETS))
def test_what_is_taken_has_its_derivative_whether_a_size_is_given_or_not(
    name: str,
) -> None:
    taken, x = SETS[name], jnp.array([1.75, -1.0, -2.75])
    size = taken(x).size
    alone = traceir.grad(lambda v: (taken(v) ** 2).sum())(x)
    sized = traceir.grad(lambda v: (taken(v, size=size) ** 2).sum())(x)
    np.testing.assert_array_equal(alone, sized)
    assert np.asarray(alone).any()
