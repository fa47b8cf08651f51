"""The exponential distribution.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, log, log1p, subtract
from traceir.numpy.elementwise.exponential import expm1
from traceir.scipy.special.logsums import log_one_less
from traceir.scipy.stats.frames import above, after, plain, safe, standard, within


def _waited(name: str, x: Operand, loc: Operand, scale: Operand) -> Array:
    """The place in the distribution in scales, 0 before its start."""
    z, _ = standard(name, x, loc, scale)
    return safe(after(z, 0), z, 0.0)


def logpdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(1.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    z, scale = standard("expon.logpdf", x, loc, scale)
    there = after(z, 0)
    return within(there, -z - log(scale))


def pdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(1.0)
    Array(0.36787942, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(1.0)
    Array(0.63212055, dtype=float32, weak_type=True)
    """
    return -expm1(-_waited("expon.cdf", x, loc, scale))


def logcdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(1.0)
    Array(-0.4586751, dtype=float32, weak_type=True)
    """
    z = _waited("expon.logcdf", x, loc, scale)
    some = above(z, 0)
    return within(some, log_one_less(safe(some, z)))


def sf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(1.0)
    Array(0.36787942, dtype=float32, weak_type=True)
    """
    return exp(-_waited("expon.sf", x, loc, scale))


def logsf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `sf`.

    >>> logsf(1.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    return -_waited("expon.logsf", x, loc, scale)


def ppf(q: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Up to where a part `q` of the distribution is: the inverse of `cdf`.

    >>> ppf(0.5)
    Array(0.6931472, dtype=float32, weak_type=True)
    """
    q, loc, scale = plain("expon.ppf", q, loc, scale)
    return subtract(loc, log1p(-q) * scale)


_publish(globals())
