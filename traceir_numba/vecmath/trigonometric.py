"""Sine, cosine and tangent of any argument. Serves: `accuracy.*` of those rows.

x / pi is wanted to many digits after the point, but of what stands before it only
whether it is odd. So for each exponent e of x a table holds 2**e / pi without the
multiples of 2, as a sum of numbers that are short enough for exact products with x.
"""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int64 as i64

from traceir_numba.vecmath.basics import (
    HEAD_26_BITS,
    ROUND_F64,
    as_bits_f32,
    as_bits_f64,
    as_float_f64,
    fma,
)

# 2**1216 / pi
INVERSE_PI = int(
    "517CC1B727220A94FE13ABE8FA9A6EE06DB14ACC9E21C820FF28B1D5EF5DE2B0DB92371D2126E97"
    "00324977504E8C90E7F0EF58E5894D39F74411AFA975DA24274CE38135A2FBF209CC8EB1CC1A99C"
    "FA4E422FC5DEFC941D8FFC4BFFEF02CC07F79788C5AD05368FB69B3F6793E584DBA7A31FB34F2FF"
    "516BA93DD63F5F2F8BD9E839CFBC529497535FDAFD88FC6AE842B0198237E3DB5D5",
    16,
)


def inverse_pi_table(
    exponents: list[int], digits: list[int], scale: float
) -> np.ndarray:
    """One column for each of `digits` and one for the rest: 2**e / pi modulo 2, cut
    after so many binary digits, divided by 2**e and multiplied by the scale.
    """
    rows = []
    for e in exponents:
        point = 1216 - e
        rest = (INVERSE_PI + (1 << point)) % (2 << point) - (1 << point)
        row = []
        for count in digits:
            low = point - count
            part = (rest + (1 << low >> 1)) >> low << low
            row.append(part / (1 << point) * scale * 2.0**-e)
            rest -= part
        row.append(rest / (1 << point) * scale * 2.0**-e)
        rows.append(row)
    return np.array(rows).T.copy()


# Most arguments are below 2**25, whose rows stand beside one another.
HALF_TURN, HALF_TURN_REST = inverse_pi_table(
    [max(j, 136) - 150 for j in range(256)], [29], 1.0
)


def sin_plus_f32(x: f32, shift: f64) -> f32:
    """sin(x + shift * pi)."""
    d = f64(x)
    j = (as_bits_f32(x) >> 23) & 0xFF
    h = fma(d, HALF_TURN[j], shift)
    t = h + ROUND_F64
    f = fma(d, HALF_TURN_REST[j], h - (t - ROUND_F64))
    z = f * f
    p = fma(fma(-0.006999582581493247, z, 0.08203302790817021), z, -0.5992485423522713)
    p = fma(fma(p, z, 2.550163006055691), z, -5.16771275527471)
    p = fma(p, z, 3.141592653491592) * f
    return f32(as_float_f64(as_bits_f64(p) ^ (as_bits_f64(t) << 63)))


def sin_f32(x: f32) -> f32:
    """The sine."""
    return sin_plus_f32(x, f64(-0.0))  # 0.0 would change the sign of a zero


def cos_f32(x: f32) -> f32:
    """The cosine."""
    return sin_plus_f32(abs(x), f64(0.5))  # to the last bit that of -x, too


# Of six rows.
QUARTER_TURN = inverse_pi_table(
    [max(8 * j - 1075, -83) for j in range(256)], [25, 51, 77, 103, 129], 2.0**129
).ravel()


