"""The chi-squared distribution of `df` degrees of freedom.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.scipy.stats import gamma
from traceir.scipy.stats.frames import plain


def logpdf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(1.0, 2.0)
    Array(-1.1931472, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = plain("chi2.logpdf", x, df, loc, scale)
    return gamma.logpdf(x, df / 2, loc, scale * 2)


def pdf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(1.0, 2.0)
    Array(0.30326533, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = plain("chi2.pdf", x, df, loc, scale)
    return gamma.pdf(x, df / 2, loc, scale * 2)


def cdf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(1.0, 2.0)
    Array(0.39346933, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = plain("chi2.cdf", x, df, loc, scale)
    return gamma.cdf(x, df / 2, loc, scale * 2)


def logcdf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(1.0, 2.0)
    Array(-0.93275213, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = plain("chi2.logcdf", x, df, loc, scale)
    return gamma.logcdf(x, df / 2, loc, scale * 2)


def sf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(1.0, 2.0)
    Array(0.60653067, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = plain("chi2.sf", x, df, loc, scale)
    return gamma.sf(x, df / 2, loc, scale * 2)


def logsf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `sf`.

    >>> logsf(1.0, 2.0)
    Array(-0.5, dtype=float32, weak_type=True)
    """
    x, df, loc, scale = plain("chi2.logsf", x, df, loc, scale)
    return gamma.logsf(x, df / 2, loc, scale * 2)


_publish(globals())
