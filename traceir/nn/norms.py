"""Softmax, and standardization to mean 0 and variance 1. Serves: face.axis

`axis` is None for all axes, an int or a tuple of ints; `where` tells which elements
count.
"""

from __future__ import annotations

from math import prod

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    convert,
    default_dtype,
    inexact,
    operand,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_or_names_in
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise.arithmetic import add, divide, log, square, subtract
from traceir.numpy.elementwise.composites import clip
from traceir.numpy.reductions.reductions import Axis
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.scipy.special.logsums import log_shares, logsumexp, shares
from traceir.tracing.trace import typeof


def softmax(x: Operand, axis: Axis = -1, where: Operand = None) -> Array:
    """Exponentials divided by their sum over axes; 0 where they do not count.

    Raises ValueError (face.axis, face.broadcast-to), TypeError (face.argument).

    >>> import traceir.numpy as jnp
    >>> softmax(jnp.array([1000.0, 1000.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    value = operand("softmax", x)
    shape = shape_of(value)
    which = None if where is None else broadcast_to(where, shape)
    return shares(value, axes_or_names_in(axis, len(shape)), which)


def log_softmax(x: Operand, axis: Axis = -1, where: Operand = None) -> Array:
    """The logarithm of `softmax`, exact far below 0; -inf where they do not count.

    Raises ValueError (face.axis, face.broadcast-to), TypeError (face.argument).

    >>> import traceir.numpy as jnp
    >>> log_softmax(jnp.array([0.0, 200.0]))
    Array([-200.,    0.], dtype=float32)
    """
    value = operand("log_softmax", x)
    shape = shape_of(value)
    which = None if where is None else broadcast_to(where, shape)
    return log_shares(value, axes_or_names_in(axis, len(shape)), which)


@composite(static_argnames=["axis", "keepdims"])
def logmeanexp(
    x: Operand, axis: Axis = None, where: Operand = None, keepdims: bool = False
) -> Array:
    """The logarithm of the mean of exponentials, without overflow.

    Raises ValueError (face.axis), TypeError (face.argument, face.broadcast).

    >>> import traceir.numpy as jnp
    >>> logmeanexp(jnp.array([1000.0, 1000.0]))
    Array(1000., dtype=float32)
    """
    value = operand("logmeanexp", x)
    axes = axes_or_names_in(axis, len(shape_of(value)))
    total = logsumexp(value, axes, where=where, keepdims=keepdims)
    return subtract(total, log(_count(value, axes, where, keepdims)))


def _count(
    x: Operand, axes: tuple[int, ...], where: Operand, keepdims: bool
) -> Operand:
    """The number of elements over axes that count, as a floating number."""
    dtype = inexact(typeof(x).dtype)
    if where is None:
        return typed(prod(shape_of(x)[d] for d in axes), dtype, False)
    counted = convert(operand("where", where), default_dtype(int))
    counted = broadcast_to(counted, shape_of(x))
    return _sum(convert(counted, dtype), axes, keepdims=keepdims)


def _mean(x: Operand, axes: tuple[int, ...], where: Operand) -> Array:
    count = _count(x, axes, where, True)
    floating = convert(x, inexact(typeof(x).dtype))
    total = _sum(floating, axes, keepdims=True, where=where)
    return divide(total, count)


@composite(static_argnames=["axis", "algorithm"])
def standardize(
    x: Operand,
    axis: Axis = -1,
    mean: Operand = None,
    variance: Operand = None,
    epsilon: Operand = 1e-5,
    where: Operand = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Elements less their mean, divided by the root of variance and `epsilon`.

    The "fast" variance is the mean of squares less the square of the mean, the "stable"
    one the mean of squares of what is left. Raises ValueError (face.axis, face.choice),
    TypeError (face.argument, face.broadcast).

    >>> import traceir.numpy as jnp
    >>> standardize(jnp.array([1.0, 3.0]), epsilon=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    if algorithm not in ("fast", "stable"):
        hint = "the algorithms are 'fast' and 'stable'"
        raise rules.error("face.choice", got=f"algorithm={algorithm!r}", hint=hint)
    value = operand("standardize", x)
    whole = mean is not None and variance is not None
    axes = () if whole else axes_or_names_in(axis, len(shape_of(value)))
    if mean is None:
        mean = _mean(value, axes, where)
    if variance is None and algorithm == "stable":
        variance = _mean(square(subtract(value, mean)), axes, where)
    elif variance is None:
        less = _mean(square(value), axes, where) - square(mean)
        variance = clip(less, 0)
    rest = subtract(value, mean)
    return rest * lax.rsqrt(add(variance, epsilon))
