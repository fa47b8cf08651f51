"""The Poisson distribution: events where `mu` are expected.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand, as_array, promoted_inexact
from traceir.numpy import arange, e, exp, floor, log, nan, pi, sum, where
from traceir.scipy.special.gammas import gammaincc, gammaln
from traceir.scipy.special.logs import xlogy
from traceir.scipy.stats.frames import after, counted, safe, whole, within


def logpmf(k: Operand, mu: Operand, loc: Operand = 0) -> Array:
    """The logarithm of the probability of `k`.

    >>> logpmf(1, 2.0)
    Array(-1.3068528, dtype=float32, weak_type=True)
    """
    k, mu = counted("poisson.logpmf", k, loc, mu)
    there = whole(k)
    k = safe(there, k, 0.0)
    return within(there, xlogy(k, mu) - gammaln(k + 1) - mu)


def pmf(k: Operand, mu: Operand, loc: Operand = 0) -> Array:
    """The probability of `k`.

    >>> pmf(1, 2.0)
    Array(0.27067056, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, mu, loc))


def cdf(k: Operand, mu: Operand, loc: Operand = 0) -> Array:
    """The cumulative distribution function: the probability of at most `k`.

    >>> cdf(1, 2.0)
    Array(0.40600586, dtype=float32, weak_type=True)
    """
    k, mu = counted("poisson.cdf", k, loc, mu)
    there = after(k, 0)
    up = floor(safe(there, k, 0.0)) + 1
    return within(there, gammaincc(up, mu), 0.0)


# The rate from which on the first terms of a series are as near as the sum, and the
# number of terms of the sum below it.
LARGE, TERMS = 100.0, 256


def entropy(mu: Operand, loc: Operand = 0) -> Array:
    """The differential entropy: the mean of the negative logarithm of the probability.

    NaN where `mu` is negative. It does not depend on `loc`.

    >>> entropy(2.5)
    Array(1.8307266, dtype=float32)
    """
    rate = as_array(promoted_inexact("poisson.entropy", mu, loc)[0])
    k = arange(TERMS, dtype=rate.dtype)
    least = where(rate < LARGE, rate, 1.0)[..., None]
    terms = xlogy(k, least) - gammaln(k + 1) - least
    terms = where(terms < -80, -80.0, terms)  # there it is nothing
    summed = sum(-exp(terms) * terms, axis=-1)
    far = where(rate < LARGE, LARGE, rate)
    series = log(2 * pi * e * far) / 2 - 1 / (12 * far) - 1 / (24 * far**2)
    found = where(rate < LARGE, summed, series - 19 / (360 * far**3))
    there: Array = where(rate < 0, nan, found)
    return there


_publish(globals())
