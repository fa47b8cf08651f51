"""Numbers of twice the digits: a pair of float64, the second less than a rounding.

Sums and products without error are Dekker's and Knuth's; a product's rest is one `fma`.
What a sum or a product of pairs loses is below 2**-102 of its result.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
from numba import njit
from numba.extending import intrinsic

Pair = Any
fast = njit(error_model="numpy")
ONE = (1.0, 0.0)
TINY = 1e-140  # so small that x and f(x) agree in far more digits than a pair has


def pair(number: Any) -> tuple[float, float]:
    """The pair that is nearest to a number of mpmath."""
    with mpmath.workprec(300):
        high = float(number)
        return high, float(number - mpmath.mpf(high))


def series(terms: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients as two arrays, for `polynomial`."""
    high, low = zip(*map(pair, terms))
    return np.array(high), np.array(low)


# The arguments are types here; `builder` writes the instruction.
@intrinsic
def fma(types, x, y, z):
    """x * y + z, rounded once."""

    def generate(context, builder, signature, args):
        return builder.fma(*args)

    return x(x, y, z), generate


@fast
def exact_sum(a: float, b: float) -> Pair:
    """a + b without any error."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


@fast
def exact_product(a: float, b: float) -> Pair:
    """a * b without any error."""
    p = a * b
    return p, fma(a, b, -p)


@fast
def normal(a: float, b: float) -> Pair:
    """a + b as a pair, where b is not the greater."""
    s = a + b
    return s, b - (s - a)


@fast
def add(a: Pair, b: Pair) -> Pair:
    """The sum, accurate even where much of it cancels."""
    s, e = exact_sum(a[0], b[0])
    t, f = exact_sum(a[1], b[1])
    s, e = normal(s, e + t)
    return normal(s, e + f)


@fast
def subtract(a: Pair, b: Pair) -> Pair:
    """The difference."""
    return add(a, (-b[0], -b[1]))


@fast
def multiply(a: Pair, b: Pair) -> Pair:
    """The product."""
    p, e = exact_product(a[0], b[0])
    return normal(p, e + (a[0] * b[1] + a[1] * b[0]))


@fast
def divide(a: Pair, b: Pair) -> Pair:
    """The quotient: one of float64, and twice what is left of the dividend."""
    q = a[0] / b[0]
    r = subtract(a, multiply(b, (q, 0.0)))
    s = r[0] / b[0]
    r = subtract(r, multiply(b, (s, 0.0)))
    q, s = normal(q, s)
    return add((q, s), (r[0] / b[0], 0.0))


@fast
def root(a: Pair) -> Pair:
    """The square root: Newton's step from that of float64."""
    if a[0] == 0.0:
        return a
    s = math.sqrt(a[0])
    r = subtract(a, exact_product(s, s))
    return normal(s, r[0] / (2.0 * s))


@fast
def scaled(a: Pair, k: int) -> Pair:
    """The pair times 2**k."""
    return math.ldexp(a[0], k), math.ldexp(a[1], k)


@fast
def polynomial(x: Pair, high: Any, low: Any) -> Pair:
    """The sum of coefficients times powers, lowest first."""
    n = high.shape[0]
    y = (high[n - 1], low[n - 1])
    for i in range(n - 2, -1, -1):
        y = add(multiply(y, x), (high[i], low[i]))
    return y
