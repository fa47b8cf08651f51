"""The error function and the like in twice the digits, as `exact` has them.

Taylor's series at the nearest 64th part, whose values are mpmath's.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
from ulp.double import (
    ONE,
    Pair,
    add,
    divide,
    exact_product,
    exact_sum,
    fast,
    multiply,
    pair,
    scaled,
    subtract,
)

PARTS = 64
with mpmath.workprec(300):
    _SLOPE = 2 / mpmath.sqrt(mpmath.pi)
    SLOPE, ROOT = pair(_SLOPE), pair(1 / _SLOPE)
    _NODES = [mpmath.mpf(j) / PARTS for j in range(28 * PARTS)]
    _SLOPES = [_SLOPE * mpmath.exp(-r * r) for r in _NODES]
    _ERF = [pair(mpmath.erf(r)) for r in _NODES[: 6 * PARTS + 1]]
    _ERFC = [mpmath.erfc(r) for r in _NODES]
    # The complement and its derivative in units of a power of two.
    _SCALE = np.array([int(mpmath.frexp(v)[1]) for v in _ERFC])
    _INVERSES = [1 / mpmath.mpf(max(n, 1)) for n in range(40)]


def table(pairs: list[tuple[float, float]]) -> np.ndarray:
    """Pairs as an array of two columns."""
    return np.array(pairs)


AT, TANGENT = table(_ERF), table([pair(s) for s in _SLOPES[: 6 * PARTS + 1]])
AT_C = table([pair(mpmath.ldexp(v, -int(k))) for v, k in zip(_ERFC, _SCALE)])
INVERSES = table([pair(v) for v in _INVERSES])
TANGENT_C = table([pair(mpmath.ldexp(s, -int(k))) for s, k in zip(_SLOPES, _SCALE)])


@fast
def rise(r: float, d: float) -> Pair:
    """The integral of exp(r**2 - (r + s)**2) for s from 0 to d."""
    u, v = exact_product(-2.0 * r, d), exact_product(-2.0 * d, d)
    before, term, total = (0.0, 0.0), ONE, (0.0, 0.0)
    for n in range(1, 39):
        inverse = (INVERSES[n, 0], INVERSES[n, 1])
        total = add(total, multiply(term, inverse))
        following = add(multiply(u, term), multiply(v, before))
        before, term = term, multiply(following, inverse)
        if abs(term[0]) + abs(before[0]) < 1e-36:
            break
    return multiply(total, (d, 0.0))


@fast
def erf_pair(a: float) -> Pair:
    """The error function of a number from 0 to 6."""
    j = math.floor(a * PARTS + 0.5)
    y = multiply(rise(j / PARTS, a - j / PARTS), (TANGENT[j, 0], TANGENT[j, 1]))
    return add((AT[j, 0], AT[j, 1]), y)


@fast
def erfc_pair(a: float) -> Any:
    """The complement of a number from 0 to 27.9, and a power of two."""
    j = math.floor(a * PARTS + 0.5)
    y = multiply(rise(j / PARTS, a - j / PARTS), (TANGENT_C[j, 0], TANGENT_C[j, 1]))
    return subtract((AT_C[j, 0], AT_C[j, 1]), y), _SCALE[j]


@fast
def small(x: float, factor: Pair) -> Any:
    """A number that is so small that its square does not matter, times a factor."""
    y = multiply((math.ldexp(x, 600), 0.0), factor)
    return y[0], y[1], -600


@fast
def erf(x: float) -> Any:
    if x != x or x == 0.0:
        return x, 0.0, 0
    if abs(x) < 1e-30:
        return small(x, SLOPE)
    sign = math.copysign(1.0, x)
    if abs(x) > 5.0:
        if abs(x) > 27.0:
            return sign, 0.0, 0
        c, k = erfc_pair(abs(x))
        y = subtract(ONE, scaled(c, k))
    else:
        y = erf_pair(abs(x))
    return sign * y[0], sign * y[1], 0


@fast
def erfc(x: float) -> Any:
    if x != x:
        return x, 0.0, 0
    if x < 0.4:
        high, low, k = erf(x)
        y = subtract(ONE, scaled((high, low), k))
        return y[0], y[1], 0
    if x > 27.9:
        return 1.0, 0.0, -4000
    y, k = erfc_pair(x)
    return y[0], y[1], k


@fast
def guess(a: float) -> float:
    """The inverse of the error function to nearly all digits of a float64."""
    w = math.log1p(-a) + math.log1p(a)
    t = 2.0 / (math.pi * 0.147) + 0.5 * w  # Winitzki's formula
    y = math.sqrt(math.sqrt(t * t - w / 0.147) - t) if a > 1e-3 else a / SLOPE[0]
    for _ in range(3):
        off = math.erf(y) - a if a < 0.5 else (1.0 - a) - math.erfc(y)
        step = off / (SLOPE[0] * math.exp(-y * y))
        y = y - step / (1.0 + y * step)
    return y


@fast
def erf_inv(x: float) -> Any:
    a = abs(x)
    if x == 0.0 or not a < 1.0:
        return (x if x == 0.0 else x * math.inf if a == 1.0 else math.nan), 0.0, 0
    if a < 1e-30:
        return small(x, ROOT)
    y, sign = guess(a), math.copysign(1.0, x)
    if a < 0.5:
        off = subtract(erf_pair(y), (a, 0.0))
    else:
        c, k = erfc_pair(y)
        off = subtract(exact_sum(1.0, -a), scaled(c, k))
    j = math.floor(y * PARTS + 0.5)
    d = y - j / PARTS
    # The derivative at y: that at the node times exp of the rest.
    slope = TANGENT[min(j, 6 * PARTS), 0] * math.exp(-d * (2.0 * j / PARTS + d))
    step = divide(off, (slope, 0.0))
    z = subtract((y, 0.0), add(step, (y * step[0] * step[0], 0.0)))
    return sign * z[0], sign * z[1], 0
