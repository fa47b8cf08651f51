"""Real functions that formulas may call, one point at a time. Serves: accuracy.*

Only an oracle needs them, and mpmath with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from traceir.exact import circulars, formats, gammas, hyperbolics
from traceir.exact.complex_functions import FUNCTIONS as COMPLEX
from traceir.exact.complex_functions import turn
from traceir.exact.complexes import Complex
from traceir.exact.digits import LIMIT, PRECISION, beyond, from_mp, mpmath, to_mp
from traceir.exact.reals import INFINITY, NAN, ONE, ZERO, Real, infinity, number

EXACT_POWER = 64


def _integral(rounding: Callable[[Fraction], int]) -> Callable[[Real], Real]:
    def function(x: Real) -> Real:
        if x.special:
            return x
        return number(Fraction(rounding(x.value)), x.negative)

    return function


def _round_away(value: Fraction) -> int:
    size = math.floor(abs(value) + Fraction(1, 2))
    return -size if value < 0 else size


def _fmod(a: Real, b: Real) -> Real:
    if a.special or b.nan or b.zero:
        return NAN
    if b.special:
        return a
    return number(a.value - b.value * math.trunc(a.value / b.value), a.negative)


def _sqrt(x: Real) -> Real:
    if x.nan or x.zero or not x.negative:
        return x if x.special or x.zero else number(_root(x.value))
    return NAN


def _root(value: Fraction) -> Fraction:
    shift = 2 * PRECISION
    scaled = (value.numerator << 2 * shift) // value.denominator
    root = math.isqrt(scaled)
    exact = Fraction(root, 1 << shift)
    # A last bit that says "a little more" keeps an inexact root off every tie.
    return exact if exact * exact == value else exact + Fraction(1, 1 << shift + 1)


def _rsqrt(x: Real) -> Any:
    return 1 / _sqrt(x)


def _exp(x: Real) -> Real:
    if x.special:
        return number(ZERO) if x.negative and not x.nan else x
    if abs(x.value) > LIMIT:
        return beyond(x.value > 0, False)
    return from_mp(mpmath().exp(to_mp(x.value)))


def _log(x: Real) -> Real:
    if x.nan or (x.negative and not x.zero):
        return NAN
    if x.zero:
        return -INFINITY
    return x if x.special else from_mp(mpmath().log(to_mp(x.value)))


def _log1p(x: Real) -> Real:
    if x.zero or x.special:
        return NAN if x.special and x.negative else x
    return _log(number(1 + x.value)) if x.value < -ONE / 2 else _log1p_near(x)


def _log1p_near(x: Real) -> Real:
    return from_mp(mpmath().log1p(to_mp(x.value)))


def _periodic(name: str) -> Callable[[Real], Real]:
    def function(x: Real) -> Real:
        if x.special:
            return NAN
        if x.zero:
            return x if name == "sin" else number(ONE)
        return from_mp(getattr(mpmath(), name)(to_mp(x.value)))

    return function


def _log_sum(x: Real) -> Real:
    """The logarithm of a sum of n powers of e, which counts as 4 n terms of its
    magnitude and 1: so many steps, each of a few roundings, may lead to it."""
    found = _log(x)
    size = abs(found.value) + 1
    return replace(found, terms=4 * x.terms, magnitude=size, quantum=None)


def _exp2(x: Real) -> Real:
    return x if x.nan else _pow(number(2 * ONE), x)


def _pow(a: Real, b: Real) -> Real:
    if b.zero or (a.finite and a.value == 1):
        return number(ONE)
    if a.nan or b.nan:
        return NAN
    if b.special:
        return _pow_infinity(a, b.negative)
    whole = b.value.denominator == 1
    odd = whole and b.value.numerator % 2 == 1
    negative = a.negative and odd
    if a.zero or a.special:
        to_zero = a.zero != b.negative
        return number(ZERO, negative) if to_zero else infinity(negative)
    if a.negative and not whole:
        return NAN
    if whole and abs(b.value) <= EXACT_POWER:
        return _exact_power(a, int(b.value))
    size = _power(abs(a.value), b.value)
    return -size if negative else size


def _exact_power(a: Real, y: int) -> Real:
    return replace(
        number(a.value**y), inner=abs(y) - (y > 0), spread=a.spread ** abs(y)
    )


def _power(base: Fraction, exponent: Fraction) -> Real:
    if base == 1:
        return number(ONE)
    power = to_mp(exponent) * mpmath().log(to_mp(base))
    if abs(power) > LIMIT:
        return beyond(power > 0, False)
    result = from_mp(mpmath().exp(power))
    return replace(result, inner=math.ceil(abs(exponent)))


def _pow_infinity(a: Real, down: bool) -> Real:
    if a.finite and abs(a.value) == 1:
        return number(ONE)
    large = a.special == "inf" or abs(a.value) > 1
    return number(ZERO) if large == down else INFINITY


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "floor": _integral(math.floor),
    "trunc": _integral(math.trunc),
    "round_even": _integral(round),
    "round_away": _integral(_round_away),
    "fmod": _fmod,
    "nextafter": formats.nextafter,
    "sqrt": _sqrt,
    "rsqrt": _rsqrt,
    "exp": _exp,
    "log": _log,
    "log_sum": _log_sum,
    "log1p": _log1p,
    "sin": _periodic("sin"),
    "cos": _periodic("cos"),
    "tan": circulars.tan,
    "asin": circulars.asin,
    "acos": circulars.acos,
    "atan": circulars.atan,
    "atan2": circulars.atan2,
    "erf": circulars.erf,
    "erfc": circulars.erfc,
    "erf_inv": circulars.erf_inv,
    "tanh": hyperbolics.tanh,
    "exp2": _exp2,
    "expm1": hyperbolics.expm1,
    "logistic": hyperbolics.logistic,
    "sinh": hyperbolics.sinh,
    "cosh": hyperbolics.cosh,
    "asinh": hyperbolics.asinh,
    "acosh": hyperbolics.acosh,
    "atanh": hyperbolics.atanh,
    "cbrt": hyperbolics.cbrt,
    "pow": _pow,
    **gammas.FUNCTIONS,
    "re": lambda x: x,
    "im": lambda x: number(ZERO),
    "conj": Complex.of,
    "mirror": lambda x: x,
    "turn": turn,
    "pattern": formats.pattern,
    "of_pattern": formats.of_pattern,
    "shortened": formats.shortened,
}


def real(name: str, *xs: Any) -> Any:
    """The function `name` at exact points, real ones or complex ones.

    >>> real("sqrt", 4), real("log", -1.0)
    (Real(2), Real(nan))
    """
    if name == "pair":
        return Complex(Real.of(xs[0]), Real.of(xs[1]))
    if any(isinstance(x, Complex) for x in xs):
        return COMPLEX[name](*map(Complex.of, xs))
    return FUNCTIONS[name](*(x if isinstance(x, np.dtype) else Real.of(x) for x in xs))
