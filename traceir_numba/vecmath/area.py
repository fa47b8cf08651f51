"""Inverse hyperbolic functions. Serves: accuracy.* of asinh, acosh and atanh.

Each is log(1 + u), or half of it, where u is computed with what its steps lose; a large
argument is its own 1 + u. Those of float32 are computed in float64.
"""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int64 as i64

from traceir_numba.vecmath.basics import (
    INF_F64,
    MANTISSA_F64,
    NAN_F64,
    ONE_F64,
    ROOT_F64,
    SIGN_F64,
    ZERO_F64,
    as_bits_f64,
    as_float_f64,
    fma,
)
from traceir_numba.vecmath.logarithm import log_parts_f64


def log_sum_f64(v: f64, more: f64, twice: f64) -> f64:
    """log(v + more) + twice * log 2, where v is at least 1 and `more` a rounding of it.

    It is accurate in itself where v is 1.
    """
    i = as_bits_f64(v) - ROOT_F64
    down = 0x3FF0000000000000 - (i - (i & MANTISSA_F64))
    f = as_float_f64((i & MANTISSA_F64) + ROOT_F64) - 1.0
    f = fma(more, as_float_f64(i64(down if down > 0 else 0)), f)  # 2**-e
    return log_parts_f64(f64(i >> 52) + twice, f)


def short_log1p_f64(u: f64) -> f64:
    """log(1 + u) of a number that is not negative, to the digits of a float32."""
    v = u + 1.0
    i = as_bits_f64(v) - ROOT_F64
    down = 0x3FF0000000000000 - (i - (i & MANTISSA_F64))
    f = as_float_f64((i & MANTISSA_F64) + ROOT_F64) - 1.0
    lost = u - (v - 1.0) if u < 1.0 else ZERO_F64
    f = fma(lost, as_float_f64(i64(down if down > 0 else 0)), f)
    q = f / (f + 2.0)
    z = q * q
    p = fma(fma(0.2829023302350905, z, 0.31990555337881277), z, 0.4122092556645072)
    p = fma(fma(p, z, 0.5770779423345008), z, 0.9617966941134394)
    p = fma(p, z, 2.88539008177785)
    return fma(q, p, f64(i >> 52)) * 0.6931471805599453


def asinh_f32(x: f32) -> f32:
    """The inverse hyperbolic sine."""
    d = f64(abs(x))
    s = d * d
    y = short_log1p_f64(d + s / (math.sqrt(s + 1.0) + 1.0))
    y = y if d < INF_F64 else d
    return f32(as_float_f64(as_bits_f64(y) | (as_bits_f64(f64(x)) & SIGN_F64)))


def acosh_f32(x: f32) -> f32:
    """The inverse hyperbolic cosine, NaN below 1."""
    t = f64(x) - 1.0
    y = short_log1p_f64(t + math.sqrt(t * (t + 2.0)))
    y = y if t < INF_F64 else t
    return f32(y if t >= 0.0 else NAN_F64)


def atanh_f32(x: f32) -> f32:
    """The inverse hyperbolic tangent, NaN beyond 1."""
    d = f64(abs(x))
    y = 0.5 * short_log1p_f64((d + d) / (1.0 - d))
    y = y if d < 1.0 else (INF_F64 if d == 1.0 else NAN_F64)
    return f32(as_float_f64(as_bits_f64(y) | (as_bits_f64(f64(x)) & SIGN_F64)))


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
