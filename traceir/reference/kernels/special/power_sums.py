"""Kernels of the zeta and polygamma functions. Serves: zeta, polygamma

The sum of (q + k)**-s is that of its first terms and the formula of Euler and Maclaurin
for the rest: M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions" (1964),
23.1.30.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from traceir.reference.kernels.special.in_float64 import of_doubles, of_scipy
from traceir.reference.kernels.special.loggamma import digamma, lgamma

# For such exponents the terms that are nearest to 0 are all that there is of a sum.
FAR, ODD = 512.0, 2.0**53
FIRST, LAST = 24, 10
ZERO = Fraction(0)


@cache
def _bernoulli() -> list[float]:
    """Bernoulli's number of 2 k over the factorial of 2 k, for k from 1 on."""
    numbers = [Fraction(1)]
    for m in range(1, 2 * LAST + 1):
        rest = sum((math.comb(m + 1, j) * b for j, b in enumerate(numbers)), start=ZERO)
        numbers.append(-rest / (m + 1))
    return [float(numbers[k] / math.factorial(k)) for k in range(2, 2 * LAST + 1, 2)]


def _exponent(s: np.ndarray, q: np.ndarray) -> Any:
    """The power of q that `_share` leaves: one after which nothing is out of range."""
    return np.where(q > 1, 1 - s, -s)


def _share(s: np.ndarray, q: np.ndarray) -> Any:
    """The sum of (q + k)**-s for positive q, over q to the power of `_exponent`."""
    unit = np.maximum(q, 1.0)
    total = sum(np.power(q / (q + k), s) for k in reversed(range(FIRST)))
    w = q + FIRST
    head = np.power(q / w, s)
    rest = (w / unit) / (s - 1) + 0.5 / unit
    term = s / w / unit
    for k, b in enumerate(_bernoulli()):
        rest = rest + b * term
        term = term * ((s + 2 * k + 1) / w) * ((s + 2 * k + 2) / w)
    return total / unit + np.where(head == 0, 0.0, head * rest)


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


def _positive(s: np.ndarray, q: np.ndarray) -> Any:
    """The sum for s above 1 and finite q above 0."""
    return np.power(q, _exponent(s, q)) * _share(s, q)


def _negative(s: np.ndarray, q: np.ndarray) -> Any:
    """The sum for whole s and negative q that are not."""
    size = -q
    first = size - np.floor(size)
    # What is below 0 is a difference of two sums.
    rest = _positive(s, first) - _positive(s, size + 1)
    rest = np.where(np.mod(s, 2) == 0, rest, -rest)
    found = _positive(s, 1 - first) + rest
    return np.where(s > FAR, _nearest(s, size), found)


@of_doubles("zeta")
def zeta(s: np.ndarray, q: np.ndarray) -> Any:
    """The sum of (q + k)**-s."""
    s, q = np.broadcast_arrays(s, q)
    whole = np.floor(s) == s
    pole = (q <= 0) & (np.floor(q) == q)
    inside = (s > 1) & np.isfinite(s) & np.isfinite(q)
    above, below = inside & (q > 0), inside & (q < 0) & whole & ~pole
    found = _positive(np.where(above, s, 2.0), np.where(above, q, 1.0))
    negative = _negative(np.where(below, s, 2.0), np.where(below, q, -0.5))
    found = np.where(below, negative, found)
    found = np.where(np.isposinf(q), 0.0, found)
    found = np.where(np.isposinf(s), np.where(q > 1, 0.0, 1.0), found)
    found = np.where(np.isposinf(s) & (q < 1), np.inf, found)
    found = np.where(pole, np.where(np.mod(s, 2) == 0, np.inf, np.nan), found)
    bad = (s < 1) | ((q <= 0) & ~whole) | np.isneginf(q) | (np.isinf(s) & (q <= 0))
    found = np.where((s == 1) & ~pole, np.inf, found)
    return np.where(bad | np.isnan(s) | np.isnan(q), np.nan, found)


@of_doubles("polygamma")
def polygamma(n: np.ndarray, x: np.ndarray) -> Any:
    """The derivative of order n of digamma."""
    n, x = np.broadcast_arrays(n, x)
    good = (n >= 0) & (np.floor(n) == n) & np.isfinite(n)
    order = np.where(good & (n > 0), n, 1.0)
    above = (x > 0) & np.isfinite(x)
    size = np.where(above, _above(order, np.where(above, x, 1.0)), _below(order, x))
    size = np.where(np.isposinf(x), 0.0, size)
    even = np.mod(order, 2) == 0
    found = np.where(even, -size, size)
    pole = (x <= 0) & (np.floor(x) == x) & np.isfinite(x)
    found = np.where(pole, np.where(even, np.nan, np.inf), found)
    found = np.where(n == 0, digamma(x), found)
    return np.where(good & ~np.isneginf(x), found, np.nan)


def _above(n: np.ndarray, x: np.ndarray) -> Any:
    """The magnitude, for positive numbers."""
    exponent = _exponent(n + 1, x)
    half = np.power(x, exponent / 2)
    near = of_scipy("gamma", np.minimum(n, 170.0) + 1) * half * half
    # Where a factor is out of range, its logarithm is not.
    far = np.exp(lgamma(n + 1) + exponent * np.log(x))
    return np.where(n > 170, far, near) * _share(n + 1, x)


def _below(n: np.ndarray, x: np.ndarray) -> Any:
    """The magnitude for negative numbers, which is negative for some."""
    share = zeta(n + 1, x)
    # Of such an order no number has the next one; it is even.
    near = np.abs(x) - np.floor(np.abs(x))
    share = np.where((n + 1 >= ODD) & (near < 0.5), -share, share)
    return of_scipy("gamma", n + 1) * share
