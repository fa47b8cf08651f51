"""`gaussian_kde` beside SciPy's: densities, integrals, samples, slopes.

Cites: face.density, face.unsupported, face.choice, face.argument, face.complex,
linalg.shapes
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.scipy.stats import gaussian_kde

RNG = np.random.default_rng(5)
LINE = RNG.normal(size=12)
PLANE = RNG.normal(size=(2, 9))
WEIGHTS = {12: RNG.uniform(size=12), 9: RNG.uniform(size=9)}
BANDWIDTHS: list[Any] = [None, "scott", "silverman", 0.4, lambda k: 2 / (k.d + k.n)]


def pairs() -> list[Any]:
    """Estimates of ours beside SciPy's."""
    found = []
    for data in (LINE, PLANE):
        for method in BANDWIDTHS:
            for weights in (None, WEIGHTS[data.shape[-1]]):
                given = {"bw_method": method, "weights": weights}
                theirs = scipy.stats.gaussian_kde(data, **given)
                found.append((gaussian_kde(data, **given), theirs))
    return found


@pytest.mark.parametrize("number", range(20))
def test_densities_and_integrals_are_those_of_scipy(number: int) -> None:
    with traceir.enable_x64(True):
        ours, theirs = pairs()[number]
        for name in ("dataset", "weights", "covariance", "inv_cov", "neff", "d", "n"):
            wanted = getattr(theirs, name)
            np.testing.assert_allclose(getattr(ours, name), wanted, 1e-9, err_msg=name)
        points = RNG.normal(size=(ours.d, 4))
        np.testing.assert_allclose(ours(points), theirs(points), 1e-9)
        np.testing.assert_allclose(ours.pdf(points), theirs(points), 1e-9)
        np.testing.assert_allclose(ours.logpdf(points), theirs.logpdf(points), 1e-9)
        middle, spread = points[:, 0], np.eye(ours.d) / 2
        got = ours.integrate_gaussian(middle, spread)
        wanted = theirs.integrate_gaussian(middle, spread)
        np.testing.assert_allclose(got, wanted, 1e-9)
        wanted = theirs.integrate_kde(theirs)
        np.testing.assert_allclose(ours.integrate_kde(ours), wanted, 1e-9)
        if ours.d == 1:
            got = ours.integrate_box_1d(-0.5, 1.5)
            wanted = theirs.integrate_box_1d(-0.5, 1.5)
            np.testing.assert_allclose(got, wanted, 1e-9)


def test_a_vector_is_one_point_and_a_number_too() -> None:
    plane, line = gaussian_kde(PLANE), gaussian_kde(LINE)
    assert plane.evaluate(np.zeros(2)).shape == (1,)
    assert line.evaluate(0.5).shape == (1,)
    assert line.evaluate(np.zeros(3)).shape == (3,)
    assert line.evaluate(np.zeros(0)).shape == (0,)


def test_samples_far_away_have_a_logarithm() -> None:
    density = gaussian_kde(jnp.array([1.0, 2.0, 4.0]))
    assert float(density(1e4)[0]) == 0
    assert -1e9 < float(density.logpdf(1e4)[0]) < -1e6


def test_samples_are_drawn_as_jax_draws_them() -> None:
    density = gaussian_kde(jnp.array([1.0, 2.0, 4.0, 7.0, 3.0]))
    found = density.resample(traceir.random.key(0), (5,))
    wanted = [[-3.0754042, -0.3966721, 7.3429646, 2.4100773, 1.7285943]]
    np.testing.assert_allclose(found, wanted, 1e-5)
    assert gaussian_kde(PLANE).resample(traceir.random.key(1), (2, 3)).shape == (
        2,
        2,
        3,
    )
    two = gaussian_kde(LINE, 1e-4, np.eye(12)[3] + np.eye(12)[5])
    near = np.asarray(two.resample(traceir.random.key(0), (50,)))
    assert np.abs(near.T - LINE[[3, 5]]).min(1).max() < 0.01


