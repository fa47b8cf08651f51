"""Exponential integrals of all orders. Serves: promote.*, custom_jvp.*

M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions" (1964), 5.1.12 up to 1
and the continued fraction 5.1.22 beyond.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, convert, like, refuse_complex
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.gammas import digamma, gammaln
from traceir.scipy.special.logs import filled, named, reals
from traceir.scipy.special.polynomials import clamped, widened

# How many terms of the series, and levels of the fraction, a dtype needs.
_TERMS = {np.dtype(np.float32): 12, np.dtype(np.float64): 20}
_LEVELS = {np.dtype(np.float32): 24, np.dtype(np.float64): 90}


def expn(n: Operand, x: Operand) -> Array:
    """The integral of `exp(-x * t) / t**n` from 1 on; floating, NaN for `x` below 0.

    `n` is whole, and from 0 on where `x` is not above 1; it has no derivative. Raises
    TypeError (face.complex, face.broadcast).

    >>> expn(2, 1.0)
    Array(0.14849551, dtype=float32)
    """
    order, value = reals("expn", asarray(n), asarray(x))
    refuse_complex("expn", order)
    found = _expn(widened(order), widened(value))
    return as_array(convert(found, value.dtype))


def _values(n: Array, x: Array) -> Array:
    zero, one = like(0, x), like(1, x)
    small = where(lax.eq(x, zero), 1.0, clamped(x, 0.0, 1.0))
    found = where(lax.gt(x, one), _fraction(n, lax.max(x, one)), _series(n, small))
    simple = lax.div(lax.exp(lax.neg(x)), x)
    found = where(lax.eq(n, zero), simple, found)
    at_zero = where(lax.gt(n, one), lax.div(one, lax.sub(n, one)), np.inf)
    found = where(lax.eq(x, zero), at_zero, found)
    return where(lax.lt(x, zero), np.nan, found)


def _series(n: Array, x: Array) -> Array:
    """A power series, but for the power that is a logarithm."""
    one, before = like(1, x), lax.sub(n, like(1, n))
    size = lax.sub(lax.mul(before, lax.log(x)), gammaln(n))
    odd = lax.ne(lax.rem(before, like(2, x)), like(0, x))
    lead = lax.mul(lax.exp(size), lax.sub(digamma(n), lax.log(x)))
    total = where(odd, lax.neg(lead), lead)
    power: Any = filled(x, 1.0)
    for m in range(_TERMS[x.dtype]):
        apart = lax.sub(like(m, x), before)
        lone = lax.eq(apart, like(0, x))
        share = lax.div(power, where(lone, one, apart))
        total = lax.sub(total, where(lone, 0.0, share))
        power = lax.mul(power, lax.mul(x, like(-1 / (m + 1), x)))
    return total


def _fraction(n: Array, x: Array) -> Array:
    """A continued fraction, from the last of its levels on."""
    levels, start = _LEVELS[x.dtype], lax.add(x, n)

    def up(done: Any, below: Any) -> Any:
        level = convert(lax.sub(like(levels - 1, done), done), x.dtype)
        upper = lax.mul(lax.add(level, like(1, x)), lax.add(level, n))
        here = lax.add(start, lax.mul(like(2, x), level))
        return lax.sub(here, lax.div(upper, below))

    first = lax.add(start, like(2 * levels, x))
    found = lax.fori_loop(0, levels, up, first)
    return lax.div(lax.exp(lax.neg(x)), found)


_expn = named("expn", _values)


@_expn.defjvp
def _expn_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (n, x), (_, dx) = primals, tangents
    slope = lax.neg(_expn(lax.sub(n, like(1, n)), x))
    return _expn(n, x), lax.mul(slope, dx)
