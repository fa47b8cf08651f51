"""Convolutions, correlations and trends against their definitions.

Cites: face.choice, face.empty, face.least-rank
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.signal
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.scipy import signal

SHAPES = [
    *itertools.product([(6,), (3,), (2,), (1,)], repeat=2),
    *itertools.product([(4, 5), (3, 2), (5, 3), (2, 6)], repeat=2),
    ((2, 3, 4), (1, 2, 2)),
]
FITS = [(n, m) for n, m in SHAPES if (np.subtract(n, m) >= 0).all()]
FITS += [(m, n) for n, m in FITS]
RNG = np.random.default_rng(7)


def everywhere(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Each product of two elements, added where their places add up to."""
    found = np.zeros(np.add(x.shape, y.shape) - 1, np.result_type(x, y))
    for place in np.ndindex(y.shape):
        window = tuple(slice(k, k + n) for k, n in zip(place, x.shape, strict=True))
        found[window] += x * y[place]
    return found


def wanted(x: np.ndarray, y: np.ndarray, mode: str) -> np.ndarray:
    """The places that are kept."""
    kept = []
    for n, m in zip(x.shape, y.shape, strict=True):
        starts = {"full": 0, "same": (m - 1) // 2, "valid": min(n, m) - 1}
        counts = {"full": n + m - 1, "same": n, "valid": abs(n - m) + 1}
        kept.append(slice(starts[mode], starts[mode] + counts[mode]))
    return everywhere(x, y)[tuple(kept)]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve"])
def test_shapes_and_values_are_those_of_the_definition(name: str, mode: str) -> None:
    every = name == "fftconvolve" and mode != "valid"
    for n, m in SHAPES if every else FITS:
        x, y = (RNG.integers(-4, 5, shape).astype("float32") for shape in (n, m))
        got = getattr(signal, name)(x, y, mode)
        want = wanted(x, np.flip(y) if name == "correlate" else y, mode)
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, atol=1e-4)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_matrices_and_complex_numbers_compile(backend: str) -> None:
    x, y = (RNG.integers(-4, 5, (4, 3)) * (1 + 2j) for _ in range(2))
    x, y = x.astype("complex64"), y.astype("complex64")
    ways: list[tuple[Callable[..., Any], np.ndarray]] = [
        (signal.convolve2d, y),
        (signal.correlate2d, np.flip(y.conj())),
        (signal.fftconvolve, y),
    ]
    for function, other in ways:
        got = traceir.jit(lambda a, b, f=function: f(a, b), backend=backend)(x, y)
        np.testing.assert_allclose(got, everywhere(x, other), atol=2e-4)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["correlate2d", "convolve2d"])
def test_matrices_meet_where_scipys_do(name: str, mode: str) -> None:
    for shape, other in (((3, 3), (2, 2)), ((4, 5), (3, 2)), ((2, 2), (3, 5))):
        x, y = RNG.normal(size=(2, *shape)), RNG.normal(size=(2, *other))
        for factor in (0, 1j):
            pair = x[0] + factor * x[1], y[0] + factor * y[1]
            want = getattr(scipy.signal, name)(*pair, mode)
            got = getattr(signal, name)(*map(jnp.asarray, pair), mode)
            np.testing.assert_allclose(got, want, 1e-4, 1e-4)


def test_some_axes_are_transformed_and_the_others_are_stretched() -> None:
    x, y = RNG.normal(size=(3, 8)).astype("f"), RNG.normal(size=(1, 3)).astype("f")
    want = [np.convolve(row, y[0], "full") for row in x]
    np.testing.assert_allclose(signal.fftconvolve(x, y, axes=1), want, atol=1e-5)
    np.testing.assert_array_equal(signal.fftconvolve(x, y[:, :1], axes=()), x * y[0, 0])


def test_what_has_no_trend_is_left() -> None:
    rest = np.array([[1, -1, -1, 1, 2, -2, -2, 2, 0]] * 2, "float32")
    line = np.r_[3 * np.arange(4), 50 - np.arange(4), 7].astype("float32")
    got = signal.detrend(rest + line, bp=[4, 8])
    np.testing.assert_allclose(got, rest, atol=1e-5)
    got = signal.detrend((rest + 5).T, 0, "constant")
    np.testing.assert_allclose(got, rest.T, atol=1e-6)
    slope = traceir.grad(lambda v: jnp.sum(signal.detrend(v) ** 2))(line[:4])
    np.testing.assert_allclose(slope, np.zeros(4), atol=1e-5)


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("face.least-rank", lambda: signal.convolve(jnp.ones((2, 2)), jnp.ones(2))),
    ("face.least-rank", lambda: signal.convolve2d(jnp.ones(2), jnp.ones(2))),
    ("face.empty", lambda: signal.correlate(jnp.ones(0), jnp.ones(2))),
    ("face.choice", lambda: signal.convolve(jnp.ones(2), jnp.ones(2), "all")),
    ("face.choice", lambda: signal.convolve(jnp.ones(2), jnp.ones(2), method="dft")),
    (
        "face.choice",
        lambda: signal.convolve(jnp.ones((2, 3)), jnp.ones((3, 2)), "valid"),
    ),
    (
        "face.choice",
        lambda: signal.convolve2d(jnp.eye(2), jnp.eye(2), boundary="wrap"),
    ),
    ("face.choice", lambda: signal.correlate2d(jnp.eye(2), jnp.eye(2), fillvalue=1)),
    ("face.choice", lambda: signal.detrend(jnp.ones(2), type="square")),
    ("face.choice", lambda: signal.detrend(jnp.ones(2), bp=3)),
]


@pytest.mark.parametrize(("rule", "call"), REFUSED)
def test_what_makes_no_sense_is_refused(rule: str, call: Callable[[], Any]) -> None:
    with raises_rule(rule):
        call()


def test_ids_must_be_known_where_they_say_how_many_rows_there_are() -> None:
    x = jnp.arange(4.0)
    assert traceir.ops.segment_sum(x, np.array([0, 0, 2, -1])).tolist() == [1, 0, 2]
    assert traceir.ops.segment_sum(x[:0], np.array([], int)).shape == (0,)
    found = traceir.ops.segment_sum(x, np.array([1, 0, 1, 1]), 2, bucket_size=2)
    assert found.tolist() == [1, 5]
    with raises_rule("order.size", pattern="give `num_segments`"):
        traceir.jit(lambda k: traceir.ops.segment_sum(x, k))(np.array([0, 0, 2, 1]))


def test_a_vector_of_another_length_makes_no_tree() -> None:
    flat, unravel = traceir.flatten_util.ravel_pytree({"a": jnp.ones(2), "b": 1})
    assert unravel(flat)["b"].dtype == "int32"
    with raises_rule("split.sum"):
        unravel(flat[1:])
    none, same = traceir.flatten_util.ravel_pytree((None, []))
    assert none.shape == (0,) and same(none) == (None, [])


def test_segments_are_counted_by_places_of_any_integers() -> None:
    for dtype in ("uint8", "int8", "int64"):
        found = traceir.ops.segment_sum(np.ones(2, "f4"), np.array([1, 1], dtype))
        np.testing.assert_array_equal(found, [0.0, 2.0])
    assert traceir.ops.segment_sum(np.ones(0, "f4"), np.zeros(0, "uint8")).shape == (0,)
