"""Kernels of incomplete gamma functions and their derivatives.

Serves: igamma, igammac, igamma_grad_a, random_gamma_grad
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from traceir.reference.kernels.special.in_float64 import of_doubles, of_scipy
from traceir.reference.kernels.special.loggamma import lgamma_above_one


@of_doubles("igamma")
def igamma(a: np.ndarray, x: np.ndarray) -> Any:
    """The lower incomplete gamma function."""
    return _ends(_share(a, x, True), a, x, 0.0, 1.0)


@of_doubles("igammac")
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
    root = _root(a, long)
    far = a * _moments(a, long)[0] * root * root
    far = np.where((long <= a) == lower, far, 1 - far)
    near, rest = _short_shares(a, np.where(short, x, 0.5))
    if lower:
        return np.where(short, np.where(near < 0.5, near, 1 - rest), far)
    return np.where(short, np.where(near < 0.5, 1 - near, rest), far)


def _short_shares(a: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
    """`igamma`, and `igammac` for a of which it is at most half, for x up to 1."""
    power = a * np.log(x) - lgamma_above_one(a)
    total, term = np.ones_like(x), np.ones_like(x)
    rest, part = np.zeros_like(x), np.ones_like(x)
    for n in range(1, 26):
        term, part = term * x / (a + n), part * -x / n
        total, rest = total + term, rest + part / (a + n)
    first = np.expm1(power)
    return np.exp(power - x) * total, -(first + a * rest * (first + 1))


def _ends(found: Any, a: np.ndarray, x: np.ndarray, none: float, whole: float) -> Any:
    """The values found, replaced at the ends of the operands' ranges."""
    found = np.where((a == 0) | np.isposinf(x), whole, found)
    found = np.where((x == 0) | np.isposinf(a), none, found)
    bad = (a < 0) | (x < 0) | np.isnan(a) | np.isnan(x)
    bad |= ((a == 0) & (x == 0)) | (np.isinf(a) & np.isinf(x))
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
    roots = []  # of one sign; the others are these with the other one
    for number in range(count - count // 2):
        start = -math.cos(math.pi * (number + 0.75) / (count + 0.5))
        x = int(start * 2**60) << 140
        for _ in range(5):  # Newton's steps, from four digits or more
            before, value = one, x
            for k in range(1, count):
                following = ((2 * k + 1) * x * value // one - k * before) // (k + 1)
                before, value = value, following
            rest = one - x * x // one
            slope = count * (before - x * value // one) * one // rest
            x -= value * one // slope
        weight = one * one // rest * one // slope * one // slope
        roots.append((x, weight / one))
    roots += [(-x, weight) for x, weight in reversed(roots[: count // 2])]
    return np.array([((one + x) / (2 * one), weight) for x, weight in roots]).T.copy()


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
    """The point at which the integrand has fallen to exp(-40), by Newton's steps."""
    t = 80 / (slope + np.sqrt(slope * slope + 80 * x))
    t = np.where(sign < 0, np.minimum(t, 1 + np.log1p(40 / x)), t)
    for _ in range(8):
        rise = slope * t + x * _bend(sign * t) - 40
        t = t - rise / (slope - sign * x * np.expm1(-sign * t))
    return t


def _root(a: np.ndarray, x: np.ndarray) -> Any:
    """The root of x**a exp(-x) / gamma(a + 1), which is in range where a share is.

    By what is left of Stirling's terms where a is large.
    """
    large = np.maximum(a, 12.0)
    more = (x - large) / large
    z = 1 / (large * large)
    rest = 1 / 1680 - z * (1 / 1188 - z * (691 / 360360))
    rest = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * rest))) / large
    ratio = np.where(np.abs(more) < 0.5, np.log1p(more), np.log(x / large))
    far = np.exp((large * (ratio - more) - rest) / 2)
    far = far / np.sqrt(np.sqrt(large * (2 * np.pi)))
    small = np.minimum(a, 12.0)
    near = np.exp((small * np.log(x) - x - lgamma_above_one(small)) / 2)
    return np.where(a > 12, far, near)


def _series(a: np.ndarray, x: np.ndarray) -> Any:
    """The value of `_by_a` for x up to 1.5."""
    x = np.minimum(x, 1.5)
    term, total = np.ones_like(x), np.ones_like(x)
    slope, change = np.zeros_like(x), np.zeros_like(x)
    for n in range(1, 32):
        term = term * x / (a + n)
        slope = slope - 1 / (a + n)
        total, change = total + term, change + term * slope
    return total * (np.log(x) - of_scipy("psi", a + 1)) + change


def _log_ratio(a: np.ndarray, x: np.ndarray) -> Any:
    """a (log(x) - digamma(a)), by Stirling's terms where a is large."""
    large = np.maximum(a, FEW_TERMS)
    more = (x - large) / large
    ratio = np.where(np.abs(more) < 0.5, np.log1p(more), np.log(x / large))
    z = 1 / large
    y = z * z
    rest = 1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760))
    far = ratio + z * (1 / 2 + z * (1 / 12 - y * (1 / 120 - y * rest)))
    small = np.minimum(a, FEW_TERMS)
    near = small * (np.log(x) - of_scipy("psi", np.maximum(small, 1.0)))
    least = small * (np.log(x) - of_scipy("psi", small + 1)) + 1
    return np.where(a > FEW_TERMS, a * far, np.where(a > 1, near, least))


def _by_a(a: np.ndarray, x: np.ndarray) -> Any:
    """The derivative of `igamma` by a over x**a exp(-x) / gamma(a + 1)."""
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    a, x = (np.where(inside, v, 2.0) for v in (a, x))
    short = x < 1.5
    long = np.where(short, 2.0, x)
    area, moment = _moments(a, long)
    lead = area * _log_ratio(a, long)
    far = np.where(long <= a, lead - a * moment, -(lead + a * moment))
    return np.where(inside, np.where(short, _series(a, x), far), np.nan)


@of_doubles("igamma_grad_a")
def igamma_grad_a(a: np.ndarray, x: np.ndarray) -> Any:
    """The derivative of `igamma` by its first operand."""
    root = _root(np.abs(a), np.abs(x))
    found = _by_a(a, x) * root * root
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
    """The derivative of a sample near the mean by a great a.

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


@of_doubles("random_gamma_grad")
def random_gamma_grad(a: np.ndarray, x: np.ndarray) -> Any:
    """The derivative of a sample of the gamma distribution by a."""
    near = (a >= 1e4) & (abs(x - a) <= a / 4) & np.isfinite(a)
    mean = np.where(near, a, 1e4), np.where(near, x, 1e4)
    change = _by_a(a, x)
    # Neither may leave the range of the numbers before the whole does.
    change = np.where(x < 1, change * (x / a), change * x / a)
    found = np.where(near, _near_mean(*mean), -change)
    bad = ~((a > 0) & (x >= 0)) | np.isinf(a) | np.isinf(x)
    return np.where(bad, np.nan, np.where(x == 0, 0.0, found))
