"""Exponentials. Serves: `accuracy.*` of `prim.exp`, `prim.exp2` and `prim.expm1`.

x = k log 2 + r, where |r| is at most log(2) / 2, or log(2) / 128 for k in parts of 64.
exp(r) is a polynomial; the power of two is two factors, so that the greatest results
are kept and those below the least normal number are rounded once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64

from traceir_numba.vecmath.basics import (
    HALF_F32,
    LN2_F32,
    LN2_REST_F32,
    ONE_F32,
    ROUND_F32,
    TWO_F32,
    as_bits_f32,
    as_bits_f64,
    as_float_f32,
    as_float_f64,
    fma,
)

# Twice the exponent's bias: what the sum's lowest bits hold is never negative.
EXP_ROUND_F32 = ROUND_F32 + f32(254.0)
EXP_LEAST_F32, EXP_MOST_F32 = f32(-104.0), f32(89.0)
LOG2E_F32 = f32(1.442695)
EXP_C2_F32, EXP_C3_F32, EXP_C4_F32 = f32(0.5), f32(0.16666515), f32(0.041666586)
EXP_C5_F32, EXP_C6_F32 = f32(0.008369319), f32(0.0013921136)


def exp_f32(x: f32) -> f32:
    """e**x."""
    x = EXP_MOST_F32 if x > EXP_MOST_F32 else x
    x = EXP_LEAST_F32 if x < EXP_LEAST_F32 else x
    t = fma(x, LOG2E_F32, EXP_ROUND_F32)
    k = t - EXP_ROUND_F32
    r = fma(-k, LN2_REST_F32, fma(-k, LN2_F32, x))
    p = fma(fma(fma(EXP_C6_F32, r, EXP_C5_F32), r, EXP_C4_F32), r, EXP_C3_F32)
    p = fma(fma(p, r, EXP_C2_F32), r * r, r)
    i = as_bits_f32(t)
    j = i >> 1
    p = f32(p + ONE_F32)
    return p * as_float_f32(j << 23) * as_float_f32((i - j) << 23)


EXP2_LEAST_F32, EXP2_MOST_F32 = f32(-151.0), f32(129.0)
EXP2_C1_F32, EXP2_C2_F32, EXP2_C3_F32 = f32(0.6931472), f32(0.2402265), f32(0.055503603)
EXP2_C4_F32, EXP2_C5_F32 = f32(0.009618027), f32(0.0013390759)
EXP2_C6_F32 = f32(0.00015480362)


def exp2_f32(x: f32) -> f32:
    """2**x."""
    x = EXP2_MOST_F32 if x > EXP2_MOST_F32 else x
    x = EXP2_LEAST_F32 if x < EXP2_LEAST_F32 else x
    t = x + EXP_ROUND_F32
    r = x - (t - EXP_ROUND_F32)
    p = fma(fma(fma(EXP2_C6_F32, r, EXP2_C5_F32), r, EXP2_C4_F32), r, EXP2_C3_F32)
    p = fma(fma(fma(p, r, EXP2_C2_F32), r, EXP2_C1_F32), r, ONE_F32)
    i = as_bits_f32(t)
    j = i >> 1
    return p * as_float_f32(j << 23) * as_float_f32((i - j) << 23)


EXPM1_LEAST_F32, EXPM1_SMALL_F32 = f32(-80.0), f32(2.0**-26)
EXPM1_ROUND_F32 = ROUND_F32 + f32(126.0)
EXPM1_C3_F32, EXPM1_C4_F32 = f32(0.16666667), f32(0.041666493)
EXPM1_C5_F32, EXPM1_C6_F32 = f32(0.008333223), f32(0.0013931902)
EXPM1_C7_F32 = f32(0.0001991768)


def expm1_f32(x: f32) -> f32:
    """e**x - 1."""
    v = EXP_MOST_F32 if x > EXP_MOST_F32 else x
    v = EXPM1_LEAST_F32 if v < EXPM1_LEAST_F32 else v
    t = fma(v, LOG2E_F32, EXPM1_ROUND_F32)
    k = t - EXPM1_ROUND_F32
    r = fma(-k, LN2_REST_F32, fma(-k, LN2_F32, v))
    p = fma(fma(fma(EXPM1_C7_F32, r, EXPM1_C6_F32), r, EXPM1_C5_F32), r, EXPM1_C4_F32)
    p = fma(fma(fma(p, r, EXPM1_C3_F32), r, HALF_F32), r * r, r)
    s = as_float_f32(as_bits_f32(t) << 23)  # 2**(k - 1), which is finite
    y = fma(s, p, s - HALF_F32) * TWO_F32
    return x if abs(x) < EXPM1_SMALL_F32 else y


def powers_of_two_table(count: int) -> np.ndarray:
    """2**(j / count) for j below count, a power of two, and what its rounding lost."""
    unit = 1 << 200
    root = 2 * unit
    for _ in range(count.bit_length() - 1):
        root = math.isqrt(root * unit)
    rows = []
    exact = unit
    for _ in range(count):
        head = exact / unit
        rows.append((head, (exact - int(head * 2**52) * (unit >> 52)) / unit))
        exact = exact * root // unit
    return np.array(rows).T.copy()


POWER64, POWER64_REST = powers_of_two_table(64)
EXP_LEAST_F64, EXP_MOST_F64 = f64(-746.0), f64(710.0)
# Twice the exponent's bias, in parts of 64.
EXP_ROUND_F64 = 1.5 * 2**52 + 64 * 2046
EXPM1_LEAST_F64, EXPM1_ROUND_F64 = f64(-100.0), 1.5 * 2**52 + 64 * 1022
EXPONENT_F64 = -(1 << 52)  # mask of the sign and the exponent


def exp_sum_f64(x: f64, more: f64) -> f64:
    """e**(x + more), where `more` is less than a rounding of x."""
    x = EXP_MOST_F64 if x > EXP_MOST_F64 else x
    x = EXP_LEAST_F64 if x < EXP_LEAST_F64 else x
    t = fma(x, 92.33248261689366, EXP_ROUND_F64)
    k = t - EXP_ROUND_F64
    r = fma(-k, 2.572804622327669e-14, fma(-k, 0.010830424696223417, x)) + more
    p = fma(fma(0.008333342821449024, r, 0.04166672337713427), r, 0.16666666666654179)
    p = fma(fma(p, r, 0.4999999999994854), r * r, r)
    i = as_bits_f64(t)
    y = f64(POWER64[i & 63])
    y = f64(y + fma(y, p, f64(POWER64_REST[i & 63])))
    j = (i << 45) & EXPONENT_F64
    return y * as_float_f64(j) * as_float_f64(((i << 46) & EXPONENT_F64) - j)


def exp_f64(x: f64) -> f64:
    """e**x."""
    return exp_sum_f64(x, f64(-0.0))


EXP2_LEAST_F64, EXP2_MOST_F64 = f64(-1080.0), f64(1025.0)
EXP2_ROUND_F64 = 1.5 * 2**46 + 2046  # to parts of 64


def exp2_f64(x: f64) -> f64:
    """2**x."""
    x = EXP2_MOST_F64 if x > EXP2_MOST_F64 else x
    x = EXP2_LEAST_F64 if x < EXP2_LEAST_F64 else x
    t = x + EXP2_ROUND_F64
    r = x - (t - EXP2_ROUND_F64)
    p = fma(fma(0.0013333157592402163, r, 0.009618142561736789), r, 0.05550410866720157)
    p = fma(fma(p, r, 0.24022650695883951), r, 0.6931471805599453) * r
    i = as_bits_f64(t)
    y = f64(POWER64[i & 63])
    y = f64(y + fma(y, p, f64(POWER64_REST[i & 63])))
    j = (i << 45) & EXPONENT_F64
    return y * as_float_f64(j) * as_float_f64(((i << 46) & EXPONENT_F64) - j)


def expm1_f64(x: f64) -> f64:
    """e**x - 1."""
    v = EXP_MOST_F64 if x > EXP_MOST_F64 else x
    v = EXPM1_LEAST_F64 if v < EXPM1_LEAST_F64 else v
    t = fma(v, 92.33248261689366, EXPM1_ROUND_F64)
    k = t - EXPM1_ROUND_F64
    r = fma(-k, 2.572804622327669e-14, fma(-k, 0.010830424696223417, v))
    p = fma(fma(0.0013888896507485073, r, 0.008333341441947426), r, 0.04166666666666373)
    p = fma(fma(fma(p, r, 0.16666666666659302), r, 0.5), r * r, r)
    i = as_bits_f64(t)
    s = as_float_f64((i << 46) & EXPONENT_F64)  # 2**(k // 64 - 1), which is finite
    y = s * POWER64[i & 63]
    y = (fma(y, p, s * POWER64_REST[i & 63]) + (y - 0.5)) * 2.0
    return x if abs(x) < 2.0**-55 else y
