"""Modified Bessel functions of the first kind. Serves: promote.*"""

from __future__ import annotations

from traceir.array import Array
from traceir.lax.operands import Operand
from traceir.numpy.elementwise import abs, exp, multiply
from traceir.scipy.special.logs import real


def i0e(x: Operand) -> Array:
    """`exp(-|x|) * i0(x)`, which does not overflow; floating.

    >>> i0e(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return real("i0e", x, "bessel_i0e")


def i1e(x: Operand) -> Array:
    """`exp(-|x|) * i1(x)`, which does not overflow; floating.

    >>> i1e(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return real("i1e", x, "bessel_i1e")


def i0(x: Operand) -> Array:
    """The modified Bessel function of order 0; floating.

    >>> i0(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return multiply(exp(abs(x)), i0e(x))


def i1(x: Operand) -> Array:
    """The modified Bessel function of order 1; floating.

    >>> i1(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return multiply(exp(abs(x)), i1e(x))
