"""Exponentials, logarithms and powers in twice the digits, as `exact` has them."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
from ulp.double import (
    ONE,
    TINY,
    Pair,
    add,
    exact_product,
    exact_sum,
    fast,
    multiply,
    normal,
    pair,
    polynomial,
    scaled,
    series,
    subtract,
)

with mpmath.workprec(400):
    LN2 = pair(mpmath.log(2))
    # Two numbers whose products with a whole number of 11 bits are exact; the rest.
    _HEAD = math.floor(float(mpmath.log(2)) * 2**42) / 2**42
    _MIDDLE = float(mpmath.floor((mpmath.log(2) - _HEAD) * mpmath.mpf(2) ** 84)) / 2**84
    _REST = float(mpmath.log(2) - _HEAD - mpmath.mpf(_MIDDLE))
    _EXP, _EXP_LOW = series([1 / mpmath.factorial(n) for n in range(1, 14)])


@fast
def growth(x: Pair) -> Any:
    """e and k such that exp(x) = (1 + e) * 2**k, with e accurate in itself."""
    if abs(x[0]) > 3000.0:  # far out of every range
        x = (math.copysign(3000.0, x[0]), 0.0)
    k = np.rint(x[0] * 1.4426950408889634)
    r = add(exact_sum(x[0] - k * _HEAD, -k * _MIDDLE), (x[1], 0.0))
    r = subtract(r, exact_product(k, _REST))
    r = scaled(r, -6)
    e = multiply(r, polynomial(r, _EXP, _EXP_LOW))
    for _ in range(6):  # exp(2 x) - 1 from exp(x) - 1
        e = multiply(e, add((2.0, 0.0), e))
    return e, int(k)


@fast
def exp_pair(x: Pair) -> Any:
    """exp of a pair."""
    e, k = growth(x)
    y = add(ONE, e)
    return y[0], y[1], k


@fast
def less_one(x: Pair) -> Pair:
    """exp(x) - 1 of a pair that is not large."""
    e, k = growth(x)
    if k == 0:
        return e
    return add(scaled(add(ONE, e), k), (-1.0, 0.0))


@fast
def log_one_more(p: Pair) -> Pair:
    """log(1 + p): Newton's step from that of float64."""
    y = math.log1p(p[0])
    if p[0] == 0.0 or math.isinf(y):
        return p[0] if p[0] == 0.0 else y, 0.0
    e, k = growth((-y, 0.0))
    if k == 0:
        z = add(add(p, e), multiply(p, e))
    else:
        s = scaled(add(ONE, p), k)
        z = add(add(s, (-1.0, 0.0)), multiply(s, e))
    return add((y, 0.0), subtract(z, (0.5 * z[0] * z[0], 0.0)))


@fast
def log_pair(x: Pair, k: int) -> Pair:
    """log(x * 2**k) of a positive number."""
    m, e = math.frexp(x[0])
    low = math.ldexp(x[1], -e)
    if m < 0.70710678118654752:
        m, low, e = 2.0 * m, 2.0 * low, e - 1
    y = log_one_more(add((m - 1.0, 0.0), (low, 0.0)))
    n = float(e + k)
    return add(add(exact_sum(n * _HEAD, n * _MIDDLE), y), exact_product(n, _REST))


@fast
def exp(x: float) -> Any:
    if not math.isfinite(x):
        return (0.0 if x < 0.0 else x), 0.0, 0
    return exp_pair((x, 0.0))


@fast
def exp2(x: float) -> Any:
    if not math.isfinite(x):
        return (0.0 if x < 0.0 else x), 0.0, 0
    k = np.rint(min(max(x, -3000.0), 3000.0))
    y0, y1, more = exp_pair(multiply(LN2, (x - k if abs(x) < 3000.0 else 0.0, 0.0)))
    return y0, y1, int(k) + more


@fast
def expm1(x: float) -> Any:
    if not math.isfinite(x) or abs(x) < TINY:
        return (-1.0 if x < -1.0 else x), 0.0, 0
    e, k = growth((x, 0.0))
    if k == 0:
        return e[0], e[1], 0
    y = add(ONE, e)
    if k < 200:
        y = add(y, (-math.ldexp(1.0, -k), 0.0)) if k > -200 else (-1.0, 0.0)
    return y[0], y[1], k if k > -200 else 0


@fast
def log(x: float) -> Any:
    if x == 0.0 or not 0.0 < x < math.inf:
        return (-math.inf if x == 0.0 else x if x > 0.0 else math.nan), 0.0, 0
    y = log_pair((x, 0.0), 0)
    return y[0], y[1], 0


@fast
def log1p(x: float) -> Any:
    if not -1.0 < x < math.inf or abs(x) < TINY:
        return (-math.inf if x == -1.0 else x if x > -1.0 else math.nan), 0.0, 0
    y = log_pair(exact_sum(1.0, x), 0) if x > 1.0 else log_one_more((x, 0.0))
    return y[0], y[1], 0


@fast
def power(x: float, y: float) -> Any:
    """Of a finite base, not zero, and a finite exponent, that have a power."""
    p0, p1, k = exp_pair(multiply(log_pair((abs(x), 0.0), 0), (y, 0.0)))
    sign = -1.0 if x < 0.0 and y % 2.0 != 0.0 else 1.0
    return sign * p0, sign * p1, k


@fast
def cbrt(x: float) -> Any:
    if not math.isfinite(x) or x == 0.0:
        return x, 0.0, 0
    m, e = math.frexp(x)
    k = e // 3
    m = math.ldexp(m, e - 3 * k)
    y = np.cbrt(m)
    r = subtract((m, 0.0), multiply(exact_product(y, y), (y, 0.0)))
    z = normal(y, r[0] / (3.0 * y * y))
    return z[0], z[1], k
