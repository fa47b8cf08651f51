"""Hyperbolic functions and their inverses in twice the digits, as `exact` has them."""

from __future__ import annotations

import math
from typing import Any

from ulp.double import (
    ONE,
    TINY,
    add,
    divide,
    exact_product,
    exact_sum,
    fast,
    multiply,
    root,
    scaled,
)
from ulp.exponentials import growth, less_one, log_one_more, log_pair


@fast
def halves(x: float, sign: float) -> Any:
    """(exp(x) + sign * exp(-x)) / 2 of a number that is positive."""
    e, k = growth((x, 0.0))
    y = add(ONE, e)
    if k < 100:
        other = divide((math.ldexp(sign, -2 * k), 0.0), y)
        y = add(y, other)
    return y[0], y[1], k - 1


@fast
def sinh(x: float) -> Any:
    if not math.isfinite(x) or abs(x) < TINY:
        return x, 0.0, 0
    a = abs(x)
    if a > 0.3:
        y0, y1, k = halves(a, -1.0)
    else:
        e, _ = growth((a, 0.0))
        y = add(e, divide(e, add(ONE, e)))
        y0, y1, k = y[0], y[1], -1
    return math.copysign(1.0, x) * y0, math.copysign(1.0, x) * y1, k


@fast
def cosh(x: float) -> Any:
    return halves(abs(x), 1.0) if math.isfinite(x) else (abs(x), 0.0, 0)


@fast
def tanh(x: float) -> Any:
    if x != x or abs(x) < TINY:
        return x, 0.0, 0
    sign = math.copysign(1.0, x)
    if abs(x) > 50.0:
        return sign, 0.0, 0
    e = less_one((2.0 * abs(x), 0.0))
    y = divide(e, add(e, (2.0, 0.0)))
    return sign * y[0], sign * y[1], 0


@fast
def logistic(x: float) -> Any:
    if not math.isfinite(x):
        return (x if x != x else 0.0 if x < 0.0 else 1.0), 0.0, 0
    e, k = growth((-abs(x), 0.0))
    y = add(ONE, e)
    small = scaled(y, k) if k > -1000 else (0.0, 0.0)
    below = add(ONE, small)
    if x >= 0.0:
        y, k = ONE, 0
    y = divide(y, below)
    return y[0], y[1], k


@fast
def asinh(x: float) -> Any:
    if not math.isfinite(x) or abs(x) < TINY:
        return x, 0.0, 0
    a = abs(x)
    if a > 1e20:
        y = log_pair((a, 0.0), 1)
    else:
        s = exact_product(a, a)
        below = add(ONE, root(add(ONE, s)))
        y = log_one_more(add((a, 0.0), divide(s, below)))
    sign = math.copysign(1.0, x)
    return sign * y[0], sign * y[1], 0


@fast
def acosh(x: float) -> Any:
    if not 1.0 <= x < math.inf:
        return (x if x > 1.0 else math.nan), 0.0, 0
    if x > 1e20:
        y = log_pair((x, 0.0), 1)
    else:
        t = exact_sum(x, -1.0)
        y = log_one_more(add(t, root(multiply(t, add(t, (2.0, 0.0))))))
    return y[0], y[1], 0


@fast
def atanh(x: float) -> Any:
    if not TINY <= abs(x) < 1.0:
        edge = x * math.inf if abs(x) == 1.0 else math.nan
        return (x if abs(x) < TINY else edge), 0.0, 0
    a = abs(x)
    y = log_one_more(divide((2.0 * a, 0.0), exact_sum(1.0, -a)))
    sign = math.copysign(0.5, x)
    return sign * y[0], sign * y[1], 0
