"""The incomplete beta function. Serves: `prim.regularized_incomplete_beta`.

The share from the nearer end is computed. If the parameter of that end is small, it is
a series, which gives the other share too; where both are moderate, the continued
fraction 8.17.22 of the Digital Library of Mathematical Functions; where one is large,
an integral over the logarithm of x / (1 - x), whose integrand falls from the end on, by
Gauss' rule.
"""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import float64 as f64

from traceir.reference.kernels.special import incomplete
from traceir_numba.vecmath.basics import INF_F64, NAN_F64, ZERO_F64, fma
from traceir_numba.vecmath.exponential import exp_f64, expm1_f64
from traceir_numba.vecmath.logarithm import log1p_f64, log_f64
from traceir_numba.vecmath.special.gamma import (
    digamma_f64,
    digamma_far_rest_f64,
    lgamma_near_f64,
)
from traceir_numba.vecmath.special.incomplete import (
    GAUSS_POINT,
    GAUSS_WEIGHT,
    stirling_rest_f64,
)

FEW_POINT, FEW_WEIGHT = incomplete.gauss(8)
# Beyond it the continued fraction takes longer than Gauss' rule.
MODERATE_SHAPE = 200.0


def lgamma_rise_f64(a: f64, b: f64) -> f64:
    """log gamma(a + b) - log gamma(b), for a up to 1/2 and b from 1 on.

    Of b from 8 on, less a log(b).
    """
    total = f64(0.0)
    for k in range(8):
        at = fma(a, FEW_POINT[k], b)
        if b < 8.0:
            slope = digamma_f64(at)
        else:
            more = log1p_f64(fma(a, FEW_POINT[k], -0.5) / b)
            slope = more + digamma_far_rest_f64(at - 0.5)
        total = fma(FEW_WEIGHT[k], slope, total)
    return a * total


def beta_small_f64(a: f64, b: f64, x: f64, lower: f64) -> f64:
    """The share from 0 to x, or the other where `lower` is 0, for a up to 1/2."""
    short = b < 1.0
    scale = log_f64(x if b < 8.0 else x * b)
    power = a * scale + lgamma_rise_f64(a, b + 1.0 if short else b)
    power = power - a * (a - 1.0) * lgamma_near_f64(1.0 + a)
    n, term = f64(1.0), (1.0 - b) * x
    total = term / (a + 1.0)
    while (abs(term) > 1e-18 * abs(total)) & (n < 4000.0):
        n = n + 1.0
        term = term * (x * ((n - b) / n))
        total = total + term / (a + n)
    if lower == 1.0:
        factor = b / (a + b) if short else f64(1.0)
        return factor * exp_f64(power) * fma(a, total, 1.0)
    first = expm1_f64(power - log1p_f64(a / b) if short else power)
    return -fma(a * total, first + 1.0, first)


def beta_density_f64(a: f64, b: f64, x: f64, y: f64) -> f64:
    """x**a y**b / beta(a, b), where y is 1 - x, for a from 1/2 on."""
    short, whole = b < 0.5, a + b
    # That of b + 1, whose Stirling's rest is small.
    factor = b / (whole * y) if short else f64(1.0)
    b = b + 1.0 if short else b
    whole = a + b
    c = x * b - y * a
    p, q = c / a, -c / b
    u = log1p_f64(p) if abs(p) < 0.5 else log_f64(x * (whole / a))
    v = log1p_f64(q) if abs(q) < 0.5 else log_f64(y * (whole / b))
    rest = stirling_rest_f64(a) + stirling_rest_f64(b) - stirling_rest_f64(whole)
    size = math.sqrt(a / whole * b / 6.283185307179586)
    return factor * exp_f64(a * u + b * v - rest) * size


def beta_fraction_f64(a: f64, b: f64, x: f64, accuracy: f64) -> f64:
    """The share from 0 to x times a over the density."""
    top, bottom = f64(1.0), f64(1.0)
    top_before, bottom_before = f64(0.0), f64(1.0)
    m, n = f64(0.0), a
    value, change = f64(1.0), f64(1.0)
    while (change > 4.0 * accuracy * value) & (m < 2000.0):
        d = -(a + m) * ((a + b + m) * x) / (n * (n + 1.0))
        top_before = fma(d, top_before, top)
        bottom_before = fma(d, bottom_before, bottom)
        m, n = m + 1.0, n + 2.0
        d = m * ((b - m) * x) / ((n - 1.0) * n)
        top = fma(d, top, top_before)
        bottom = fma(d, bottom, bottom_before)
        following = top / bottom
        change = abs(following - value)
        value = following
    return value


