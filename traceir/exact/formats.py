"""Numbers as bit patterns, and rounded to short formats. Serves: prim.* rows

A format of IEEE 754 has so many bits of an exponent and so many of a fraction.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from traceir.dtypes import bits_of
from traceir.exact.numerics import rounded
from traceir.exact.reals import INFINITY, NAN, ZERO, Real, number

TWO = Fraction(2)


def _lead(value: Fraction) -> int:
    """The exponent of the leading bit of a positive number."""
    top, bottom = value.numerator, value.denominator
    found = top.bit_length() - bottom.bit_length()
    return found if value >= TWO**found else found - 1


def pattern(x: Real, dtype: np.dtype) -> int:
    """The pattern of a number of a dtype, that of NaN being the usual one.

    >>> pattern(Real.of(1.5), np.dtype("float32")) == 0x3FC00000
    True
    """
    found = np.asarray(rounded(x, dtype), dtype).view(f"u{dtype.itemsize}")
    return int(found) % (1 << bits_of(dtype))


def of_pattern(x: Real, dtype: np.dtype) -> Real:
    """The number of a dtype that has a pattern, which is the lowest bits of a number.

    >>> of_pattern(Real.of(0x3FC00000), np.dtype("float32")).value == 1.5
    True
    """
    bits = int(x.value) % (1 << bits_of(dtype))
    word = np.array(bits, f"u{dtype.itemsize}")
    return Real.of(float(word.view(dtype)[()]))


def shortened(x: Real, power: Real, fraction: Real, whole: Real) -> Real:
    """A number with fewer bits; its dtype has an exponent of `whole` bits.

    >>> shortened(Real.of(1.75), Real.of(5), Real.of(1), Real.of(8)).value == 2
    True
    """
    if x.special or x.zero:
        return x
    own = int(whole.value)
    fewer = int(power.value) < own
    e, m = min(int(power.value), own), int(fraction.value)
    bias, own_bias = (1 << e - 1) - 1, (1 << own - 1) - 1
    size = abs(x.value)
    exponent = max(_lead(size), 1 - own_bias)
    unit = TWO ** (exponent - m)
    # A tie goes to the even one of two bit patterns: without a fraction, of exponents.
    below = exponent + own_bias - 1 << m
    size = (round(size / unit + below) - below) * unit
    if size >= TWO ** (bias + 1):
        return -INFINITY if x.negative else INFINITY
    if fewer and size < TWO ** (1 - bias):
        size = ZERO
    return number(-size if x.negative else size, x.negative)


def nextafter(a: Real, b: Real, power: Real, fraction: Real) -> Real:
    """The neighbour of `a` on the side of `b` in a format.

    >>> nextafter(Real.of(1), Real.of(2), Real.of(8), Real.of(7)).value == 1 + TWO**-7
    True
    """
    if a.nan or b.nan:
        return NAN
    if a == b:
        return b
    e, m = int(power.value), int(fraction.value)
    bias = (1 << e - 1) - 1
    largest = (2 - TWO**-m) * TWO**bias
    least = TWO ** (1 - bias - m)
    if a.special:
        return number(-largest if a.negative else largest)
    if a.zero:
        return number(-least if b.negative else least)
    size = abs(a.value)
    unit = max(TWO ** (_lead(size) - m), least)
    if (b < a) == a.negative:
        size += unit
    else:
        # Numbers lie closer below a power of 2.
        size -= max(TWO ** (_lead(size - unit / 2) - m), least)
    if size > largest:
        return -INFINITY if a.negative else INFINITY
    return number(-size if a.negative else size, a.negative)
