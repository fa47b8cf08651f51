"""Inverse hyperbolic functions. Serves: accuracy.* of asinh, acosh and atanh.

Each is log(1 + u), or half of it, where u is computed with what its steps lose; a large
argument is its own 1 + u.
"""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int32 as i32
from numpy import int64 as i64

from traceir_numba.vecmath.basics import (
    HALF_F32,
    INF_F32,
    INF_F64,
    MANTISSA_F32,
    MANTISSA_F64,
    NAN_F32,
    NAN_F64,
    ONE_F32,
    ONE_F64,
    ROOT_F32,
    ROOT_F64,
    SIGN_F32,
    SIGN_F64,
    ZERO_F32,
    ZERO_F64,
    as_bits_f32,
    as_bits_f64,
    as_float_f32,
    as_float_f64,
    fma,
)
from traceir_numba.vecmath.logarithm import log_parts_f32, log_parts_f64

LEAST_F32 = f32(2.0**-126)  # so that nothing is divided by 0


def log_sum_f32(v: f32, more: f32, twice: f32) -> f32:
    """log(v + more) + twice * log 2, where v is at least 1 and `more` a rounding of it.

    It is accurate in itself where v is 1.
    """
    i = i32(as_bits_f32(v) - ROOT_F32)
    down = i32(0x3F800000 - (i - (i & MANTISSA_F32)))
    f = as_float_f32((i & MANTISSA_F32) + ROOT_F32) - ONE_F32
    f = fma(more, as_float_f32(i32(down if down > 0 else 0)), f)  # 2**-e
    return log_parts_f32(f32(i32(i >> 23)) + twice, f)


AREA_LARGE_F32 = f32(2.0**13)  # where sqrt(x**2 + 1) rounds to x


def asinh_f32(x: f32) -> f32:
    """The inverse hyperbolic sine."""
    d = abs(x)
    s = d * d
    g = s / (f32(math.sqrt(s + ONE_F32)) + ONE_F32)
    u = d + g
    v = u + ONE_F32
    t = v - ONE_F32
    more = (u - t) + (ONE_F32 - (v - t)) + (g - (u - d))
    large = d > AREA_LARGE_F32
    y = log_sum_f32(
        d if large else v, ZERO_F32 if large else more, ONE_F32 if large else ZERO_F32
    )
    y = y if d < INF_F32 else d
    return as_float_f32(as_bits_f32(y) | (as_bits_f32(x) & SIGN_F32))


def acosh_f32(x: f32) -> f32:
    """The inverse hyperbolic cosine, NaN below 1."""
    t = x - ONE_F32
    a = t + t
    s = t * t
    # The square root of p + e, where p + e is t * (t + 2), is g + h.
    p = a + s
    w = p - a
    e = (a - (p - w)) + (s - w) + fma(t, t, -s)
    g = f32(math.sqrt(p))
    h = (fma(-g, g, p) + e) / (g + g + LEAST_F32)
    u = t + g
    w = u - t
    more = (t - (u - w)) + (g - w) + h
    v = u + ONE_F32
    w = v - ONE_F32
    more = more + ((u - w) + (ONE_F32 - (v - w)))
    large = x > AREA_LARGE_F32
    y = log_sum_f32(
        x if large else v, ZERO_F32 if large else more, ONE_F32 if large else ZERO_F32
    )
    y = y if x < INF_F32 else x
    return y if x >= ONE_F32 else NAN_F32


def atanh_f32(x: f32) -> f32:
    """The inverse hyperbolic tangent, NaN beyond 1."""
    d = abs(x)
    b = ONE_F32 - d
    r = ONE_F32 / b
    n = d + d
    u = n * r
    more = (fma(-u, b, n) - u * ((ONE_F32 - b) - d)) * r
    v = u + ONE_F32
    w = v - ONE_F32
    more = more + ((u - w) + (ONE_F32 - (v - w)))
    y = HALF_F32 * log_sum_f32(v, more, ZERO_F32)
    y = y if d < ONE_F32 else (INF_F32 if d == ONE_F32 else NAN_F32)
    return as_float_f32(as_bits_f32(y) | (as_bits_f32(x) & SIGN_F32))


def log_sum_f64(v: f64, more: f64, twice: f64) -> f64:
    """log(v + more) + twice * log 2, where v is at least 1 and `more` a rounding of it.

    It is accurate in itself where v is 1.
    """
    i = as_bits_f64(v) - ROOT_F64
    down = 0x3FF0000000000000 - (i - (i & MANTISSA_F64))
    f = as_float_f64((i & MANTISSA_F64) + ROOT_F64) - 1.0
    f = fma(more, as_float_f64(i64(down if down > 0 else 0)), f)  # 2**-e
    return log_parts_f64(f64(i >> 52) + twice, f)


AREA_LARGE_F64 = f64(2.0**28)  # where sqrt(x**2 + 1) rounds to x


def asinh_f64(x: f64) -> f64:
    """The inverse hyperbolic sine."""
    d = abs(x)
    s = d * d
    g = s / (math.sqrt(s + 1.0) + 1.0)
    u = d + g
    v = u + 1.0
    t = v - 1.0
    more = (u - t) + (1.0 - (v - t)) + (g - (u - d))
    large = d > AREA_LARGE_F64
    y = log_sum_f64(
        d if large else v, ZERO_F64 if large else more, ONE_F64 if large else ZERO_F64
    )
    y = y if d < INF_F64 else d
    return as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))


def acosh_f64(x: f64) -> f64:
    """The inverse hyperbolic cosine, NaN below 1."""
    t = x - 1.0
    a = t + t
    s = t * t
    # The square root of p + e, where p + e is t * (t + 2), is g + h.
    p = a + s
    w = p - a
    e = (a - (p - w)) + (s - w) + fma(t, t, -s)
    g = math.sqrt(p)
    h = (fma(-g, g, p) + e) / (g + g + 1e-300)
    u = t + g
    w = u - t
    more = (t - (u - w)) + (g - w) + h
    v = u + 1.0
    w = v - 1.0
    more = more + ((u - w) + (1.0 - (v - w)))
    large = x > AREA_LARGE_F64
    y = log_sum_f64(
        x if large else v, ZERO_F64 if large else more, ONE_F64 if large else ZERO_F64
    )
    y = y if x < INF_F64 else x
    return y if x >= 1.0 else NAN_F64


def atanh_f64(x: f64) -> f64:
    """The inverse hyperbolic tangent, NaN beyond 1."""
    d = abs(x)
    b = 1.0 - d
    r = 1.0 / b
    n = d + d
    u = n * r
    more = (fma(-u, b, n) - u * ((1.0 - b) - d)) * r
    v = u + 1.0
    w = v - 1.0
    more = more + ((u - w) + (1.0 - (v - w)))
    y = 0.5 * log_sum_f64(v, more, ZERO_F64)
    y = y if d < 1.0 else (INF_F64 if d == 1.0 else NAN_F64)
    return as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))
