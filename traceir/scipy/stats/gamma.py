"""The gamma distribution, of shape `a`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand, like
from traceir.numpy.elementwise.arithmetic import exp, log
from traceir.numpy.elementwise.logic import logical_not
from traceir.scipy.special.gammas import gammainc, gammaincc, gammaln
from traceir.scipy.special.logs import xlogy
from traceir.scipy.stats.frames import after, safe, standard, within


def _shape(
    name: str, x: Operand, a: Operand, loc: Operand, scale: Operand
) -> tuple[Array, Array, Array]:
    """The shape, whether in the distribution, and how far, or 1 outside."""
    z, _, a = standard(name, x, loc, scale, a)
    there = logical_not(lax.le(z, like(0, z)))
    return a, there, safe(there, z)


def logpdf(x: Operand, a: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(1.0, 2.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    z, scale, a = standard("gamma.logpdf", x, loc, scale, a)
    there = after(z, 0)
    z = safe(there, z)
    logs = xlogy(a - 1, z) - z - gammaln(a)
    return within(there, logs - log(scale))


def pdf(x: Operand, a: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(1.0, 2.0)
    Array(0.36787942, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, a, loc, scale))


def cdf(x: Operand, a: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(1.0, 2.0)
    Array(0.26424113, dtype=float32, weak_type=True)
    """
    a, there, z = _shape("gamma.cdf", x, a, loc, scale)
    return within(there, gammainc(a, z), 0)


def logcdf(x: Operand, a: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(1.0, 2.0)
    Array(-1.3308933, dtype=float32, weak_type=True)
    """
    return log(cdf(x, a, loc, scale))


def sf(x: Operand, a: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(1.0, 2.0)
    Array(0.7357589, dtype=float32, weak_type=True)
    """
    a, there, z = _shape("gamma.sf", x, a, loc, scale)
    return within(there, gammaincc(a, z), 1)


def logsf(x: Operand, a: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `sf`.

    >>> logsf(1.0, 2.0)
    Array(-0.30685282, dtype=float32, weak_type=True)
    """
    return log(sf(x, a, loc, scale))


_publish(globals())
