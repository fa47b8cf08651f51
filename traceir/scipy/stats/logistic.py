"""The logistic distribution.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import abs, add, exp, log, log1p, subtract
from traceir.scipy.special.logs import expit, logit
from traceir.scipy.stats.frames import plain, standard


def logpdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0)
    Array(-1.3862944, dtype=float32, weak_type=True)
    """
    z, scale = standard("logistic.logpdf", x, loc, scale)
    size = abs(z)
    twice = 2 * log1p(exp(-size))
    return -(size + twice + log(scale))


def pdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(0.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return expit(standard("logistic.cdf", x, loc, scale)[0])


def sf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return expit(-standard("logistic.sf", x, loc, scale)[0])


def ppf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Up to where a part `x` of the distribution is: the inverse of `cdf`.

    >>> ppf(0.75)
    Array(1.0986123, dtype=float32, weak_type=True)
    """
    x, loc, scale = plain("logistic.ppf", x, loc, scale)
    return add(logit(x) * scale, loc)


def isf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Above where a part `x` of the distribution is: the inverse of `sf`.

    >>> isf(0.25)
    Array(1.0986123, dtype=float32, weak_type=True)
    """
    x, loc, scale = plain("logistic.isf", x, loc, scale)
    return subtract(loc, logit(x) * scale)


_publish(globals())
