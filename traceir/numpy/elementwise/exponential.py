"""Exponentials, hyperbolic functions and cube roots. Serves: promote.*, face.broadcast

`arccosh` is one named equation, and the logarithms of sums have derivatives of their
own, as in `jax.numpy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    convert,
    like,
    promoted_inexact,
    shape_of,
    typed,
)
from traceir.numpy.elementwise.arithmetic import _real
from traceir.tracing.trace import typeof
from traceir.transforms.custom.custom_jvp import custom_jvp


def exp2(x: Operand) -> Array:
    """2 to the power of each element, floating.

    >>> exp2(3)
    Array(8., dtype=float32, weak_type=True)
    """
    return _real("exp2", x)


def expm1(x: Operand) -> Array:
    """exp(x) - 1 of each element, exact near 0; floating.

    >>> expm1(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("expm1", x)


def sinh(x: Operand) -> Array:
    """Hyperbolic sine of each element, floating.

    >>> sinh(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("sinh", x)


def cosh(x: Operand) -> Array:
    """Hyperbolic cosine of each element, floating.

    >>> cosh(0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _real("cosh", x)


def arcsinh(x: Operand) -> Array:
    """Inverse hyperbolic sine of each element, floating.

    >>> arcsinh(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("asinh", x)


@composite
def arccosh(x: Operand) -> Array:
    """Inverse hyperbolic cosine of each element, floating; NaN below 1.

    >>> arccosh(1)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("acosh", x)


def arctanh(x: Operand) -> Array:
    """Inverse hyperbolic tangent of each element, floating; NaN beyond 1.

    >>> arctanh(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("atanh", x)


asinh, acosh, atanh = arcsinh, arccosh, arctanh


def cbrt(x: Operand) -> Array:
    """Cube root of each element, floating, with its sign.

    >>> cbrt(-8)
    Array(-2., dtype=float32, weak_type=True)
    """
    return _real("cbrt", x)


# -- logarithms of sums ---------------------------------------------------------------


def logaddexp(x1: Operand, x2: Operand) -> Array:
    """log(exp(x1) + exp(x2)) of elements, floating, where neither power overflows.

    Raises TypeError (face.argument, face.broadcast).

    >>> logaddexp(1000, 1000)
    Array(1000.6932, dtype=float32, weak_type=True)
    """
    pair = aligned("logaddexp", promoted_inexact("logaddexp", x1, x2))
    result: Array = _logaddexp(*pair)
    return result


def logaddexp2(x1: Operand, x2: Operand) -> Array:
    """log2(2**x1 + 2**x2) of elements, floating, where neither power overflows.

    Raises TypeError (face.argument, face.broadcast).

    >>> logaddexp2(3, 3)
    Array(4., dtype=float32, weak_type=True)
    """
    pair = aligned("logaddexp2", promoted_inexact("logaddexp2", x1, x2))
    if any(map(shape_of, pair)):
        pair = [convert(v, typeof(v).dtype) for v in pair]
    result: Array = _logaddexp2(*pair)
    return result


def _sum(x: Array, y: Array, more: Callable[[Array], Array], half_turn: float) -> Array:
    """The greater and `more` of minus the distance; of equal infinities their sum.

    Complex numbers have logarithms at every whole turn: that of the least angle.
    """
    greater = lax.max(x, y)
    if typeof(greater).dtype.kind == "c":
        beyond = lax.sub(lax.add(x, y), lax.mul(greater, like(2, greater)))
        return _turned(lax.add(greater, more(beyond)), half_turn)
    distance = lax.sub(x, y)
    unknown = lax.ne(distance, distance)
    both = lax.add(x, y)
    found = lax.add(greater, more(lax.neg(lax.abs(distance))))
    return lax.select_n(unknown, found, both)


def _turned(z: Array, half: float) -> Array:
    """The imaginary part made to lie from `-half` to `half` by whole turns."""
    part, angle = lax.real(z), lax.imag(z)
    least, turn = like(half, angle), like(2 * half, angle)
    rest = lax.rem(lax.add(angle, least), turn)
    below = lax.lt(rest, like(0, rest))
    rest = lax.select_n(below, rest, lax.add(rest, turn))
    return lax.complex(part, lax.sub(rest, least))


def _finite(x: Array) -> Array:
    """The elements, 0 in the place of positive infinities."""
    aval = typeof(x)
    infinite = lax.eq(x, typed(np.inf, aval.dtype, False))
    zero = lax.broadcast(typed(0.0, aval.dtype, aval.weak_type), aval.shape)
    return lax.select_n(infinite, x, zero)


def _tangent(
    primals: tuple[Array, Array],
    tangents: tuple[Array, Array],
    out: Array,
    power: Callable[[Array], Array],
) -> Array:
    """The tangents, each times how much of the sum its operand is."""
    parts = []
    for x, t in zip(primals, tangents, strict=True):
        share = power(lax.sub(_finite(x), _finite(out)))
        parts.append(lax.mul(t, share))
    return lax.add(*parts)


def _named(name: str, function: Callable[[Array, Array], Array]) -> custom_jvp:
    function.__name__ = name
    return custom_jvp(function)


_logaddexp = _named(
    "logaddexp",
    lambda x, y: _sum(x, y, lambda d: lax.log1p(lax.exp(d)), math.pi),
)


@_logaddexp.defjvp
def _logaddexp_jvp(
    primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    out = _logaddexp(*primals)
    return out, _tangent(primals, tangents, out, lax.exp)


def _log2_one_more(d: Array) -> Array:
    scale = 1 / math.log(2)
    aval = typeof(d)
    weak = aval.weak_type and aval.dtype.kind != "c"
    factor = scale if weak else like(scale, d)
    return lax.mul(factor, lax.log1p(lax.exp2(d)))


_logaddexp2 = _named(
    "logaddexp2",
    lambda x, y: _sum(x, y, _log2_one_more, math.pi / math.log(2)),
)


@_logaddexp2.defjvp
def _logaddexp2_jvp(
    primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    out = _logaddexp2(*primals)
    return out, _tangent(primals, tangents, out, lax.exp2)
