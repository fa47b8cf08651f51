"""The binomial distribution: successes of `n` trials of probability `p`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, log1p
from traceir.scipy.special.betas import betaln
from traceir.scipy.special.logs import xlog1py, xlogy
from traceir.scipy.stats.frames import between, counted, safe, whole, within


def logpmf(k: Operand, n: Operand, p: Operand, loc: Operand = 0) -> Array:
    """The logarithm of the probability of `k`.

    >>> logpmf(1, 2, 0.5)
    Array(-0.6931472, dtype=float32, weak_type=True)
    """
    k, n, p = counted("binom.logpmf", k, loc, n, p)
    there = whole(k) & between(k, 0, n)
    k = safe(there, k, 0.0)
    rest = n - k
    ways = -(betaln(rest + 1, k + 1) + log1p(n))
    logs = xlogy(k, p) + xlog1py(rest, -p)
    return within(there, ways + logs)


def pmf(k: Operand, n: Operand, p: Operand, loc: Operand = 0) -> Array:
    """The probability of `k`.

    >>> pmf(1, 2, 0.5)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, p, loc))


_publish(globals())
