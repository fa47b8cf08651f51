"""The uniform distribution, from `loc` to `loc + scale`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import numpy as np

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand, convert
from traceir.numpy.elementwise.arithmetic import exp, log
from traceir.numpy.elementwise.composites import clip
from traceir.scipy.stats.frames import between, plain, standard, within
from traceir.tracing.trace import typeof


def logpdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The logarithm of the density.

    >>> logpdf(0.5)
    Array(-0., dtype=float32, weak_type=True)
    """
    z, scale = standard("uniform.logpdf", x, loc, scale)
    return within(between(z, 0, 1), -log(scale))


def pdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The density.

    >>> pdf(0.5)
    Array(1., dtype=float32, weak_type=True)
    """
    return exp(logpdf(x, loc, scale))


def cdf(x: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """The cumulative distribution function: the probability of at most `x`.

    >>> cdf(0.25)
    Array(0.25, dtype=float32)
    """
    place = standard("uniform.cdf", x, loc, scale)[0]
    return clip(convert(place, typeof(place).dtype), 0.0, 1.0)


def ppf(q: Operand, loc: Operand = 0, scale: Operand = 1) -> Array:
    """Up to where a part `q` of the distribution is: the inverse of `cdf`.

    >>> ppf(0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    q, loc, scale = plain("uniform.ppf", q, loc, scale)
    there = (q >= 0) & (q <= 1)
    return within(there, q * scale + loc, np.nan)


_publish(globals())
