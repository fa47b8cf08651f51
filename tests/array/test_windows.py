"""Windows and convolutions beside SciPy, and their gradients beside numeric ones.

Cites class.window, conv_general_dilated.*, face.padding, face.letters, face.empty,
face.integers, face.spacing
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.test_util import check_grads

BACKENDS = ["reference", "numba"]
RNG = np.random.default_rng(5)
IMAGE = RNG.standard_normal((9, 14)).astype("float32")
KERNEL = RNG.standard_normal((3, 4)).astype("float32")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", ["valid", "full"])
def test_a_plane_is_correlated_as_scipy_does(backend: str, mode: str) -> None:
    pads = [(0, 0), (0, 0)] if mode == "valid" else [(2, 2), (3, 3)]

    @traceir.jit(backend=backend)
    def found(x: Any, k: Any) -> Any:
        return lax.conv(x[None, None], k[None, None], (1, 1), pads)[0, 0]

    want = scipy.signal.correlate2d(IMAGE, KERNEL, mode)
    np.testing.assert_allclose(found(IMAGE, KERNEL), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("features", [1, 3, 7])
def test_features_are_added_up(backend: str, features: int) -> None:
    x = RNG.standard_normal((2, 5, 6, 6)).astype("float32")
    k = RNG.standard_normal((features, 5, 3, 3)).astype("float32")
    found = traceir.jit(lambda x, k: lax.conv(x, k, (1, 1), "SAME"), backend=backend)
    want = [
        [
            sum(scipy.signal.correlate2d(a, b, "same") for a, b in zip(one, kernel))
            for kernel in k
        ]
        for one in x
    ]
    np.testing.assert_allclose(found(x, k), want, rtol=1e-4, atol=1e-4)


FOLDS: list[tuple[Any, float, Callable[..., Any]]] = [
    (lax.max, -np.inf, scipy.ndimage.maximum_filter),
    (lax.min, np.inf, scipy.ndimage.minimum_filter),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [3, 5, 11])
@pytest.mark.parametrize(("fold", "start", "by_scipy"), FOLDS)
def test_extremes_of_windows_are_scipys(
    backend: str, size: int, fold: Any, start: float, by_scipy: Callable[..., Any]
) -> None:
    @traceir.jit(backend=backend)
    def found(x: Any) -> Any:
        return lax.reduce_window(x, start, fold, (size, size), (1, 1), "SAME")

    outside = {"mode": "constant", "cval": start}
    np.testing.assert_array_equal(found(IMAGE), by_scipy(IMAGE, size, **outside))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [1, 8, 9, 64, 100])
def test_a_long_sum_is_that_of_its_elements(backend: str, size: int) -> None:
    x = np.arange(128, dtype="int32")
    found = traceir.jit(
        lambda x: lax.reduce_window(x, 0, lax.add, (size,)), backend=backend
    )
    want = np.lib.stride_tricks.sliding_window_view(x, size).sum(1)
    np.testing.assert_array_equal(found(x), want)


def test_any_function_folds_a_window_from_its_start() -> None:
    x = jnp.array([1.0, 2.0, 3.0])
    found = lax.reduce_window(x, 10.0, lambda a, b: a - b, (2,), (1,), [(1, 0)])
    np.testing.assert_array_equal(found, [9.0, 7.0, 5.0])


def _pool(x: Any) -> Any:
    return lax.reduce_window(x, -np.inf, lax.max, (2, 2), (2, 1), [(1, 0), (0, 1)])


def _strided(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(
        x, k, (2, 1), [(1, 0), (0, 2)], (1, 2), (2, 1), feature_group_count=2
    )


def test_derivatives_are_the_numeric_ones() -> None:
    with traceir.enable_x64(True):
        x, k = RNG.standard_normal((1, 4, 4, 3)), RNG.standard_normal((2, 2, 2, 2))
        check_grads(_strided, (x, k), order=2)
        check_grads(_pool, (RNG.permutation(12).reshape(3, 4) / 3.0,), order=1)


ERRORS: list[tuple[str, Callable[[], Any]]] = [
    ("face.padding", lambda: lax.reduce_window(IMAGE, 0.0, lax.add, (2, 2), None, "X")),
    (
        "face.letters",
        lambda: lax.conv_dimension_numbers((1,) * 3, (1,) * 3, ("NC",) * 3),
    ),
    ("face.empty", lambda: jnp.convolve(jnp.zeros(0), jnp.ones(2))),
    ("face.vector", lambda: jnp.convolve(jnp.ones((2, 2)), jnp.ones(2))),
    ("face.choice", lambda: jnp.correlate(jnp.ones(2), jnp.ones(2), "most")),
    ("face.integers", lambda: jnp.gcd(1.5, 2)),
    ("face.integers", lambda: jnp.packbits(jnp.ones(3))),
    ("face.spacing", lambda: jnp.gradient(jnp.ones(1))),
    ("face.spacing", lambda: jnp.gradient(jnp.ones((3, 3)), 1.0, 2.0, 3.0)),
]


@pytest.mark.parametrize(("rule", "call"), ERRORS)
def test_what_is_refused(rule: str, call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert getattr(caught.value, "rule", None) == rule


def test_divisors_of_the_least_integer_are_found() -> None:
    least = np.array([-128, -128, 0, -128, 1, 6], "int8")
    other = np.array([1, 6, -128, -128, -128, -128], "int8")
    for name in ("gcd", "lcm"):
        found = getattr(jnp, name)(least, other)
        np.testing.assert_array_equal(found, getattr(np, name)(least, other))
