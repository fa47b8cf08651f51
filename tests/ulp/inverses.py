"""Inverse circular functions in twice the digits, as `exact` has them."""

from __future__ import annotations

import math
from typing import Any

from ulp.circulars import angle
from ulp.double import (
    ONE,
    TINY,
    Pair,
    divide,
    exact_sum,
    fast,
    multiply,
    root,
    scaled,
)
from ulp.turns import QUARTER

FAR = 1e40  # so large that the rest of a quarter is beyond the digits of a pair


@fast
def beside(x: float) -> Pair:
    """sqrt(1 - x**2)."""
    return root(multiply(exact_sum(1.0, x), exact_sum(1.0, -x)))


@fast
def asin(x: float) -> Any:
    if abs(x) < TINY:
        return x, 0.0, 0
    if not abs(x) <= 1.0:
        return math.nan, 0.0, 0
    y = angle((x, 0.0), beside(x))
    return y[0], y[1], 0


@fast
def acos(x: float) -> Any:
    if not abs(x) <= 1.0:
        return math.nan, 0.0, 0
    y = QUARTER if abs(x) < TINY else (0.0, 0.0)
    if x != 1.0 and y[0] == 0.0:
        y = angle(beside(x), (x, 0.0))
    return y[0], y[1], 0


@fast
def atan(x: float) -> Any:
    if x != x or abs(x) < TINY:
        return x, 0.0, 0
    y = QUARTER if x > 0.0 else (-QUARTER[0], -QUARTER[1])
    if abs(x) < FAR:
        y = angle((x, 0.0), ONE)
    return y[0], y[1], 0


@fast
def atan2(y: float, x: float) -> Any:
    """Of numbers that are not zero."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return math.nan, 0.0, 0
    sign = math.copysign(1.0, y)
    m, j = math.frexp(abs(y))
    n, k = math.frexp(x)
    if j - k > 130:
        a = QUARTER
    elif k - j > 130:
        if x > 0.0:
            q = divide((sign * m, 0.0), (n, 0.0))
            return q[0], q[1], j - k
        a = scaled(QUARTER, 1)
    else:
        a = angle((math.ldexp(m, j - k), 0.0), (n, 0.0))
    return sign * a[0], sign * a[1], 0
