"""The hyperbolic tangent. Serves: `accuracy.*` of `prim.tanh`.

With t = exp(2 |x|) - 1, computed as in `exponential`, it is t / (t + 2) with the sign
of x.
"""

from __future__ import annotations

from numpy import float32 as f32
from numpy import float64 as f64

from traceir_numba.vecmath.basics import (
    HALF_F32,
    LN2_F32,
    LN2_REST_F32,
    ONE_F32,
    ROUND_F32,
    SIGN_F32,
    SIGN_F64,
    TWO_F32,
    as_bits_f32,
    as_bits_f64,
    as_float_f32,
    as_float_f64,
    fma,
)
from traceir_numba.vecmath.exponential import (
    EXPM1_C3_F32,
    EXPM1_C4_F32,
    EXPM1_C5_F32,
    EXPM1_C6_F32,
    EXPM1_C7_F32,
    EXPONENT_F64,
    LOG2E_F32,
    POWER64,
    POWER64_REST,
)

# Where it rounds to 1; and to round to whole numbers, with the exponent's bias.
TANH_MOST_F32, TANH_ROUND_F32 = f32(10.0), ROUND_F32 + f32(127.0)
TANH_MOST_F64, TANH_ROUND_F64 = f64(20.0), 1.5 * 2**52 + 64 * 1023


def tanh_f32(x: f32) -> f32:
    """The hyperbolic tangent."""
    v = abs(x)
    v = TANH_MOST_F32 if v > TANH_MOST_F32 else v
    v = v + v
    t = fma(v, LOG2E_F32, TANH_ROUND_F32)
    k = t - TANH_ROUND_F32
    r = fma(-k, LN2_REST_F32, fma(-k, LN2_F32, v))
    p = fma(fma(fma(EXPM1_C7_F32, r, EXPM1_C6_F32), r, EXPM1_C5_F32), r, EXPM1_C4_F32)
    p = fma(fma(fma(p, r, EXPM1_C3_F32), r, HALF_F32), r * r, r)
    s = as_float_f32(as_bits_f32(t) << 23)
    t = fma(s, p, s - ONE_F32)
    return as_float_f32(as_bits_f32(t / (t + TWO_F32)) | (as_bits_f32(x) & SIGN_F32))


def tanh_f64(x: f64) -> f64:
    """The hyperbolic tangent."""
    v = abs(x)
    v = TANH_MOST_F64 if v > TANH_MOST_F64 else v
    v = v + v
    t = fma(v, 92.33248261689366, TANH_ROUND_F64)
    k = t - TANH_ROUND_F64
    r = fma(-k, 2.572804622327669e-14, fma(-k, 0.010830424696223417, v))
    p = fma(fma(0.0013888896507485073, r, 0.008333341441947426), r, 0.04166666666666373)
    p = fma(fma(fma(p, r, 0.16666666666659302), r, 0.5), r * r, r)
    i = as_bits_f64(t)
    s = as_float_f64((i << 46) & EXPONENT_F64)
    t = s * POWER64[i & 63]
    t = fma(t, p, s * POWER64_REST[i & 63]) + (t - 1.0)
    return as_float_f64(as_bits_f64(t / (t + 2.0)) | (as_bits_f64(x) & SIGN_F64))
