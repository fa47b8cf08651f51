"""Inverse trigonometric functions. Serves: `accuracy.*` of those rows.

Arc tangents are t + t**3 P(t**2) for t from 0 to 1, beyond that pi / 2 less that of the
reciprocal. Arc sines are the like up to 1/2, beyond that pi / 2 less twice that of the
root of (1 - x) / 2. Every multiple of pi is a sum of two numbers.
"""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import float64 as f64

from traceir_numba.vecmath.basics import (
    HALF_F32,
    ONE_F32,
    ONE_F64,
    SIGN_F32,
    SIGN_F64,
    TWO_F32,
    ZERO_F32,
    ZERO_F64,
    as_bits_f32,
    as_bits_f64,
    as_float_f32,
    as_float_f64,
    fma,
)

PI_F32, PI_REST_F32 = f32(3.1415927), f32(-8.742278e-08)
QUARTER_F32, QUARTER_REST_F32 = f32(1.5707964), f32(-4.371139e-08)
PI_F64, PI_REST_F64 = 3.141592653589793, 1.2246467991473532e-16
QUARTER_F64, QUARTER_REST_F64 = 1.5707963267948966, 6.123233995736766e-17

ATAN_C3_F32, ATAN_C5_F32 = f32(-0.33333153), f32(0.19993767)
ATAN_C7_F32, ATAN_C9_F32 = f32(-0.14211003), f32(0.106657796)
ATAN_C11_F32, ATAN_C13_F32 = f32(-0.07551704), f32(0.043205813)
ATAN_C15_F32, ATAN_C17_F32 = f32(-0.016364407), f32(0.0029199075)


def atan_rest_f32(t: f32) -> f32:
    """atan(t) - t for t from 0 to 1."""
    z = t * t
    p = fma(fma(ATAN_C17_F32, z, ATAN_C15_F32), z, ATAN_C13_F32)
    p = fma(fma(p, z, ATAN_C11_F32), z, ATAN_C9_F32)
    p = fma(fma(fma(p, z, ATAN_C7_F32), z, ATAN_C5_F32), z, ATAN_C3_F32)
    return p * z * t


def atan_f32(x: f32) -> f32:
    """The arc tangent."""
    a = abs(x)
    large = a > ONE_F32
    t = (ONE_F32 if large else a) / (a if large else ONE_F32)
    w = atan_rest_f32(t)
    y = (QUARTER_F32 - t) + (QUARTER_REST_F32 - w) if large else t + w
    return as_float_f32(as_bits_f32(y) | (as_bits_f32(x) & SIGN_F32))


def atan2_f32(y: f32, x: f32) -> f32:
    """The angle of the point (x, y)."""
    b, a = abs(y), abs(x)
    steep, left = b > a, as_bits_f32(x) < 0
    m = a if steep else b
    n = b if steep else a
    t = m / n
    t = (ZERO_F32 if n == ZERO_F32 else ONE_F32) if m == n else t
    w = atan_rest_f32(t)
    t = -t if steep != left else t
    w = -w if steep != left else w
    h = QUARTER_F32 if steep else (PI_F32 if left else ZERO_F32)
    w = w + (QUARTER_REST_F32 if steep else (PI_REST_F32 if left else ZERO_F32))
    return as_float_f32(as_bits_f32((h + t) + w) | (as_bits_f32(y) & SIGN_F32))


ASIN_C3_F32, ASIN_C5_F32, ASIN_C7_F32 = (
    f32(0.16666752),
    f32(0.074953094),
    f32(0.045469154),
)
ASIN_C9_F32, ASIN_C11_F32 = f32(0.02418474), f32(0.042158406)
ASIN_ROOT_F32 = f32(2.5)


def asin_rest_f32(z: f32) -> f32:
    """asin(t) / t - 1 at z = t**2, up to 1/4."""
    p = fma(fma(ASIN_C11_F32, z, ASIN_C9_F32), z, ASIN_C7_F32)
    return fma(fma(p, z, ASIN_C5_F32), z, ASIN_C3_F32) * z


def asin_f32(x: f32) -> f32:
    """The arc sine."""
    a = abs(x)
    large = a > HALF_F32
    z = HALF_F32 - HALF_F32 * a if large else a * a
    s = f32(math.sqrt(z)) if large else a
    w = s * asin_rest_f32(z)
    # The root lost its square's error divided by 2 s, which counts if s is near 1/2.
    v = fma(ASIN_ROOT_F32, fma(-s, s, z), w + w)
    y = (QUARTER_F32 - TWO_F32 * s) + (QUARTER_REST_F32 - v) if large else s + w
    return as_float_f32(as_bits_f32(y) | (as_bits_f32(x) & SIGN_F32))


