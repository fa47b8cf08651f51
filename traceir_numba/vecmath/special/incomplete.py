"""Incomplete gamma functions. Serves: `prim.igamma`, `prim.igammac` and derivatives.

Over the density x**a exp(-x) / gamma(a) each is the integral of exp(-a t - x (exp(-t) -
1)) over the t of one sign, namely `igamma` over t > 0 and `igammac` over t < 0. Of the
two the one where the integrand falls from t = 0 on is computed, by Gauss' rule up to
where it is exp(-40); the other is what is left to 1. The derivative by a has |t| as a
further factor. If a is moderate or x small, it is a series or the continued fraction
8.9.2 of the Digital Library of Mathematical Functions.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64

from traceir.reference.kernels.special import incomplete
from traceir_numba.vecmath.basics import INF_F64, NAN_F64, fma
from traceir_numba.vecmath.exponential import exp_f64, expm1_f64
from traceir_numba.vecmath.logarithm import log1p_f64, log_f64
from traceir_numba.vecmath.special.gamma import (
    HALF_LOG_TWO_PI,
    digamma_f64,
    lgamma_f64,
    lgamma_far_rest_f64,
    lgamma_near_f64,
)

GAUSS_POINT, GAUSS_WEIGHT = incomplete.gauss(32)
BEND = np.array(incomplete.BEND)
# How a gamma number changes with a: what stands before 1/a, 1/a**2 and 1/a**3, as power
# series of x/a - 1.
NEAR_FIRST = np.array(incomplete.NEAR_FIRST)
NEAR_SECOND = np.array(incomplete.NEAR_SECOND)
NEAR_THIRD = np.array(incomplete.NEAR_THIRD)


def stirling_rest_f64(z: f64) -> f64:
    """log gamma(z) less (z - 1/2) log z - z + log(2 pi) / 2."""
    if z < 8.0:
        return lgamma_f64(z) - fma(z - 0.5, log_f64(z), HALF_LOG_TWO_PI - z)
    u = z - 0.5
    shift = fma(u, log1p_f64(-0.5 / z), 0.5)
    return shift - lgamma_far_rest_f64(u)


def gamma_root_f64(a: f64, x: f64) -> f64:
    """The root of x**a exp(-x) / gamma(a + 1), which is in range where a share is."""
    if a < 8.0:
        more = lgamma_f64(a + 1.0)
        return exp_f64(0.5 * (fma(a, log_f64(x), -x) - more))
    more = (x - a) / a
    ratio = log1p_f64(more) if abs(more) < 0.5 else log_f64(x / a)
    power = a * (ratio - more) - stirling_rest_f64(a)
    return exp_f64(0.5 * power) / math.sqrt(math.sqrt(a * 6.283185307179586))


def bend_f64(t: f64) -> f64:
    """exp(-t) - 1 + t, by its series near 0, where digits would cancel."""
    if abs(t) < 0.25:
        series = f64(0.0)
        for k in range(14):
            series = fma(series, t, BEND[13 - k])
        return t * t * series
    return expm1_f64(-t) + t


def gamma_end_f64(x: f64, sign: f64, slope: f64) -> f64:
    """About where the integrand is exp(-40), by Newton's steps."""
    t = 80.0 / (slope + math.sqrt(slope * slope + 80.0 * x))
    most = 1.0 + log1p_f64(40.0 / x)
    t = most if (sign < 0.0) & (t > most) else t
    for _ in range(6):
        change = expm1_f64(-sign * t)
        rise = fma(slope, t, x * bend_f64(sign * t)) - 40.0
        t = t - rise / fma(-sign * x, change, slope)
    return t


def gamma_tail_f64(a: f64, x: f64, power: f64) -> f64:
    """The integral of the integrand, times |t| where `power` is 1."""
    sign = f64(1.0 if x <= a else -1.0)
    slope = abs(a - x)
    end = gamma_end_f64(x, sign, slope)
    total = f64(0.0)
    for k in range(32):
        t = end * GAUSS_POINT[k]
        rise = fma(slope, t, x * bend_f64(sign * t))
        factor = t if power == 1.0 else f64(1.0)
        total = fma(GAUSS_WEIGHT[k] * factor, exp_f64(-rise), total)
    return total * end


