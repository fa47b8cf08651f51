"""The Dirichlet distribution, of vectors whose elements add up to 1.

Serves: promote.*, linalg.shapes
"""

from __future__ import annotations

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    promoted_inexact,
    refuse_complex,
    shape_of,
)
from traceir.numpy.elementwise.arithmetic import abs, exp
from traceir.numpy.manipulation.shapes import concatenate, expand_dims
from traceir.numpy.reductions.reductions import all as _all
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.scipy.special.gammas import gammaln
from traceir.scipy.special.logs import xlogy
from traceir.scipy.stats.frames import within

# How far from 1 a sum may be: some roundings of single precision.
_NEAR = 1e-6


def logpdf(x: Operand, alpha: Operand) -> Array:
    """The logarithm of the density at vectors, which are the first dimension of `x`.

    `alpha` is (n,), `x` is (n, ...), or (n - 1, ...) without the last elements; the
    result is (...), -inf where elements are below 0 or do not add up to 1. Raises
    ValueError (linalg.shapes).

    >>> import traceir.numpy as jnp
    >>> logpdf(jnp.array([0.25, 0.75]), jnp.array([1.0, 2.0]))
    Array(0.4054651, dtype=float32)
    """
    refuse_complex("dirichlet.logpdf", x, alpha)
    x, alpha = (as_array(v) for v in promoted_inexact("dirichlet.logpdf", x, alpha))
    count = alpha.shape[0] if alpha.ndim == 1 else -1
    given = x.shape[0] if x.shape else -1
    if count < 1 or given not in (count, count - 1):
        got = f"x of {shape_of(x)} for alpha of {shape_of(alpha)}"
        hint = "alpha is (n,), x is (n, ...) or (n - 1, ...)"
        raise rules.error("linalg.shapes", got=got, hint=hint)
    if given == count - 1:
        last = 1 - _sum(x, 0, keepdims=True)
        x = concatenate([x, last])
    places = tuple(range(1, x.ndim))
    powers = expand_dims(alpha - 1, places)
    whole = _sum(gammaln(alpha)) - gammaln(_sum(alpha))
    found = _sum(xlogy(powers, x), 0) - whole
    near = abs(_sum(x, 0) - 1) < _NEAR
    there = _all(x >= 0, 0) & near
    return within(there, found)


def pdf(x: Operand, alpha: Operand) -> Array:
    """The density at vectors, which are the first dimension of `x`.

    >>> import traceir.numpy as jnp
    >>> pdf(jnp.array([0.25, 0.75]), jnp.array([1.0, 2.0]))
    Array(1.5, dtype=float32)
    """
    return exp(logpdf(x, alpha))


_publish(globals())
