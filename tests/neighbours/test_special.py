"""`traceir.scipy.special` beside mpmath, on hard arguments; slopes beside mpmath's.

Cites face.choice derive.missing accuracy.conditioned
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
from rule_errors import raises_rule
from ulp import faces, hard

import traceir
import traceir.numpy as jnp
import traceir.scipy.special as ours
from traceir.accept import Goal, member

CHANCES = np.concatenate([np.logspace(-30, -1.1, 25), np.linspace(0.08, 0.999, 25)])
# What the chapter says of all functions, in units of `accuracy.conditioned`.
UNITS = 2
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "multigammaln": lambda a: ours.multigammaln(a, 3),
    "logsumexp": lambda x, y: ours.logsumexp(jnp.stack([x, y]), axis=0),
    "log_softmax": lambda x, y: ours.log_softmax(jnp.stack([x, y]), axis=0)[0],
    "softmax": lambda x, y: ours.softmax(jnp.stack([x, y]), axis=0)[0],
}
# Those that are one primitive, and those whose results are signs.
PRIMITIVES = [
    *("erf", "erfc", "erfinv", "expit", "gammaln", "loggamma", "digamma", "polygamma"),
    *("zeta", "gammainc", "gammaincc", "betainc", "i0e", "i1e", "gammasgn"),
]


def misses(
    name: str, dtype: str, function: Callable[..., Any], units: float = UNITS
) -> list[str]:
    """Results of both columns that are not near what the file says."""
    operands, wanted = hard.read(name, dtype)
    if name.startswith("polygamma"):
        operands[0] = operands[0].astype("int32")
    found = []
    for column in ("reference", "numba"):
        with traceir.enable_x64(dtype == "float64"):
            got = np.asarray(traceir.jit(function, backend=column)(*operands))
        assert got.dtype == dtype
        for k, (value, want) in enumerate(zip(got, wanted, strict=True)):
            if not member("conditioned", Goal(want, got.dtype, units, {}), value):
                place = [float(x[k]) for x in operands]
                found.append(f"{column} {place}: {value} for {want}")
    return found


@pytest.mark.parametrize("dtype", hard.DTYPES)
@pytest.mark.parametrize("name", faces.FACES)
def test_values_are_near_the_truth(name: str, dtype: str) -> None:
    function = FUNCTIONS.get(name) or getattr(ours, name)
    assert misses(name, dtype, function) == []


@pytest.mark.parametrize("dtype", hard.DTYPES)
@pytest.mark.parametrize("name", faces.SLOPES)
def test_slopes_are_near_the_truth(name: str, dtype: str) -> None:
    base, _, place = name.partition("/")
    slope = traceir.vmap(traceir.grad(getattr(ours, base), int(place)))
    # That by its form is a primitive, of whose row this is the number.
    units = 64 if name == "gammainc/0" else UNITS
    assert misses(name, dtype, slope, units) == []


def test_every_function_has_a_truth() -> None:
    assert sorted([*faces.FACES, *PRIMITIVES]) == sorted(ours.__all__)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", ["zeta", "betainc"])
def test_there_is_no_slope_by_forms_and_exponents(name: str, place: int) -> None:
    operands = (2.0, 3.0, 0.5) if name == "betainc" else (2.0, 3.0)
    with raises_rule("derive.missing", NotImplementedError):
        traceir.grad(getattr(ours, name), place)(*operands)


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