def igamma_series_f64(a: f64, x: f64, accuracy: f64) -> f64:
    """`igamma` over the square of `gamma_root_f64`, for x at most about a."""
    term, total = f64(1.0), f64(1.0)
    n, count = a, f64(0.0)
    while (term > total * accuracy) & (count < 2000.0):
        n, count = n + 1.0, count + 1.0
        term = term * (x / n)
        total = total + term
    return total


def igammac_fraction_f64(a: f64, x: f64, accuracy: f64) -> f64:
    """`igammac` over the density, x**a exp(-x) / gamma(a), for x from a and 1.1 on.

    Of each two levels of the fraction one is left, whose denominator is made 1.
    """
    top, bottom = f64(1.0), f64(1.0)
    top_before, bottom_before = f64(0.0), f64(1.0)
    n, below = f64(0.0), x - a + 1.0
    scale = 1.0 / below
    value, change = f64(1.0), f64(1.0)
    while (change > 4.0 * accuracy * value) & (n < 4000.0):
        n, above = n + 1.0, below
        below = below + 2.0
        r = n * (a - n) / (above * below)
        top_before = fma(r, top_before, top)
        bottom_before = fma(r, bottom_before, bottom)
        n, above = n + 1.0, below
        below = below + 2.0
        r = n * (a - n) / (above * below)
        top = fma(r, top, top_before)
        bottom = fma(r, bottom, bottom_before)
        following = top / bottom
        change = abs(following - value)
        value = following
    return scale * value


def igammac_small_f64(a: f64, x: f64) -> f64:
    """`igammac` for a and x up to 1.1."""
    term, total = f64(1.0), f64(0.0)
    for n in range(1, 26):
        term = term * (-x / n)
        total = total + term / (a + n)
    inverse = a * (a - 1.0) * lgamma_near_f64(1.0 + a)
    first = expm1_f64(fma(a, log_f64(x), -inverse))
    return -(first + a * total * (first + 1.0))


# Beyond it series and fractions take longer than Gauss' rule.
MODERATE_FORM = 120.0


def igamma_part_f64(a: f64, x: f64, lower: f64, accuracy: f64) -> f64:
    """`igamma` where `lower` is 1, else `igammac`."""
    if (a != a) | (x != x) | (a < 0.0) | (x < 0.0):
        return NAN_F64
    if (a == 0.0) | (x == INF_F64):
        bad = (x == 0.0) | (a == INF_F64)
        return NAN_F64 if bad else lower
    if (x == 0.0) | (a == INF_F64):
        return 1.0 - lower
    below = f64(1.0)
    if (x < 1.1) & ((x > a) | (a < 0.9)):
        below = f64(0.0)
        found = igammac_small_f64(a, x)
        if found > 0.5:
            below = f64(1.0)
            root = gamma_root_f64(a, x)
            found = igamma_series_f64(a, x, accuracy) * root * root
    else:
        below = f64(1.0 if x <= a else 0.0)
        if a >= MODERATE_FORM:
            found = a * gamma_tail_f64(a, x, f64(0.0))
        elif x <= a:
            found = igamma_series_f64(a, x, accuracy)
        else:
            found = a * igammac_fraction_f64(a, x, accuracy)
        root = gamma_root_f64(a, x)
        found = found * root * root
    return found if below == lower else 1.0 - found


def igamma_f64(a: f64, x: f64) -> f64:
    """The share of gamma(a) that the integral has from 0 to x."""
    return igamma_part_f64(a, x, f64(1.0), f64(1e-16))


def igammac_f64(a: f64, x: f64) -> f64:
    """1 less `igamma`."""
    return igamma_part_f64(a, x, f64(0.0), f64(1e-16))


def igamma_f32(a: f32, x: f32) -> f32:
    """The share of gamma(a) that the integral has from 0 to x."""
    return f32(igamma_part_f64(f64(a), f64(x), f64(1.0), f64(1e-10)))


def igammac_f32(a: f32, x: f32) -> f32:
    """1 less `igamma`."""
    return f32(igamma_part_f64(f64(a), f64(x), f64(0.0), f64(1e-10)))