def acos_f32(x: f32) -> f32:
    """The arc cosine."""
    a = abs(x)
    large, left = a > HALF_F32, x < ZERO_F32
    z = HALF_F32 - HALF_F32 * a if large else a * a
    s = TWO_F32 * f32(math.sqrt(z)) if large else a
    s = -s if large == left else s
    h = (PI_F32 if left else ZERO_F32) if large else QUARTER_F32
    w = (PI_REST_F32 if left else ZERO_F32) if large else QUARTER_REST_F32
    return (h + s) + fma(s, asin_rest_f32(z), w)


def atan_rest_f64(t: f64) -> f64:
    """atan(t) - t for t from 0 to 1."""
    z = t * t
    p = fma(1.3225016807330638e-05, z, -0.00015216026717483356)
    p = fma(fma(p, z, 0.0008313190359329738), z, -0.002884910368313094)
    p = fma(fma(p, z, 0.007196487280574479), z, -0.013900537445731406)
    p = fma(fma(p, z, 0.021984829253613447), z, -0.02990383896800391)
    p = fma(fma(p, z, 0.036641898747800584), z, -0.042191783709645415)
    p = fma(fma(p, z, 0.047223220012510364), z, -0.05253518492783653)
    p = fma(fma(p, z, 0.058805278022692295), z, -0.06666404055788117)
    p = fma(fma(p, z, 0.07692279839123632), z, -0.09090907002982665)
    p = fma(fma(p, z, 0.11111111007026085), z, -0.14285714282575124)
    p = fma(fma(p, z, 0.19999999999951462), z, -0.3333333333333307)
    return p * z * t


def atan_f64(x: f64) -> f64:
    """The arc tangent."""
    a = abs(x)
    large = a > 1.0
    t = (ONE_F64 if large else a) / (a if large else ONE_F64)
    w = atan_rest_f64(t)
    y = (QUARTER_F64 - t) + (QUARTER_REST_F64 - w) if large else t + w
    return as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))


def atan2_f64(y: f64, x: f64) -> f64:
    """The angle of the point (x, y)."""
    b, a = abs(y), abs(x)
    steep, left = b > a, as_bits_f64(x) < 0
    m = a if steep else b
    n = b if steep else a
    t = m / n
    t = (ZERO_F64 if n == 0.0 else ONE_F64) if m == n else t
    w = atan_rest_f64(t)
    t = -t if steep != left else t
    w = -w if steep != left else w
    h = QUARTER_F64 if steep else (PI_F64 if left else 0.0)
    w = w + (QUARTER_REST_F64 if steep else (PI_REST_F64 if left else 0.0))
    return as_float_f64(as_bits_f64((h + t) + w) | (as_bits_f64(y) & SIGN_F64))


def asin_rest_f64(z: f64) -> f64:
    """asin(t) / t - 1 at z = t**2, up to 1/4."""
    p = fma(0.031912197372693324, z, -0.016224148812011736)
    p = fma(fma(p, z, 0.019528200459716424), z, 0.006527998172874973)
    p = fma(fma(p, z, 0.012169206567214767), z, 0.013885236201008413)
    p = fma(fma(p, z, 0.017359704692562847), z, 0.022371758054885543)
    p = fma(fma(p, z, 0.030381959136796595), z, 0.044642856828331676)
    p = fma(fma(p, z, 0.07500000000337012), z, 0.16666666666665408)
    return p * z


def asin_f64(x: f64) -> f64:
    """The arc sine."""
    a = abs(x)
    large = a > 0.5
    z = 0.5 - 0.5 * a if large else a * a
    s = math.sqrt(z) if large else a
    w = s * asin_rest_f64(z)
    # The root lost its square's error divided by 2 s, which counts if s is near 1/2.
    v = fma(2.5, fma(-s, s, z), w + w)
    y = (QUARTER_F64 - 2.0 * s) + (QUARTER_REST_F64 - v) if large else s + w
    return as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))


def acos_f64(x: f64) -> f64:
    """The arc cosine."""
    a = abs(x)
    large, left = a > 0.5, x < 0.0
    z = 0.5 - 0.5 * a if large else a * a
    s = 2.0 * math.sqrt(z) if large else a
    s = -s if large == left else s
    h = (PI_F64 if left else 0.0) if large else QUARTER_F64
    w = (PI_REST_F64 if left else 0.0) if large else QUARTER_REST_F64
    return (h + s) + fma(s, asin_rest_f64(z), w)
