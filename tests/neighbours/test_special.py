"""`traceir.scipy.special` beside mpmath, on hard arguments; slopes beside mpmath's.

Cites face.choice
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
from mpmath import mpf
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir.scipy.special as ours

SMALL = np.concatenate([-np.logspace(2.5, -3, 40), np.logspace(-3, 1, 30)])
POSITIVE = np.logspace(-3, 2, 40)
CHANCES = np.concatenate([np.logspace(-30, -1.1, 25), np.linspace(0.08, 0.999, 25)])


def log_ndtr(x: Any) -> Any:
    """The logarithm of the normal distribution's cdf."""
    if x > 0:
        return mpmath.log1p(-mpmath.erfc(x / mpmath.sqrt(2)) / 2)
    return mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2)


def ndtri(p: Any) -> Any:
    """The inverse, from SciPy's on."""
    if p > 0.5:
        return -ndtri(1 - p)
    start = mpf(float(scipy.special.ndtri(float(p))))
    wanted = mpmath.log(p)
    return mpmath.findroot(lambda z: log_ndtr(z) - wanted, start)


def log_beta(a: Any) -> Any:
    """The logarithm of beta(a, 1000)."""
    return mpmath.log(mpmath.beta(a, 1000))


# The function, the truth, arguments, and how many units of precision it may be off, of
# what rounding the argument changes by, too.
CASES: dict[str, tuple[Callable[..., Any], Callable[[Any], Any], np.ndarray, float]] = {
    "ndtr": (ours.ndtr, mpmath.ncdf, SMALL[SMALL > -12], 4),
    "log_ndtr": (ours.log_ndtr, log_ndtr, SMALL, 4),
    "ndtri": (ours.ndtri, ndtri, CHANCES, 4),
    "expit": (ours.expit, lambda x: 1 / (1 + mpmath.exp(-x)), SMALL[SMALL > -80], 4),
    "logit": (ours.logit, lambda p: mpmath.log(p / (1 - p)), CHANCES, 4),
    "entr": (ours.entr, lambda x: -x * mpmath.log(x), POSITIVE, 4),
    "xlog1py": (
        lambda x: ours.xlog1py(2.0, x),
        lambda x: 2 * mpmath.log1p(x),
        POSITIVE,
        4,
    ),
    "boxcox": (
        lambda x: ours.boxcox(x, 0.5),
        lambda x: 2 * mpmath.sqrt(x) - 2,
        POSITIVE,
        6,
    ),
    "gammaln": (ours.gammaln, mpmath.loggamma, POSITIVE, 4),
    "gamma": (ours.gamma, mpmath.gamma, POSITIVE[POSITIVE < 30], 90),
    "betaln": (lambda a: ours.betaln(a, 1000.0), log_beta, POSITIVE, 8),
    "digamma": (ours.digamma, mpmath.digamma, POSITIVE, 4),
    "i0e": (ours.i0e, lambda x: mpmath.besseli(0, x) * mpmath.exp(-x), POSITIVE, 4),
    "i1": (ours.i1, lambda x: mpmath.besseli(1, x), POSITIVE[POSITIVE < 80], 60),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASES)
def test_values_are_near_the_truth(name: str, dtype: type) -> None:
    function, truth, points, units = CASES[name]
    with traceir.enable_x64(dtype is np.float64):
        given = points.astype(dtype)
        found = np.asarray(function(jnp.asarray(given)))
        staged = np.asarray(traceir.jit(function, backend="numba")(given))
    assert found.dtype == staged.dtype == dtype
    with mpmath.workdps(40):
        wanted = [truth(mpf(float(x))) for x in given]
        slopes = [x * mpmath.diff(truth, mpf(float(x))) for x in given]
    eps = np.finfo(dtype).eps
    for got in (found, staged):
        for value, want, slope in zip(got, wanted, slopes, strict=True):
            allowed = units * eps * (abs(want) + abs(slope))
            assert abs(mpf(float(value)) - want) <= allowed


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("ndtri",)])
def test_slopes_are_near_the_truth(name: str) -> None:
    function, truth, points, _ = CASES[name]
    with traceir.enable_x64(True):
        found = traceir.vmap(traceir.grad(function))(jnp.asarray(points[::5]))
    with mpmath.workdps(40):
        wanted = [float(mpmath.diff(truth, mpf(float(x)))) for x in points[::5]]
    np.testing.assert_allclose(np.asarray(found), wanted, 1e-11)


