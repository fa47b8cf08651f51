"""Bitcasts and reduced precision under their `jax.lax` names.

Serves: bitcast_convert_type.*, reduce_precision.*
"""

from __future__ import annotations

from operator import index

from traceir.arrays.array import Array
from traceir.lax.checks.operands import DTypeLike, Operand, dtype_of, operand
from traceir.tracing.trace import bind_one


def bitcast_convert_type(operand: Operand, new_dtype: DTypeLike) -> Array:
    """The bits of each element as another number (bitcast_convert_type.numeric).

    Of a narrower dtype several make a new last dimension, the lowest bits first; for a
    wider one the last dimension must have as many as make one
    (bitcast_convert_type.whole).

    >>> bitcast_convert_type(1.0, "int32") == 0x3F800000
    Array(True, dtype=bool)
    """
    dtype = dtype_of(new_dtype, "bitcast_convert_type")
    value = _operand("bitcast_convert_type", operand)
    return bind_one("bitcast_convert_type", value, new_dtype=dtype)


def reduce_precision(operand: Operand, exponent_bits: int, mantissa_bits: int) -> Array:
    """Each element rounded to a format with so many bits, in its own dtype.

    Raises TypeError (reduce_precision.floating), ValueError (reduce_precision.exponent,
    reduce_precision.mantissa).

    >>> reduce_precision(1.2345, 8, 7)
    Array(1.234375, dtype=float32, weak_type=True)
    """
    return bind_one(
        "reduce_precision",
        _operand("reduce_precision", operand),
        exponent_bits=index(exponent_bits),
        mantissa_bits=index(mantissa_bits),
    )


def _operand(name: str, x: Operand) -> Operand:
    return operand(name, x)
