"""The geometric distribution: trials up to the first success.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, log
from traceir.scipy.special.logs import xlog1py
from traceir.scipy.stats.frames import after, counted, whole, within


def logpmf(k: Operand, p: Operand, loc: Operand = 0) -> Array:
    """The logarithm of the probability of `k`.

    >>> logpmf(1, 0.25)
    Array(-1.3862944, dtype=float32, weak_type=True)
    """
    k, p = counted("geom.logpmf", k, loc, p)
    there = whole(k) & after(k, 1)
    return within(there, xlog1py(k - 1, -p) + log(p))


def pmf(k: Operand, p: Operand, loc: Operand = 0) -> Array:
    """The probability of `k`.

    >>> pmf(1, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, p, loc))


_publish(globals())
