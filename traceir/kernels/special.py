"""Kernels of gamma functions, incomplete integrals and Bessel functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from traceir.kernels.registry import kernel

# The least normal number.
LEAST = 2.0**-1022

_log_gamma = np.frompyfunc(lambda x: _lgamma(float(x)), 1, 1)


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # a pole, or too large
        return math.inf


def _special(name: str, *operands: np.ndarray) -> Any:
    """A function of SciPy's in float64."""
    # Not at the top: it would take most of the time that `import traceir` takes.
    from scipy import special

    return getattr(special, name)(*(np.asarray(x, np.float64) for x in operands))


Double = Callable[..., Any]


def _of_doubles(primitive: str) -> Callable[[Double], Double]:
    """A kernel that is given float64 and whose results are rounded once."""

    def enter(function: Double) -> Double:
        @kernel(primitive)
        def rounded(*operands: np.ndarray) -> Any:
            doubles = (np.asarray(x, np.float64) for x in operands)
            return np.asarray(function(*doubles)).astype(operands[0].dtype)

        return function

    return enter


@_of_doubles("lgamma")
def lgamma(x: np.ndarray) -> Any:
    """log |gamma(x)|."""
    # Each has more digits than the other where it is asked; to SciPy those below the
    # normal numbers are poles.
    inside = x >= LEAST
    others = np.asarray(_log_gamma(np.where(inside, 1.0, x))).astype(np.float64)
    return np.where(inside, _special("gammaln", np.where(inside, x, 1.0)), others)


@_of_doubles("digamma")
def digamma(x: np.ndarray) -> Any:
    """The derivative of log gamma."""
    pole = (x <= 0) & (np.floor(x) == x)
    return np.where(pole, np.nan, _special("psi", x))


@_of_doubles("bessel_i0e")
def bessel_i0e(x: np.ndarray) -> Any:
    """exp(-|x|) I0(x)."""
    return np.where(np.isinf(x), 0.0, _special("i0e", x))


@_of_doubles("bessel_i1e")
def bessel_i1e(x: np.ndarray) -> Any:
    """exp(-|x|) I1(x)."""
    return np.copysign(np.where(np.isinf(x), 0.0, _special("i1e", x)), x)


# For such exponents the terms that are nearest to 0 are all that there is of a sum.
FAR, ENDLESS, ODD = 512.0, 1e4, 2.0**53


def _nearest(s: np.ndarray, size: np.ndarray) -> Any:
    """The sum of (k - size)**-s, for large s and numbers that are not whole."""
    odd = np.mod(s, 2) != 0
    first = size - np.floor(size)
    other = 1 - first
    least = np.minimum(first, other)
    share = np.power(least / np.maximum(first, other), s)
    signs = np.where(first < other, -1.0, 1.0)
    found = np.power(least, -s) * np.where(odd, signs * (1 - share), 1 + share)
    # Those of one size but of two signs leave what is above both.
    return np.where(odd & (first == other), np.power(size + 1, -s), found)


@_of_doubles("zeta")
def zeta(s: np.ndarray, q: np.ndarray) -> Any:
    """The sum of (q + k)**-s."""
    whole = np.floor(s) == s
    pole = (q <= 0) & (np.floor(q) == q)
    # SciPy has those of positive numbers; the other terms are a difference of two.
    below = (q < 0) & whole & ~pole & np.isfinite(s) & np.isfinite(q)
    size = np.where(below, -q, 0.5)
    first = size - np.floor(size)
    rest = _special("zeta", s, first) - _special("zeta", s, size + 1)
    rest = np.where(np.mod(s, 2) == 0, rest, -rest)
    found = _special("zeta", s, np.where(below, 1 - first, np.where(q > 0, q, 1.0)))
    found = np.where(below, found + rest, found)
    far = below & (s > FAR)
    found = np.where(far, _nearest(s, size), found)
    found = np.where(np.isposinf(q), 0.0, found)
    huge = (s > ENDLESS) & (q > 0) & np.isfinite(s)
    base = np.where(huge, q, 1.0)
    found = np.where(huge, np.power(base, -s) + np.power(base + 1, -s), found)
    found = np.where(np.isposinf(s), np.where(q > 1, 0.0, 1.0), found)
    found = np.where(np.isposinf(s) & (q < 1), np.inf, found)
    found = np.where(pole, np.where(np.mod(s, 2) == 0, np.inf, np.nan), found)
    bad = (s < 1) | ((q <= 0) & ~whole) | np.isneginf(q) | (np.isinf(s) & (q <= 0))
    found = np.where((s == 1) & ~pole, np.inf, found)
    return np.where(bad | np.isnan(s) | np.isnan(q), np.nan, found)


