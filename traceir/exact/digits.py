"""Arbitrary precision, by mpmath. Serves: accuracy.*"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from traceir.exact.reals import ZERO, Real, number

PRECISION = 400
# Beyond 2**LIMIT every dtype overflows and below 2**-LIMIT it underflows, so that a
# result may be replaced by these; the exact power would not fit in memory.
LIMIT = 4000


@cache
def mpmath() -> Any:
    """A context of mpmath with its own precision; ImportError tells that mpmath is
    needed.
    """
    try:
        from mpmath import MPContext
    except ImportError as error:
        message = (
            "the oracle's real functions need mpmath: pip install 'traceir[conform]'"
        )
        raise ImportError(message) from error
    context = MPContext()
    context.prec = PRECISION
    return context


def to_mp(x: Fraction) -> Any:
    """A fraction as a number of mpmath."""
    return mpmath().mpf(x.numerator) / x.denominator


def from_mp(x: Any) -> Real:
    """A finite number of mpmath as a Real, no longer a sum of terms."""
    sign, mantissa, exponent, bits = x._mpf_
    if not mantissa:
        return number(ZERO, bool(sign))
    if abs(exponent + bits) > LIMIT:
        return beyond(exponent > 0, bool(sign))
    size = Fraction(mantissa) * Fraction(2) ** exponent
    return number(-size if sign else size)


def beyond(large: bool, negative: bool) -> Real:
    """A finite number larger than all of every dtype, or nearer to zero."""
    size = Fraction(2) ** (LIMIT if large else -LIMIT)
    return number(-size if negative else size)
