"""The beta-binomial distribution: `binom` with a probability distributed as `beta`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, log1p
from traceir.scipy.special.betas import betaln
from traceir.scipy.stats.frames import between, counted, safe, whole, within


def logpmf(k: Operand, n: Operand, a: Operand, b: Operand, loc: Operand = 0) -> Array:
    """The logarithm of the probability of `k`.

    >>> logpmf(1, 2, 1.0, 1.0)
    Array(-1.0986123, dtype=float32, weak_type=True)
    """
    k, n, a, b = counted("betabinom.logpmf", k, loc, n, a, b)
    there = whole(k) & between(k, 0, n)
    k = safe(there, k, 0.0)
    rest = n - k
    ways = -(betaln(rest + 1, k + 1) + log1p(n))
    chance = betaln(k + a, rest + b) - betaln(a, b)
    return within(there, ways + chance)


def pmf(k: Operand, n: Operand, a: Operand, b: Operand, loc: Operand = 0) -> Array:
    """The probability of `k`.

    >>> pmf(1, 2, 1.0, 1.0)
    Array(0.33333334, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, n, a, b, loc))


_publish(globals())
