"""Shifts and bit counts of integers. Serves: promote.*, class.shift"""

from __future__ import annotations

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    as_array,
    convert,
    promoted_numeric,
)
from traceir.numpy.elementwise.arithmetic import abs as _abs
from traceir.tracing.trace import typeof


def _integers(name: str, x: Operand, y: Operand) -> list[Operand]:
    """Operands promoted and aligned; booleans count as 0 and 1."""
    return aligned(name, promoted_numeric(name, x, y))


def left_shift(x: Operand, y: Operand) -> Array:
    """Bits of each element of `x` moved up by `y`; raises shift.integer.

    >>> left_shift(3, 4)
    Array(48, dtype=int32, weak_type=True)
    """
    return lax.shift_left(*_integers("left_shift", x, y))


def right_shift(x: Operand, y: Operand) -> Array:
    """Bits of each element of `x` moved down by `y`, the sign kept; as `left_shift`.

    >>> right_shift(-16, 2)
    Array(-4, dtype=int32, weak_type=True)
    """
    pair = _integers("right_shift", x, y)
    unsigned = kind_of(typeof(pair[0]).dtype) == "u"
    shift = lax.shift_right_logical if unsigned else lax.shift_right_arithmetic
    return shift(*pair)


bitwise_left_shift = left_shift
bitwise_right_shift = right_shift


@composite
def bitwise_count(x: Operand) -> Array:
    """The number of bits set in each element's magnitude, as uint8.

    >>> bitwise_count(-7)
    Array(3, dtype=uint8)
    """
    (value,) = promoted_numeric("bitwise_count", x)
    if kind_of(typeof(value).dtype) == "i":
        value = _abs(value)
    count = lax.population_count(value)
    return as_array(convert(count, np.dtype(np.uint8)))