@_of_doubles("polygamma")
def polygamma(n: np.ndarray, x: np.ndarray) -> Any:
    """The derivative of order n of digamma."""
    good = (n >= 0) & (np.floor(n) == n) & np.isfinite(n)
    order = np.where(good, n, 1.0)
    share = zeta(order + 1, x)
    # Of such an order no number has the next one; it is even.
    odd = (x < 0) & (order + 1 >= ODD)
    near = np.abs(x) - np.floor(np.abs(x))
    share = np.where(odd & (near < 0.5), -share, share)
    size = _special("gamma", order + 1) * share
    # Where a factor is out of range, its logarithm is not.
    large = np.exp(_special("gammaln", order + 1) - (order + 1) * np.log(np.abs(x)))
    size = np.where(
        ((order > 160) | (share < 1e-280)) & (x > 0),
        _powers(order + 1, x) * large,
        size,
    )
    size = np.where(np.isposinf(x), 0.0, size)
    even = np.mod(order, 2) == 0
    found = np.where(even, -size, size)
    pole = (x <= 0) & (np.floor(x) == x) & np.isfinite(x)
    found = np.where(pole, np.where(even, np.nan, np.inf), found)
    found = np.where(order == 0, digamma(x), found)
    return np.where(good, found, np.nan)


def _powers(s: np.ndarray, q: np.ndarray) -> Any:
    """q**s times the sum of (q + k)**-s, for large s."""
    near = sum(np.power(q / (q + k), s) for k in range(1, 40))
    rest = np.power(q / (q + 40), s) * ((q + 40) / (s - 1) + 0.5 + s / (q + 40) / 12)
    return 1 + near + rest


@_of_doubles("igamma")
def igamma(a: np.ndarray, x: np.ndarray) -> Any:
    """The lower incomplete gamma function."""
    return _ends(_share(a, x, True), a, x, 0.0, 1.0)


@_of_doubles("igammac")
def igammac(a: np.ndarray, x: np.ndarray) -> Any:
    """The upper incomplete gamma function."""
    return _ends(_share(a, x, False), a, x, 1.0, 0.0)


def _share(a: np.ndarray, x: np.ndarray, lower: bool) -> Any:
    """`igamma`, or else `igammac`."""
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    a, x = (np.where(inside, v, 2.0) for v in (a, x))
    short = x < SHORT
    long = np.where(short, 2.0, x)
    # Of a long integral, the side where the integrand falls.
    far = _moments(a, long)[0] * _density(a, long)
    far = np.where((long <= a) == lower, far, 1 - far)
    near = _special("gammainc", a, x)
    if not lower:
        # SciPy's has fewer digits where both are of one size.
        near = np.where(near < 0.9, 1 - near, _special("gammaincc", a, x))
    return np.where(short, near, far)


def _ends(found: Any, a: np.ndarray, x: np.ndarray, none: float, whole: float) -> Any:
    """What was found, but at the ends of the operands' ranges."""
    found = np.where((a == 0) | np.isposinf(x), whole, found)
    found = np.where((x == 0) | np.isposinf(a), none, found)
    bad = (a < 0) | (x < 0) | np.isnan(a) | np.isnan(x)
    bad |= ((a == 0) & (x == 0)) | (np.isinf(a) & np.isinf(x))
    return np.where(bad, np.nan, found)


