"""Grids, codes and integrals beside SciPy's. Cites: face.choice, face.shape"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.interpolate
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.scipy.cluster.vq import vq
from traceir.scipy.integrate import trapezoid
from traceir.scipy.interpolate import RegularGridInterpolator

RNG = np.random.default_rng(1)
LINES = np.array([0.0, 1, 3, 4]), np.array([-1.0, 0, 2])
VALUES = RNG.normal(size=(4, 3, 2))
PLACES = RNG.uniform([-0.5, -1.5], [4.5, 2.5], (30, 2))


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, 7.0, None])
def test_grids(method: str, fill: Any) -> None:
    with traceir.enable_x64():
        ours = RegularGridInterpolator(LINES, VALUES, method, fill_value=fill)
        theirs = scipy.interpolate.RegularGridInterpolator(
            LINES, VALUES, method, bounds_error=False, fill_value=fill
        )
        wanted = theirs(PLACES)
        assert np.allclose(ours(PLACES), wanted, equal_nan=True)
        assert np.allclose(traceir.jit(ours)(PLACES), wanted, equal_nan=True)
        parts = ours((PLACES[:, 0], PLACES[:, 1]))
        assert np.allclose(parts, wanted, equal_nan=True)
        assert ours(PLACES.reshape(5, 6, 2)).shape == (5, 6, 2)
        again = ours(PLACES, method="linear")
        assert (method == "linear") == np.allclose(again, wanted, equal_nan=True)


def test_a_grid_has_derivatives() -> None:
    line = RegularGridInterpolator((jnp.array([0.0, 2.0]),), jnp.array([1.0, 5.0]))
    assert traceir.grad(lambda x: line(x[None])[()].sum())(jnp.array([0.5]))[0] == 2


def test_grids_that_are_refused() -> None:
    line, values = np.array([0.0, 1.0]), np.zeros(2)
    with raises_rule("face.choice", ValueError, "method='cubic'"):
        RegularGridInterpolator((line,), values, "cubic")
    with raises_rule("face.choice", ValueError, "bounds_error"):
        RegularGridInterpolator((line,), values, bounds_error=True)
    with raises_rule("face.choice", ValueError, "increase"):
        RegularGridInterpolator((line[::-1],), values)
    with raises_rule("face.shape", TypeError, "values of"):
        RegularGridInterpolator((line, line), values)
    with raises_rule("face.shape", TypeError, "places of"):
        RegularGridInterpolator((line,), values)(np.zeros((3, 2)))


@pytest.mark.parametrize("shape", [(9,), (9, 3)])
def test_codes(shape: tuple[int, ...]) -> None:
    points, codes = RNG.normal(size=shape), RNG.normal(size=(4, *shape[1:]))
    places, distances = vq(points, codes)
    wanted = scipy.cluster.vq.vq(points, codes)
    assert np.array_equal(places, wanted[0])
    assert np.allclose(distances, wanted[1], atol=1e-5)
    with raises_rule("face.shape", TypeError, "codes of"):
        vq(points, codes[None])
    with raises_rule("face.shape", TypeError, "codes of"):
        vq(np.zeros((2, 3)), np.zeros((2, 4)))


def test_integrals_are_those_of_numpy() -> None:
    assert trapezoid is jnp.trapezoid