def by_a_series_f64(a: f64, x: f64) -> f64:
    """The value of `by_a_f64` for x up to a or to 1.5."""
    term, total, slope, change = f64(1.0), f64(1.0), f64(0.0), f64(0.0)
    n, count = a, f64(0.0)
    while (term > total * 1e-19) & (count < 2000.0):
        n, count = n + 1.0, count + 1.0
        r = 1.0 / n
        term = term * x * r
        slope = slope - r
        total = total + term
        change = fma(term, slope, change)
    return fma(total, log_f64(x) - digamma_f64(a + 1.0), change)


def log_ratio_f64(a: f64, x: f64) -> f64:
    """a (log(x) - digamma(a)), by Stirling's terms where a is large."""
    if a < 1.0:
        return fma(a, log_f64(x) - digamma_f64(a + 1.0), 1.0)
    if a < 16.0:
        return a * (log_f64(x) - digamma_f64(a))
    more = (x - a) / a
    ratio = log1p_f64(more) if abs(more) < 0.5 else log_f64(x / a)
    z = 1.0 / a
    y = z * z
    rest = fma(y, fma(y, -691.0 / 32760.0, 1.0 / 132.0), -1.0 / 240.0)
    rest = fma(y, fma(y, fma(y, rest, 1.0 / 252.0), -1.0 / 120.0), 1.0 / 12.0)
    return a * fma(z, fma(z, rest, 0.5), ratio)


def by_a_f64(a: f64, x: f64) -> f64:
    """The derivative of `igamma` by a over the density, times a."""
    if (x < 1.5) | ((x <= a) & (a < 20.0)):
        return by_a_series_f64(a, x)
    lead = gamma_tail_f64(a, x, f64(0.0)) * log_ratio_f64(a, x)
    moment = a * gamma_tail_f64(a, x, f64(1.0))
    return lead - moment if x <= a else -(lead + moment)


def igamma_grad_a_f64(a: f64, x: f64) -> f64:
    """The derivative of `igamma` by its first operand."""
    if (a != a) | (x != x) | (a <= 0.0) | (x < 0.0):
        return NAN_F64
    if (a == INF_F64) & (x == INF_F64):
        return NAN_F64
    if (x == 0.0) | (x == INF_F64) | (a == INF_F64):
        return f64(0.0)
    root = gamma_root_f64(a, x)
    return by_a_f64(a, x) * root * root


def igamma_grad_a_f32(a: f32, x: f32) -> f32:
    """The derivative of `igamma` by its first operand."""
    return f32(igamma_grad_a_f64(f64(a), f64(x)))


def gamma_near_mean_f64(a: f64, x: f64) -> f64:
    """The derivative of a sample near the mean by a great a: a series in 1/a."""
    apart = (x - a) / a
    first, second, third = f64(0.0), f64(0.0), f64(0.0)
    for k in range(16):
        first = fma(first, apart, NEAR_FIRST[15 - k])
    for k in range(6):
        second = fma(second, apart, NEAR_SECOND[5 - k])
    for k in range(2):
        third = fma(third, apart, NEAR_THIRD[1 - k])
    ratio = log1p_f64(apart) / apart if apart != 0.0 else f64(1.0)
    rest = fma(fma(third, 1.0 / a, second), 1.0 / a, first)
    return fma(1.0 + apart, ratio, rest / a)


def random_gamma_grad_f64(a: f64, x: f64) -> f64:
    """The derivative of a sample of the gamma distribution by a."""
    if (a != a) | (x != x) | (a <= 0.0) | (x < 0.0) | (a == INF_F64) | (x == INF_F64):
        return NAN_F64
    if (a >= 1e4) & (abs(x - a) <= a / 4.0):
        return gamma_near_mean_f64(a, x)
    if x == 0.0:
        return f64(0.0)
    # Neither may leave the range of the numbers before the whole does.
    change = by_a_f64(a, x)
    return -(change * (x / a) if x < 1.0 else change * x / a)


def random_gamma_grad_f32(a: f32, x: f32) -> f32:
    """The derivative of a sample of the gamma distribution by a."""
    return f32(random_gamma_grad_f64(f64(a), f64(x)))