@_of_doubles("regularized_incomplete_beta")
def betainc(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> Any:
    """The incomplete beta function."""
    inside = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b) & (x >= 0) & (x <= 1)
    one = np.ones(())
    found = _special("betainc", *(np.where(inside, v, one) for v in (a, b, x)))
    found = np.where((a == 0) | np.isposinf(b), 1.0, found)
    found = np.where((b == 0) | np.isposinf(a), 0.0, found)
    found = np.where(x == 0, 0.0, np.where(x == 1, 1.0, found))
    bad = ~((a >= 0) & (b >= 0) & (x >= 0) & (x <= 1))
    bad |= ((a == 0) & (b == 0)) | (np.isinf(a) & np.isinf(b))
    return np.where(bad, np.nan, found)


# -- derivatives by the first operand -------------------------------------------------

# How many points of a rule integrate exp of a convex function; up to where series are
# used instead.
COUNT, SHORT = 48, 1.0
# From it on few of Stirling's terms are enough.
FEW_TERMS = 16.0


@cache
def gauss(count: int) -> np.ndarray:
    """Points from 0 to 1 and weights of Gauss' rule, in all of their digits."""
    one = 1 << 200
    starts, _ = np.polynomial.legendre.leggauss(count)
    rows = []
    for start in starts:
        x = int(start * 2**60) << 140
        for _ in range(4):  # Newton's steps from digits of a float64
            before, value = one, x
            for k in range(1, count):
                following = ((2 * k + 1) * x * value // one - k * before) // (k + 1)
                before, value = value, following
            rest = one - x * x // one
            slope = count * (before - x * value // one) * one // rest
            x -= value * one // slope
        weight = one * one // rest * one // slope * one // slope
        rows.append(((one + x) / (2 * one), weight / one))
    return np.array(rows).T.copy()


def _moments(a: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
    """The integrals of exp(-a t - x (exp(-t) - 1)), and of it times |t|.

    Over the t > 0 where x is at most a, else over the t < 0: it falls from 1 on.
    """
    sign = np.where(x <= a, 1.0, -1.0)
    slope = np.abs(a - x)
    end = _end(x, sign, slope)
    area: Any = 0.0
    moment: Any = 0.0
    for point, weight in gauss(COUNT).T:
        t = end * point
        rise = slope * t + x * _bend(sign * t)
        height = weight * end * np.exp(-rise)
        area, moment = area + height, moment + height * t
    return area, moment


# exp(-t) - 1 + t over t**2, as a power series.
BEND = tuple((-1) ** k / math.factorial(k + 2) for k in range(14))


def _bend(t: np.ndarray) -> Any:
    """exp(-t) - 1 + t, by its series near 0, where digits would cancel."""
    series = np.polynomial.polynomial.polyval(np.clip(t, -0.25, 0.25), BEND)
    return np.where(np.abs(t) < 0.25, t * t * series, np.expm1(-t) + t)


def _end(x: np.ndarray, sign: np.ndarray, slope: np.ndarray) -> Any:
    """Where the integrand has fallen to exp(-40), by Newton's steps."""
    t = 80 / (slope + np.sqrt(slope * slope + 80 * x))
    t = np.where(sign < 0, np.minimum(t, 1 + np.log1p(40 / x)), t)
    for _ in range(8):
        rise = slope * t + x * _bend(sign * t) - 40
        t = t - rise / (slope - sign * x * np.expm1(-sign * t))
    return t


def _density(a: np.ndarray, x: np.ndarray) -> Any:
    """x**a exp(-x) / gamma(a), by what is left of Stirling's terms where a is large."""
    large = np.maximum(a, 12.0)
    more = (x - large) / large
    z = 1 / (large * large)
    rest = 1 / 1680 - z * (1 / 1188 - z * (691 / 360360))
    rest = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * rest))) / large
    ratio = np.where(np.abs(more) < 0.5, np.log1p(more), np.log(x / large))
    far = np.exp(large * (ratio - more) - rest) * np.sqrt(large / (2 * np.pi))
    small = np.minimum(a, 12.0)
    near = np.exp(small * np.log(x) - x - lgamma(small))
    return np.where(a > 12, far, near)


