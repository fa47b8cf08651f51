"""The zeta and polygamma functions. Serves: `prim.zeta`, `prim.polygamma`.

The sum of (q + k)**-s is ten terms and Euler's and Maclaurin's formula for the rest.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int64 as i64

from traceir_numba.vecmath.basics import INF_F64, NAN_F64, ZERO_F64, fma
from traceir_numba.vecmath.exponential import exp_f64
from traceir_numba.vecmath.logarithm import log_f64
from traceir_numba.vecmath.power import pow_f64
from traceir_numba.vecmath.special.gamma import digamma_f64, lgamma_f64


def bernoulli_table() -> np.ndarray:
    """Bernoulli's number of 2 k over the factorial of it, for k from 1 to 12."""
    unit = 1 << 200
    numbers = [unit]
    for m in range(1, 25):
        rest = sum(math.comb(m + 1, j) * numbers[j] for j in range(m))
        numbers.append(-rest // (m + 1))
    return np.array(
        [numbers[2 * k] / unit / math.factorial(2 * k) for k in range(1, 13)]
    )


def factorial_table() -> np.ndarray:
    """The factorials that a float64 has."""
    return np.array([float(math.factorial(n)) for n in range(171)])


BERNOULLI, FACTORIAL = bernoulli_table(), factorial_table()


def zeta_exponent_f64(s: f64, q: f64) -> f64:
    """The power of q that `zeta_share_f64` leaves: in range with the whole."""
    return 1.0 - s if q > 1.0 else -s


def zeta_share_f64(s: f64, q: f64) -> f64:
    """The sum of (q + k)**-s, q above 0, over q to the power `zeta_exponent_f64`."""
    total = f64(1.0)
    share = f64(1.0)
    unit = q if q > 1.0 else f64(1.0)
    for k in range(1, 10):
        share = pow_f64(q / (q + k), s)
        total = total + share
    w = q + 10.0
    share = pow_f64(q / w, s)
    total = total / unit
    total = total + share * (w / unit / (s - 1.0) + 0.5 / unit)
    term = share * s / w / unit
    for k in range(12):
        total = fma(BERNOULLI[k], term, total)
        term = term * ((s + (2.0 * k + 1.0)) / w) * ((s + (2.0 * k + 2.0)) / w)
        term = term if term < 1e300 else ZERO_F64
    return total


def zeta_term_f64(scale: f64, s: f64, q: f64) -> f64:
    """`scale` times the sum of (q + k)**-s, for q above 0."""
    power = zeta_exponent_f64(s, q)
    share = zeta_share_f64(s, q)
    half = pow_f64(q, 0.5 * power)
    found = (scale * half) * half * share
    whole = pow_f64(q, power) * share
    return whole if scale == 1.0 else found


# From it on few terms are all of a sum.
LARGE_EXPONENT = 512.0


def zeta_large_f64(power: f64, s: f64, x: f64, odd: f64) -> f64:
    """exp(power) times the sum of (x + k)**-s for negative x and large s.

    `odd` is 1 where s is odd. The two terms that are nearest to 0 are all that there is
    of it; where they are of one size and two signs, it is the terms above both.
    """
    size = -x
    first = size - np.floor(size)
    other = 1.0 - first
    if (odd == 1.0) & (first == other):
        rest = size + 1.0
        power = power + zeta_exponent_f64(s, rest) * log_f64(rest)
        return exp_f64(power) * zeta_share_f64(s, rest)
    near = first < other
    least = first if near else other
    share = exp_f64(s * log_f64(least / (other if near else first)))
    root = exp_f64(0.5 * (power - s * log_f64(least)))
    # The term of a negative number has its sign.
    both = share + 1.0
    apart = share - 1.0 if near else 1.0 - share
    return root * (apart if odd == 1.0 else both) * root


def zeta_sum_f64(scale: f64, s: f64, q: f64) -> f64:
    """`scale` times the sum of (q + k)**-s; s is whole where q is negative."""
    if q > 0.0:
        return zeta_term_f64(scale, s, q)
    if s > LARGE_EXPONENT:
        parity = s - np.floor(s * 0.5) * 2.0
        return zeta_large_f64(f64(0.0), s, q, parity)
    # What is below 0 is a difference of two such sums.
    size = -q
    first = size - np.floor(size)
    odd = np.floor(s * 0.5) * 2.0 != s
    below = zeta_term_f64(scale, s, first) - zeta_term_f64(scale, s, size + 1.0)
    above = zeta_term_f64(scale, s, 1.0 - first)
    return above - below if odd else above + below


def zeta_f64(s: f64, q: f64) -> f64:
    """The sum of (q + k)**-s."""
    whole = np.floor(s) == s
    if (s != s) | (q != q) | (s < 1.0) | (q == -INF_F64):
        return NAN_F64
    if (q <= 0.0) & ((not whole) | (s == INF_F64)):
        return NAN_F64
    if s == INF_F64:
        return f64(1.0) if q == 1.0 else (INF_F64 if q < 1.0 else ZERO_F64)
    if (q <= 0.0) & (np.floor(q) == q):
        return INF_F64 if np.floor(s * 0.5) * 2.0 == s else NAN_F64
    if s == 1.0:
        return INF_F64
    return ZERO_F64 if q == INF_F64 else zeta_sum_f64(f64(1.0), s, q)


def zeta_f32(s: f32, q: f32) -> f32:
    """The sum of (q + k)**-s."""
    return f32(zeta_f64(f64(s), f64(q)))


def polygamma_f64(n: f64, x: f64) -> f64:
    """The derivative of order n of digamma."""
    if (n != n) | (x != x) | (n < 0.0) | (n == INF_F64) | (np.floor(n) != n):
        return NAN_F64
    if n == 0.0:
        return digamma_f64(x)
    odd = np.floor(n * 0.5) * 2.0 != n
    if x == -INF_F64:
        return NAN_F64
    if x == INF_F64:
        return ZERO_F64 if odd else -ZERO_F64
    if (x <= 0.0) & (np.floor(x) == x):
        return INF_F64 if odd else NAN_F64
    s = n + 1.0
    if n <= (170.0 if x > 0.0 else 100.0):
        found = zeta_sum_f64(f64(FACTORIAL[i64(n)]), s, x)
    elif x > 0.0:
        power = fma(zeta_exponent_f64(s, x), log_f64(x), lgamma_f64(s))
        found = exp_f64(power) * zeta_share_f64(s, x)
    else:
        found = zeta_large_f64(lgamma_f64(s), s, x, f64(0.0 if odd else 1.0))
    return found if odd else -found


def polygamma_f32(n: f32, x: f32) -> f32:
    """The derivative of order n of digamma."""
    return f32(polygamma_f64(f64(n), f64(x)))
