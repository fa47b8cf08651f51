"""Hyperbolic functions. Serves: accuracy.* of tanh, logistic, sinh and cosh.

The exponentials are those of `exponential`. What a sum of them loses is kept, and so is
what a quotient leaves: both are added to the quotient in the end.
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
    ONE_F64,
    ROUND_F32,
    ROUND_F64,
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
from traceir_numba.vecmath.exponential import (
    EXP_C2_F32,
    EXP_C3_F32,
    EXP_C4_F32,
    EXP_C5_F32,
    EXP_C6_F32,
    EXP_LEAST_F32,
    EXP_LEAST_F64,
    EXP_ROUND_F32,
    EXP_ROUND_F64,
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


def quotient_f32(n: f32, n_rest: f32, d: f32, d_rest: f32) -> f32:
    """(n + n_rest) / (d + d_rest)."""
    y = ONE_F32 / d
    q = n * y
    return fma(fma(-q, d, n) + (n_rest - q * d_rest), y, q)  # type: ignore[no-any-return]


def quotient_f64(n: f64, n_rest: f64, d: f64, d_rest: f64) -> f64:
    """(n + n_rest) / (d + d_rest)."""
    y = 1.0 / d
    q = n * y
    return fma(fma(-q, d, n) + (n_rest - q * d_rest), y, q)  # type: ignore[no-any-return]


# -- tanh x = t / (t + 2), where t = exp(2 |x|) - 1 -----------------------------------

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
    a = s - ONE_F32
    b = s * p
    t = a + b
    rest = b - (t - a)
    d = t + TWO_F32
    u = d - t
    y = quotient_f32(t, rest, d, (t - (d - u)) + (TWO_F32 - u) + rest)
    return as_float_f32(as_bits_f32(y) | (as_bits_f32(x) & SIGN_F32))


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
    a = t - 1.0
    b = fma(t, p, fma(s, POWER64_REST[i & 63], t - a - 1.0))
    t = a + b
    rest = b - (t - a)
    d = t + 2.0
    u = d - t
    y = quotient_f64(t, rest, d, (t - (d - u)) + (2.0 - u) + rest)
    return as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))


# -- 1 / (1 + e) or e / (1 + e), where e = exp(-|x|) ----------------------------------


def logistic_f32(x: f32) -> f32:
    """1 / (1 + e**-x)."""
    v = -abs(x)
    v = EXP_LEAST_F32 if v < EXP_LEAST_F32 else v
    t = fma(v, LOG2E_F32, EXP_ROUND_F32)
    k = t - EXP_ROUND_F32
    r = fma(-k, LN2_REST_F32, fma(-k, LN2_F32, v))
    p = fma(fma(fma(EXP_C6_F32, r, EXP_C5_F32), r, EXP_C4_F32), r, EXP_C3_F32)
    p = fma(fma(p, r, EXP_C2_F32), r * r, r)
    i = as_bits_f32(t)
    j = i >> 1
    s = as_float_f32(j << 23)
    w = as_float_f32((i - j) << 23)
    n = p + ONE_F32
    rest = p - (n - ONE_F32)
    e = n * s * w
    d = e + ONE_F32
    u = (e - (d - ONE_F32)) + rest * s * w
    left = x < ZERO_F32
    y = quotient_f32(n if left else ONE_F32, rest if left else ZERO_F32, d, u)
    return y * s * w if left else y


def logistic_f64(x: f64) -> f64:
    """1 / (1 + e**-x)."""
    v = -abs(x)
    v = EXP_LEAST_F64 if v < EXP_LEAST_F64 else v
    t = fma(v, 92.33248261689366, EXP_ROUND_F64)
    k = t - EXP_ROUND_F64
    r = fma(-k, 2.572804622327669e-14, fma(-k, 0.010830424696223417, v))
    p = fma(fma(0.008333342821449024, r, 0.04166672337713427), r, 0.16666666666654179)
    p = fma(fma(p, r, 0.4999999999994854), r * r, r)
    i = as_bits_f64(t)
    y = f64(POWER64[i & 63])
    p = fma(y, p, f64(POWER64_REST[i & 63]))
    n = y + p
    rest = p - (n - y)
    j = (i << 45) & EXPONENT_F64
    s = as_float_f64(j)
    w = as_float_f64(((i << 46) & EXPONENT_F64) - j)
    e = n * s * w
    d = e + 1.0
    u = (e - (d - 1.0)) + rest * s * w
    left = x < 0.0
    y = quotient_f64(n if left else ONE_F64, rest if left else ZERO_F64, d, u)
    return y * s * w if left else y


# -- sinh and cosh: with x = k log 2 + r they are sums of those of r and of k log 2 ----

# The rest r is from -0.2 to 0.49, so that at k = 1 little cancels.
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
    return fma(p, z * r, r)  # type: ignore[no-any-return]


def cosh_near_f32(r: f32) -> f32:
    """The hyperbolic cosine of a small number, less 1."""
    z = r * r
    return fma(fma(COSH_C6_F32, z, COSH_C4_F32), z, COSH_C2_F32) * z  # type: ignore[no-any-return]


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
    return TWO_F32 * (a + fma(a, cosh_near_f32(r), (u - w) * sinh_near_f32(r)))  # type: ignore[no-any-return]


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
    return fma(fma(p, z, 0.16666666666666666), z * r, r)  # type: ignore[no-any-return]


def cosh_near_f64(r: f64) -> f64:
    """The hyperbolic cosine of a small number, less 1."""
    z = r * r
    p = fma(
        fma(2.0964954016946877e-09, z, 2.7557060635939566e-07),
        z,
        2.4801587659149196e-05,
    )
    p = fma(fma(p, z, 0.0013888888888659552), z, 0.0416666666666672)
    return fma(p, z, 0.5) * z  # type: ignore[no-any-return]


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
    return 2.0 * (a + fma(a, cosh_near_f64(r), (u - w) * sinh_near_f64(r)))  # type: ignore[no-any-return]
