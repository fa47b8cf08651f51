"""`traceir.scipy.special` beside mpmath, on hard arguments; slopes beside mpmath's.

Cites face.choice derive.missing accuracy.conditioned
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
from rule_errors import raises_rule
from ulp import chebyshev, faces, hard

import traceir
import traceir.numpy as jnp
import traceir.scipy.special as ours
from traceir.oracle.accuracy import Goal, member

CHANCES = np.concatenate([np.logspace(-30, -1.1, 25), np.linspace(0.08, 0.999, 25)])
# What the chapter says of all functions, in units of `accuracy.conditioned`; of some.
UNITS = 2
# These are primitives, of whose rows the numbers are.
SLOPES = {"gammainc/0": 64, "zeta/1": 16}
MORE = {"expn": 6, "erfcx": 4, "owens_t": 3, "hyp1f1": 8, "hyp2f1": 16}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "multigammaln": lambda a: ours.multigammaln(a, 3),
    "logsumexp": lambda x, y: ours.logsumexp(jnp.stack([x, y]), axis=0),
    "log_softmax": lambda x, y: ours.log_softmax(jnp.stack([x, y]), axis=0)[0],
    "sici/0": lambda x: ours.sici(x)[0],
    "sici/1": lambda x: ours.sici(x)[1],
    "fresnel/0": lambda x: ours.fresnel(x)[0],
    "fresnel/1": lambda x: ours.fresnel(x)[1],
    "bessel_jn/2": lambda x: ours.bessel_jn(x, v=2)[2],
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
@pytest.mark.parametrize("name", hard.OWN)
def test_values_are_near_the_truth(name: str, dtype: str) -> None:
    function = FUNCTIONS.get(name) or getattr(ours, name)
    assert misses(name, dtype, function, MORE.get(name, UNITS)) == []


@pytest.mark.parametrize("dtype", hard.DTYPES)
@pytest.mark.parametrize("name", faces.SLOPES)
def test_slopes_are_near_the_truth(name: str, dtype: str) -> None:
    base, _, place = name.partition("/")
    slope = traceir.vmap(traceir.grad(getattr(ours, base), int(place)))
    assert misses(name, dtype, slope, SLOPES.get(name, UNITS)) == []


def test_every_function_has_a_truth() -> None:
    named = {name.partition("/")[0] for name in hard.OWN}
    assert sorted([*named, *PRIMITIVES, "bernoulli", "sph_harm_y", "wofz"]) == sorted(
        ours.__all__
    )


@pytest.mark.parametrize("place", [0, 1])
def test_there_is_no_slope_by_forms(place: int) -> None:
    with raises_rule("derive.missing", NotImplementedError):
        traceir.grad(ours.betainc, place)(2.0, 3.0, 0.5)


@pytest.mark.parametrize("dtype", hard.DTYPES)
def test_the_faddeeva_function_is_near_the_truth(dtype: str) -> None:
    parts = np.array([-6.0, -1.3, -0.3, 0.0, 1e-3, 0.4, 2.7, 6.5]).astype(dtype)
    points = (parts[:, None] + 1j * parts[2:]).ravel()
    with traceir.enable_x64(dtype == "float64"):
        found = np.asarray(ours.wofz(points))
    for z, value in zip(points, found, strict=True):
        with mpmath.workprec(300):
            at = mpmath.mpc(complex(z))
            want = mpmath.exp(-at * at) * mpmath.erfc(-1j * at)
            slope = 2j / mpmath.sqrt(mpmath.pi) - 2 * at * want
            bound = 3 * (abs(want) + abs(at * slope)) * np.finfo(dtype).eps
            assert abs(want - complex(value)) <= bound, z


@pytest.mark.parametrize("name", ["expi", "exp1", "dawsn", "erfcx", "spence"])
def test_slopes_of_integrals_are_those_of_differences(name: str) -> None:
    function, points = getattr(ours, name), np.array([0.3, 0.99, 1.0, 1.7, 3.1, 9.0])
    with traceir.enable_x64(True):
        slopes = traceir.vmap(traceir.grad(function))(points)
        apart = (function(points + 1e-5) - function(points - 1e-5)) / 2e-5
        np.testing.assert_allclose(slopes, apart, 1e-7, 1e-9)


@pytest.mark.parametrize("name", ["sici", "fresnel", "bessel_jn", "wofz", "expn"])
def test_slopes_of_several_are_those_of_differences(name: str) -> None:
    function: Callable[..., Any] = getattr(ours, name)
    if name in ("bessel_jn", "expn"):
        function = (
            partial(function, v=3) if name == "bessel_jn" else partial(function, 2)
        )
    with traceir.enable_x64(True):
        for x in (0.3, 1.7, 4.4):
            _, slopes = traceir.jvp(lambda z: function(z), (x,), (1.0,))
            ends = (np.asarray(function(x + sign * 1e-5)) for sign in (1, -1))
            apart = np.subtract(*ends) / 2e-5
            np.testing.assert_allclose(np.asarray(slopes), apart, 1e-7, 1e-9)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("name", ["hyp1f1", "hyp2f1"])
def test_slopes_of_hypergeometric_functions_are_those_of_differences(
    name: str, place: int
) -> None:
    function = getattr(ours, name)
    for x in (-2.5, -0.3, 0.4, 0.9):
        point = [1.3, 0.7, 2.2, x] if name == "hyp2f1" else [1.3, 2.2, x]
        if place >= len(point):
            continue
        ahead = np.eye(len(point))[place] * 1e-5
        with traceir.enable_x64(True):
            slope = traceir.grad(function, place)(*point)
            apart = function(*(point + ahead)) - function(*(point - ahead))
        np.testing.assert_allclose(slope, apart / 2e-5, 1e-7)


def test_hypergeometric_functions_have_ends() -> None:
    found = ours.hyp2f1(1.0, 1.0, 4.0, jnp.array([0.0, 1.0, 1.5, np.nan]))
    np.testing.assert_allclose(found, [1, 1.5, np.nan, np.nan], 1e-6)
    assert ours.hyp2f1(1.0, 1.0, 1.5, 1.0) == np.inf
    with traceir.enable_x64(True):
        x = np.array([-90.0, 20.0, 70.0])
        wanted = scipy.special.hyp1f1(-3.0, 1.5, x)
        np.testing.assert_allclose(ours.hyp1f1(-3.0, 1.5, x), wanted, 1e-12)


def test_bernoulli_has_the_numbers() -> None:
    with traceir.enable_x64(True):
        found = np.asarray(ours.bernoulli(30))
    wanted = [float(mpmath.bernoulli(n)) for n in range(31)]
    assert found.tolist() == [1, -0.5, *wanted[2:]]
    assert np.isinf(np.asarray(ours.bernoulli(300))[300])
    with raises_rule("face.choice", ValueError):
        ours.bernoulli(-1)


def test_spherical_harmonics_are_those_of_scipy() -> None:
    random = np.random.default_rng(0)
    n, m = random.integers(0, 9, 60), random.integers(-8, 9, 60)
    angles = random.uniform(-4, 7, (2, 60))
    wanted = scipy.special.sph_harm_y(n, m, *angles)
    wanted = np.where(abs(m) > n, 0, wanted)
    with traceir.enable_x64(True):
        np.testing.assert_allclose(ours.sph_harm_y(n, m, *angles), wanted, 0, 1e-14)
        found = traceir.jit(partial(ours.sph_harm_y, n_max=5))(n, m, *angles)
    assert np.isnan(np.asarray(found)).tolist() == (n > 5).tolist()
    with raises_rule("face.integers", TypeError):
        ours.sph_harm_y(1.0, 0, 0.5, 0.5)
    with raises_rule("face.choice", ValueError):
        ours.sph_harm_y(1, 0, 0.5, 0.5, diff_n=1)


def test_bessel_functions_have_a_reach() -> None:
    found = np.asarray(ours.bessel_jn(jnp.array([0.0, 50.0, 51.0, np.nan]), v=1))
    np.testing.assert_allclose(found[:, 1], scipy.special.jv([0, 1], 50.0), 1e-4)
    assert found[:, 0].tolist() == [1, 0]
    assert np.isnan(found[:, 2:]).all()
    with raises_rule("face.choice", ValueError):
        ours.bessel_jn(1.0, v=-1)


@pytest.mark.parametrize("name", ["expi", "exp1", "expn", "dawsn", "sici", "fresnel"])
def test_integrals_have_no_complex_operands(name: str) -> None:
    with raises_rule("face.complex", ValueError):
        getattr(ours, name)(*([1j] if name != "expn" else [1, 1j]))


def test_ends_of_integrals() -> None:
    inf = np.inf
    ends = {
        "expi": [-inf, inf, 0],
        "exp1": [inf, 0, np.nan],
        "dawsn": [0, 0, 0],
        "erfcx": [1, 0, inf],
        "spence": [np.pi**2 / 6, -inf, np.nan],
    }
    for name, wanted in ends.items():
        found = getattr(ours, name)(jnp.array([0.0, inf, -inf]))
        np.testing.assert_allclose(np.asarray(found), wanted, 1e-6)
    sine, cosine = ours.sici(jnp.array([0.0, inf, -inf]))
    np.testing.assert_allclose(sine, [0, np.pi / 2, -np.pi / 2], 1e-6)
    assert cosine.tolist() == [-inf, 0, 0]
    assert [part.tolist() for part in ours.fresnel(jnp.array([inf, -inf]))] == [
        [0.5, -0.5],
        [0.5, -0.5],
    ]


def test_the_slope_of_the_quantile() -> None:
    with traceir.enable_x64(True):
        slope = traceir.vmap(traceir.grad(ours.ndtri))(jnp.asarray(CHANCES))
    density = np.exp(-(scipy.special.ndtri(CHANCES) ** 2) / 2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(np.asarray(slope), 1 / density, 1e-12)


ENDS = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, np.inf, -np.inf, np.nan])
ONE = [
    *("erf", "erfc", "erfinv", "expit", "ndtr", "log_ndtr", "entr"),
    *("gammaln", "digamma", "i0e", "i1e", "gamma", "gammasgn", "erfcx", "dawsn"),
    *("expi", "exp1", "spence"),
]
# Where SciPy and the C standard differ.
APART = {
    "gammaln": [-np.inf],
    "gamma": [-np.inf, -1.0],
    "digamma": [-1.0, -np.inf, 0.0],
    "spence": [np.inf],
}


@pytest.mark.parametrize("name", ONE)
def test_ends_are_those_of_scipy(name: str) -> None:
    points = [x for x in ENDS if not (name in APART and x in APART[name])]
    with traceir.enable_x64(True):
        found = getattr(ours, name)(np.array(points))
    wanted = getattr(scipy.special, name)(np.array(points))
    np.testing.assert_allclose(np.asarray(found), wanted, 1e-13, 1e-15)


TWO = [
    "xlogy",
    "xlog1py",
    "rel_entr",
    "kl_div",
    "betaln",
    "gammainc",
    "gammaincc",
    "zeta",
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


def test_the_polynomials_are_those_of_the_script() -> None:
    assert chebyshev.written() == chebyshev.FILE.read_text(encoding="utf-8")
