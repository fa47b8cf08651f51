"""The normal distribution of vectors.

Serves: promote.*, face.broadcast, linalg.shapes
"""

from __future__ import annotations

import math
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand, as_array, convert, promoted_inexact
from traceir.lax.linalg.matrices import solved
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise.arithmetic import exp, log, subtract
from traceir.numpy.linalg import cholesky
from traceir.numpy.reductions.diagonals import diagonal
from traceir.numpy.reductions.reductions import sum as _sum


def logpdf(
    x: Operand, mean: Operand, cov: Operand, allow_singular: Any = None
) -> Array:
    """The logarithm of the density at vectors, which are the last dimension of `x`.

    `x` and `mean` are (..., n), `cov` is (..., n, n), positive definite, or a number
    that is on its diagonal; stacks broadcast. If `mean` is a number, so is `cov`, and
    elements are taken one by one.
    The result is (...), NaN where `cov` is not positive definite. Raises ValueError
    (linalg.shapes, face.choice).

    >>> import traceir.numpy as jnp
    >>> logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))
    Array(-1.837877, dtype=float32)
    """
    if allow_singular is not None:
        hint = "`cov` is positive definite"
        raise rules.error("face.choice", got=f"{allow_singular=}", hint=hint)
    value, mean, cov = reals_of(x, mean, cov)
    if not mean.shape:
        if cov.shape:
            raise _misfit(value, mean, cov)
        return _apart(lax.square(value - mean), cov, 1)
    size = mean.shape[-1]
    square_cov = cov.shape[-2:] in ((), (size, size))
    if not square_cov or value.shape[-1:] not in ((), (size,)):
        raise _misfit(value, mean, cov)
    rest = value - mean
    if not cov.shape:
        total = _sum(lax.square(rest), -1)
        total = as_array(convert(total, total.dtype, rest.weak_type))
        return _apart(total, cov, size)
    stack = lax.broadcast_shapes(rest.shape[:-1], cov.shape[:-2])
    rest = broadcast_to(rest, (*stack, size))
    factor = broadcast_to(cholesky(cov), (*stack, size, size))
    column = lax.expand_dims(rest, (len(stack) + 1,))
    whitened = solved(factor, column, left_side=True, lower=True)
    square = _sum(lax.square(whitened), (-2, -1))
    roots = _sum(log(diagonal(factor, axis1=-2, axis2=-1)), -1)
    constant = size / 2 * math.log(2 * math.pi)
    return subtract(-0.5 * square - constant, roots)


def _apart(square: Array, variance: Array, size: int) -> Array:
    """The logarithm of the density at squared distances, of independent numbers."""
    logs = math.log(2 * math.pi) + log(variance)
    return -0.5 * (square / variance) - size / 2 * logs


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


_publish(globals())
