"""Evaluation of fitted polynomials and of power series."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import as_array, convert, like
from traceir.scipy.special import fits
from traceir.scipy.special.logs import filled
from traceir.tracing.trace import typeof

WIDE = np.dtype(np.float32), np.dtype(np.float64)


def widened(x: Array) -> Array:
    """The operands in single precision if they are half; weakness is lost."""
    dtype = typeof(x).dtype
    return as_array(convert(x, dtype if dtype in WIDE else WIDE[0]))


def horner(x: Array, coefficients: Sequence[float]) -> Array:
    """The polynomial with these coefficients, the lowest power first."""
    found = filled(x, coefficients[-1])
    for number in reversed(coefficients[:-1]):
        found = lax.add(lax.mul(found, x), like(number, x))
    return found


def fitted(name: str, u: Array) -> Array:
    """The polynomial of `fits` at `u`, which is between its ends."""
    low, high = fits.ENDS[name]
    single = typeof(u).dtype == WIDE[0]
    scale, middle = 2 / (high - low), (high + low) / (high - low)
    place = lax.sub(lax.mul(u, like(scale, u)), like(middle, u))
    return horner(place, (fits.FLOAT32 if single else fits.FLOAT64)[name])


def exact(x: Array, coefficients: Sequence[Fraction], reach: float) -> Array:
    """A power series, as far as its terms count where the size of `x` is `reach`."""
    eps = float(np.finfo(typeof(x).dtype).eps) / 8
    size = sum(abs(float(c)) * reach**k for k, c in enumerate(coefficients))
    last = max(k for k, c in enumerate(coefficients) if abs(c) * reach**k > eps * size)
    return horner(x, [float(c) for c in coefficients[: last + 1]])


def clamped(x: Array, low: float, high: float) -> Array:
    """The numbers, those outside an interval moved to its end."""
    return lax.clamp(like(low, x), x, like(high, x))
