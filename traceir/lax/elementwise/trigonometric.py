"""Tangents, inverse trigonometric and error functions. Serves: prim.*"""

from __future__ import annotations

from typing import TYPE_CHECKING

from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, operand, operands, typed
from traceir.lax.elementwise.arithmetic import (
    _binary,
    _unary,
    add,
    div,
    log,
    mul,
    sqrt,
    square,
)
from traceir.tracing.trace import typeof

if TYPE_CHECKING:
    from traceir.lax.checks.accuracy import Accuracy


def tan(x: Operand, *, accuracy: Accuracy = None) -> Array:
    """Tangent of each element, in radians; floating.

    >>> tan(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("tan", x, accuracy)


def asin(x: Operand) -> Array:
    """Arc sine of each element; NaN beyond 1; floating.

    >>> asin(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("asin", x)


def acos(x: Operand) -> Array:
    """Arc cosine of each element; NaN beyond 1; floating.

    >>> acos(1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("acos", x)


def atan(x: Operand) -> Array:
    """Arc tangent of each element; floating.

    >>> atan(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("atan", x)


def atan2(x: Operand, y: Operand) -> Array:
    """Angle of the point (y, x), whose ordinate comes first; of complex numbers by
    their logarithm. Raises atan2.floating.

    >>> atan2(0.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    if any(typeof(operand("atan2", v)).dtype.kind == "c" for v in (x, y)):
        return _of_complex(*operands("atan2", (x, y)))
    return _binary("atan2", x, y)


def _of_complex(x: Operand, y: Operand) -> Array:
    """-i log of the point's direction: of y + ix, over its length."""
    aval = typeof(x if typeof(x).dtype.kind == "c" else y)
    i, back = (typed(v, aval.dtype, aval.weak_type) for v in (1j, complex(0.0, -1.0)))
    length = sqrt(add(square(x), square(y)))
    return mul(back, log(div(add(y, mul(i, x)), length)))


def erf(x: Operand) -> Array:
    """Error function of each element; floating.

    >>> erf(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("erf", x)


def erfc(x: Operand) -> Array:
    """1 - erf(x) of each element, exact where that is tiny; floating.

    >>> erfc(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _unary("erfc", x)


def erf_inv(x: Operand) -> Array:
    """Inverse of the error function at each element; NaN beyond 1; floating.

    >>> erf_inv(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("erf_inv", x)
