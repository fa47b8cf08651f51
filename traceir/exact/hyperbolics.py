"""Hyperbolic functions and exponentials at exact points. Serves: accuracy.*"""

from __future__ import annotations

from traceir.exact.digits import LIMIT, beyond, from_mp, mpmath, to_mp
from traceir.exact.reals import NAN, ONE, ZERO, Real, infinity, number


def tanh(x: Real) -> Real:
    """The hyperbolic tangent."""
    if x.nan or x.zero:
        return x
    if x.special or abs(x.value) > LIMIT:
        return number(-ONE if x.negative else ONE)
    return from_mp(mpmath().tanh(to_mp(x.value)))


def expm1(x: Real) -> Real:
    """exp(x) - 1."""
    if x.zero or (x.special and (x.nan or not x.negative)):
        return x
    if x.special or abs(x.value) > LIMIT:
        return number(-ONE) if x.negative else beyond(True, False)
    return from_mp(mpmath().expm1(to_mp(x.value)))


def logistic(x: Real) -> Real:
    """1 / (1 + exp(-x))."""
    if x.special:
        return x if x.nan else number(ZERO if x.negative else ONE)
    if abs(x.value) > LIMIT:
        return beyond(False, False) if x.negative else number(ONE)
    return from_mp(1 / (1 + mpmath().exp(-to_mp(x.value))))


def sinh(x: Real) -> Real:
    """The hyperbolic sine."""
    if x.special or x.zero:
        return x
    if abs(x.value) > LIMIT:
        return beyond(True, x.negative)
    return from_mp(mpmath().sinh(to_mp(x.value)))


def cosh(x: Real) -> Real:
    """The hyperbolic cosine."""
    if x.special:
        return abs(x)
    if abs(x.value) > LIMIT:
        return beyond(True, False)
    return from_mp(mpmath().cosh(to_mp(x.value)))


def asinh(x: Real) -> Real:
    """The inverse hyperbolic sine."""
    return x if x.special or x.zero else from_mp(mpmath().asinh(to_mp(x.value)))


def acosh(x: Real) -> Real:
    """The inverse hyperbolic cosine, NaN below 1."""
    if x.nan or x.negative or (x.finite and x.value < 1):
        return NAN
    return x if x.special else from_mp(mpmath().acosh(to_mp(x.value)))


def atanh(x: Real) -> Real:
    """The inverse hyperbolic tangent, NaN beyond 1."""
    if x.zero or x.nan:
        return x
    if x.special or abs(x.value) > 1:
        return NAN
    if abs(x.value) == 1:
        return infinity(x.negative)
    return from_mp(mpmath().atanh(to_mp(x.value)))


def cbrt(x: Real) -> Real:
    """The cube root, with the sign of x."""
    if x.special or x.zero:
        return x
    size = from_mp(mpmath().cbrt(to_mp(abs(x.value))))
    return -size if x.negative else size
