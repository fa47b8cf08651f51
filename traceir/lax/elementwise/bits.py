"""Bits of integers, and neighbours of floating numbers. Serves: prim.*

As in `traceir.lax.elementwise.arithmetic`, operands have one dtype, and one shape or
none.
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand
from traceir.lax.elementwise.arithmetic import _binary, _unary


def ceil(x: Operand) -> Array:
    """Least whole number not below each element; floating (ceil.floating).

    >>> ceil(-1.5)
    Array(-1., dtype=float32, weak_type=True)
    """
    return _unary("ceil", x)


def is_finite(x: Operand) -> Array:
    """True where an element is neither infinite nor NaN; floating (is_finite.floating).

    >>> is_finite(1.5)
    Array(True, dtype=bool, weak_type=True)
    """
    return _unary("is_finite", x)


def nextafter(x1: Operand, x2: Operand) -> Array:
    """The neighbour of each element of `x1` on the side of `x2`, or the same if equal.

    Floating (nextafter.floating); it has no derivative.

    >>> nextafter(1.0, 2.0) - 1.0
    Array(1.1920929e-07, dtype=float32, weak_type=True)
    """
    return _binary("nextafter", x1, x2)


def bitwise_xor(x: Operand, y: Operand) -> Array:
    """Bits, or truth, of one element alone (xor.bits).

    >>> bitwise_xor(6, 3)
    Array(5, dtype=int32, weak_type=True)
    """
    return _binary("xor", x, y)


def shift_left(x: Operand, y: Operand) -> Array:
    """Bits of `x` moved up by `y`; 0 where there are not so many (shift.integer).

    >>> shift_left(3, 4), shift_left(3, 32)
    (Array(48, dtype=int32, weak_type=True), Array(0, dtype=int32, weak_type=True))
    """
    return _binary("shift_left", x, y)


def shift_right_arithmetic(x: Operand, y: Operand) -> Array:
    """Bits of `x` moved down by `y`, with copies of the highest from above.

    >>> shift_right_arithmetic(-16, 2)
    Array(-4, dtype=int32, weak_type=True)
    """
    return _binary("shift_right_arithmetic", x, y)


def shift_right_logical(x: Operand, y: Operand) -> Array:
    """Bits of `x` moved down by `y`, with zeros from above.

    >>> shift_right_logical(-16, 28)
    Array(15, dtype=int32, weak_type=True)
    """
    return _binary("shift_right_logical", x, y)


def population_count(x: Operand) -> Array:
    """The number of bits that are set in each element (bit_count.integer).

    >>> population_count(7)
    Array(3, dtype=int32, weak_type=True)
    """
    return _unary("population_count", x)


def clz(x: Operand) -> Array:
    """The number of leading zero bits of each element (bit_count.integer).

    >>> clz(1)
    Array(31, dtype=int32, weak_type=True)
    """
    return _unary("clz", x)
