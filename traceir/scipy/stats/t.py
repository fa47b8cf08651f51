"""Student's distribution of `df` degrees of freedom.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import math

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import exp, log, log1p, subtract
from traceir.scipy.special.gammas import gammaln
from traceir.scipy.stats.frames import standard


def logpdf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0, 1.0)
    Array(-1.1447299, dtype=float32, weak_type=True)
    """
    z, scale, df = standard("t.logpdf", x, loc, scale, df)
    half, more = df / 2, (df + 1) / 2
    lead = gammaln(more) - gammaln(half)
    root = 0.5 * log(math.pi * df)
    tail = more * log1p(lax.square(z) / df)
    return subtract(lead - root - tail, log(scale))


def pdf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(0.0, 1.0)
    Array(0.31830993, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, df, loc, scale))


_publish(globals())
