"""Arithmetic, comparison and logic under their `jax.lax` names. Serves: prim.*, class.*

Operands have one dtype, and one shape or none; a number takes the default dtype of its
type. `traceir.numpy` has the functions that promote and broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from traceir.arrays.array import Array
from traceir.lax.checks.operands import DTypeLike, Operand, operand, operands
from traceir.lax.elementwise.selection import convert_element_type
from traceir.tracing.trace import bind_one

if TYPE_CHECKING:
    from traceir.lax.checks.accuracy import Accuracy


def _unary(primitive: str, x: Operand, accuracy: Accuracy = None) -> Array:
    value = operand(primitive, x)
    if accuracy is not None:
        from traceir.lax.checks.accuracy import check_accuracy  # few calls ask for it

        check_accuracy(primitive, value, accuracy)
    return bind_one(primitive, value)


def _binary(primitive: str, x: Operand, y: Operand) -> Array:
    return bind_one(primitive, *operands(primitive, (x, y)))


def neg(x: Operand) -> Array:
    """Negative of each element; a number (neg.numeric).

    >>> neg(2.5)
    Array(-2.5, dtype=float32, weak_type=True)
    """
    return _unary("neg", x)


def sign(x: Operand) -> Array:
    """-1, 0 or 1 with the sign of each element; -0.0 and NaN stay.

    >>> sign(-3)
    Array(-1, dtype=int32, weak_type=True)
    """
    return _unary("sign", x)


def abs(x: Operand) -> Array:
    """Magnitude of each element; floating or signed (abs.signed).

    >>> abs(-3)
    Array(3, dtype=int32, weak_type=True)
    """
    return _unary("abs", x)


def square(x: Operand) -> Array:
    """Square of each element.

    >>> square(3)
    Array(9, dtype=int32, weak_type=True)
    """
    return _unary("square", x)


def exp(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """Exponential of each element; floating (exp.floating).

    >>> exp(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _unary("exp", x, accuracy)


def log(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """Natural logarithm of each element; floating (log.floating).

    >>> log(1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("log", x, accuracy)


def log1p(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """log(1 + x) of each element, exact near 0; floating.

    >>> log1p(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("log1p", x, accuracy)


def sqrt(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """Square root of each element; NaN below 0; floating.

    >>> sqrt(4.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return _unary("sqrt", x, accuracy)


def rsqrt(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """1 / sqrt(x) of each element; floating.

    >>> rsqrt(4.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return _unary("rsqrt", x, accuracy)


def sin(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """Sine of each element, in radians; floating.

    >>> sin(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("sin", x, accuracy)


def cos(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """Cosine of each element, in radians; floating.

    >>> cos(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _unary("cos", x, accuracy)


def tanh(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """Hyperbolic tangent of each element; floating.

    >>> tanh(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("tanh", x, accuracy)


def floor(x: Operand) -> Array:
    """Greatest whole number not above each element; floating.

    >>> floor(-1.5)
    Array(-2., dtype=float32, weak_type=True)
    """
    return _unary("floor", x)


def bitwise_not(x: Operand) -> Array:
    """Each bit, or truth value, inverted (not.bits).

    >>> bitwise_not(True)
    Array(False, dtype=bool)
    """
    return _unary("not", x)


def add(x: Operand, y: Operand) -> Array:
    """Sum of elements, integers modulo their range (add.numeric).

    >>> add(1.5, 2.0)
    Array(3.5, dtype=float32, weak_type=True)
    """
    return _binary("add", x, y)


def sub(x: Operand, y: Operand) -> Array:
    """Difference of elements, integers modulo their range (sub.numeric).

    >>> sub(1.5, 2.0)
    Array(-0.5, dtype=float32, weak_type=True)
    """
    return _binary("sub", x, y)


def mul(x: Operand, y: Operand, *, out_dtype: DTypeLike = None) -> Array:
    """Product of elements, integers modulo their range (mul.numeric).

    With `out_dtype`, of the elements converted to it.

    >>> mul(1.5, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    if out_dtype is not None:
        x, y = (convert_element_type(operand("mul", v), out_dtype) for v in (x, y))
    return _binary("mul", x, y)


def div(x: Operand, y: Operand) -> Array:
    """Quotient of elements; integers truncate, and -1 is a division by 0.

    >>> div(-7, 2)
    Array(-3, dtype=int32, weak_type=True)
    """
    return _binary("div", x, y)


def rem(x: Operand, y: Operand) -> Array:
    """Remainder with the sign of the dividend; x for integers modulo 0.

    >>> rem(-7, 2)
    Array(-1, dtype=int32, weak_type=True)
    """
    return _binary("rem", x, y)


def max(x: Operand, y: Operand) -> Array:
    """Greater of each two elements; NaN if one is.

    >>> max(1.5, 2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return _binary("max", x, y)


def min(x: Operand, y: Operand) -> Array:
    """Lesser of each two elements; NaN if one is.

    >>> min(1.5, 2.0)
    Array(1.5, dtype=float32, weak_type=True)
    """
    return _binary("min", x, y)


def pow(x: Operand, y: Operand) -> Array:
    """Power of a floating base; the exponent floating or integer.

    >>> pow(2.0, 3.0)
    Array(8., dtype=float32, weak_type=True)
    """
    return _binary("pow", x, y)


def eq(x: Operand, y: Operand) -> Array:
    """True where two elements are equal.

    >>> eq(1, 2)
    Array(False, dtype=bool, weak_type=True)
    """
    return _binary("eq", x, y)


def ne(x: Operand, y: Operand) -> Array:
    """True where two elements differ; NaN differs from itself.

    >>> ne(1, 2)
    Array(True, dtype=bool, weak_type=True)
    """
    return _binary("ne", x, y)


def lt(x: Operand, y: Operand) -> Array:
    """True where an element is less than the other.

    >>> lt(1, 2)
    Array(True, dtype=bool, weak_type=True)
    """
    return _binary("lt", x, y)


def le(x: Operand, y: Operand) -> Array:
    """True where an element is at most the other.

    >>> le(1, 2)
    Array(True, dtype=bool, weak_type=True)
    """
    return _binary("le", x, y)


def gt(x: Operand, y: Operand) -> Array:
    """True where an element is greater than the other.

    >>> gt(1, 2)
    Array(False, dtype=bool, weak_type=True)
    """
    return _binary("gt", x, y)


def ge(x: Operand, y: Operand) -> Array:
    """True where an element is at least the other.

    >>> ge(1, 2)
    Array(False, dtype=bool, weak_type=True)
    """
    return _binary("ge", x, y)


def bitwise_and(x: Operand, y: Operand) -> Array:
    """Bits, or truth, of both elements (and.bits).

    >>> bitwise_and(6, 3)
    Array(2, dtype=int32, weak_type=True)
    """
    return _binary("and", x, y)


def bitwise_or(x: Operand, y: Operand) -> Array:
    """Bits, or truth, of either element (or.bits).

    >>> bitwise_or(6, 3)
    Array(7, dtype=int32, weak_type=True)
    """
    return _binary("or", x, y)
