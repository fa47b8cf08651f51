"""The cube root. Serves: accuracy.* of cbrt.

x = m * 8**k with m from 0.5 to 4. A polynomial comes near to the root of m,
one step of Halley's brings three times the digits and, for float64, one of Newton's
twice those.
"""

from __future__ import annotations

from numpy import float32 as f32
from numpy import float64 as f64

from traceir_numba.vecmath.basics import (
    INF_F64,
    ROUND_F64,
    SIGN_F64,
    ZERO_F64,
    as_bits_f64,
    as_float_f64,
    fma,
)

CBRT_LEAST_F64 = f64(2.2250738585072014e-308)
CBRT_SCALE_F64, CBRT_SHIFT_F64 = f64(2.0**54), f64(18.0)
# Rounds to a whole number, held with the exponent's bias.
CBRT_ROUND_F64 = f64(ROUND_F64 + 1023)


def cbrt_near_f64(m: f64) -> f64:
    """The cube root of a number between 0.5 and 4, to 31 binary digits."""
    p = fma(
        fma(0.0022388632800308147, m, -0.029320776292012418), m, 0.15359205569777884
    )
    p = fma(fma(p, m, -0.42718700968209383), m, 0.835292149253885)
    y = fma(p, m, 0.46597161406896215)
    c = y * y * y
    return y * ((c + m + m) / (c + c + m))


def cbrt_f32(x: f32) -> f32:
    """The cube root, with the sign of x."""
    d = f64(x)
    a = abs(d)
    t = f64((as_bits_f64(a) >> 52) - 1023) * 0.3333333333333333 + CBRT_ROUND_F64
    k = t - CBRT_ROUND_F64
    m = as_float_f64(as_bits_f64(a) - (as_bits_f64(3.0 * k + ROUND_F64) << 52))
    y = cbrt_near_f64(m) * as_float_f64(as_bits_f64(t) << 52)
    y = y if (a > 0.0) & (a < INF_F64) else a
    return f32(as_float_f64(as_bits_f64(y) | (as_bits_f64(d) & SIGN_F64)))


def cbrt_f64(x: f64) -> f64:
    """The cube root, with the sign of x."""
    a = abs(x)
    small = a < CBRT_LEAST_F64
    b = a * CBRT_SCALE_F64 if small else a
    t = f64((as_bits_f64(b) >> 52) - 1023) * 0.3333333333333333 + CBRT_ROUND_F64
    k = t - CBRT_ROUND_F64
    m = as_float_f64(as_bits_f64(b) - (as_bits_f64(3.0 * k + ROUND_F64) << 52))
    y = cbrt_near_f64(m)
    s = y * y
    c = s * y
    rest = fma(fma(y, y, -s), y, fma(s, y, -c))
    y = y + ((m - c) - rest) / (3.0 * s)
    t = t - (CBRT_SHIFT_F64 if small else ZERO_F64)
    y = y * as_float_f64(as_bits_f64(t) << 52)
    y = y if (a > 0.0) & (a < INF_F64) else a
    return as_float_f64(as_bits_f64(y) | (as_bits_f64(x) & SIGN_F64))
