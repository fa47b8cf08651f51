"""Arithmetic, exponentials and extrema. Serves: promote.*

A function of several operands broadcasts them; shapes that do not fit are a TypeError
(face.broadcast), operands that are no arrays or numbers another (face.argument).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import kind_of, part_dtype
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    as_array,
    convert,
    operand,
    promoted,
    promoted_inexact,
    typed,
)
from traceir.numpy.elementwise import standard
from traceir.tracing.trace import bind_one, typeof


def _real(name: str, x: Operand) -> Array:
    return bind_one(name, *promoted_inexact(name, x))


def _apply(name: str, primitive: str, pair: Sequence[Operand]) -> Array:
    return bind_one(primitive, *aligned(name, pair))


def _kind(x: Operand) -> str:
    return kind_of(typeof(x).dtype)


def exp(x: Operand) -> Array:
    """Exponential of each element, floating.

    >>> exp(0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _real("exp", x)


def log(x: Operand) -> Array:
    """Natural logarithm of each element, floating.

    >>> log(1)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("log", x)


def log1p(x: Operand) -> Array:
    """log(1 + x) of each element, exact near 0; floating.

    >>> log1p(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("log1p", x)


def sqrt(x: Operand) -> Array:
    """Square root of each element, floating; NaN below 0.

    >>> sqrt(4)
    Array(2., dtype=float32, weak_type=True)
    """
    return _real("sqrt", x)


def sin(x: Operand) -> Array:
    """Sine of each element, in radians; floating.

    >>> sin(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("sin", x)


def cos(x: Operand) -> Array:
    """Cosine of each element, in radians; floating.

    >>> cos(0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _real("cos", x)


def tanh(x: Operand) -> Array:
    """Hyperbolic tangent of each element, floating.

    >>> tanh(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _real("tanh", x)


def log2(x: Operand) -> Array:
    """Logarithm to base 2 of each element, floating.

    >>> log2(8)
    Array(3., dtype=float32)
    """
    (value,) = promoted_inexact("log2", x)
    dtype = typeof(value).dtype
    if dtype.kind == "c":
        found = lax.log(value)
        parts = lax.real(found), lax.imag(found)
        scale = lax.log(typed(2, part_dtype(dtype), False))
        return lax.complex(*[lax.div(part, scale) for part in parts])
    return lax.div(lax.log(value), lax.log(typed(2, dtype, False)))


def log10(x: Operand) -> Array:
    """Logarithm to base 10 of each element, floating.

    >>> log10(1)
    Array(0., dtype=float32)
    """
    (value,) = promoted_inexact("log10", x)
    dtype = typeof(value).dtype
    scale = typed(0.4342944819032518, part_dtype(dtype), False)
    found = lax.log(value)
    if dtype.kind == "c":
        parts = lax.real(found), lax.imag(found)
        return lax.complex(*[lax.mul(part, scale) for part in parts])
    return lax.mul(found, scale)


def reciprocal(x: Operand) -> Array:
    """1 / x of each element, floating.

    >>> reciprocal(4)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return lax.reciprocal(*promoted_inexact("reciprocal", x))


def square(x: Operand) -> Array:
    """Square of each element, of a boolean as an integer.

    >>> square(3)
    Array(9, dtype=int32, weak_type=True)
    """
    value = operand("square", x)
    if kind_of(typeof(value).dtype) == "b":
        value = convert(value, np.dtype("int32"))
    return lax.square(value)


def sign(x: Operand) -> Array:
    """-1, 0 or 1 with the sign of each element; raises sign.numeric.

    That of -0 is -0, and with the flag `array_api` 0.

    >>> sign(-2.5)
    Array(-1., dtype=float32, weak_type=True)
    """
    value = operand("sign", x)
    return standard.sign(value) if standard.is_followed() else lax.sign(value)


def negative(x: Operand) -> Array:
    """Negative of each element; raises neg.numeric.

    >>> negative(2)
    Array(-2, dtype=int32, weak_type=True)
    """
    return lax.neg(operand("negative", x))


def positive(x: Operand) -> Array:
    """The elements themselves.

    >>> positive(2)
    Array(2, dtype=int32, weak_type=True)
    """
    return as_array(operand("positive", x))


def abs(x: Operand) -> Array:
    """Magnitude of each element.

    >>> abs(-2)
    Array(2, dtype=int32, weak_type=True)
    """
    value = operand("abs", x)
    return as_array(value) if _kind(value) in "bu" else lax.abs(value)


absolute = abs


def floor(x: Operand) -> Array:
    """Greatest whole number not above each element; integers stay.

    >>> floor(-1.5)
    Array(-2., dtype=float32, weak_type=True)
    """
    value = operand("floor", x)
    return as_array(value) if _kind(value) in "biu" else lax.floor(value)


def ceil(x: Operand) -> Array:
    """Least whole number not below each element; integers stay.

    >>> ceil(-1.5)
    Array(-1., dtype=float32, weak_type=True)
    """
    value = operand("ceil", x)
    return as_array(value) if _kind(value) in "biu" else lax.ceil(value)


def add(x: Operand, y: Operand) -> Array:
    """Sum of elements; of booleans, whether either holds.

    >>> add(1, 2.5)
    Array(3.5, dtype=float32, weak_type=True)
    """
    pair = promoted("add", x, y)
    return _apply("add", "or" if _kind(pair[0]) == "b" else "add", pair)


def subtract(x: Operand, y: Operand) -> Array:
    """Difference of elements; raises sub.numeric.

    >>> subtract(1, 2.5)
    Array(-1.5, dtype=float32, weak_type=True)
    """
    return _apply("subtract", "sub", promoted("subtract", x, y))


def multiply(x: Operand, y: Operand) -> Array:
    """Product of elements; of booleans, whether both hold.

    >>> multiply(2, 2.5)
    Array(5., dtype=float32, weak_type=True)
    """
    pair = promoted("multiply", x, y)
    return _apply("multiply", "and" if _kind(pair[0]) == "b" else "mul", pair)


def divide(x: Operand, y: Operand) -> Array:
    """Quotient of elements, floating also for integers.

    >>> divide(1, 4)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return _apply("divide", "div", promoted_inexact("divide", x, y))


true_divide = divide


def maximum(x: Operand, y: Operand) -> Array:
    """Greater of each two elements; NaN if one is.

    >>> maximum(1, 2.5)
    Array(2.5, dtype=float32, weak_type=True)
    """
    return _apply("maximum", "max", promoted("maximum", x, y))


def minimum(x: Operand, y: Operand) -> Array:
    """Lesser of each two elements; NaN if one is.

    >>> minimum(1, 2.5)
    Array(1., dtype=float32, weak_type=True)
    """
    return _apply("minimum", "min", promoted("minimum", x, y))
