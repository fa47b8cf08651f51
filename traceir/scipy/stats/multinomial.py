"""The multinomial distribution: counts of several outcomes in `n` trials.

Serves: promote.*, face.broadcast
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    promoted_inexact,
    refuse_complex,
)
from traceir.numpy.elementwise.arithmetic import exp
from traceir.numpy.elementwise.logic import equal
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.scipy.special.gammas import gammaln
from traceir.scipy.special.logs import xlogy
from traceir.scipy.stats.frames import within


def logpmf(x: Operand, n: Operand, p: Operand) -> Array:
    """The logarithm of the probability of counts, which are the last dimension of `x`.

    `p` has the probabilities of the outcomes; the result is -inf where the counts do
    not add up to `n`. Raises TypeError (face.argument, face.broadcast).

    >>> import traceir.numpy as jnp
    >>> logpmf(jnp.array([1, 1]), 2, jnp.array([0.5, 0.5]))
    Array(-0.6931472, dtype=float32)
    """
    refuse_complex("multinomial.logpmf", x, n, p)
    operands = promoted_inexact("multinomial.logpmf", x, n, p)
    x, n, p = (as_array(v) for v in operands)
    parts = xlogy(x, p) - gammaln(x + 1)
    found = gammaln(n + 1) + _sum(parts, -1)
    return within(equal(n, _sum(x, -1)), found)


def pmf(x: Operand, n: Operand, p: Operand) -> Array:
    """The probability of counts, which are the last dimension of `x`.

    >>> import traceir.numpy as jnp
    >>> pmf(jnp.array([1, 1]), 2, jnp.array([0.5, 0.5]))
    Array(0.5, dtype=float32)
    """
    return exp(logpmf(x, n, p))


_publish(globals())
