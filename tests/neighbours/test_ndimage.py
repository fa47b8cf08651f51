"""Interpolation beside SciPy's, compiled, mapped and differentiated.

Cites: face.unsupported, face.empty, face.least-rank, face.broadcast, face.complex,
face.argument, face.imaginary
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.scipy.ndimage import map_coordinates

# The modes, by the name that SciPy has for the like.
MODES = {
    "constant": "grid-constant",
    "nearest": "nearest",
    "wrap": "grid-wrap",
    "mirror": "mirror",
    "reflect": "reflect",
}
RNG = np.random.default_rng(3)
IMAGE = RNG.normal(size=(4, 5)).astype("float32")
PLACES = RNG.uniform(-13, 17, (2, 60)).astype("float32")


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("mode", MODES)
def test_values_are_those_of_scipy(mode: str, order: int) -> None:
    given = {"order": order, "mode": MODES[mode], "cval": 2.0}
    wanted = scipy.ndimage.map_coordinates(IMAGE, PLACES, **given)

    def f(image: Any, places: Any) -> Any:
        return map_coordinates(image, [places[0], places[1]], order, mode, 2.0)

    close = {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(f(IMAGE, PLACES), wanted, **close)
    for backend in ("reference", "numba"):
        got = traceir.jit(f, backend=backend)(IMAGE, PLACES)
        np.testing.assert_allclose(got, wanted, **close)
    each = traceir.vmap(f, (None, 1))(IMAGE, PLACES)
    np.testing.assert_allclose(each, wanted, **close)


def test_a_single_element_goes_on_for_ever() -> None:
    places = [np.array([-2.0, -0.5, 0.0, 0.4, 3.0], "float32")]
    for mode in set(MODES) - {"constant"}:
        for order in (0, 1):
            found = map_coordinates(np.array([3.0], "float32"), places, order, mode)
            assert found.tolist() == [3.0] * 5, mode


def test_the_nearest_of_two_is_the_farther_from_zero() -> None:
    x = jnp.arange(5.0)
    found = map_coordinates(x, [np.array([0.5, 1.5, 2.5, -0.5])], 0, cval=-9)
    assert found.tolist() == [1, 2, 3, -9]


def test_results_have_the_dtype_of_the_array() -> None:
    whole = map_coordinates(jnp.array([1, 2, -4]), [np.array([0.5, 1.75])], 1)
    assert whole.dtype == "int32" and whole.tolist() == [2, -3]  # 1.5 and -2.5
    truths = map_coordinates(jnp.array([True, False]), [np.array([0.25, 1.0])], 1)
    assert truths.dtype == "bool" and truths.tolist() == [True, False]
    kept = map_coordinates(jnp.array([1, 2]), [jnp.array([1, 5])], 1, cval=7.5)
    assert kept.tolist() == [2, 7]
    parts = map_coordinates(jnp.array([1j, 2]), (0.5,), 1)
    assert parts.dtype == "complex64" and not parts.weak_type
    assert complex(parts) == 1 + 0.5j
    half = map_coordinates(jnp.arange(3, dtype="float16"), [np.float32([1.5])], 1)
    assert half.dtype == "float16"


def test_coordinates_broadcast_and_may_be_one_array_or_lists() -> None:
    x = jnp.arange(6.0).reshape(2, 3)
    grid = map_coordinates(x, [jnp.ones((2, 1)), jnp.arange(3.0)], 1)
    assert grid.tolist() == [[3, 4, 5]] * 2
    assert map_coordinates(x, jnp.array([[0.5], [1.0]]), 1).tolist() == [2.5]
    assert map_coordinates([1.0, 2.0], [[0, 1]], 0).tolist() == [1, 2]


def test_slopes_are_differences_of_elements_and_weights_of_places() -> None:
    x = jnp.array([0.0, 1.0, 4.0, 9.0])

    def f(x: Any, place: Any, outside: Any) -> Any:
        return jnp.sum(map_coordinates(x, [place], 1, cval=outside))

    places = jnp.array([0.5, 2.25, -0.75])
    by_x, by_place, by_outside = traceir.grad(f, (0, 1, 2))(x, places, 2.0)
    assert by_x.tolist() == [0.75, 0.5, 0.75, 0.25]
    assert by_place.tolist() == [1.0, 5.0, -2.0]
    assert float(by_outside) == 0.75


X = jnp.ones((2, 2))
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("face.unsupported", lambda: map_coordinates(X, [0.0, 0.0], 3)),
    ("face.unsupported", lambda: map_coordinates(X, [0.0, 0.0], 1, "grid-wrap")),
    ("face.least-rank", lambda: map_coordinates(X, [0.0], 1)),
    ("face.least-rank", lambda: map_coordinates(1.0, [], 1)),
    ("face.empty", lambda: map_coordinates(X[:0], [0.0, 0.0], 1)),
    ("face.complex", lambda: map_coordinates(X, [0.0, 1j], 1)),
    ("face.argument", lambda: map_coordinates(X, [0.0, True], 1)),
    ("face.argument", lambda: map_coordinates(X, [0.0, "a"], 1)),
    ("face.imaginary", lambda: map_coordinates(X, [0.0, 0.0], 1, cval=1j)),
    ("face.broadcast", lambda: map_coordinates(X, [np.ones(2), np.ones(3)], 0)),
]


@pytest.mark.parametrize(("rule", "call"), REFUSED)
def test_what_makes_no_sense_is_refused(rule: str, call: Callable[[], Any]) -> None:
    with raises_rule(rule):
        call()
