"""The normal distribution between `a` and `b`, which count scales from `loc`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import math

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, log, maximum, minimum
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.normal import log_ndtr
from traceir.scipy.stats.frames import between, log_difference, standard, within

_HALF_LOG_TAU = math.log(2 * math.pi) / 2


def _log_mass(a: Array, b: Array) -> Array:
    """The logarithm of the normal distribution's part from a to b.

    Both ends are taken on the side where the logarithm of the cdf is exact.
    """
    right = a > 0
    low, high = where(right, -b, a), where(right, -a, b)
    return log_difference(log_ndtr(high), log_ndtr(low))


def _defined(a: Array, b: Array, found: Array) -> Array:
    """The values found; NaN if there is nothing between a and b."""
    return where(a >= b, np.nan, found)


def logpdf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0, -1.0, 1.0)
    Array(-0.5372234, dtype=float32)
    """
    z, scale, a, b = standard("truncnorm.logpdf", x, loc, scale, a, b)
    square = -0.5 * lax.square(z)
    rest = _log_mass(a, b) + _HALF_LOG_TAU + log(scale)
    there = between(z, a, b)
    return _defined(a, b, within(there, square - rest))


def pdf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The density.

    >>> pdf(0.0, -1.0, 1.0)
    Array(0.5843685, dtype=float32)
    """
    return exp(logpdf(x, a, b, loc, scale))


def cdf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(0.0, -1.0, 1.0)
    Array(0.5, dtype=float32)
    """
    return exp(logcdf(x, a, b, loc, scale))


def logcdf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(0.0, -1.0, 1.0)
    Array(-0.6931471, dtype=float32)
    """
    z, _, a, b = standard("truncnorm.logcdf", x, loc, scale, a, b)
    z = minimum(maximum(z, a), b)
    return _defined(a, b, _log_mass(a, z) - _log_mass(a, b))


def sf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(0.0, -1.0, 1.0)
    Array(0.49999997, dtype=float32)
    """
    return exp(logsf(x, a, b, loc, scale))


def logsf(
    x: Operand, a: Operand, b: Operand, loc: Operand = 0, scale: Operand = 1
) -> Array:
    """The logarithm of `sf`.

    >>> logsf(0.0, -1.0, 1.0)
    Array(-0.69314724, dtype=float32)
    """
    z, _, a, b = standard("truncnorm.logsf", x, loc, scale, a, b)
    z = minimum(maximum(z, a), b)
    return _defined(a, b, _log_mass(z, b) - _log_mass(a, b))


_publish(globals())
