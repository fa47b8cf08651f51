"""The kernel of the incomplete beta function. Serves: regularized_incomplete_beta

It is the share from the end that is nearer: where the parameter of that end is small a
power series, else an integral over the logarithm of x / (1 - x), whose integrand falls
from the end on, by Gauss' rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.reference.kernels.special.in_float64 import of_doubles, of_scipy
from traceir.reference.kernels.special.incomplete import COUNT, gauss
from traceir.reference.kernels.special.loggamma import lgamma, lgamma_above_one

# Forms from which few of Stirling's terms are enough, and the integrand has no corners.
FEW_TERMS, SMOOTH = 12.0, 8
SERIES = 400


@of_doubles("regularized_incomplete_beta")
def betainc(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> Any:
    """The incomplete beta function."""
    inside = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b) & (x > 0) & (x < 1)
    found = _inside(*(np.where(inside, v, 0.5) for v in (a, b, x)))
    found = np.where((a == 0) | np.isposinf(b), 1.0, found)
    found = np.where((b == 0) | np.isposinf(a), 0.0, found)
    found = np.where(x == 0, 0.0, np.where(x == 1, 1.0, found))
    bad = ~((a >= 0) & (b >= 0) & (x >= 0) & (x <= 1))
    bad |= ((a == 0) & (b == 0)) | (np.isinf(a) & np.isinf(b))
    return np.where(bad, np.nan, found)


def _inside(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> Any:
    """The share from 0 to x where nothing is 0 or infinite."""
    y = 1 - x
    lower = x * (a + b + 2) <= a + 1
    a, b = np.where(lower, a, b), np.where(lower, b, a)
    x, y = np.where(lower, x, y), np.where(lower, y, x)
    small = a <= 0.5
    share, rest = _series(*(np.where(small, v, 0.25) for v in (a, b, x)))
    tail = _tail(*(np.where(small, 0.5, v) for v in (a, b, x, y)))
    share, rest = np.where(small, share, tail), np.where(small, rest, 1 - tail)
    return np.where(lower, share, rest)


def _series(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> tuple[Any, Any]:
    """The share from 0 to x and the rest, for a up to 1/2."""
    short, large = b < 1, b > 1e4
    rise: Any = 0.0
    for point, weight in gauss(8).T:
        at = a * point + np.where(short, b + 1, b)
        # Of a large one what is above log b, by the first terms of its series.
        few = np.log1p((a * point - 0.5) / b) + 1 / (24 * (at - 0.5) ** 2)
        rise = rise + weight * np.where(large, few, of_scipy("psi", at))
    scale = np.log(np.where(large, x * b, x))
    power = a * (scale + rise) - lgamma_above_one(a)
    term = (1 - b) * x
    total = term / (a + 1)
    for n in range(2, SERIES):
        term = term * (x * ((n - b) / n))
        total = total + term / (a + n)
        if np.all(np.abs(term) <= 1e-18 * np.abs(total)):
            break
    share = np.where(short, b / (a + b), 1.0) * np.exp(power) * (1 + a * total)
    first = np.expm1(np.where(short, power - np.log1p(a / b), power))
    return share, -(first + a * total * (first + 1))


def _stirling_rest(z: np.ndarray) -> Any:
    """log gamma(z) less (z - 1/2) log z - z + log(2 pi) / 2."""
    near = np.minimum(z, FEW_TERMS)
    direct = lgamma(near) - ((near - 0.5) * np.log(near) - near)
    far = np.maximum(z, FEW_TERMS)
    y = 1 / (far * far)
    rest = 1 / 1680 - y * (1 / 1188 - y * (691 / 360360))
    rest = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * rest))) / far
    return np.where(z > FEW_TERMS, rest, direct - np.log(2 * np.pi) / 2)


def _log(apart: np.ndarray, whole: np.ndarray) -> Any:
    """The logarithm of 1 + `apart`, which is `whole`."""
    near = np.abs(apart) < 0.5
    return np.where(near, np.log1p(np.where(near, apart, 0.0)), np.log(whole))


def _density(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
    """x**a y**b / beta(a, b), where y is 1 - x, for a from 1/2 on."""
    short = b < 0.5
    # That of b + 1, whose Stirling's rest is small.
    factor = np.where(short, b / ((a + b) * y), 1.0)
    b = np.where(short, b + 1, b)
    whole = a + b
    c = x * b - y * a
    u, v = _log(c / a, x * (whole / a)), _log(-c / b, y * (whole / b))
    rest = _stirling_rest(a) + _stirling_rest(b) - _stirling_rest(whole)
    size = np.sqrt(a / whole * b / (2 * np.pi))
    return factor * np.exp(a * u + b * v - rest) * size


def _rise(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray, t: Any) -> Any:
    """The logarithm of the integrand at t below its start; its slope."""
    near = x > 0.5  # to the other end: by what is left of x
    up, down = y * np.expm1(t), x * np.expm1(-t)
    rise = np.where(
        near,
        (a + b) * np.log1p(up) - b * t,
        a * t + (a + b) * np.log1p(np.where(near, 0.0, down)),
    )
    part = np.where(near, y * np.exp(t) / (1 + up), x * np.exp(-t) / (1 + down))
    return rise, np.where(near, (a + b) * part - b, a - (a + b) * part)


def _tail(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
    """The share from 0 to x, for x up to about a / (a + b)."""
    share = _density(a, b, x, y) / a
    total: Any = 0.0
    for _ in range(SMOOTH):
        low = a < SMOOTH
        total = total + np.where(low, share, 0.0)
        share = np.where(low, share * (x * ((a + b) / (a + 1))), share)
        a = np.where(low, a + 1, a)
    slope = np.maximum(a * y - b * x, 0.0)
    end = 80 / (slope + np.sqrt(slope * slope + 80 * (a + b) * x * y))
    # It is reached by a rise as of exp(t), and from there as of t.
    end = np.minimum(end, 1 + np.log1p(40 / (a * y)) + 48 / a)
    for _ in range(8):
        rise, slope = _rise(a, b, x, y, end)
        end = end - (rise - 40) / slope
    area: Any = 0.0
    for point, weight in gauss(COUNT).T:
        area = area + weight * np.exp(-_rise(a, b, x, y, end * point)[0])
    return total + share * a * area * end
