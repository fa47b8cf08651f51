"""The hyperbolic tangent. Serves: `accuracy.*` of `prim.tanh`.

With t = exp(2 |x|) - 1 it is t / (t + 2), with the sign of x.
"""

from __future__ import annotations

from numpy import float32 as f32
from numpy import float64 as f64

from traceir_numba.vecmath.basics import (
    SIGN_F32,
    SIGN_F64,
    TWO_F32,
    as_bits_f32,
    as_bits_f64,
    as_float_f32,
    as_float_f64,
)
from traceir_numba.vecmath.exponential import expm1_f32, expm1_f64

TANH_MOST_F32 = f32(10.0)


def tanh_f32(x: f32) -> f32:
    v = abs(x)
    v = TANH_MOST_F32 if v > TANH_MOST_F32 else v
    t = expm1_f32(v + v)
    return as_float_f32(as_bits_f32(t / (t + TWO_F32)) | (as_bits_f32(x) & SIGN_F32))


def tanh_f64(x: f64) -> f64:
    v = abs(x)
    v = 20.0 if v > 20.0 else v
    t = expm1_f64(v + v)
    return as_float_f64(as_bits_f64(t / (t + 2.0)) | (as_bits_f64(x) & SIGN_F64))
