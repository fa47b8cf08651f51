"""The Pareto distribution, of exponent `b` from 1 on.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import add, exp, log, log1p, negative
from traceir.numpy.elementwise.exponential import expm1
from traceir.scipy.special.logsums import log_one_less
from traceir.scipy.stats.frames import above, after, plain, safe, standard, within


def logpdf(x: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(2.0, 1.0)
    Array(-1.3862944, dtype=float32, weak_type=True)
    """
    z, scale, b = standard("pareto.logpdf", x, loc, scale, b)
    there = after(z, 1)
    logs = (b + 1) * log(safe(there, z))
    return within(there, log(b) - logs - log(scale))


def pdf(x: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(2.0, 1.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, b, loc, scale))


def cdf(x: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(2.0, 1.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return -expm1(logsf(x, b, loc, scale))


def logcdf(x: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(2.0, 1.0)
    Array(-0.6931472, dtype=float32, weak_type=True)
    """
    size = -_logsf("pareto.logcdf", x, b, loc, scale)
    some = above(size, 0)
    return within(some, log_one_less(safe(some, size)))


def sf(x: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(2.0, 1.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return exp(logsf(x, b, loc, scale))


def logsf(x: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `sf`.

    >>> logsf(2.0, 1.0)
    Array(-0.6931472, dtype=float32, weak_type=True)
    """
    return _logsf("pareto.logsf", x, b, loc, scale)


def _logsf(name: str, x: Operand, b: Operand, loc: Operand, scale: Operand) -> Array:
    z, _, b = standard(name, x, loc, scale, b)
    return negative(b * log(safe(after(z, 1), z)))


def ppf(q: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Up to where a part `q` of the distribution is: the inverse of `cdf`.

    >>> ppf(0.5, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    q, loc, scale, b = plain("pareto.ppf", q, loc, scale, b)
    found = exp(-log1p(-q) / b)
    return add(loc, scale * found)


_publish(globals())
