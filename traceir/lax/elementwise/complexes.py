"""Complex numbers and their parts under their `jax.lax` names. Serves: part.*"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, operand, operands
from traceir.tracing.trace import bind_one, typeof


def real(x: Operand) -> Array:
    """The real part of each element; complex (part.complex).

    >>> real(2 + 3j)
    Array(2., dtype=float32, weak_type=True)
    """
    return bind_one("real", operand("real", x))


def imag(x: Operand) -> Array:
    """The imaginary part of each element; complex (part.complex).

    >>> imag(2 + 3j)
    Array(3., dtype=float32, weak_type=True)
    """
    return bind_one("imag", operand("imag", x))


def complex(x: Operand, y: Operand) -> Array:
    """The numbers of two parts, of float32 or float64 (complex.parts, complex.dtype).

    >>> complex(2.0, 3.0)
    Array(2.+3.j, dtype=complex64, weak_type=True)
    """
    return bind_one("complex", *operands("complex", (x, y)))


def conj(x: Operand) -> Array:
    """The conjugate of each element, complex in any case (conj.operand).

    >>> conj(2 + 3j)
    Array(2.-3.j, dtype=complex64, weak_type=True)
    """
    value = operand("conj", x)
    return bind_one("conj", value, input_dtype=typeof(value).dtype)
