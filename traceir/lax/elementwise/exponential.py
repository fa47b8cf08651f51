"""Exponentials, hyperbolic functions and cube roots.

Serves: the rows of those primitives. The operand is floating (function.floating).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand
from traceir.lax.elementwise.arithmetic import _unary

if TYPE_CHECKING:
    from traceir.lax.checks.accuracy import Accuracy


def exp2(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """2 to the power of each element; floating.

    >>> exp2(3.0)
    Array(8., dtype=float32, weak_type=True)
    """
    return _unary("exp2", x, accuracy)


def expm1(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """exp(x) - 1 of each element, exact near 0; floating.

    >>> expm1(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("expm1", x, accuracy)


def logistic(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """1 / (1 + exp(-x)) of each element; floating.

    >>> logistic(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return _unary("logistic", x, accuracy)


def sinh(x: Operand) -> Array:
    """Hyperbolic sine of each element; floating.

    >>> sinh(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("sinh", x)


def cosh(x: Operand) -> Array:
    """Hyperbolic cosine of each element; floating.

    >>> cosh(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _unary("cosh", x)


def asinh(x: Operand) -> Array:
    """Inverse hyperbolic sine of each element; floating.

    >>> asinh(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("asinh", x)


def acosh(x: Operand) -> Array:
    """Inverse hyperbolic cosine of each element, NaN below 1; floating.

    >>> acosh(1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("acosh", x)


def atanh(x: Operand) -> Array:
    """Inverse hyperbolic tangent of each element, NaN beyond 1; floating.

    >>> atanh(1.0)
    Array(inf, dtype=float32, weak_type=True)
    """
    return _unary("atanh", x)


def cbrt(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """Cube root of each element, with its sign; floating.

    >>> cbrt(-8.0)
    Array(-2., dtype=float32, weak_type=True)
    """
    return _unary("cbrt", x, accuracy)
