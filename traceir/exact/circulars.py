"""Tangents, inverse circular and error functions at exact points.

Serves: accuracy.*
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from traceir.exact.digits import LIMIT, beyond, from_mp, mpmath, to_mp
from traceir.exact.reals import NAN, ONE, ZERO, Real, infinity, number


def tan(x: Real) -> Real:
    """The tangent."""
    if x.special:
        return NAN
    return x if x.zero else from_mp(mpmath().tan(to_mp(x.value)))


def asin(x: Real) -> Real:
    """The arc sine, NaN beyond 1."""
    if x.special or abs(x.value) > 1:
        return NAN
    return x if x.zero else from_mp(mpmath().asin(to_mp(x.value)))


def acos(x: Real) -> Real:
    """The arc cosine, NaN beyond 1."""
    if x.special or abs(x.value) > 1:
        return NAN
    return from_mp(mpmath().acos(to_mp(x.value)))


def atan(x: Real) -> Real:
    """The arc tangent."""
    if x.nan or x.zero:
        return x
    if x.special:
        return _turned(1, 2, x.negative)
    return from_mp(mpmath().atan(to_mp(x.value)))


def atan2(y: Real, x: Real) -> Real:
    """The angle of the point (x, y): zeros have a sign, infinities a diagonal."""
    if y.nan or x.nan:
        return NAN
    if y.special:
        eighths = 2 if x.finite else 3 if x.negative else 1
        return _turned(eighths, 4, y.negative)
    if y.zero or x.special:
        return _turned(1, 1, y.negative) if x.negative else number(ZERO, y.negative)
    return from_mp(mpmath().atan2(to_mp(y.value), to_mp(x.value)))


def _turned(parts: int, whole: int, negative: bool) -> Real:
    """So many parts of half a turn."""
    size = from_mp(parts * mpmath().pi / whole)
    return -size if negative else size


def erf(x: Real) -> Real:
    """The error function."""
    if x.nan or x.zero:
        return x
    if x.special or abs(x.value) > LIMIT:
        return number(-ONE if x.negative else ONE)
    return from_mp(mpmath().erf(to_mp(x.value)))


def erfc(x: Real) -> Real:
    """1 less the error function."""
    if x.nan:
        return x
    if x.negative and (x.special or x.value < -LIMIT):
        return number(2 * ONE)
    if x.special:
        return number(ZERO)
    return (
        beyond(False, False)
        if x.value > LIMIT
        else from_mp(mpmath().erfc(to_mp(x.value)))
    )


# Below it the series' first term is exact to more digits than any dtype has.
SMALL = Fraction(1, 1 << 100)


def erf_inv(x: Real) -> Real:
    """The number whose error function is x: NaN beyond 1, where it is infinite."""
    if x.nan or x.zero:
        return x
    if x.special or abs(x.value) > 1:
        return NAN
    if abs(x.value) == 1:
        return infinity(x.negative)
    context: Any = mpmath()
    if abs(x.value) < SMALL:
        return from_mp(to_mp(x.value) * context.sqrt(context.pi) / 2)
    return from_mp(context.erfinv(to_mp(x.value)))
