"""Sums and differences of exponentials, softmax. Serves: face.axis

The greatest element is taken out of the exponentials before they are added up, so that
none overflows; what is taken out has no derivative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import Operand, promoted_inexact, shape_of, typed
from traceir.lax.checks.shapes import axes_or_names_in
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise.arithmetic import (
    divide,
    exp,
    log,
    log1p,
    multiply,
    negative,
    subtract,
)
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.exponential import expm1
from traceir.numpy.elementwise.logic import less, not_equal
from traceir.numpy.reductions.reductions import Axis, reduced
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.tracing.trace import typeof
from traceir.transforms.custom.custom_jvp import custom_jvp

Axes = tuple[int, ...]


def kept(x: Operand, shape: tuple[int, ...], axes: Axes) -> Array:
    """The reduced array with its axes at extent 1 again."""
    extents = [1 if d in axes else n for d, n in enumerate(shape)]
    return lax.broadcast_in_dim(
        x, extents, [d for d in range(len(shape)) if d not in axes]
    )


def greatest(x: Operand, axes: Axes, where: Operand = None) -> Array:
    """The greatest element over axes of those that count, -inf without any."""
    least = typed(-np.inf, typeof(x).dtype, False)
    counted = x if where is None else _where(where, x, least)
    return lax.max(least, reduced("reduce_max", counted, axes, False))


def centred(x: Operand, axes: Axes, where: Operand = None) -> Array:
    """Elements less the greatest one; -inf where they do not count."""
    most = kept(greatest(x, axes, where), shape_of(x), axes)
    counted = x if where is None else _where(where, x, -np.inf)
    return subtract(counted, lax.stop_gradient(most))


def shares(x: Operand, axes: Axes, where: Operand = None) -> Array:
    """The exponential of each element, divided by the sum of those that count."""
    powers = exp(centred(x, axes, where))
    total = _sum(powers, axes, keepdims=True, where=where)
    found = powers / total
    return found if where is None else _where(where, found, 0)


def _log_softmax(x: Operand, axes: Axes, where: Operand = None) -> Array:
    rest = centred(x, axes, where)
    total = _sum(exp(rest), axes, keepdims=True, where=where)
    found = rest - log(total)
    return found if where is None else _where(where, found, -np.inf)


# What the equation is called, under which two functions are known.
_log_softmax.__name__ = "log_softmax"
log_shares = composite(static_argnames=["axes"])(_log_softmax)


def logsumexp(
    a: Operand,
    axis: Axis = None,
    b: Operand = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Operand = None,
) -> Any:
    """The logarithm of the sum of exponentials, each times `b`, without overflow.

    With `return_sign` the sign of the sum is a second result, and the logarithm that of
    its magnitude; else the logarithm of a negative sum is NaN. `where` tells which
    elements count. Raises ValueError (face.axis), TypeError (face.argument,
    face.broadcast).

    >>> import traceir.numpy as jnp
    >>> logsumexp(jnp.array([1000.0, 1000.0]))
    Array(1000.6932, dtype=float32)
    """
    value, factor = _factored("logsumexp", a, b)
    if where is not None:
        value = _where(where, value, 0)
    axes = axes_or_names_in(axis, len(shape_of(value)))
    is_complex = typeof(value).dtype.kind == "c"
    part = lax.real(value) if is_complex else value
    shift = _shift(part, axes, keepdims, where)
    spread = shift if keepdims else kept(shift, shape_of(value), axes)
    powers = exp(subtract(value, spread))
    if factor is not None:
        powers = multiply(powers, factor)
    total = _sum(powers, axes, keepdims=keepdims, where=where)
    if is_complex and not return_sign:
        return log(total) + shift
    sign = lax.sign(total)
    found = log(lax.abs(total)) + shift
    if return_sign:
        return found, sign
    if factor is not None:
        found = _where(sign < 0, typed(np.nan, found.dtype, False), found)
    return found


def _factored(name: str, a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """The floating operand, -inf where its factor is 0, and the factor, if any."""
    if b is None:
        [value] = promoted_inexact(name, a)
        return value, None
    value, factor = promoted_inexact(name, a, b)
    some = not_equal(factor, 0)
    value = _where(some, value, -np.inf)
    return value, factor


def _shift(value: Operand, axes: Axes, keepdims: bool, where: Operand) -> Array:
    """The greatest element, or 0 where that is infinite or unknown."""
    most = greatest(value, axes, where)
    if keepdims:
        most = kept(most, shape_of(value), axes)
    finite = lax.is_finite(most)
    zeros = broadcast_to(typed(0, most.dtype, False), most.shape)
    return lax.stop_gradient(lax.select(finite, most, zeros))


def _log1mexp(x: Operand) -> Array:
    """log(1 - exp(-x)): M. Maechler, "Accurately computing log(1 - exp(-|a|))"."""
    near = log(-expm1(negative(x)))
    far = log1p(-exp(negative(x)))
    return _where(less(x, math.log(2)), near, far)


_log1mexp.__name__ = "log1mexp"
_one_less = custom_jvp(composite(_log1mexp))


@_one_less.defjvp
def _one_less_jvp(
    primals: Sequence[Array], tangents: Sequence[Array]
) -> tuple[Array, Array]:
    [x], [t] = primals, tangents
    return log_one_less(x), divide(t, expm1(x))


def log_one_less(x: Array) -> Array:
    """log(1 - exp(-x)) of floating elements above 0.

    >>> log_one_less(1e-10)
    Array(-23.02585, dtype=float32, weak_type=True)
    """
    result: Array = _one_less(x)
    return result
