"""Hyperbolic functions. Serves: accuracy.* of tanh, logistic, sinh and cosh.

x is k log 2 + r. With s = 2**k, and h, a polynomial, the tangent of half of r:

    tanh(x / 2)  = (s - 1 + (s + 1) h) / (s + 1 + (s - 1) h)
    logistic(x)  = s (1 + h) / (s + 1 + (s - 1) h)

with two sums to be rounded, and their quotient. If a result is near to 1, its distance
from 1 is the quotient. sinh(x) and cosh(x) are sums of products of those of k log 2,
which are exact, and those of r, which are polynomials.
"""

from __future__ import annotations

from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int32 as i32
from numpy import int64 as i64

from traceir_numba.vecmath.basics import (
    HALF_F32,
    LN2_F32,
    LN2_F64,
    LN2_REST_F32,
    LN2_REST_F64,
    ONE_F32,
    ROUND_F32,
    ROUND_F64,
    SIGN_F32,
    SIGN_F64,
    TWO_F32,
    ZERO_F32,
    as_bits_f32,
    as_bits_f64,
    as_float_f32,
    as_float_f64,
    fma,
)
from traceir_numba.vecmath.exponential import (
    EXP_LEAST_F32,
    EXP_LEAST_F64,
    EXP_ROUND_F32,
    LOG2E_F32,
)

# -- tanh and logistic ----------------------------------------------------------------

# For a tangent r is from -0.14 to 0.56, so that at k = 1 little cancels.
TANH_SHIFT_F32, TANH_SHIFT_F64 = f32(-0.3), -0.3
TANH_C3_F32, TANH_C5_F32 = f32(-0.3333316), f32(0.13319682)
TANH_C7_F32, TWO_LOG2E_F32 = f32(-0.050865915), f32(2.88539)
# Where it rounds to 1; and to round to whole numbers, with the exponent's bias.
TANH_MOST_F32, TANH_ROUND_F32 = f32(10.0), ROUND_F32 + f32(127.0)
TANH_MOST_F64, TANH_ROUND_F64 = f64(20.0), ROUND_F64 + 1023
LOGISTIC_ROUND_F64 = ROUND_F64 + 2046  # twice the bias, as in `exp_f32`
HALF_LN2_F32, HALF_LN2_REST_F32 = LN2_F32 * HALF_F32, LN2_REST_F32 * HALF_F32
HALF_LN2_F64, HALF_LN2_REST_F64 = LN2_F64 * 0.5, LN2_REST_F64 * 0.5


def tanh_near_f32(y: f32) -> f32:
    """The hyperbolic tangent of a number below 0.28."""
    z = y * y
    p = fma(fma(TANH_C7_F32, z, TANH_C5_F32), z, TANH_C3_F32)
    return fma(p, z * y, y)


def tanh_near_f64(y: f64) -> f64:
    """The hyperbolic tangent of a number below 0.28."""
    z = y * y
    p = fma(0.0005131031879920057, z, -0.001444980242277167)
    p = fma(fma(p, z, 0.0035912932608050704), z, -0.008863198086159813)
    p = fma(fma(p, z, 0.02186948755485935), z, -0.05396825395400648)
    p = fma(fma(p, z, 0.13333333333323322), z, -0.3333333333333331)
    return fma(p, z * y, y)


def tanh_f32(x: f32) -> f32:
    """The hyperbolic tangent."""
    v = abs(x)
    v = TANH_MOST_F32 if v > TANH_MOST_F32 else v
    t = fma(v, TWO_LOG2E_F32, TANH_SHIFT_F32) + TANH_ROUND_F32
    k = t - TANH_ROUND_F32
    h = tanh_near_f32(fma(-k, HALF_LN2_REST_F32, fma(-k, HALF_LN2_F32, v)))
    s = as_float_f32(as_bits_f32(t) << 23)
    a, b = s - ONE_F32, s + ONE_F32
    # From 0.5 on the distance from 1 is the quotient.
    far = s > TWO_F32
    y = fma(-TWO_F32 if far else b, h, TWO_F32 if far else a) / fma(a, h, b)
    y = ONE_F32 - y if far else y
    return as_float_f32(as_bits_f32(y) | (as_bits_f32(x) & SIGN_F32))


