"""The Cauchy distribution.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import math

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import (
    abs,
    add,
    exp,
    log,
    log1p,
    sign,
    subtract,
)
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.trigonometric import arctan2, tan
from traceir.scipy.stats.frames import plain, standard


def _below(z: Array) -> Array:
    """The angle at which 1 stands above -z, as a part of a half turn."""
    return arctan2(1, -z) / math.pi


def _end(q: Operand) -> Array:
    """The point where a part q ends; far out, by the part on that side."""
    middle = subtract(q, 0.5)
    rest = 0.5 - abs(middle)
    far = sign(middle) / tan(math.pi * rest)
    return where(rest < 0.25, far, tan(math.pi * middle))


def logpdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0)
    Array(-1.14473, dtype=float32, weak_type=True)
    """
    z, scale = standard("cauchy.logpdf", x, loc, scale)
    return -(log1p(lax.square(z)) + log(math.pi * scale))


def pdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(0.0)
    Array(0.31830987, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(1.0)
    Array(0.75, dtype=float32, weak_type=True)
    """
    return _below(standard("cauchy.cdf", x, loc, scale)[0])


def logcdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `cdf`.

    >>> logcdf(-1.0)
    Array(-1.3862945, dtype=float32, weak_type=True)
    """
    return log(cdf(x, loc, scale))


def sf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The survival function: the probability of more than `x`.

    >>> sf(1.0)
    Array(0.24999999, dtype=float32, weak_type=True)
    """
    return _below(-standard("cauchy.sf", x, loc, scale)[0])


def logsf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of `sf`.

    >>> logsf(1.0)
    Array(-1.3862945, dtype=float32, weak_type=True)
    """
    return log(sf(x, loc, scale))


def ppf(q: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Up to where a part `q` of the distribution is: the inverse of `cdf`.

    >>> ppf(0.75)
    Array(1., dtype=float32, weak_type=True)
    """
    q, loc, scale = plain("cauchy.ppf", q, loc, scale)
    return add(_end(q) * scale, loc)


def isf(q: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Above where a part `q` of the distribution is: the inverse of `sf`.

    >>> isf(0.25)
    Array(1., dtype=float32, weak_type=True)
    """
    q, loc, scale = plain("cauchy.isf", q, loc, scale)
    return subtract(loc, _end(q) * scale)


_publish(globals())
