"""Conversions between floating numbers and their bits, and constants.

Serves: the accuracy of the real functions' rows.
"""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int32 as i32
from numpy import int64 as i64

from traceir_numba.vecmath.marks import intrinsic


def as_bits_f32(x: f32) -> i32:
    """The bits of a number."""
    return np.float32(x).view(np.int32)


def as_float_f32(i: i32) -> f32:
    """The number that has these bits."""
    return np.int32(i).view(np.float32)


def as_bits_f64(x: f64) -> i64:
    """The bits of a number."""
    return np.float64(x).view(np.int64)


def as_float_f64(i: i64) -> f64:
    """The number that has these bits."""
    return np.int64(i).view(np.float64)


# The arguments are types here; `builder` writes the instruction.
@intrinsic
def fma(types, x, y, z):  # type: ignore[no-untyped-def]
    """x * y + z, rounded once: an instruction on today's machines."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.fma(*args)

    return x(x, y, z), generate


ZERO_F32, HALF_F32, ONE_F32, TWO_F32 = f32(0.0), f32(0.5), f32(1.0), f32(2.0)
ZERO_F64, ONE_F64 = f64(0.0), f64(1.0)
INF_F32, NAN_F32 = f32(np.inf), f32(np.nan)
INF_F64, NAN_F64 = f64(np.inf), f64(np.nan)

# log 2 in two: the first is so short that its product with an exponent is exact.
LN2_F32, LN2_REST_F32 = f32(0.693145751953125), f32(1.4286068e-06)
LN2_F64, LN2_REST_F64 = 0.6931471805598903, 5.497923018708371e-14

ROOT_F32 = 0x3F3504F3  # the bits of sqrt(1/2)
ROOT_F64 = 0x3FE6A09E667F3BCD
MANTISSA_F32, MANTISSA_F64 = (1 << 23) - 1, (1 << 52) - 1
SIGN_F32, SIGN_F64 = -(1 << 31), -(1 << 63)
HEAD_22_BITS, HEAD_26_BITS = -(1 << 31), -(1 << 27)  # of the 53 in a float64

# Added and subtracted, this rounds to a whole number, held in the sum's lowest bits.
ROUND_F32, ROUND_F64 = f32(1.5 * 2**23), 1.5 * 2**52
