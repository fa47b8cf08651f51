"""The natural logarithm. Serves: `accuracy.*` of `prim.log` and of `prim.log1p`.

x = 2**e (1 + f) with 1 + f between the roots of 1/2 and 2. The greatest terms, e log 2
and f, are added with what their sum loses.
"""

from __future__ import annotations

from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int32 as i32
from numpy import int64 as i64

from traceir_numba.vecmath.basics import (
    HALF_F32,
    INF_F32,
    INF_F64,
    LN2_F32,
    LN2_F64,
    LN2_REST_F32,
    LN2_REST_F64,
    MANTISSA_F32,
    MANTISSA_F64,
    NAN_F32,
    NAN_F64,
    ONE_F32,
    ROOT_F32,
    ROOT_F64,
    ZERO_F32,
    as_bits_f32,
    as_bits_f64,
    as_float_f32,
    as_float_f64,
    fma,
)

NORMAL_F32, LOG_SCALE_F32, LOG_SHIFT_F32 = f32(2.0**-126), f32(2.0**23), f32(23.0)
LOG_C3_F32, LOG_C4_F32, LOG_C5_F32 = f32(0.3333333), f32(-0.25000823), f32(0.2000126)
LOG_C6_F32, LOG_C7_F32 = f32(-0.16623111), f32(0.14200789)
LOG_C8_F32, LOG_C9_F32 = f32(-0.13163604), f32(0.12767209)
LOG_C10_F32 = f32(-0.07623473)


def log_parts_f32(e: f32, f: f32) -> f32:
    """log(2**e * (1 + f))."""
    p = fma(fma(fma(LOG_C10_F32, f, LOG_C9_F32), f, LOG_C8_F32), f, LOG_C7_F32)
    p = fma(fma(p, f, LOG_C6_F32), f, LOG_C5_F32)
    p = fma(fma(p, f, LOG_C4_F32), f, LOG_C3_F32)
    y = fma(fma(p, f, -HALF_F32), f * f, e * LN2_REST_F32)
    h = e * LN2_F32
    s = h + f
    return s + (y + (f - (s - h)))


def log_f32(x: f32) -> f32:
    """The natural logarithm."""
    small = x < NORMAL_F32
    i = i32(as_bits_f32(x * LOG_SCALE_F32 if small else x) - ROOT_F32)
    e = f32(i32(i >> 23))
    e = e - LOG_SHIFT_F32 if small else e
    f = as_float_f32((i & MANTISSA_F32) + ROOT_F32) - ONE_F32
    y = log_parts_f32(e, f)
    y = y if x < INF_F32 else x
    return y if x > ZERO_F32 else (-INF_F32 if x == ZERO_F32 else NAN_F32)


def log1p_f32(x: f32) -> f32:
    """log(1 + x)."""
    u = x + ONE_F32
    v = u - ONE_F32
    lost = (ONE_F32 - (u - v)) + (x - v)
    i = i32(as_bits_f32(u) - ROOT_F32)
    down = i32(0x3F800000 - (i - (i & MANTISSA_F32)))
    f = as_float_f32((i & MANTISSA_F32) + ROOT_F32) - ONE_F32
    f = fma(lost, as_float_f32(i32(down if down > 0 else 0)), f)  # 2**-e
    y = log_parts_f32(f32(i32(i >> 23)), f)
    y = y if x < INF_F32 else x
    y = x if x == ZERO_F32 else y
    return y if u > ZERO_F32 else (-INF_F32 if u == ZERO_F32 else NAN_F32)


def log_parts_f64(e: f64, f: f64) -> f64:
    """log(2**e * (1 + f)): with q = f / (2 + f) it is e log 2 + 2 artanh q."""
    q = f / (f + 2.0)
    z = q * q
    p = fma(0.14795748978995052, z, 0.15314074377137932)
    p = fma(fma(p, z, 0.18183563210564593), z, 0.22222198599292753) * z
    p = fma(fma(p + 0.2857142874207044, z, 0.3999999999941653), z, 0.6666666666666734)
    g = 0.5 * f * f
    y = fma(q, fma(z, p, g), e * LN2_REST_F64) - g
    h = e * LN2_F64
    s = h + f
    return s + (y + (f - (s - h)))


def log_f64(x: f64) -> f64:
    """The natural logarithm."""
    small = x < 2.2250738585072014e-308
    i = as_bits_f64(x * 18014398509481984.0 if small else x) - ROOT_F64
    e = f64(i >> 52)
    e = e - 54.0 if small else e
    f = as_float_f64((i & MANTISSA_F64) + ROOT_F64) - 1.0
    y = log_parts_f64(e, f)
    y = y if x < INF_F64 else x
    return y if x > 0.0 else (-INF_F64 if x == 0.0 else NAN_F64)


def log1p_f64(x: f64) -> f64:
    """log(1 + x)."""
    u = x + 1.0
    v = u - 1.0
    lost = (1.0 - (u - v)) + (x - v)
    i = as_bits_f64(u) - ROOT_F64
    down = 0x3FF0000000000000 - (i - (i & MANTISSA_F64))
    f = as_float_f64((i & MANTISSA_F64) + ROOT_F64) - 1.0
    f = fma(lost, as_float_f64(i64(down if down > 0 else 0)), f)  # 2**-e
    y = log_parts_f64(f64(i >> 52), f)
    y = y if x < INF_F64 else x
    y = x if x == 0.0 else y
    return y if u > 0.0 else (-INF_F64 if u == 0.0 else NAN_F64)