def sin_plus_f64(x: f64, quarters: i64) -> f64:
    """sin(x + quarters * pi / 2)."""
    table = QUARTER_TURN
    j = (as_bits_f64(x) >> 55) & 0xFF
    x = x * 2.938735877055719e-39
    h = as_float_f64(as_bits_f64(x) & HEAD_26_BITS)
    g = x - h
    # a + w is 2 x / pi without the whole number that is nearest.
    p = table[j + 256]
    q = table[j + 512]
    u = fma(g, table[j], h * p)
    v = fma(g, p, h * q)
    t = (u + v) + ROUND_F64
    a = (u - (t - ROUND_F64)) + v
    p = table[j + 768]
    v = fma(g, q, h * p)
    b = a + v
    w = v - (b - a)
    q = table[j + 1024]
    v = fma(g, p, h * q)
    a = b + v
    w = w + (v - (a - b)) + fma(g, q, x * table[j + 1280])
    # y + w is that times pi / 2.
    h = as_float_f64(as_bits_f64(a) & HEAD_26_BITS)
    u = h * 1.5707963109016418
    v = fma(h, 1.5893254773528196e-08, (a - h + w) * 1.5707963267948966)
    y = u + v
    w = v - (y - u)
    z = y * y
    k = as_bits_f64(t) + quarters
    odd = (k & 1) != 0
    p = -1.1359917768504652e-11 if odd else 1.589688719330907e-10
    p = fma(p, z, 2.0875729001388792e-09 if odd else -2.5050759890833133e-08)
    p = fma(p, z, -2.7557314399292833e-07 if odd else 2.755731370504035e-06)
    p = fma(p, z, 2.4801587289666932e-05 if odd else -0.00019841269829853325)
    p = fma(p, z, -0.001388888888887447 if odd else 0.008333333333322486)
    p = fma(p, z, 0.0416666666666666 if odd else -0.16666666666666632)
    h = 0.5 * z
    u = 1.0 - h
    w = fma(-y, w, 1.0 - u - h) if odd else w
    p = p * z * (z if odd else y)
    y = (u if odd else y) + (p + w)
    return as_float_f64(as_bits_f64(y) ^ ((k & 2) << 62))


def sin_f64(x: f64) -> f64:
    """The sine."""
    y = sin_plus_f64(x, i64(0))
    return x if abs(x) < 7.450580596923828e-09 else y


def cos_f64(x: f64) -> f64:
    """The cosine."""
    return sin_plus_f64(x, i64(1))


def tan_f32(x: f32) -> f32:
    """The tangent."""
    d = f64(x) * 2.0
    j = (as_bits_f32(x) >> 23) & 0xFF
    h = d * HALF_TURN[j]  # exact
    t = h + ROUND_F64
    f = fma(d, HALF_TURN_REST[j], h - (t - ROUND_F64))  # of a quarter turn
    z = f * f
    p = fma(fma(4.5566218476030995, z, -0.6006458326188363), z, 1.7712637712737231)
    p = fma(fma(p, z, 1.2030763283733281), z, 1.2786880595380152)
    p = fma(fma(p, z, 1.274891757682793), z, 1.291930795813527)
    p = fma(p, z, 1.5707963210078646)
    p = p * f
    odd = (as_bits_f64(t) & 1) != 0
    return f32((-1.0 if odd else p) / (p if odd else 1.0))


def tan_f64(x: f64) -> f64:
    """The tangent."""
    table = QUARTER_TURN
    j = (as_bits_f64(x) >> 55) & 0xFF
    s = x * 2.938735877055719e-39
    h = as_float_f64(as_bits_f64(s) & HEAD_26_BITS)
    g = s - h
    # a + w is 2 x / pi without the whole number that is nearest.
    p = table[j + 256]
    q = table[j + 512]
    u = fma(g, table[j], h * p)
    v = fma(g, p, h * q)
    t = (u + v) + ROUND_F64
    a = (u - (t - ROUND_F64)) + v
    p = table[j + 768]
    v = fma(g, q, h * p)
    b = a + v
    w = v - (b - a)
    q = table[j + 1024]
    v = fma(g, p, h * q)
    a = b + v
    w = w + (v - (a - b)) + fma(g, q, s * table[j + 1280])
    # y + w is that times pi / 2.
    h = as_float_f64(as_bits_f64(a) & HEAD_26_BITS)
    u = h * 1.5707963109016418
    v = fma(h, 1.5893254773528196e-08, (a - h + w) * 1.5707963267948966)
    y = u + v
    w = v - (y - u)
    z = y * y
    p = fma(2.0860745619173148e-05, z, -4.486604065306776e-05)
    p = fma(fma(p, z, 8.943267502983472e-05), z, -2.636449255451064e-05)
    p = fma(fma(p, z, 0.00013650986543389617), z, 0.0002223876445096237)
    p = fma(fma(p, z, 0.0005950619747339464), z, 0.0014547586578861973)
    p = fma(fma(p, z, 0.0035922889595614814), z, 0.008863219178045586)
    p = fma(fma(p, z, 0.021869489607983936), z, 0.05396825392671187)
    p = fma(fma(p, z, 0.1333333333341453), z, 0.33333333333332776)
    # h + p is the tangent of that, whose derivative is 1 + h**2.
    v = p * z * y
    h = y + v
    v = v + fma(w * h, h, w)
    h = y + v
    p = v - (h - y)
    q = -1.0 / h
    q = fma(q, fma(q, h, 1.0) + q * p, q)
    h = q if (as_bits_f64(t) & 1) != 0 else h
    return x if abs(x) < 7.450580596923828e-09 else h
