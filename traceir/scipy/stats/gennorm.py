"""The generalized normal distribution, of exponent `beta`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import abs, exp, log
from traceir.numpy.elementwise.composites import power, where
from traceir.scipy.special.gammas import gammaincc, gammaln
from traceir.scipy.stats.frames import plain


def logpdf(x: Operand, beta: Operand) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0, 2.0)
    Array(-0.5723649, dtype=float32, weak_type=True)
    """
    x, beta = plain("gennorm.logpdf", x, beta)
    logs = log(0.5 * beta) - gammaln(1.0 / beta)
    return logs - power(abs(x), beta)


def pdf(x: Operand, beta: Operand) -> Array:
    """The density.

    >>> pdf(0.0, 2.0)
    Array(0.5641896, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, beta))


def cdf(x: Operand, beta: Operand) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(0.0, 2.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    x, beta = plain("gennorm.cdf", x, beta)
    end = 0.5 * gammaincc(1.0 / beta, power(abs(x), beta))
    return where(x > 0, 1.0 - end, end)


_publish(globals())
