"""The Cauchy distribution wrapped around a circle, from 0 to 2 pi.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import math

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import cos, exp, log
from traceir.scipy.stats.frames import between, plain, within


def logpdf(x: Operand, c: Operand) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0, 0.5)
    Array(-0.7392648, dtype=float32, weak_type=True)
    """
    x, c = plain("wrapcauchy.logpdf", x, c)
    squared = lax.square(c)
    below = 1.0 + squared - 2.0 * c * cos(x)
    found = log((1.0 - squared) / (2 * math.pi * below))
    there = between(x, 0, 2 * math.pi)
    return within(there, found)


def pdf(x: Operand, c: Operand) -> Array:
    """The density.

    >>> pdf(0.0, 0.5)
    Array(0.47746482, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, c))


_publish(globals())
