"""The von Mises distribution on a circle, of concentration `kappa`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import math

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import cos, exp, log, subtract
from traceir.scipy.special.bessels import i0e
from traceir.scipy.stats.frames import plain


def logpdf(x: Operand, kappa: Operand) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0, 1.0)
    Array(-1.0737915, dtype=float32, weak_type=True)
    """
    x, kappa = plain("vonmises.logpdf", x, kappa)
    height = cos(x) - 1.0
    mass = log(2 * math.pi * i0e(kappa))
    return subtract(kappa * height, mass)


def pdf(x: Operand, kappa: Operand) -> Array:
    """The density.

    >>> pdf(0.0, 1.0)
    Array(0.34171048, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, kappa))


_publish(globals())
