"""Kernels of the logarithm of gamma and its derivative. Serves: lgamma, digamma

Near 1 and 2, where it is zero, and near the least size that it has between -3 and -2 it
is a power series about 2, whose coefficients are values of Riemann's zeta function: M.
Abramowitz and I. Stegun, "Handbook of Mathematical Functions" (1964), 6.1.33.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from traceir.reference.kernels.special.in_float64 import of_doubles, of_scipy

_log_gamma = np.frompyfunc(lambda x: _lgamma(float(x)), 1, 1)
# As many terms as digits need up to so far from 2.
TERMS, REACH = 44, 0.75


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # a pole, or too large
        return math.inf


@cache
def _coefficients() -> np.ndarray:
    k = np.arange(2.0, TERMS)
    signs = np.where(k % 2 == 0, 1.0, -1.0)
    return np.array([0.0, 1 - np.euler_gamma, *(signs * of_scipy("zetac", k) / k)])


def _about_two(z: np.ndarray) -> Any:
    """log gamma(2 + z), for z at most REACH from 0."""
    return np.polynomial.polynomial.polyval(z, _coefficients())


def lgamma_above_one(z: np.ndarray) -> Any:
    """log gamma(1 + z) for z above -1, exact near 0."""
    near = np.clip(z, -0.25, REACH)
    found = _about_two(near) - np.log1p(near)
    far = (z < -0.25) | (z > REACH)
    return np.where(far, lgamma(np.where(far, 1 + z, 3.0)), found)


def _below_one(x: np.ndarray) -> Any:
    """log |gamma(x)| from -1/2 to 3/4."""
    return _about_two(x) - np.log1p(x) - np.log(np.abs(x))


def _small(x: np.ndarray) -> Any:
    """log |gamma(x)| from -3 to -2, by gamma(x + 4).

    The product of what is between is w**2 - 1, where w is near 0 in the middle.
    """
    w = (x + 1) * (x + 2) - 1
    z = x + 2
    one = np.where(z < -REACH, -np.log1p(z + 1) + _about_two(z + 1), _about_two(z))
    return one - np.log1p(-w * w)


@of_doubles("lgamma")
def lgamma(x: np.ndarray) -> Any:
    """log |gamma(x)|."""
    inside = (x > -0.5) & (x < 2.75)
    return np.piecewise(
        np.where(np.isneginf(x), np.inf, x),
        [
            inside & (x < REACH),
            inside & (x >= REACH) & (x < 1.25),
            inside & (x >= 1.25),
            (x > -3) & (x < -2),
            (x <= -0.5) & ((x <= -3) | (x >= -2)),
            np.isnan(x),
        ],
        [
            _below_one,
            lambda v: lgamma_above_one(v - 1),
            lambda v: _about_two(v - 2),
            _small,
            lambda v: _log_gamma(v).astype(np.float64),
            np.nan,
            lambda v: of_scipy("gammaln", v),
        ],
    )


@of_doubles("digamma")
def digamma(x: np.ndarray) -> Any:
    """The derivative of log gamma."""
    pole = (x <= 0) & (np.floor(x) == x)
    return np.where(pole, np.nan, of_scipy("psi", x))
