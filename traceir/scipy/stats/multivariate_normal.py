"""The normal distribution of vectors.

Serves: promote.*, face.broadcast, linalg.shapes
"""

from __future__ import annotations

import math

from traceir import lax, rules
from traceir.array import Array
from traceir.lax.matrices import solved
from traceir.lax.operands import Operand, as_array, promoted_inexact, shape_of
from traceir.numpy.creation import broadcast_to
from traceir.numpy.diagonals import diagonal
from traceir.numpy.elementwise import exp, log, multiply, sqrt, subtract
from traceir.numpy.linalg import cholesky
from traceir.numpy.reductions import sum as _sum
from traceir.scipy.stats import norm


def logpdf(x: Operand, mean: Operand, cov: Operand) -> Array:
    """The logarithm of the density at vectors, which are the last dimension of `x`.

    `x` and `mean` are (..., n), `cov` is (..., n, n), positive definite; stacks
    broadcast. If `mean` is a number, so is `cov`, and elements are taken one by one.
    The result is (...), NaN where `cov` is not positive definite. Raises ValueError
    (linalg.shapes).

    >>> import traceir.numpy as jnp
    >>> logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))
    Array(-1.837877, dtype=float32)
    """
    value, mean, cov = reals_of(x, mean, cov)
    if not shape_of(mean):
        if shape_of(cov):
            raise _misfit(value, mean, cov)
        return norm.logpdf(value, mean, sqrt(cov))
    size = shape_of(mean)[-1]
    if shape_of(cov)[-2:] != (size, size) or shape_of(value)[-1:] not in ((), (size,)):
        raise _misfit(value, mean, cov)
    rest = subtract(value, mean)
    stack = lax.broadcast_shapes(shape_of(rest)[:-1], shape_of(cov)[:-2])
    rest = broadcast_to(rest, (*stack, size))
    factor = broadcast_to(cholesky(cov), (*stack, size, size))
    column = lax.expand_dims(rest, (len(stack) + 1,))
    whitened = solved(factor, column, left_side=True, lower=True)
    square = _sum(lax.square(whitened), (-2, -1))
    roots = _sum(log(diagonal(factor, axis1=-2, axis2=-1)), -1)
    constant = size / 2 * math.log(2 * math.pi)
    return subtract(subtract(multiply(-0.5, square), constant), roots)


def reals_of(*operands: Operand) -> list[Array]:
    """Operands as floating arrays of one dtype, whatever their shapes.

    >>> reals_of(1, 2.0)[0]
    Array(1., dtype=float32, weak_type=True)
    """
    return [as_array(x) for x in promoted_inexact("multivariate_normal", *operands)]


def _misfit(x: Array, mean: Array, cov: Array) -> Exception:
    got = f"x of {x.shape}, mean of {mean.shape}, cov of {cov.shape}"
    hint = "they are (..., n), (..., n) and (..., n, n)"
    return rules.error("linalg.shapes", got=got, hint=hint)


def pdf(x: Operand, mean: Operand, cov: Operand) -> Array:
    """The density at vectors, which are the last dimension of `x`.

    >>> import traceir.numpy as jnp
    >>> pdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))
    Array(0.15915497, dtype=float32)
    """
    return exp(logpdf(x, mean, cov))
