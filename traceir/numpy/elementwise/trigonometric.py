"""Tangents, inverse trigonometric functions and angles.

Serves: promote.*, face.broadcast

`hypot` is one named equation and `sinc` has derivatives of its own, as in `jax.numpy`.
"""

from __future__ import annotations

import math

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    like,
    promoted_inexact,
    refuse_complex,
    typed,
)
from traceir.numpy.arrays.creation import ones_like
from traceir.numpy.elementwise.arithmetic import _real
from traceir.numpy.elementwise.composites import where
from traceir.tracing.trace import typeof
from traceir.transforms.custom.custom_jvp import custom_jvp


def tan(x: Operand) -> Array:
    """Tangent of each element, in radians; floating.

    >>> tan(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("tan", x)


def arcsin(x: Operand) -> Array:
    """Arc sine of each element, floating; NaN beyond 1.

    >>> arcsin(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("asin", x)


def arccos(x: Operand) -> Array:
    """Arc cosine of each element, floating; NaN beyond 1.

    >>> arccos(1)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("acos", x)


def arctan(x: Operand) -> Array:
    """Arc tangent of each element, floating.

    >>> arctan(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("atan", x)


def arctan2(x1: Operand, x2: Operand) -> Array:
    """Angle of each point (x2, x1), whose ordinate comes first; floating or complex.

    Raises TypeError (face.argument, face.broadcast).

    >>> arctan2(0, 1)
    Array(0., dtype=float32, weak_type=True)
    """
    return lax.atan2(*aligned("arctan2", promoted_inexact("arctan2", x1, x2)))


asin, acos, atan, atan2 = arcsin, arccos, arctan, arctan2


@composite
def hypot(x1: Operand, x2: Operand) -> Array:
    """Length of each vector of two elements, floating, without overflow on the way.

    Raises TypeError (face.argument, face.broadcast).

    >>> hypot(3, 4)
    Array(5., dtype=float32, weak_type=True)
    """
    refuse_complex("hypot", x1, x2)
    pair = aligned("hypot", promoted_inexact("hypot", x1, x2))
    x, y = (lax.abs(side) for side in pair)
    infinity = typed(math.inf, typeof(x).dtype, False)
    infinite = lax.bitwise_or(lax.eq(x, infinity), lax.eq(y, infinity))
    x, y = lax.max(x, y), lax.min(x, y)
    zero = lax.eq(x, like(0.0, x))
    ratio = lax.div(y, where(lax.eq(x, like(0.0, x)), ones_like(x), x))
    length = lax.mul(x, lax.sqrt(lax.add(like(1.0, x), lax.square(ratio))))
    return where(infinite, like(math.inf, x), where(zero, x, length))


@composite
def sinc(x: Operand) -> Array:
    """sin(pi x) / (pi x) of each element, floating; 1 at 0.

    >>> sinc(0)
    Array(1., dtype=float32, weak_type=True)
    """
    (value,) = promoted_inexact("sinc", x)
    zero = lax.eq(value, like(0.0, value))
    turned = lax.mul(like(math.pi, value), value)
    safe = where(zero, like(1.0, value), turned)
    return where(zero, _maclaurin(0, turned), lax.div(lax.sin(safe), safe))


def _sinc_maclaurin(k: int, x: Array) -> Array:
    """The derivative of that order of sin(x) / x at 0, where x has to be 0."""
    zero = lax.mul(x, like(0.0, x))
    if k % 2:
        return zero
    return lax.add(zero, like((-1) ** (k // 2) / (k + 1), x))


_maclaurin = custom_jvp(_sinc_maclaurin, nondiff_argnums=(0,))


@_maclaurin.defjvp
def _sinc_maclaurin_jvp(
    k: int, primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    (x,), (t,) = primals, tangents
    return _maclaurin(k, x), lax.mul(_maclaurin(k + 1, x), t)
