"""Powers, rounding, conversion and selection. Serves: prim.*"""

from __future__ import annotations

from enum import IntEnum
from operator import index

from traceir.arrays.array import Array
from traceir.dtypes import are_keys
from traceir.lax.checks.int_ranges import held
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    dtype_of,
    operands,
)
from traceir.lax.checks.operands import operand as checked
from traceir.tracing.trace import bind_one


class RoundingMethod(IntEnum):
    """The direction in which `round` takes halves.

    >>> from traceir import lax
    >>> float(lax.round(2.5, lax.RoundingMethod.TO_NEAREST_EVEN))
    2.0
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def integer_pow(x: Operand, y: int) -> Array:
    """Power of each element to a Python int; floating `x` if it is negative.

    Raises integer_pow.numeric, integer_pow.exponent.

    >>> integer_pow(2.0, -1)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return bind_one("integer_pow", checked("integer_pow", x), y=index(y))


def reciprocal(x: Operand) -> Array:
    """1 / x of each element; floating.

    >>> reciprocal(4.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return integer_pow(x, -1)


def round(x: Operand, rounding_method: int = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """Nearest whole number of each element; floating (round.floating, round.method).

    >>> round(2.5), round(2.5, RoundingMethod.TO_NEAREST_EVEN)
    (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    method = int(rounding_method)
    return bind_one("round", checked("round", x), rounding_method=method)


def convert_element_type(operand: Operand, new_dtype: DTypeLike) -> Array:
    """Elements as another dtype, strong; floats saturate at an integer dtype's ends.

    Raises TypeError (face.dtype).

    >>> convert_element_type(2.75, "int32")
    Array(2, dtype=int32)
    """
    if are_keys(operand, new_dtype):
        return as_array(operand)
    dtype = dtype_of(new_dtype, "convert_element_type")
    value = checked("convert_element_type", held(operand, dtype, cut=True))
    return as_array(convert(value, dtype))


def select_n(which: Operand, *cases: Operand) -> Array:
    """Elements of the case that `which` names: false is the first, or by number.

    `which` has the cases' shape or none; the cases have one shape and dtype. Raises
    the clauses of select_n.

    >>> select_n(True, 1.0, 2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return bind_one("select_n", *operands("select_n", (which, *cases)))


def select(pred: Operand, on_true: Operand, on_false: Operand) -> Array:
    """Elements of `on_true` where `pred` holds, else of `on_false`; as `select_n`.

    >>> select(True, 1.0, 2.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return select_n(pred, on_false, on_true)


def clamp(min: Operand, x: Operand, max: Operand) -> Array:
    """Elements of `x` kept between the bounds, which are scalars or of its shape.

    >>> clamp(0.0, 2.5, 1.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return bind_one("clamp", *operands("clamp", (min, x, max)))
