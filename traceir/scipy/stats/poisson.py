"""The Poisson distribution: events where `mu` are expected.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, floor
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


_publish(globals())
