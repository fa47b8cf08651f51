"""Numbers that are drawn have the distribution that they are named for.

With a fixed key, the test of Kolmogorov and Smirnov against SciPy's distribution
functions for floating ones, and means and variances for all.
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

NUMBER = 4000
KEY = random.key(2026)
Draw = Callable[..., Any]

# How they are drawn, and SciPy's distribution.
FLOATING: dict[str, tuple[Draw, Any]] = {
    "uniform": (random.uniform, stats.uniform()),
    "normal": (random.normal, stats.norm()),
    "exponential": (random.exponential, stats.expon()),
    "gumbel": (random.gumbel, stats.gumbel_r()),
    "gumbel-high": (
        lambda key, shape, dtype: random.gumbel(key, shape, dtype, mode="high"),
        stats.gumbel_r(),
    ),
    "laplace": (random.laplace, stats.laplace()),
    "logistic": (random.logistic, stats.logistic()),
    "cauchy": (random.cauchy, stats.cauchy()),
    "maxwell": (random.maxwell, stats.maxwell()),
    "pareto": (lambda k, *a: random.pareto(k, 3.0, *a), stats.pareto(3)),
    "weibull_min": (
        lambda k, *a: random.weibull_min(k, 2.0, 1.5, *a),
        stats.weibull_min(1.5, scale=2),
    ),
    "rayleigh": (lambda k, *a: random.rayleigh(k, 2.0, *a), stats.rayleigh(scale=2)),
    "truncated_normal": (
        lambda k, *a: random.truncated_normal(k, -1.0, 2.0, *a),
        stats.truncnorm(-1, 2),
    ),
    "triangular": (
        lambda k, *a: random.triangular(k, 0.0, 1.0, 4.0, *a),
        stats.triang(0.25, scale=4),
    ),
    "lognormal": (lambda k, *a: random.lognormal(k, 0.5, *a), stats.lognorm(0.5)),
    "wald": (lambda k, *a: random.wald(k, 2.0, *a), stats.invgauss(2.0)),
    "double_sided_maxwell": (
        lambda k, *a: random.double_sided_maxwell(k, 0.0, 1.0, *a) ** 2,
        stats.chi2(3),
    ),
    "gamma-half": (lambda k, *a: random.gamma(k, 0.5, *a), stats.gamma(0.5)),
    "gamma": (lambda k, *a: random.gamma(k, 3.0, *a), stats.gamma(3)),
    "loggamma": (lambda k, *a: random.loggamma(k, 0.5, *a), stats.loggamma(0.5)),
    "beta": (lambda k, *a: random.beta(k, 2.0, 0.5, *a), stats.beta(2, 0.5)),
    "chisquare": (lambda k, *a: random.chisquare(k, 3.0, *a), stats.chi2(3)),
    "t": (lambda k, *a: random.t(k, 4.0, *a), stats.t(4)),
    "f": (lambda k, *a: random.f(k, 5.0, 8.0, *a), stats.f(5, 8)),
    "generalized_normal": (
        lambda k, *a: random.generalized_normal(k, 1.5, *a),
        stats.gennorm(1.5),
    ),
}
# How they are drawn, and SciPy's probabilities.
COUNTS: dict[str, tuple[Draw, Any]] = {
    "randint": (lambda k, s: random.randint(k, s, -3, 9), stats.randint(-3, 9)),
    "bernoulli": (lambda k, s: random.bernoulli(k, 0.3, s), stats.bernoulli(0.3)),
    "bernoulli-high": (
        lambda k, s: random.bernoulli(k, 0.3, s, mode="high"),
        stats.bernoulli(0.3),
    ),
    "rademacher": (
        lambda k, s: (random.rademacher(k, s) + 1) // 2,
        stats.bernoulli(0.5),
    ),
    "geometric": (lambda k, s: random.geometric(k, 0.3, s), stats.geom(0.3)),
    "poisson": (lambda k, s: random.poisson(k, 3.0, s), stats.poisson(3)),
    "poisson-many": (lambda k, s: random.poisson(k, 40.0, s), stats.poisson(40)),
    "binomial": (lambda k, s: random.binomial(k, 9.0, 0.3, s), stats.binom(9, 0.3)),
    "binomial-many": (
        lambda k, s: random.binomial(k, 90.0, 0.7, s),
        stats.binom(90, 0.7),
    ),
    "categorical": (
        lambda k, s: random.categorical(k, jnp.log(jnp.array([1.0, 2, 3])), shape=s),
        stats.rv_discrete(values=([0, 1, 2], [1 / 6, 2 / 6, 3 / 6])),
    ),
    "choice": (
        lambda k, s: random.choice(k, 3, s, p=jnp.array([0.5, 0.2, 0.3])),
        stats.rv_discrete(values=([0, 1, 2], [0.5, 0.2, 0.3])),
    ),
}


@pytest.mark.parametrize("layout", [True, False])
@pytest.mark.parametrize("name", FLOATING)
def test_distribution(name: str, layout: bool) -> None:
    draw, known = FLOATING[name]
    with traceir.threefry_partitionable(layout):
        found = np.asarray(draw(KEY, (NUMBER,), None))
    assert found.dtype == np.float32
    assert stats.kstest(found, known.cdf).pvalue > 1e-3


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("name", FLOATING)
def test_distribution_of_other_widths(name: str, dtype: str) -> None:
    draw, known = FLOATING[name]
    with traceir.enable_x64(True):
        drawn = draw(KEY, (NUMBER,), dtype)
    assert drawn.dtype.name == dtype
    found = np.asarray(drawn.astype("float32"))
    quarters = np.mean(found[:, None] <= known.ppf([0.25, 0.5, 0.75]), 0)
    # Three standard deviations, and a step of eight digits.
    np.testing.assert_allclose(quarters, [0.25, 0.5, 0.75], atol=0.03)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    draw, known = COUNTS[name]
    found = np.asarray(draw(KEY, (NUMBER,))).astype(float)
    mean, variance = float(known.mean()), float(known.var())
    assert abs(found.mean() - mean) < 4 * (variance / NUMBER) ** 0.5
    assert abs(found.var() / variance - 1) < 0.2
    values = np.unique(found)
    shares = np.array([np.mean(found == v) for v in values])
    np.testing.assert_allclose(shares, known.pmf(values), atol=0.035)


def test_vectors() -> None:
    cov = np.array([[2.0, 0.6], [0.6, 1.0]], np.float32)
    mean = np.array([1.0, -1.0], np.float32)
    for method in ("cholesky", "eigh", "svd"):
        x = np.asarray(
            random.multivariate_normal(KEY, mean, cov, (NUMBER,), method=method)
        )
        np.testing.assert_allclose(x.mean(0), mean, atol=0.1)
        np.testing.assert_allclose(np.cov(x.T), cov, atol=0.15)
    x = np.asarray(random.dirichlet(KEY, jnp.array([1.0, 2.0, 5.0]), (NUMBER,)))
    np.testing.assert_allclose(x.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(x.mean(0), np.array([1, 2, 5]) / 8, atol=0.02)
    x = np.asarray(random.multinomial(KEY, 20.0, jnp.full((NUMBER, 2), 0.5)))
    np.testing.assert_array_equal(x.sum(-1), 20)
    np.testing.assert_allclose(x.mean(0), [10, 10], atol=0.15)
    x = np.asarray(random.ball(KEY, 2, shape=(NUMBER,)))
    assert stats.kstest((x**2).sum(-1), stats.uniform().cdf).pvalue > 1e-3
    q = np.asarray(random.orthogonal(KEY, 3, (10,)))
    ones = np.tile(np.eye(3), (10, 1, 1))
    np.testing.assert_allclose(q @ q.swapaxes(1, 2), ones, atol=1e-5)


def test_orders() -> None:
    rows = jnp.tile(jnp.arange(5), (NUMBER, 1))
    mixed = np.asarray(random.permutation(KEY, rows, axis=1, independent=True))
    np.testing.assert_array_equal(np.sort(mixed), np.asarray(rows))
    shares = np.array([np.mean(mixed == v, 0) for v in range(5)])
    np.testing.assert_allclose(shares, 0.2, atol=0.03)
    drawn = np.asarray(random.choice(KEY, 50, (20,), replace=False))
    assert len(np.unique(drawn)) == 20