def test_an_estimate_is_a_tree_of_five_arrays() -> None:
    density = gaussian_kde(jnp.asarray(LINE))
    leaves = traceir.tree.leaves(density)
    names = ("neff", "dataset", "weights", "covariance", "inv_cov")
    assert [leaf.shape for leaf in leaves] == [getattr(density, n).shape for n in names]
    points = jnp.array([0.0, 0.5])
    for backend in ("reference", "numba"):
        compiled = traceir.jit(lambda k, x: k(x), backend=backend)
        np.testing.assert_allclose(compiled(density, points), density(points), 1e-5)
        made = traceir.jit(lambda x: gaussian_kde(x).logpdf(points), backend=backend)
        np.testing.assert_allclose(made(LINE), density.logpdf(points), 1e-5, 1e-6)
    slopes = traceir.grad(lambda k: jnp.sum(k(points)))(density)
    assert isinstance(slopes, gaussian_kde) and slopes.dataset.shape == (1, 12)
    both = traceir.vmap(lambda x: gaussian_kde(x)(points))(np.stack([LINE, 2 * LINE]))
    np.testing.assert_allclose(both[0], density(points), 1e-5)
    with pytest.raises(AttributeError, match="cannot assign"):
        density.weights = points


def test_slopes_are_those_of_differences() -> None:
    with traceir.enable_x64(True):
        points = np.array([0.25, -1.0])

        def f(data: Any) -> Any:
            return jnp.sum(gaussian_kde(data, weights=WEIGHTS[12]).logpdf(points))

        slopes = traceir.grad(f)(LINE)
        step = 1e-6 * np.eye(12)
        wanted = [(f(LINE + s) - f(LINE - s)) / 2e-6 for s in step]
        np.testing.assert_allclose(slopes, wanted, 1e-5, 1e-7)


ONE = gaussian_kde(jnp.array([0.0, 1.0, 3.0]))
TWO = gaussian_kde(jnp.array([[0.0, 1.0, 3.0], [0.0, 2.0, 1.0]]))
X = jnp.arange(3.0)
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("face.argument", lambda: gaussian_kde([1.0, 2.0])),
    ("face.density", lambda: gaussian_kde(1.0)),
    ("face.density", lambda: gaussian_kde(jnp.ones(0))),
    ("face.density", lambda: gaussian_kde(jnp.ones((2, 2, 2)))),
    ("face.density", lambda: gaussian_kde(X, None, jnp.ones(2))),
    ("face.density", lambda: gaussian_kde(X, None, jnp.ones((1, 3)))),
    ("face.unsupported", lambda: gaussian_kde(X + 1j)),
    ("face.complex", lambda: gaussian_kde(X, None, X + 1j)),
    ("face.complex", lambda: gaussian_kde(X, 1j)),
    ("face.choice", lambda: gaussian_kde(X, "fast")),
    ("face.choice", lambda: gaussian_kde(X, jnp.ones(1))),
    ("face.density", lambda: ONE(jnp.ones((2, 3)))),
    ("face.density", lambda: TWO(1.0)),
    ("face.unsupported", lambda: ONE.logpdf(1j)),
    ("linalg.shapes", lambda: ONE.integrate_gaussian(jnp.ones(2), 1.0)),
    ("linalg.shapes", lambda: TWO.integrate_gaussian(jnp.ones(2), 1.0)),
    ("face.complex", lambda: ONE.integrate_gaussian(1j, 1.0)),
    ("face.density", lambda: TWO.integrate_box_1d(0.0, 1.0)),
    ("face.density", lambda: ONE.integrate_box_1d(jnp.zeros(2), 1.0)),
    ("face.density", lambda: ONE.integrate_kde(TWO)),
    ("face.argument", lambda: ONE.integrate_kde(1.0)),
    ("face.unsupported", lambda: ONE.integrate_box(0.0, 1.0, maxpts=3)),
    ("face.unsupported", lambda: ONE.set_bandwidth("scott")),
]


@pytest.mark.parametrize(("rule", "call"), REFUSED)
def test_what_makes_no_sense_is_refused(rule: str, call: Callable[[], Any]) -> None:
    with raises_rule(rule):
        call()