def tanh_f64(x: f64) -> f64:
    """The hyperbolic tangent."""
    v = abs(x)
    v = TANH_MOST_F64 if v > TANH_MOST_F64 else v
    t = fma(v, 2.8853900817779268, TANH_SHIFT_F64) + TANH_ROUND_F64
    k = t - TANH_ROUND_F64
    h = tanh_near_f64(fma(-k, HALF_LN2_REST_F64, fma(-k, HALF_LN2_F64, v)))
    s = as_float_f64(as_bits_f64(t) << 52)
    a, b = s - 1.0, s + 1.0
    far = s > 2.0
    y = fma(-2.0 if far else b, h, 2.0 if far else a) / fma(a, h, b)
    y = 1.0 - y if far else y
    return as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))


def logistic_f32(x: f32) -> f32:
    """1 / (1 + e**-x)."""
    v = -abs(x)
    v = EXP_LEAST_F32 if v < EXP_LEAST_F32 else v
    t = fma(v, LOG2E_F32, EXP_ROUND_F32)
    k = t - EXP_ROUND_F32
    h = fma(-k, HALF_LN2_REST_F32, fma(-k, HALF_LN2_F32, v * HALF_F32))
    h = tanh_near_f32(h)
    i = as_bits_f32(t)
    j = i >> 1
    u = as_float_f32(j << 23)
    w = as_float_f32((i - j) << 23)
    s = u * w
    # (1 + h) / d, which is near to 1, as 1 and the rest.
    d = fma(s - ONE_F32, h, s + ONE_F32)
    y = (fma(-s, h, fma(TWO_F32, h, -s)) / d + ONE_F32) * u * w
    return y if x < ZERO_F32 else ONE_F32 - y


def logistic_f64(x: f64) -> f64:
    """1 / (1 + e**-x)."""
    v = -abs(x)
    v = EXP_LEAST_F64 if v < EXP_LEAST_F64 else v
    t = fma(v, 1.4426950408889634, LOGISTIC_ROUND_F64)
    k = t - LOGISTIC_ROUND_F64
    h = fma(-k, HALF_LN2_REST_F64, fma(-k, HALF_LN2_F64, v * 0.5))
    h = tanh_near_f64(h)
    i = as_bits_f64(t)
    j = i >> 1
    u = as_float_f64(j << 52)
    w = as_float_f64((i - j) << 52)
    s = u * w
    d = fma(s - 1.0, h, s + 1.0)
    y = (fma(-s, h, fma(2.0, h, -s)) / d + 1.0) * u * w
    return y if x < 0.0 else 1.0 - y


# -- sinh and cosh --------------------------------------------------------------------

# Here r is from -0.2 to 0.49, for the same reason.
SHIFT_F32, SHIFT_F64 = f32(-0.2), -0.2
SINH_C3_F32, SINH_C5_F32 = f32(0.16666667), f32(0.008333182)
SINH_C7_F32, SINH_SMALL_F32 = f32(0.00019960963), f32(2.0**-13)
COSH_C2_F32, COSH_C4_F32 = f32(0.50000006), f32(0.04166513)
COSH_C6_F32 = f32(0.001400146)
# Just beyond the greatest argument; and to have 2**(k - 2) in the lowest bits.
SINH_MOST_F32, SINH_ROUND_F32 = f32(89.6), ROUND_F32 + f32(125.0)
SINH_MOST_F64, SINH_ROUND_F64 = f64(710.7), ROUND_F64 + 1021


def half_power_f32(i: i32) -> f32:
    """2**(-k - 2) where the lowest bits of i are k + 125."""
    i = i32(250 - (i & 511))
    return as_float_f32(i32(i if i > 0 else 0) << 23)


def sinh_near_f32(r: f32) -> f32:
    """The hyperbolic sine of a small number."""
    z = r * r
    p = fma(fma(SINH_C7_F32, z, SINH_C5_F32), z, SINH_C3_F32)
    return fma(p, z * r, r)


