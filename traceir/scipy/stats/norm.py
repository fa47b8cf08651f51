"""The normal distribution.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import math

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand, as_array, convert, default_dtype
from traceir.numpy.elementwise.arithmetic import exp, log
from traceir.scipy.special.normal import log_ndtr, ndtr, ndtri
from traceir.scipy.stats.frames import plain, standard

_HALF_LOG_TAU = math.log(2 * math.pi) / 2


def logpdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0)
    Array(-0.9189385, dtype=float32, weak_type=True)
    """
    z, scale = standard("norm.logpdf", x, loc, scale)
    square = -0.5 * lax.square(z)
    return square - _HALF_LOG_TAU - log(scale)


def pdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(0.0)
    Array(0.3989423, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(0.0)
    Array(0.5, dtype=float32)
    """
    return ndtr(standard("norm.cdf", x, loc, scale)[0])


def logcdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(-20.0)
    Array(-203.91716, dtype=float32)
    """
    return log_ndtr(standard("norm.logcdf", x, loc, scale)[0])


def sf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(0.0)
    Array(0.5, dtype=float32)
    """
    return ndtr(-standard("norm.sf", x, loc, scale)[0])


def logsf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `sf`.

    >>> logsf(20.0)
    Array(-203.91716, dtype=float32)
    """
    return log_ndtr(-standard("norm.logsf", x, loc, scale)[0])


def ppf(q: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Up to where a part `q` of the distribution is: the inverse of `cdf`.

    >>> ppf(0.975)
    Array(1.9599645, dtype=float32)
    """
    z, loc, scale = plain("norm.ppf", ndtri(q), loc, scale)
    return _usual(z * scale + loc)


def isf(q: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Above where a part `q` of the distribution is: the inverse of `sf`.

    >>> isf(0.025)
    Array(1.959964, dtype=float32)
    """
    z, loc, scale = plain("norm.isf", ndtri(q), loc, scale)
    return _usual(loc - z * scale)


def _usual(x: Array) -> Array:
    """A real array in the dtype of Python's floats, as both inverses give it."""
    if x.dtype.kind == "c":
        return x
    return as_array(convert(x, default_dtype(float)))


_publish(globals())
