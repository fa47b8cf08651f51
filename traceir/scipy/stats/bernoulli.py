"""The Bernoulli distribution: one trial of probability `p`.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

import numpy as np

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand, like
from traceir.numpy.elementwise.arithmetic import exp
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.logs import xlog1py, xlogy
from traceir.scipy.stats.frames import between, counted, plain, whole, within


def _known(p: Array) -> Array:
    """True where numbers are probabilities."""
    return (p >= 0) & (p <= 1)


def logpmf(k: Operand, p: Operand, loc: Operand = 0) -> Array:
    """The logarithm of the probability of `k`.

    >>> logpmf(1, 0.25)
    Array(-1.3862944, dtype=float32, weak_type=True)
    """
    k, p = counted("bernoulli.logpmf", k, loc, p)
    there = whole(k) & between(k, 0, 1)
    logs = xlogy(k, p) + xlog1py(1 - k, -p)
    return within(there, logs)


def pmf(k: Operand, p: Operand, loc: Operand = 0) -> Array:
    """The probability of `k`.

    >>> pmf(1, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return exp(logpmf(k, p, loc))


def cdf(k: Operand, p: Operand) -> Array:
    """The cumulative distribution function: the probability of at most `k`.

    >>> cdf(0, 0.25)
    Array(0.75, dtype=float32, weak_type=True)
    """
    k, p = plain("bernoulli.cdf", k, p)
    found = where(
        k < 0,
        0.0,
        where(k < 1, 1 - p, where(k >= 1, 1.0, k)),
    )
    return within(_known(p), found, np.nan)


def ppf(q: Operand, p: Operand) -> Array:
    """Up to where a part `q` of the distribution is: the inverse of `cdf`.

    >>> ppf(0.5, 0.25)
    Array(0., dtype=float32, weak_type=True)
    """
    q, p = plain("bernoulli.ppf", q, p)
    found = where(q <= 1 - p, like(0, q), like(1, q))
    return within(_known(q) & _known(p), found, np.nan)


_publish(globals())
