"""Circular functions in twice the digits, as `exact` has them."""

from __future__ import annotations

import math
from typing import Any

import mpmath
from ulp.double import (
    ONE,
    TINY,
    Pair,
    add,
    divide,
    fast,
    multiply,
    polynomial,
    series,
    subtract,
)
from ulp.turns import reduced

with mpmath.workprec(400):
    _SIN, _SIN_LOW = series(
        [(-1) ** n / mpmath.factorial(2 * n + 1) for n in range(1, 15)]
    )
    _COS, _COS_LOW = series([(-1) ** n / mpmath.factorial(2 * n) for n in range(1, 15)])


@fast
def sine(y: Pair) -> Pair:
    """Of a pair that is at most an eighth of a turn."""
    z = multiply(y, y)
    return add(y, multiply(multiply(y, z), polynomial(z, _SIN, _SIN_LOW)))


@fast
def cosine(y: Pair) -> Pair:
    """Of a pair that is at most an eighth of a turn."""
    z = multiply(y, y)
    return add(ONE, multiply(z, polynomial(z, _COS, _COS_LOW)))


@fast
def quarter(y: Pair, n: int) -> Pair:
    """sin(y + n * pi / 2)."""
    s = sine(y) if n % 2 == 0 else cosine(y)
    return s if n % 4 < 2 else (-s[0], -s[1])


@fast
def sin(x: float) -> Any:
    if not math.isfinite(x) or x == 0.0:
        return (x if x == 0.0 else math.nan), 0.0, 0
    if abs(x) < TINY:
        return x, 0.0, 0
    y, n = reduced(x)
    s = quarter(y, n)
    return s[0], s[1], 0


@fast
def cos(x: float) -> Any:
    if not math.isfinite(x):
        return math.nan, 0.0, 0
    y, n = reduced(x)
    c = quarter(y, n + 1)
    return c[0], c[1], 0


@fast
def tan(x: float) -> Any:
    if not math.isfinite(x) or abs(x) < TINY:
        return (x if math.isfinite(x) else math.nan), 0.0, 0
    y, n = reduced(x)
    t = divide(quarter(y, n), quarter(y, n + 1))
    return t[0], t[1], 0


@fast
def angle(y: Pair, x: Pair) -> Pair:
    """The angle of a point of the plane, neither of whose numbers is tiny or huge."""
    a = math.atan2(y[0], x[0])
    r, n = reduced(a)
    s, c = quarter(r, n), quarter(r, n + 1)
    across = subtract(multiply(y, c), multiply(x, s))
    along = add(multiply(x, c), multiply(y, s))
    return add((a, 0.0), divide(across, along))
