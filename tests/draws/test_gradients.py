"""Derivatives of what is drawn by the parameters of distributions.

The derivatives that are written down are JAX 0.10.2's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import traceir
import traceir.numpy as jnp
from traceir import random

KEY = random.key(3)
SHAPE = (4,)
AT = np.float32(1.7)


def _vectors(a: Any) -> Any:
    cov = jnp.stack([jnp.stack([2 * a, a / 2]), jnp.stack([a / 2, a])])
    return random.multivariate_normal(KEY, jnp.stack([a, a]), cov)


# By name, the derivative at 1.7 of the sum of what is drawn.
DRAWN: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "normal": (2.446332, lambda a: random.normal(KEY, SHAPE) * a),
    "uniform": (
        9.27355,
        lambda a: random.uniform(KEY, SHAPE, minval=a, maxval=3 * a),
    ),
    "gamma": (3.576281, lambda a: random.gamma(KEY, a, SHAPE)),
    "gamma-small": (0.3085373, lambda a: random.gamma(KEY, 0.1 * a, SHAPE)),
    "loggamma": (3.6221008, lambda a: random.loggamma(KEY, a, SHAPE)),
    "beta": (0.11121279, lambda a: random.beta(KEY, a, 2 * a, SHAPE)),
    "dirichlet": (
        0.023277596,
        lambda a: random.dirichlet(KEY, jnp.stack([a, a * 2, a * 3]))[0],
    ),
    "chisquare": (3.9565444, lambda a: random.chisquare(KEY, a, SHAPE)),
    "t": (0.4513681, lambda a: random.t(KEY, a, SHAPE)),
    "f": (-25.457047, lambda a: random.f(KEY, a, a, SHAPE)),
    "truncated_normal": (
        0.8115533,
        lambda a: random.truncated_normal(KEY, -a, a, SHAPE),
    ),
    "wald": (0.5647028, lambda a: random.wald(KEY, a, SHAPE)),
    "pareto": (-17.070404, lambda a: random.pareto(KEY, a, SHAPE)),
    "weibull_min": (2.7748272, lambda a: random.weibull_min(KEY, a, a, SHAPE)),
    "triangular": (
        1.4617934,
        lambda a: random.triangular(KEY, -a, a / 2, a, SHAPE),
    ),
    "multivariate_normal": (1.5717704, _vectors),
    "generalized_normal": (
        0.3341313,
        lambda a: random.generalized_normal(KEY, a, SHAPE),
    ),
    "bernoulli": (1.0, lambda a: random.bernoulli(KEY, 0.5, SHAPE) * a),
    "ball": (0.5511415, lambda a: random.ball(KEY, 3, a)),
}


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("name", DRAWN)
def test_derivative(name: str, backend: str) -> None:
    want, draw = DRAWN[name]
    slope = traceir.grad(lambda a: jnp.sum(draw(a)))
    got = traceir.jit(slope, backend=backend)(AT)
    np.testing.assert_allclose(np.asarray(got), want, 5e-6)


def test_derivatives_hold_the_share_below() -> None:
    forms = np.array([0.3, 1.0, 4.0, 40.0])
    with traceir.enable_x64(True):

        def draw(a: Any) -> Any:
            return random.gamma(KEY, a, dtype="float64")

        found = np.asarray(traceir.vmap(draw)(forms))
        slopes = np.asarray(traceir.vmap(traceir.grad(draw))(forms))
    shares, step = stats.gamma(forms).cdf(found), 1e-5
    above, below = (stats.gamma(forms + d).ppf(shares) for d in (step, -step))
    np.testing.assert_allclose(slopes, (above - below) / (2 * step), 1e-4)


@pytest.mark.parametrize("backend", [None, "reference", "numba"])
def test_a_checkpoint_closes_over_a_key(backend: str | None) -> None:
    key = random.key(1)
    f = traceir.grad(traceir.checkpoint(lambda x: jnp.sin(x * random.normal(key))))
    number = float(random.normal(key))
    found = (f if backend is None else traceir.jit(f, backend=backend))(0.5)
    np.testing.assert_allclose(found, np.cos(0.5 * number) * number, rtol=1e-6)
