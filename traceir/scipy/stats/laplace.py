"""The Laplace distribution: exponential on both sides.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import abs, exp, log
from traceir.numpy.elementwise.composites import where
from traceir.scipy.stats.frames import standard


def logpdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0)
    Array(-0.6931472, dtype=float32, weak_type=True)
    """
    z, scale = standard("laplace.logpdf", x, loc, scale)
    return -(abs(z) + log(2 * scale))


def pdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(1.0)
    Array(0.8160603, dtype=float32, weak_type=True)
    """
    z, _ = standard("laplace.cdf", x, loc, scale)
    end = 0.5 * exp(-abs(z))
    return where(z > 0, 1.0 - end, end)


_publish(globals())
