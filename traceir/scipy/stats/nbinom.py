"""The negative binomial distribution: failures before `n` successes.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, log
from traceir.scipy.special.betas import betaln
from traceir.scipy.special.logs import xlog1py, xlogy
from traceir.scipy.stats.frames import counted, safe, whole, within


def logpmf(k: Operand, n: Operand, p: Operand, loc: Operand = 0) -> Array:
    """The logarithm of the probability of `k`.

    >>> logpmf(1, 2, 0.5)
    Array(-1.3862944, dtype=float32, weak_type=True)
    """
    k, n, p = counted("nbinom.logpmf", k, loc, n, p)
    there = whole(k)
    k = safe(there, k, 0.0)
    ways = -(betaln(n, k + 1) + log(n + k))
    logs = xlogy(n, p) + xlog1py(k, -p)
    return within(there, ways + logs)


def pmf(k: Operand, n: Operand, p: Operand, loc: Operand = 0) -> Array:
    """The probability of `k`.

    >>> pmf(1, 2, 0.5)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, p, loc))


_publish(globals())
