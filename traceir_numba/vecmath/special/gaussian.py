"""The error function and its inverse. Serves: `accuracy.*` of `prim.erf` and the like.

erf of a float32 is 1 less 2**u, where u is x times a polynomial of it; of a float64 it
is Taylor's series at the nearest 64th part, where a table has its value and its
derivative. erfc(x) is exp(-x**2) times a polynomial of t = c / (c + x).
The inverse is x times polynomials of w = -log(1 - x**2) and of the root of w.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int32 as i32

from traceir_numba.vecmath.basics import (
    INF_F32,
    INF_F64,
    MANTISSA_F32,
    NAN_F32,
    NAN_F64,
    ONE_F32,
    ROOT_F32,
    ROUND_F32,
    ROUND_F64,
    SIGN_F32,
    SIGN_F64,
    ZERO_F32,
    as_bits_f32,
    as_bits_f64,
    as_float_f32,
    as_float_f64,
    fma,
)
from traceir_numba.vecmath.exponential import (
    EXP2_C1_F32,
    EXP2_C2_F32,
    EXP2_C3_F32,
    EXP2_C4_F32,
    EXP2_C5_F32,
    EXP2_C6_F32,
    exp_sum_f64,
)
from traceir_numba.vecmath.logarithm import log_f64
from traceir_numba.vecmath.power import exp2_near_f64

ERF_MOST_F32, ERF_ROUND_F32 = f32(3.9375), ROUND_F32 + f32(127.0)
ERF_C1_F32, ERF_C2_F32, ERF_C3_F32 = f32(-1.627907), f32(-0.9184447), f32(-0.14832158)
ERF_C4_F32, ERF_C5_F32 = f32(0.027852252), f32(-0.00026517405)
ERF_C6_F32, ERF_C7_F32 = f32(-0.0018281073), f32(0.00055738655)
ERF_C8_F32 = f32(-5.9788847e-05)


def erf_f32(x: f32) -> f32:
    """The error function."""
    a = abs(x)
    a = ERF_MOST_F32 if a > ERF_MOST_F32 else a  # where it rounds to 1
    p = fma(fma(ERF_C8_F32, a, ERF_C7_F32), a, ERF_C6_F32)
    p = fma(fma(p, a, ERF_C5_F32), a, ERF_C4_F32)
    u = fma(fma(fma(p, a, ERF_C3_F32), a, ERF_C2_F32), a, ERF_C1_F32) * a
    t = u + ERF_ROUND_F32
    r = u - (t - ERF_ROUND_F32)
    p = fma(fma(fma(EXP2_C6_F32, r, EXP2_C5_F32), r, EXP2_C4_F32), r, EXP2_C3_F32)
    p = fma(fma(p, r, EXP2_C2_F32), r, EXP2_C1_F32) * r
    s = as_float_f32(as_bits_f32(t) << 23)  # 2**u is s + s * p
    y = fma(-s, p, ONE_F32 - s)
    return as_float_f32(as_bits_f32(y) | (as_bits_f32(x) & SIGN_F32))


def erfc_f32(x: f32) -> f32:
    """1 less the error function."""
    a = f64(abs(x))
    a = f64(10.5) if a > 10.5 else a  # where it rounds to 0
    t = 3.0 / (a + 3.0)
    p = fma(fma(0.0023930117926774263, t, 0.04162960863616126), t, -0.2556522730515428)
    p = fma(fma(p, t, 0.48100750163852146), t, -0.38866005480855337)
    p = fma(fma(p, t, 0.36984269495522787), t, 0.012660447539134782)
    p = fma(fma(p, t, 0.18793787237129245), t, 0.17219671973385955)
    p = fma(fma(p, t, 0.1886050143381989), t, 0.18803945845789494)
    y = exp2_near_f64(a * a * -1.4426950408889634) * (p * t)
    return f32(2.0 - y if x < ZERO_F32 else y)


LOG2_C1_F32, LOG2_C2_F32 = f32(1.4426947832107544), f32(-0.7213573455810547)
LOG2_C3_F32, LOG2_C4_F32 = f32(0.4809380769729614), f32(-0.36007532477378845)
LOG2_C5_F32, LOG2_C6_F32 = f32(0.28673848509788513), f32(-0.2502903342247009)
LOG2_C7_F32, LOG2_C8_F32 = f32(0.2369137704372406), f32(-0.14518330991268158)
SPLIT_F32, MIDDLE_F32 = f32(7.21875), f32(3.75)
NEAR_C0_F32, NEAR_C1_F32 = f32(0.8862268328666687), f32(0.16082175076007843)
NEAR_C2_F32, NEAR_C3_F32 = f32(0.005540402606129646), f32(-0.0007649201434105635)
NEAR_C4_F32, NEAR_C5_F32 = f32(-3.880689473589882e-05), f32(1.1059079042752273e-05)
NEAR_C6_F32, NEAR_C7_F32 = f32(-5.175160708859039e-07), f32(-1.623044987297817e-08)
NEAR_C8_F32 = f32(1.4740277887170805e-09)
FAR_C0_F32, FAR_C1_F32 = f32(2.9553890228271484), f32(0.8356149792671204)
FAR_C2_F32, FAR_C3_F32 = f32(0.004920593928545713), f32(-0.00306931440718472)
FAR_C4_F32, FAR_C5_F32 = f32(0.001824249280616641), f32(-0.0010684240842238069)
FAR_C6_F32, FAR_C7_F32 = f32(0.00045413855696097016), f32(-2.6837606128538027e-05)
FAR_C8_F32 = f32(-4.804899435839616e-05)


def erf_inv_f32(x: f32) -> f32:
    """The number whose error function is x."""
    i = i32(as_bits_f32(fma(-x, x, ONE_F32)) - ROOT_F32)
    f = as_float_f32((i & MANTISSA_F32) + ROOT_F32) - ONE_F32
    p = fma(fma(fma(LOG2_C8_F32, f, LOG2_C7_F32), f, LOG2_C6_F32), f, LOG2_C5_F32)
    p = fma(fma(fma(p, f, LOG2_C4_F32), f, LOG2_C3_F32), f, LOG2_C2_F32)
    w = -fma(fma(p, f, LOG2_C1_F32), f, f32(i32(i >> 23)))
    near = w < SPLIT_F32
    v = w if near else f32(math.sqrt(abs(w))) - MIDDLE_F32
    p = NEAR_C8_F32 if near else FAR_C8_F32
    p = fma(p, v, NEAR_C7_F32 if near else FAR_C7_F32)
    p = fma(p, v, NEAR_C6_F32 if near else FAR_C6_F32)
    p = fma(p, v, NEAR_C5_F32 if near else FAR_C5_F32)
    p = fma(p, v, NEAR_C4_F32 if near else FAR_C4_F32)
    p = fma(p, v, NEAR_C3_F32 if near else FAR_C3_F32)
    p = fma(p, v, NEAR_C2_F32 if near else FAR_C2_F32)
    p = fma(p, v, NEAR_C1_F32 if near else FAR_C1_F32)
    p = fma(p, v, NEAR_C0_F32 if near else FAR_C0_F32)
    edge = x * INF_F32 if abs(x) == ONE_F32 else NAN_F32
    # A sum that follows cannot take part of this for a product.
    return x * p if abs(x) < ONE_F32 else edge


def erf_table() -> np.ndarray:
    """erf at the 64th parts up to 6 and its derivative; up to 8, 1 and 0."""
    one = 1 << 160
    pi = 0
    for factor, n in ((16, 5), (-4, 239)):  # Machin's formula: arctan(1 / n)
        power = factor * one // n
        for k in range(1, 120, 2):
            pi += power // k
            power //= -n * n
    slope, value = 2 * math.isqrt(one * one * one // pi), 0
    table = np.zeros((2, 512))
    for j in range(512):
        table[:, j] = (value / one, slope / one) if j < 385 else (1.0, 0.0)
        # exp(-(r + s)**2) is exp(-r**2) times a series in s, each of whose terms
        # follows from the two before; here r is j / 64, and 1 / 64 is the step.
        before, term, slope = 0, slope, 0
        for n in range(1, 24):
            slope += term
            value += term // (64 * n)
            before, term = term, -2 * (j * term + before) // (4096 * n)
    return table


ERF, ERF_SLOPE = erf_table()


def erf_f64(x: f64) -> f64:
    """The error function."""
    a = abs(x)
    a = f64(6.0) if a > 6.0 else a  # where it rounds to 1
    t = fma(a, 64.0, ROUND_F64)
    r = (t - ROUND_F64) * 0.015625
    j = as_bits_f64(t) & 511
    d = a - r
    # The terms of the derivative's series, each by the two before it.
    u, v = -2.0 * r * d, -2.0 * d * d
    b = fma(u, u, v) * 0.5
    c = fma(u, b, v * u) * 0.3333333333333333
    p = fma(c, 0.25, fma(b, 0.3333333333333333, 0.5 * u))
    b = fma(u, c, v * b) * 0.25
    c = fma(u, b, v * c) * 0.2
    p = p + fma(c, 0.16666666666666666, b * 0.2)
    b = fma(u, c, v * b) * 0.16666666666666666
    p = fma(b, 0.14285714285714285, p)
    d = d * ERF_SLOPE[j]
    y = ERF[j] + fma(d, p, d)
    return as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))


def erfc_f64(x: f64) -> f64:
    """1 less the error function."""
    a = abs(x)
    a = f64(28.0) if a > 28.0 else a  # where it rounds to 0
    n = a + 3.0
    t = 3.0 / n
    v = t - 0.3125
    p = fma(-0.0019302076839820882, v, 0.01211728660638592)
    p = fma(fma(p, v, -0.03139125823782916), v, 0.03959064970591776)
    p = fma(fma(p, v, -0.016580734511848605), v, -0.013922150192182351)
    p = fma(fma(p, v, 0.008976843141551796), v, 0.01516083996363648)
    p = fma(fma(p, v, -0.004664182501471243), v, -0.02035638940571873)
    p = fma(fma(p, v, -0.0028013381926444963), v, 0.026408128094308567)
    p = fma(fma(p, v, 0.021758035487924845), v, -0.023942118056696653)
    p = fma(fma(p, v, -0.06199646065396356), v, -0.032138012885569736)
    p = fma(fma(p, v, 0.08252117676183214), v, 0.2419190166097324)
    p = fma(fma(p, v, 0.38037958372710656), v, 0.44895386387786423)
    p = fma(fma(p, v, 0.4369585377436953), v, 0.36609435359578196)
    p = fma(p, v, 0.2705089533955173)
    # t is a little off, which changes the product by its derivative.
    u = fma(-t, n, 3.0) - t * (a - (n - 3.0))
    v = fma(a + a, p * t, -1.1283791670955126)
    p = fma(p, t, v * u * n * -0.3333333333333333)
    h = a * a
    y = exp_sum_f64(-h, -fma(a, a, -h)) * p
    return 2.0 - y if x < 0.0 else y


def erf_inv_f64(x: f64) -> f64:
    """The number whose error function is x."""
    w = -log_f64(fma(-x, x, 1.0))
    low, middle = w < 5.0, w < 14.0
    v = math.sqrt(abs(w)) - (3.0 if middle else 4.9375)
    v = w - 0.5 if low else v
    c = -1.8516353401918614e-08 if middle else 7.891526975631817e-13
    p = 2.3410900871882087e-18 if low else c
    c = -2.968300703969173e-08 if middle else 5.850096270483504e-12
    p = fma(p, v, -1.1499307246240906e-16 if low else c)
    c = 1.948837021545239e-07 if middle else -3.3008857882399504e-11
    p = fma(p, v, 2.4952538886764016e-15 if low else c)
    c = -1.2384626535481362e-07 if middle else 4.238980017602409e-11
    p = fma(p, v, -3.0703354495627524e-14 if low else c)
    c = -6.693008286138835e-07 if middle else 5.641150106713103e-11
    p = fma(p, v, 2.2350572194882628e-13 if low else c)
    c = 2.031506511379029e-06 if middle else -4.409164853758382e-10
    p = fma(p, v, -8.441922630773644e-13 if low else c)
    c = -1.6386614241976343e-06 if middle else 1.6775457456120523e-09
    p = fma(p, v, 4.204684876852006e-13 if low else c)
    c = -5.9613998123617525e-06 if middle else -4.846260495022374e-09
    p = fma(p, v, 3.885733529994878e-12 if low else c)
    c = 2.1929928910954954e-05 if middle else 1.1227139045767633e-08
    p = fma(p, v, 6.050778799937556e-11 if low else c)
    c = -2.2869376971023503e-05 if middle else -2.2285342782228995e-08
    p = fma(p, v, -3.9455003812422286e-10 if low else c)
    c = -4.645947816565475e-05 if middle else 4.1750097660125725e-08
    p = fma(p, v, -1.9620445146044906e-09 if low else c)
    c = 0.00020551597047585354 if middle else -8.943749617376096e-08
    p = fma(p, v, 1.9460150429389398e-08 if low else c)
    c = -0.0002831245373944677 if middle else 2.728441070794848e-07
    p = fma(p, v, 6.294153497838061e-08 if low else c)
    c = -0.00014889804121110577 if middle else -1.117987843128855e-06
    p = fma(p, v, -9.56160603269858e-07 if low else c)
    c = 0.001483737352287676 if middle else 4.987038938851284e-06
    p = fma(p, v, -1.5434216743689925e-06 if low else c)
    c = -0.003558794019248028 if middle else -2.1463768861793643e-05
    p = fma(p, v, 4.727604692951245e-05 if low else c)
    c = 0.005685182417579546 if middle else 8.241976854710998e-05
    p = fma(p, v, -8.441967939178132e-06 if low else c)
    c = -0.007643805569979073 if middle else -0.00023482040129846213
    p = fma(p, v, -0.0024718596040068934 if low else c)
    c = 0.00944552201199439 if middle else -9.657092418083058e-05
    p = fma(p, v, 0.007914108355434523 if low else c)
    c = 1.0016752766933992 if middle else 1.0103152091530678
    p = fma(p, v, 0.2417624932489159 if low else c)
    c = 2.8329767987282706 if middle else 4.78676213415844
    p = fma(p, v, 1.00482268397713 if low else c)
    edge = x * INF_F64 if abs(x) == 1.0 else NAN_F64
    # A sum that follows cannot take part of this for a product.
    return x * p if abs(x) < 1.0 else edge