def beta_rise_f64(a: f64, b: f64, x: f64, y: f64, t: f64) -> f64:
    """The logarithm of the integrand at t below its start."""
    if x > 0.5:  # by what is left of x, which has more digits
        return fma(a + b, log1p_f64(y * expm1_f64(t)), -b * t)
    return fma(a, t, (a + b) * log1p_f64(x * expm1_f64(-t)))


def beta_slope_f64(a: f64, b: f64, x: f64, y: f64, t: f64) -> f64:
    """The slope of that."""
    if x > 0.5:
        part = y * exp_f64(t) / fma(y, expm1_f64(t), 1.0)
        return fma(a + b, part, -b)
    part = x * exp_f64(-t) / fma(x, expm1_f64(-t), 1.0)
    return fma(-(a + b), part, a)


def beta_tail_f64(a: f64, b: f64, x: f64, y: f64) -> f64:
    """The share from 0 to x, for x up to about a / (a + b)."""
    share = beta_density_f64(a, b, x, y) / a
    total = f64(0.0)
    # With a large a the integrand has no corners.
    for _ in range(8):
        if a < 8.0:
            total = total + share
            share = share * (x * ((a + b) / (a + 1.0)))
            a = a + 1.0
    slope = a * y - b * x
    slope = slope if slope > 0.0 else ZERO_F64
    t = 80.0 / (slope + math.sqrt(slope * slope + 80.0 * (a + b) * x * y))
    # It is reached by a rise as of exp(t), and from there as of t.
    most = 1.0 + log1p_f64(40.0 / (a * y)) + 48.0 / a
    t = most if t > most else t
    for _ in range(7):
        slope = beta_slope_f64(a, b, x, y, t)
        t = t - (beta_rise_f64(a, b, x, y, t) - 40.0) / slope
    end, area = t, f64(0.0)
    for k in range(32):
        rise = beta_rise_f64(a, b, x, y, end * GAUSS_POINT[k])
        area = fma(GAUSS_WEIGHT[k], exp_f64(-rise), area)
    return total + share * a * area * end


def beta_inside_f64(a: f64, b: f64, x: f64, accuracy: f64) -> f64:
    """The share from 0 to x where nothing is 0 or infinite."""
    y = 1.0 - x
    lower = f64(1.0 if x * (a + b + 2.0) <= a + 1.0 else 0.0)
    if lower == 0.0:
        a, b = b, a
        x, y = y, x
    if a <= 0.5:
        return beta_small_f64(a, b, x, lower)
    if (a < MODERATE_SHAPE) & (b < MODERATE_SHAPE):
        found = beta_fraction_f64(a, b, x, accuracy)
        found = found * beta_density_f64(a, b, x, y) / a
    else:
        found = beta_tail_f64(a, b, x, y)
    return found if lower == 1.0 else 1.0 - found


def beta_part_f64(a: f64, b: f64, x: f64, accuracy: f64) -> f64:
    """The share of beta(a, b) that the integral has from 0 to x."""
    inside = (a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0)
    both = ((a == 0.0) & (b == 0.0)) | ((a == INF_F64) & (b == INF_F64))
    if (not inside) | both:
        return NAN_F64
    if (x == 0.0) | (x == 1.0):
        return x
    if (a == 0.0) | (b == INF_F64):
        return f64(1.0)
    if (b == 0.0) | (a == INF_F64):
        return ZERO_F64
    return beta_inside_f64(a, b, x, accuracy)


def regularized_incomplete_beta_f64(a: f64, b: f64, x: f64) -> f64:
    """The share of beta(a, b) that the integral has from 0 to x."""
    return beta_part_f64(a, b, x, f64(1e-16))


def regularized_incomplete_beta_f32(a: f32, b: f32, x: f32) -> f32:
    """The share of beta(a, b) that the integral has from 0 to x."""
    return f32(beta_part_f64(f64(a), f64(b), f64(x), f64(1e-9)))