def test_the_slope_of_the_quantile() -> None:
    with traceir.enable_x64(True):
        slope = traceir.vmap(traceir.grad(ours.ndtri))(jnp.asarray(CHANCES))
    density = np.exp(-(scipy.special.ndtri(CHANCES) ** 2) / 2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(np.asarray(slope), 1 / density, 1e-12)


ENDS = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, np.inf, -np.inf, np.nan])
ONE = [
    *("erf", "erfc", "erfinv", "expit", "ndtr", "log_ndtr", "entr"),
    *("gammaln", "digamma", "i0e", "i1e", "gamma", "gammasgn"),
]
# Where SciPy and the C standard differ.
APART = {
    "gammaln": [-np.inf],
    "gamma": [-np.inf, -1.0],
    "digamma": [-1.0, -np.inf, 0.0],
}


@pytest.mark.parametrize("name", ONE)
def test_ends_are_those_of_scipy(name: str) -> None:
    points = [x for x in ENDS if not (name in APART and x in APART[name])]
    with traceir.enable_x64(True):
        found = getattr(ours, name)(np.array(points))
    wanted = getattr(scipy.special, name)(np.array(points))
    np.testing.assert_allclose(np.asarray(found), wanted, 1e-13, 1e-15)


TWO = [
    *("xlogy", "xlog1py", "rel_entr", "kl_div"),
    *("betaln", "gammainc", "gammaincc", "zeta"),
]
GRID = np.array([0.0, 0.3, 1.0, 2.5, 40.0])


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_broadcast_and_promote(name: str) -> None:
    own, theirs = getattr(ours, name), getattr(scipy.special, name)
    with traceir.enable_x64(True):
        column = GRID[:, None] + (name == "betaln")
        found = own(column, GRID + 1)
        np.testing.assert_allclose(found, theirs(column, GRID + 1), 3e-12)
    mixed = own(jnp.array([1, 2]), jnp.array([1.5, 2.5], dtype="float16"))
    assert mixed.dtype == np.float16
    assert own(jnp.array([1, 2]), 3).dtype == np.float32


def test_combinations() -> None:
    n, k = np.arange(-1, 8)[:, None], np.arange(-1, 8)
    with traceir.enable_x64(True):
        np.testing.assert_allclose(ours.comb(n, k), scipy.special.comb(n, k), 1e-13)
        twice = ours.comb(n + 1, k + 1, repetition=True)
        wanted = scipy.special.comb(n + 1, k + 1, repetition=True)
        np.testing.assert_allclose(twice, wanted, 1e-13)
        factorials = ours.factorial(np.arange(-2, 12))
        wanted = scipy.special.factorial(np.arange(-2, 12))
        np.testing.assert_allclose(factorials, wanted, 1e-13)
        z, m = np.array([0.5, 2.0, 7.0]), np.array([0.0, 1.5, 3.0])
        np.testing.assert_allclose(ours.poch(z, m), scipy.special.poch(z, m), 1e-13)
        slope = traceir.grad(ours.poch, (0, 1))(2.0, 3.0)
        np.testing.assert_allclose(slope, [26, 24 * scipy.special.digamma(5)], 1e-12)
        found = ours.multigammaln(np.array([3.0, 4.5]), 3)
        wanted = [scipy.special.multigammaln(a, 3) for a in (3.0, 4.5)]
        np.testing.assert_allclose(found, wanted, 1e-13)


def test_what_is_refused() -> None:
    with raises_rule("face.choice", ValueError, "exact"):
        ours.factorial(3, exact=True)
    with raises_rule("face.choice", ValueError, "order"):
        ours.polygamma(1.5, 2.0)
    with raises_rule("face.broadcast", TypeError):
        ours.xlogy(jnp.ones(2), jnp.ones(3))


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
def test_sums_of_exponentials(axis: Any) -> None:
    x = np.array([[1000.0, 1000.0, -np.inf], [-1000.0, 3.0, 2.0]])
    b = np.array([[2.0, -1.0, 1.0], [0.5, 0.0, 1.0]])
    with traceir.enable_x64(True):
        for kwargs in ({}, {"keepdims": True}, {"b": b}, {"b": b, "return_sign": True}):
            found = ours.logsumexp(x, axis, **kwargs)
            wanted = scipy.special.logsumexp(x, axis, **kwargs)
            pairs = (
                zip(found, wanted, strict=True)
                if len(kwargs) == 2
                else [(found, wanted)]
            )
            for one, other in pairs:
                np.testing.assert_allclose(np.asarray(one), other, 1e-13)
        share = ours.softmax(x, axis=axis)
        np.testing.assert_allclose(share, scipy.special.softmax(x, axis), 1e-13)
    none = ours.logsumexp(jnp.array([-jnp.inf, -jnp.inf]))
    assert none == -np.inf
    assert traceir.grad(ours.logsumexp)(jnp.array([0.0, -jnp.inf])).tolist() == [1, 0]