def cosh_near_f32(r: f32) -> f32:
    """The hyperbolic cosine of a small number, less 1."""
    z = r * r
    return fma(fma(COSH_C6_F32, z, COSH_C4_F32), z, COSH_C2_F32) * z


def sinh_f32(x: f32) -> f32:
    """The hyperbolic sine."""
    v = abs(x)
    v = SINH_MOST_F32 if v > SINH_MOST_F32 else v
    t = fma(v, LOG2E_F32, SHIFT_F32) + SINH_ROUND_F32
    k = t - SINH_ROUND_F32
    r = fma(-k, LN2_REST_F32, fma(-k, LN2_F32, v))
    i = as_bits_f32(t)
    u = as_float_f32(i << 23)
    w = half_power_f32(i)
    a = u - w
    y = TWO_F32 * (a + fma(a, cosh_near_f32(r), (u + w) * sinh_near_f32(r)))
    y = as_float_f32(as_bits_f32(y) | (as_bits_f32(x) & SIGN_F32))
    return x if v < SINH_SMALL_F32 else y


def cosh_f32(x: f32) -> f32:
    """The hyperbolic cosine."""
    v = abs(x)
    v = SINH_MOST_F32 if v > SINH_MOST_F32 else v
    t = fma(v, LOG2E_F32, SHIFT_F32) + SINH_ROUND_F32
    k = t - SINH_ROUND_F32
    r = fma(-k, LN2_REST_F32, fma(-k, LN2_F32, v))
    i = as_bits_f32(t)
    u = as_float_f32(i << 23)
    w = half_power_f32(i)
    a = u + w
    return TWO_F32 * (a + fma(a, cosh_near_f32(r), (u - w) * sinh_near_f32(r)))


def half_power_f64(i: i64) -> f64:
    """2**(-k - 2) where the lowest bits of i are k + 1021."""
    i = i64(2042 - (i & 4095))
    return as_float_f64(i64(i if i > 0 else 0) << 52)


def sinh_near_f64(r: f64) -> f64:
    """The hyperbolic sine of a small number."""
    z = r * r
    p = fma(
        fma(1.6121494992871358e-10, z, 2.505190921660283e-08), z, 2.7557319536343234e-06
    )
    p = fma(fma(p, z, 0.00019841269841022212), z, 0.008333333333333423)
    return fma(fma(p, z, 0.16666666666666666), z * r, r)


def cosh_near_f64(r: f64) -> f64:
    """The hyperbolic cosine of a small number, less 1."""
    z = r * r
    p = fma(
        fma(2.0964954016946877e-09, z, 2.7557060635939566e-07),
        z,
        2.4801587659149196e-05,
    )
    p = fma(fma(p, z, 0.0013888888888659552), z, 0.0416666666666672)
    return fma(p, z, 0.5) * z


def sinh_f64(x: f64) -> f64:
    """The hyperbolic sine."""
    v = abs(x)
    v = SINH_MOST_F64 if v > SINH_MOST_F64 else v
    t = fma(v, 1.4426950408889634, SHIFT_F64) + SINH_ROUND_F64
    k = t - SINH_ROUND_F64
    r = fma(-k, LN2_REST_F64, fma(-k, LN2_F64, v))
    i = as_bits_f64(t)
    u = as_float_f64(i << 52)
    w = half_power_f64(i)
    a = u - w
    y = 2.0 * (a + fma(a, cosh_near_f64(r), (u + w) * sinh_near_f64(r)))
    y = as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))
    return x if v < 1e-9 else y


def cosh_f64(x: f64) -> f64:
    """The hyperbolic cosine."""
    v = abs(x)
    v = SINH_MOST_F64 if v > SINH_MOST_F64 else v
    t = fma(v, 1.4426950408889634, SHIFT_F64) + SINH_ROUND_F64
    k = t - SINH_ROUND_F64
    r = fma(-k, LN2_REST_F64, fma(-k, LN2_F64, v))
    i = as_bits_f64(t)
    u = as_float_f64(i << 52)
    w = half_power_f64(i)
    a = u + w
    return 2.0 * (a + fma(a, cosh_near_f64(r), (u - w) * sinh_near_f64(r)))