def _series(a: np.ndarray, x: np.ndarray) -> Any:
    """The derivative of `igamma` by a over the density, for x up to 1.5."""
    x = np.minimum(x, 1.5)
    term, total = np.ones_like(x), np.ones_like(x)
    slope, change = np.zeros_like(x), np.zeros_like(x)
    for n in range(1, 32):
        term = term * x / (a + n)
        slope = slope - 1 / (a + n)
        total, change = total + term, change + term * slope
    return (total * (np.log(x) - _special("psi", a + 1)) + change) / a


def _log_ratio(a: np.ndarray, x: np.ndarray) -> Any:
    """log(x) - digamma(a), by Stirling's terms where a is large."""
    large = np.maximum(a, FEW_TERMS)
    more = (x - large) / large
    ratio = np.where(np.abs(more) < 0.5, np.log1p(more), np.log(x / large))
    z = 1 / large
    y = z * z
    rest = 1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760))
    far = ratio + z * (1 / 2 + z * (1 / 12 - y * (1 / 120 - y * rest)))
    small = np.minimum(a, FEW_TERMS)
    return np.where(a > FEW_TERMS, far, np.log(x) - _special("psi", small))


def _by_a(a: np.ndarray, x: np.ndarray) -> Any:
    """The derivative of `igamma` by a over x**a exp(-x) / gamma(a)."""
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    a, x = (np.where(inside, v, 2.0) for v in (a, x))
    short = x < 1.5
    long = np.where(short, 2.0, x)
    area, moment = _moments(a, long)
    lead = area * _log_ratio(a, long)
    far = np.where(long <= a, lead - moment, -(lead + moment))
    return np.where(inside, np.where(short, _series(a, x), far), np.nan)


@_of_doubles("igamma_grad_a")
def igamma_grad_a(a: np.ndarray, x: np.ndarray) -> Any:
    """The derivative of `igamma` by its first operand."""
    found = _by_a(a, x) * _density(np.abs(a), np.abs(x))
    ends = (x == 0) | np.isposinf(x) | np.isposinf(a)
    bad = ~((a > 0) & (x >= 0)) | (np.isinf(a) & np.isinf(x))
    return np.where(bad, np.nan, np.where(ends, 0.0, found))


# What stands before 1/a, 1/a**2 and 1/a**3, as power series of x/a - 1.
NEAR_FIRST = (
    1 / 6,
    *((-1) ** (k + 1) / (3 * math.comb(k + 3, 3)) for k in range(1, 16)),
)
NEAR_SECOND = 1 / 60, 1 / 60, -1 / 210, 1 / 840, 0.0, -1 / 2520
NEAR_THIRD = -1 / 105, -1 / 840


def _near_mean(a: np.ndarray, x: np.ndarray) -> Any:
    """How a sample near the mean changes with a great a.

    A series in 1/a for the equation that the change d satisfies, d the slope of x,
    d' + d (a - 1 - x) / x = digamma(a) - log(x).
    """
    apart = (x - a) / a
    ratio = np.where(apart == 0, 1.0, np.log1p(apart) / np.where(apart == 0, 1, apart))
    value = np.polynomial.polynomial.polyval
    rest = (
        value(apart, NEAR_FIRST)
        + (value(apart, NEAR_SECOND) + value(apart, NEAR_THIRD) / a) / a
    )
    return (1 + apart) * ratio + rest / a


@_of_doubles("random_gamma_grad")
def random_gamma_grad(a: np.ndarray, x: np.ndarray) -> Any:
    """How a sample of the gamma distribution changes with a."""
    near = (a >= 1e4) & (abs(x - a) <= a / 4) & np.isfinite(a)
    mean = np.where(near, a, 1e4), np.where(near, x, 1e4)
    found = np.where(near, _near_mean(*mean), -_by_a(a, x) * x)
    bad = ~((a > 0) & (x >= 0)) | np.isinf(a) | np.isinf(x)
    return np.where(bad, np.nan, np.where(x == 0, 0.0, found))
