"""Smooth activations, such as `sigmoid` and `gelu`.

Serves: function.composite, custom_jvp.*
"""

from __future__ import annotations

import math

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    operand,
    promoted_inexact,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.elementwise.arithmetic import (
    abs,
    add,
    divide,
    multiply,
    negative,
    sqrt,
    square,
    tanh,
)
from traceir.numpy.elementwise.exponential import logaddexp
from traceir.scipy.special.logsums import log_one_less
from traceir.tracing.trace import typeof


def sigmoid(x: Operand) -> Array:
    """`1 / (1 + exp(-x))` of floating elements. Raises the clauses of logistic.

    >>> sigmoid(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.logistic(x)


@composite
def silu(x: Operand) -> Array:
    """`x * sigmoid(x)` of floating elements; also called `swish`.

    >>> import traceir.numpy as jnp
    >>> silu(jnp.array([-1.0, 1.0]))
    Array([-0.26894143,  0.7310586 ], dtype=float32)
    """
    return multiply(x, sigmoid(x))


swish = silu


@composite
def softplus(x: Operand) -> Array:
    """`log(1 + exp(x))`, without overflow.

    >>> softplus(0.0)
    Array(0.6931472, dtype=float32, weak_type=True)
    """
    return logaddexp(x, 0)


@composite
def log_sigmoid(x: Operand) -> Array:
    """The logarithm of `sigmoid`, exact far below 0: `-softplus(-x)`.

    >>> log_sigmoid(-200.0)
    Array(-200., dtype=float32, weak_type=True)
    """
    return -softplus(negative(x))


@composite
def soft_sign(x: Operand) -> Array:
    """`x / (|x| + 1)`.

    >>> soft_sign(3.0)
    Array(0.75, dtype=float32, weak_type=True)
    """
    return divide(x, abs(x) + 1)


@composite
def mish(x: Operand) -> Array:
    """`x * tanh(softplus(x))`.

    >>> mish(1.0)
    Array(0.8650984, dtype=float32, weak_type=True)
    """
    return multiply(x, tanh(softplus(x)))


@composite
def squareplus(x: Operand, b: Operand = 4) -> Array:
    """`(x + sqrt(x**2 + b)) / 2`.

    >>> squareplus(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return add(x, sqrt(add(square(x), b))) / 2


def gelu(x: Operand, approximate: bool = True) -> Array:
    """`x` times the normal distribution's cdf, or an approximation of it by tanh.

    >>> gelu(1.0), gelu(1.0, approximate=False)
    (Array(0.841192, dtype=float32), Array(0.8413447, dtype=float32))
    """
    [value] = promoted_inexact("gelu", x)
    dtype = typeof(value).dtype
    if not approximate:
        halved = multiply(0.5, value)
        root = typed(math.sqrt(0.5), dtype, False)
        return halved * lax.erfc(multiply(negative(value), root))
    scale = typed(math.sqrt(2 / math.pi), dtype, False)
    inner = add(value, 0.044715 * lax.integer_pow(value, 3))
    return multiply(value, 0.5 * (1.0 + tanh(multiply(scale, inner))))


@composite(static_argnames=["axis"])
def glu(x: Operand, axis: int = -1) -> Array:
    """The first half along an axis, times `sigmoid` of the second.

    Raises ValueError (face.axis), and ValueError (face.sections) for an odd extent.

    >>> import traceir.numpy as jnp
    >>> glu(jnp.array([2.0, 3.0, 0.0, 0.0]))
    Array([1. , 1.5], dtype=float32)
    """
    value = operand("glu", x)
    axis = axis_in(axis, len(shape_of(value)))
    extent = shape_of(value)[axis]
    if extent % 2:
        got = f"an extent of {extent} in glu"
        raise rules.error("face.sections", got=got, hint="halves need an even extent")
    first, second = lax.split(value, (extent // 2, extent // 2), axis)
    return first * sigmoid(second)


def log1mexp(x: Operand) -> Array:
    """`log(1 - exp(-x))` of elements above 0, exact near 0 and far from it.

    The two forms meet at log(2): M. Maechler, "Accurately computing
    `log(1 - exp(-|a|))`" (2012).

    >>> log1mexp(1e-10)
    Array(-23.02585, dtype=float32, weak_type=True)
    """
    [value] = promoted_inexact("log1mexp", x)
    return log_one_less(as_array(value))
