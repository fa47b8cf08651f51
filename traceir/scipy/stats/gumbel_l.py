"""The Gumbel distribution of minima.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import add, exp, log, log1p
from traceir.numpy.elementwise.exponential import expm1
from traceir.scipy.special.logsums import log_one_less
from traceir.scipy.stats.frames import plain, standard


def logpdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    z, scale = standard("gumbel_l.logpdf", x, loc, scale)
    return z - exp(z) - log(scale)


def pdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(0.0)
    Array(0.36787942, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(0.0)
    Array(0.63212055, dtype=float32, weak_type=True)
    """
    return -expm1(logsf(x, loc, scale))


def logcdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(0.0)
    Array(-0.4586751, dtype=float32, weak_type=True)
    """
    return log_one_less(-logsf(x, loc, scale))


def sf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(0.0)
    Array(0.36787942, dtype=float32, weak_type=True)
    """
    return exp(logsf(x, loc, scale))


def logsf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `sf`.

    >>> logsf(0.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    z, _ = standard("gumbel_l.logsf", x, loc, scale)
    return -exp(z)


def ppf(p: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Up to where a part `p` of the distribution is: the inverse of `cdf`.

    >>> ppf(0.5)
    Array(-0.36651292, dtype=float32, weak_type=True)
    """
    p, loc, scale = plain("gumbel_l.ppf", p, loc, scale)
    return add(loc, scale * log(-log1p(-p)))


_publish(globals())
