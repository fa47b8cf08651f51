"""Limits of dtypes, and rounding to a dtype. Serves: accuracy.*"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from traceir.dtypes import bits_of, finfo, iinfo, is_narrow, kind_of
from traceir.exact.complexes import Complex
from traceir.exact.reals import INFINITY, ONE, Real


def limits(dtype: np.dtype) -> tuple[Any, Any]:
    """The least and the greatest value of a dtype; infinities if it has them.

    >>> limits(np.dtype("uint8"))
    (0, 255)
    """
    if kind_of(dtype) == "b":
        return False, True
    if kind_of(dtype) in "iu":
        info = iinfo(dtype)
        return int(info.min), int(info.max)
    if kind_of(dtype) == "c":
        return Complex.of(-INFINITY), Complex.of(INFINITY)
    if is_narrow(dtype) and not _infinite(dtype):
        return Real.of(float(finfo(dtype).min)), Real.of(float(finfo(dtype).max))
    return -INFINITY, INFINITY


def _infinite(dtype: np.dtype) -> bool:
    """True if a narrow dtype has infinities."""
    with np.errstate(invalid="ignore"):
        return bool(np.isinf(np.array(np.inf).astype(dtype).astype(np.float32)))


def exponent(value: Fraction) -> int:
    """The exponent of the leading bit of a number that is not zero."""
    top, bottom = abs(value.numerator), value.denominator
    found = top.bit_length() - bottom.bit_length()
    scaled = Fraction(top, bottom)
    return found if scaled >= Fraction(2) ** found else found - 1


def ulp(value: Fraction, dtype: np.dtype) -> Fraction:
    """The distance of neighbours of the dtype at a number, its last place."""
    info = finfo(dtype)
    low = int(info.minexp)
    top = max(exponent(value), low) if value else low
    return Fraction(2) ** (top - int(info.nmant))


def half_unit(dtype: np.dtype) -> Fraction:
    """Half a unit in the last place of 1: the error of one rounding, relatively.

    >>> half_unit(np.dtype("float32")) == Fraction(1, 2**24)
    True
    """
    return ulp(ONE, dtype) / 2


def least_normal(dtype: np.dtype) -> Fraction:
    """The least positive number of a floating dtype that has all its digits.

    >>> least_normal(np.dtype("float32")) == Fraction(1, 2**126)
    True
    """
    return Fraction(float(finfo(dtype).smallest_normal))


def largest(dtype: np.dtype) -> Fraction:
    """The largest finite number of a floating dtype."""
    return Fraction(float(finfo(dtype).max))


def rounded(x: Real, dtype: np.dtype) -> Any:
    """The element of a floating dtype that is nearest, ties to even.

    >>> rounded(Real.of(Fraction(1, 3)), np.dtype("float32"))
    np.float32(0.33333334)
    """
    if x.nan:
        return dtype.type(np.nan)
    sign = -1.0 if x.negative else 1.0
    if x.special:
        return dtype.type(sign * np.inf)
    unit = ulp(x.value, dtype)
    steps = round(abs(x.value) / unit)
    if not steps and x.value > 0 and float(finfo(dtype).min) > 0:
        steps = 1  # there is no zero
    if steps * unit > largest(dtype):
        return dtype.type(sign * np.inf)
    return dtype.type(math.copysign(float(steps * unit), sign))


def wrapped(x: Any, dtype: np.dtype) -> Any:
    """The element of an integer or boolean dtype: modulo 2**bits."""
    if kind_of(dtype) == "b":
        return np.bool_(x)
    whole = int(x.value) if isinstance(x, Real) else int(x)
    bits = bits_of(dtype)
    whole %= 1 << bits
    if kind_of(dtype) == "i" and whole >> bits - 1:
        whole -= 1 << bits
    return dtype.type(whole)
