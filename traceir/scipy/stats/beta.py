"""The beta distribution, of shapes `a` and `b`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, log
from traceir.numpy.elementwise.composites import clip
from traceir.scipy.special.betas import betainc, betaln
from traceir.scipy.special.logs import xlog1py, xlogy
from traceir.scipy.stats.frames import between, safe, standard, within


def logpdf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.5, 2.0, 2.0)
    Array(0.40546513, dtype=float32, weak_type=True)
    """
    z, scale, a, b = standard("beta.logpdf", x, loc, scale, a, b)
    there = between(z, 0, 1)
    z = safe(there, z, 0.5)
    logs = xlogy(a - 1, z) + xlog1py(b - 1, -z)
    return within(there, logs - betaln(a, b) - log(scale))


def pdf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The density.

    >>> pdf(0.5, 2.0, 2.0)
    Array(1.5, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, a, b, loc, scale))


def cdf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(0.5, 2.0, 2.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    z, _, a, b = standard("beta.cdf", x, loc, scale, a, b)
    return betainc(a, b, clip(z, 0, 1))


def logcdf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(0.5, 2.0, 2.0)
    Array(-0.6931472, dtype=float32, weak_type=True)
    """
    return log(cdf(x, a, b, loc, scale))


def sf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(0.5, 2.0, 2.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    z, _, a, b = standard("beta.sf", x, loc, scale, a, b)
    return betainc(b, a, clip(1 - z, 0, 1))


def logsf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The logarithm of `sf`.

    >>> logsf(0.5, 2.0, 2.0)
    Array(-0.6931472, dtype=float32, weak_type=True)
    """
    return log(sf(x, a, b, loc, scale))


_publish(globals())
