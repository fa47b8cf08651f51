"""`traceir.scipy.stats` beside SciPy's own; slopes beside differences.

Cites face.choice, linalg.shapes
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.stats
from rule_errors import raises_rule
from soak import sample

import traceir
import traceir.numpy as jnp
import traceir.scipy.stats as ours

# The parameters that stand before place and scale.
SHAPES: dict[str, tuple[float, ...]] = {
    "bernoulli": (0.3,),
    "beta": (2.0, 3.5),
    "betabinom": (10, 2.0, 3.0),
    "binom": (10, 0.3),
    "chi2": (3.0,),
    "gamma": (2.5,),
    "gennorm": (1.5,),
    "geom": (0.3,),
    "nbinom": (4, 0.3),
    "pareto": (2.5,),
    "poisson": (3.5,),
    "t": (3.0,),
    "truncnorm": (-1.0, 2.0),
    "vonmises": (2.0,),
    "wrapcauchy": (0.5,),
    "cauchy": (),
    "expon": (),
    "gumbel_l": (),
    "gumbel_r": (),
    "laplace": (),
    "logistic": (),
    "norm": (),
    "uniform": (),
}
PLAIN = ("gennorm", "vonmises", "wrapcauchy")
LINES = ("dirichlet", "multinomial", "multivariate_normal", "mode", "rankdata", "sem")
# A class, in test_kernel_density.py.
NAMES = [n for n in ours.__all__ if n not in (*LINES, "gaussian_kde")]
assert set(NAMES) == set(SHAPES)
FUNCTIONS = [
    (name, function)
    for name in NAMES
    for function, value in vars(getattr(ours, name)).items()
    if inspect.isfunction(value) and value.__module__ == f"traceir.scipy.stats.{name}"
    if not function.startswith("_")
]
# Off the ends of every distribution.
PLACES = np.linspace(-7.77, 7.93, 30)


def arguments(name: str, function: str) -> tuple[Any, ...]:
    """The points at which a distribution's function is tested, and its parameters."""
    discrete = hasattr(getattr(ours, name), "pmf")
    shapes = SHAPES[name]
    if function in ("ppf", "isf"):
        # At 0, SciPy gives a place before the first whole number.
        where: Any = np.array(
            [0.0 if not discrete else 0.01, 0.001, 0.2, 0.5, 0.77, 0.999, 1.0]
        )
    elif discrete:
        where = np.arange(-1.0, 12)
    else:
        where = PLACES if name != "vonmises" else PLACES / 2.6
    rest = () if discrete or name in PLAIN else (0.3, 1.5)
    return where, *shapes, *rest


# What is compiled is primitives, each of which has cases and draws of its own.
STAGED = sample(FUNCTIONS, 3)


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_a_function_gives_what_scipys_gives(name: str, function: str) -> None:
    where, *parameters = arguments(name, function)
    theirs = getattr(getattr(scipy.stats, name), function)
    own = getattr(getattr(ours, name), function)
    want = theirs(where, *parameters)
    backend = "numba" if (name, function) in STAGED else "reference"
    with traceir.enable_x64(True):
        staged = traceir.jit(own, backend=backend)
        for got in (own(where, *parameters), staged(where, *parameters)):
            np.testing.assert_allclose(np.asarray(got), want, 2e-13, 2e-14)
    # Rounding the place moves what is small; its own size bounds by how much.
    single = own(*(np.float32(v) for v in (where, *parameters)))
    assert single.dtype == np.float32
    rounded = theirs(*(np.float64(np.float32(v)) for v in (where, *parameters)))
    np.testing.assert_allclose(np.asarray(single), rounded, 1e-4, 1e-6)


SMOOTH = [pair for pair in FUNCTIONS if pair[1] in ("logpdf", "cdf", "logsf", "ppf")]


@pytest.mark.parametrize(("name", "function"), SMOOTH)
def test_slopes_are_those_of_small_differences(name: str, function: str) -> None:
    if name == "bernoulli":
        return  # its places are whole numbers
    own = getattr(getattr(ours, name), function)
    _, *parameters = arguments(name, function)
    start = 0.3 if function == "ppf" else 1.1
    if name == "beta":
        parameters = [2.0, 3.5, 0.3, 1.5]
    if name == "poisson":
        return  # as above
    if name == "pareto":
        start += 1.4 * (function != "ppf")
    with traceir.enable_x64(True):
        slope = traceir.grad(lambda x: own(x, *parameters))(start)
        step = 1e-5
        high, low = (own(start + s, *parameters) for s in (step, -step))
        expected = (float(high) - float(low)) / (2 * step)
        np.testing.assert_allclose(float(slope), expected, 1e-6, 1e-9)


@pytest.mark.parametrize("name", ["expon", "gamma", "uniform", "pareto", "beta"])
def test_outside_slopes_are_0_and_not_unknown(name: str) -> None:
    own = getattr(ours, name).pdf
    _, *parameters = arguments(name, "pdf")
    slope = traceir.vmap(traceir.grad(lambda x: own(x, *parameters)))(
        jnp.array([-3.0, -30.0])
    )
    assert slope.tolist() == [0, 0]


RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(4, 3))
MEAN = RNG.normal(size=3)
COV = np.cov(RNG.normal(size=(3, 20)))


def test_vectors_of_the_normal_distribution() -> None:
    normal = scipy.stats.multivariate_normal(MEAN, COV)
    own = ours.multivariate_normal
    with traceir.enable_x64(True):
        staged = traceir.jit(own.logpdf, backend="numba")
        for function in (own.logpdf, staged):
            found = function(POINTS, MEAN, COV)
            np.testing.assert_allclose(found, normal.logpdf(POINTS), 1e-12)
        np.testing.assert_allclose(
            own.pdf(POINTS[0], MEAN, COV), normal.pdf(POINTS[0]), 1e-12
        )
        stacked = own.logpdf(POINTS, POINTS[:, None] + MEAN, COV)
        assert stacked.shape == (4, 4)
        alone = own.logpdf(POINTS[1], POINTS[2] + MEAN, COV)
        np.testing.assert_allclose(stacked[2, 1], alone, 1e-12)
        one = own.logpdf(0.5, 1.0, 4.0)
        np.testing.assert_allclose(one, scipy.stats.norm.logpdf(0.5, 1, 2), 1e-14)
    with raises_rule("linalg.shapes", ValueError, "cov of"):
        own.logpdf(POINTS, MEAN, COV[:2])


def test_vectors_of_the_dirichlet_distribution() -> None:
    alpha = np.array([1.5, 2, 3])
    x = np.array([[0.2, 0.3], [0.5, 0.3], [0.3, 0.4]])
    wanted = [scipy.stats.dirichlet.logpdf(column, alpha) for column in x.T]
    with traceir.enable_x64(True):
        own = ours.dirichlet
        for given in (x, x[:2]):
            np.testing.assert_allclose(own.logpdf(given, alpha), wanted, 1e-13)
        assert own.pdf(x * 1.1, alpha).tolist() == [0, 0]
    with raises_rule("linalg.shapes", ValueError, "alpha"):
        own.logpdf(x, alpha[:2])


def test_counts_of_outcomes() -> None:
    counts, p = np.array([1, 2, 3]), np.array([0.2, 0.3, 0.5])
    with traceir.enable_x64(True):
        found = ours.multinomial.logpmf(counts, 6, p)
        wanted = scipy.stats.multinomial.logpmf(counts, 6, p)
        np.testing.assert_allclose(found, wanted, 1e-13)
        assert ours.multinomial.pmf(counts, 7, p) == 0


TABLE = RNG.integers(0, 4, size=(3, 6))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks(method: str, axis: int | None) -> None:
    want = scipy.stats.rankdata(TABLE, method, axis=axis)
    found = ours.rankdata(TABLE, method, axis=axis)
    np.testing.assert_array_equal(found, want.reshape(found.shape))
    staged = traceir.jit(lambda x: ours.rankdata(x, method, axis=axis), backend="numba")
    np.testing.assert_array_equal(staged(TABLE), found)


def test_ranks_of_what_is_unknown() -> None:
    found = ours.rankdata(np.array([[1.0, np.nan], [2.0, 1.0]]), axis=1)
    np.testing.assert_array_equal(found, [[np.nan, np.nan], [2, 1]])
    with raises_rule("face.choice", ValueError, "methods are"):
        ours.rankdata(TABLE, "best")


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_modes_and_errors_of_means(axis: int | None, keepdims: bool) -> None:
    want = scipy.stats.mode(TABLE, axis, keepdims=keepdims)
    found = ours.mode(TABLE, axis, keepdims=keepdims)
    np.testing.assert_array_equal(found.mode, want.mode)
    np.testing.assert_array_equal(found.count, want.count)
    error = ours.sem(TABLE, axis, keepdims=keepdims)
    wanted = scipy.stats.sem(TABLE, axis)
    np.testing.assert_allclose(np.ravel(error), np.ravel(wanted), 1e-6)


@pytest.mark.parametrize("function", ["logpdf", "cdf", "sf"])
@pytest.mark.parametrize("name", ["beta", "expon", "gamma", "pareto", "truncnorm"])
def test_nobody_knows_where_nan_is(name: str, function: str) -> None:
    found = getattr(getattr(ours, name), function)(jnp.nan, *SHAPES[name])
    assert np.isnan(found)


def test_between_ends_that_do_not_follow_there_is_no_distribution() -> None:
    found = [getattr(ours.truncnorm, f)(2.5, 3.0, 2.0) for f in ("pdf", "cdf", "sf")]
    assert np.isnan(found).all()


def test_outside_of_it_a_distribution_does_not_change() -> None:
    for function in (ours.chi2.cdf, ours.chi2.sf, ours.gamma.cdf, ours.gamma.sf):
        slopes = traceir.vmap(traceir.grad(lambda x, f=function: f(x, 2.0)))
        assert not np.asarray(slopes(np.array([-0.5, -3.0], "float32"))).any()
        assert np.isnan(function(np.nan, 2.0))
