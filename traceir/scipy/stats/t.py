"""Student's distribution of `df` degrees of freedom.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import math

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.arithmetic import (
    add,
    divide,
    exp,
    log,
    log1p,
    multiply,
    subtract,
)
from traceir.scipy.special.gammas import gammaln
from traceir.scipy.stats.frames import standard


def logpdf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.0, 1.0)
    Array(-1.1447299, dtype=float32, weak_type=True)
    """
    z, scale, df = standard("t.logpdf", x, loc, scale, df)
    half, more = divide(df, 2), divide(add(df, 1), 2)
    lead = subtract(gammaln(more), gammaln(half))
    root = multiply(0.5, log(multiply(math.pi, df)))
    tail = multiply(more, log1p(divide(lax.square(z), df)))
    return subtract(subtract(subtract(lead, root), tail), log(scale))


def pdf(x: Operand, df: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(0.0, 1.0)
    Array(0.31830993, dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, df, loc, scale))
