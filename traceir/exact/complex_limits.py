"""Functions of complex infinities and NaNs. Serves: accuracy.complex

The values are those of Annex G of the C standard (ISO/IEC 9899:2018). Each function
here is given a number of which a part is an infinity or a NaN, and the imaginary part
has no minus sign; with `odd` and `even` functions the real part has none either.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from traceir.exact import circulars
from traceir.exact.complexes import NOUGHT, UNIT, Complex
from traceir.exact.digits import from_mp, mpmath
from traceir.exact.reals import INFINITY, NAN, Real

Function = Callable[[Complex], Complex]
UNKNOWN = Complex(NAN, NAN)


def angle(z: Complex) -> Real:
    """The angle of a number; NaN where a part is."""
    found: Real = circulars.atan2(z.im, z.re)
    return found


def part_of_pi(share: Fraction) -> Real:
    """This part of pi."""
    return from_mp(mpmath().pi * share.numerator / share.denominator)


@cache
def half_pi() -> Real:
    """Half of pi; made when it is asked for, since it takes mpmath."""
    return part_of_pi(Fraction(1, 2))


def _around(size: Real, y: Real) -> Complex:
    """`size` at the angle y, where a zero or an infinity takes signs alone."""
    if y.zero:
        return Complex(size, y)
    context = mpmath()
    turn = context.mpf(y.value.numerator) / y.value.denominator
    return Complex(size * from_mp(context.cos(turn)), size * from_mp(context.sin(turn)))


def exp(z: Complex) -> Complex:
    """The exponential."""
    x, y = z.re, z.im
    if x.nan:
        return Complex(NAN, y if y.zero else NAN)
    if x.finite:
        return UNKNOWN
    if y.finite:
        return _around(NOUGHT if x.negative else INFINITY, y)
    if x.negative:
        return Complex(NOUGHT, NOUGHT, free="re im")
    return Complex(INFINITY, NAN, free="re")


def log(z: Complex) -> Complex:
    """The logarithm: its imaginary part is the angle."""
    return Complex(INFINITY if z.infinite else NAN, angle(z))


def sqrt(z: Complex) -> Complex:
    """The square root."""
    x, y = z.re, z.im
    if y.special == "inf":
        return Complex(INFINITY, INFINITY)
    if x.special != "inf":
        return UNKNOWN
    if not x.negative:
        return Complex(INFINITY, NAN if y.nan else NOUGHT)
    return Complex(NAN if y.nan else NOUGHT, INFINITY, free="im" if y.nan else "")


def cosh(z: Complex) -> Complex:
    """The hyperbolic cosine, which is even."""
    x, y = z.re, z.im
    if x.special == "inf":
        if y.finite:
            return _around(INFINITY, y)
        return Complex(INFINITY, NAN, free="re")
    if x.zero or y.zero:
        return Complex(NAN, NOUGHT, free="im")
    return UNKNOWN


def sinh(z: Complex) -> Complex:
    """The hyperbolic sine, which is odd."""
    x, y = z.re, z.im
    if x.special == "inf":
        if y.finite:
            return _around(INFINITY, y)
        return Complex(INFINITY, NAN, free="re")
    if x.zero:
        return Complex(NOUGHT, NAN, free="re")
    return Complex(NAN, y if y.zero else NAN)


def tanh(z: Complex) -> Complex:
    """The hyperbolic tangent, which is odd."""
    x, y = z.re, z.im
    if x.special == "inf":
        if not y.finite:
            return Complex(UNIT, NOUGHT, free="im")
        turn = _around(NOUGHT, y + y)
        return Complex(UNIT, turn.im)
    if x.zero:
        return Complex(NOUGHT, NAN)
    return Complex(NAN, y if y.zero else NAN)


def acos(z: Complex) -> Complex:
    """The arc cosine."""
    x, y = z.re, z.im
    if z.infinite and not z.nan:
        return Complex(angle(z), -INFINITY)
    if y.special == "inf":
        return Complex(NAN, -INFINITY)
    if x.special == "inf":
        return Complex(NAN, INFINITY, free="im")
    return Complex(half_pi() if x.zero else NAN, NAN)


def acosh(z: Complex) -> Complex:
    """The inverse of the hyperbolic cosine."""
    if z.re.zero:
        return Complex(INFINITY if z.infinite else NAN, half_pi(), free="im")
    return Complex(INFINITY if z.infinite else NAN, angle(z))


def asinh(z: Complex) -> Complex:
    """The inverse of the hyperbolic sine, which is odd."""
    x, y = z.re, z.im
    if not z.infinite:
        return Complex(NAN, y if y.zero else NAN)
    if x.nan:
        return Complex(INFINITY, NAN, free="re")
    return Complex(INFINITY, angle(z))


def atanh(z: Complex) -> Complex:
    """The inverse of the hyperbolic tangent, which is odd."""
    x, y = z.re, z.im
    if not z.infinite:
        return Complex(x if x.zero else NAN, NAN)
    free = "re" if x.nan else ""
    return Complex(NOUGHT, NAN if y.nan else half_pi(), free=free)
