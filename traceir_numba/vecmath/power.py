"""Powers. Serves: `accuracy.*` of `prim.pow`.

x**y is 2**(y log2 x). For float32 that is computed in float64; for float64 log x and
its product with y are sums of two numbers, and a table of reciprocals makes the
argument of the logarithm's series small.
"""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64

from traceir_numba.vecmath.basics import (
    HALF_F32,
    HEAD_22_BITS,
    HEAD_26_BITS,
    INF_F32,
    INF_F64,
    LN2_F64,
    LN2_REST_F64,
    MANTISSA_F64,
    NAN_F32,
    NAN_F64,
    ONE_F64,
    ROOT_F64,
    ZERO_F32,
    ZERO_F64,
    as_bits_f32,
    as_bits_f64,
    as_float_f64,
    fma,
)
from traceir_numba.vecmath.exponential import exp_sum_f64

POW_LEAST_F64, POW_MOST_F64 = f64(-151.0), f64(129.0)
POW_ROUND_F64 = 1.5 * 2**52 + 1023


def power_sign_f32(v: f32, x: f32, y: f32) -> f32:
    """The power of x that |x| has as v: its sign, NaN where there is none."""
    whole = np.rint(y) == y
    h = y * HALF_F32
    odd = whole & (np.rint(h) != h)
    v = NAN_F32 if (x < ZERO_F32) & (x > -INF_F32) & (not whole) else v
    return -v if odd & (as_bits_f32(x) < 0) else v


def log2_near_f64(a: f64) -> f64:
    """log2(a) of normal numbers, for results that are rounded to float32."""
    i = as_bits_f64(a) - ROOT_F64
    f = as_float_f64((i & MANTISSA_F64) + ROOT_F64) - 1.0
    q = f / (f + 2.0)
    z = q * q
    p = fma(fma(0.2829023302350905, z, 0.31990555337881277), z, 0.4122092556645072)
    p = fma(fma(p, z, 0.5770779423345008), z, 0.9617966941134394)
    p = fma(p, z, 2.88539008177785)
    return fma(q, p, f64(i >> 52))


def exp2_near_f64(w: f64) -> f64:
    """2**w in the range of float32, for results that are rounded to it."""
    w = POW_MOST_F64 if w > POW_MOST_F64 else w
    w = POW_LEAST_F64 if w < POW_LEAST_F64 else w
    t = w + POW_ROUND_F64
    r = w - (t - POW_ROUND_F64)
    p = fma(0.00014933466889733554, r, 0.001340030622666822)
    p = fma(p, r, 0.009619859860724786)
    p = fma(fma(p, r, 0.05550329568058681), r, 0.24022637356241522) * r
    p = fma(p + 0.6931472029025709, r, 1.0)
    return p * as_float_f64(as_bits_f64(t) << 52)


def pow_f32(x: f32, y: f32) -> f32:
    """x**y."""
    a = f64(abs(x))
    g = log2_near_f64(a)
    g = g if a < INF_F64 else a
    g = g if a > 0.0 else (-INF_F64 if a == 0.0 else a)
    w = f64(y) * g
    w = ZERO_F64 if (g == 0.0) | (y == ZERO_F32) else w
    return power_sign_f32(f32(exp2_near_f64(w)), x, y)


def power_sign_f64(v: f64, x: f64, y: f64) -> f64:
    """The power of x that |x| has as v: its sign, NaN where there is none."""
    whole = np.rint(y) == y
    h = y * 0.5
    odd = whole & (np.rint(h) != h)
    v = NAN_F64 if (x < 0.0) & (x > -INF_F64) & (not whole) else v
    return -v if odd & (as_bits_f64(x) < 0) else v


LOG_START = 0x3FE6900000000000  # the bits of the least 1 + f


def logarithm_table() -> np.ndarray:
    """For 128 intervals a number c near the reciprocal of the middle, of 10 bits, and
    -log c in two numbers, the first of them a multiple of 2**-42.
    """
    unit = 1 << 120
    rows = []
    for j in range(128):
        low, high = (
            np.int64(LOG_START + (k << 45)).view(np.float64) for k in (j, j + 1)
        )
        c = 512 if low < 1.0 < high else round(1024 / float(low + high))
        # -log(c / 512) = 2 artanh((512 - c) / (512 + c)), by its series
        power = 2 * unit * (512 - c) // (512 + c)
        exact = 0
        for k in range(1, 60, 2):
            exact += power // k
            power = power * (512 - c) ** 2 // (512 + c) ** 2
        head = (exact >> 78) << 78
        rows.append((c / 512, head / unit, (exact - head) / unit))
    return np.array(rows).T.copy()


RECIPROCAL, LOGARITHM, LOGARITHM_REST = logarithm_table()
POW_Y_F64 = f64(2.0**64)  # by any logarithm but zero too much


def pow_f64(x: f64, y: f64) -> f64:
    """x**y."""
    a = abs(x)
    small = a < 2.2250738585072014e-308
    i = as_bits_f64(a * 18014398509481984.0 if small else a) - LOG_START
    e = f64(i >> 52)
    e = e - 54.0 if small else e
    # m c = 1 + a1 + a2, where the products are exact and a1 has an exact square.
    m = as_float_f64((i & MANTISSA_F64) + LOG_START)
    j = (i >> 45) & 127
    c = RECIPROCAL[j]
    h = as_float_f64((as_bits_f64(m) + 0x40000000) & HEAD_22_BITS)
    a1 = fma(h, c, -1.0)
    a2 = (m - h) * c
    # log(a) is g + w.
    r = a1 + a2
    w = a2 - (r - a1)
    t = fma(e, LN2_F64, LOGARITHM[j])
    h = t + r
    s = r - (h - t)
    t = -0.5 * a1 * a1
    g = h + t
    s = s + (t - (g - h))
    p = fma(fma(-0.1250048721585665, r, 0.1428621241403363), r, -0.16666666659006862)
    p = fma(fma(p, r, 0.19999999993261144), r, -0.2500000000000004) * r
    p = (p + 0.3333333333333336) * (r * r * r)
    s = s + (
        fma(-a2, fma(0.5, a2, a1), w) + fma(e, LN2_REST_F64, LOGARITHM_REST[j]) + p
    )
    h = g + s
    w = s - (h - g)
    g = h
    # Its product with y is h + w.
    n = POW_Y_F64 if y > POW_Y_F64 else y
    n = -POW_Y_F64 if n < -POW_Y_F64 else n
    t = as_float_f64(as_bits_f64(n) & HEAD_26_BITS)
    s = as_float_f64(as_bits_f64(g) & HEAD_26_BITS)
    h = n * g
    w = fma(n, w, fma(n - t, g - s, fma(n - t, s, fma(t, g - s, fma(t, s, -h)))))
    v = exp_sum_f64(h, w if abs(h) < 800.0 else ZERO_F64)
    most = a == INF_F64
    edge = INF_F64 if (y > 0.0) == most else ZERO_F64
    v = edge if most | (a == 0.0) else v
    v = NAN_F64 if (x != x) | (y != y) else v
    v = ONE_F64 if (x == 1.0) | (y == 0.0) else v
    return power_sign_f64(v, x, y)
