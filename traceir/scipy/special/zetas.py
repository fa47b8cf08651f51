"""Zeta functions, Bernoulli's numbers and Spence's function. Serves: custom_jvp.*"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import islice
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    like,
    refuse_complex,
)
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.logs import named, reals
from traceir.scipy.special.polynomials import clamped, exact, widened
from traceir.tracing.trace import bind


def _numbers() -> Iterator[Fraction]:
    """Bernoulli's numbers, by their recurrence."""
    found: list[Fraction] = []
    while True:
        n = len(found)
        terms = (math.comb(n + 1, k) * b for k, b in enumerate(found) if b)
        zero = n > 1 and n % 2
        found.append(Fraction(0 if zero else 1 if n == 0 else -sum(terms) / (n + 1)))
        yield found[-1]


@cache
def _even(count: int) -> list[Fraction]:
    """The numbers 2, 4, 6 and so on."""
    return list(islice(_numbers(), 2, 2 * count + 2, 2))


def bernoulli(n: int) -> Array:
    """Bernoulli's numbers from 0 to `n`, -1/2 the second; of the default float dtype.

    Raises ValueError (face.choice) for an `n` below 0, TracerIntegerConversionError
    (level.concretize.index) for a traced one.

    >>> bernoulli(2)
    Array([ 1.        , -0.5       ,  0.16666667], dtype=float32)
    """
    count = index(n)
    if count < 0:
        raise rules.error(
            "face.choice", got=f"n={count} in bernoulli", hint="0 or more"
        )
    numbers = [_nearest(b) for b in islice(_numbers(), count + 1)]
    with np.errstate(over="ignore"):
        found = np.array(numbers).astype(default_dtype(float))
    return as_array(found)


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def zeta(x: Operand, q: Operand = None) -> Array:
    """Hurwitz's zeta function, the sum of `(k + q)**-x`; Riemann's without `q`.

    Raises TypeError (face.argument, face.broadcast, face.complex).

    >>> zeta(2.0)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    first = 1.0 if q is None else q
    refuse_complex("zeta", x, first)
    found: Array = _zeta(*reals("zeta", x, first))
    return found


_zeta = named("zeta", lambda x, q: bind("zeta", x, q))


@_zeta.defjvp
def _zeta_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (x, q), (dx, dq) = primals, tangents
    down = lax.neg(lax.mul(x, _zeta(lax.add(x, like(1, x)), q)))
    slope = convert(_by_exponent(widened(x), widened(q)), x.dtype, x.weak_type)
    return _zeta(x, q), lax.add(lax.mul(dx, slope), lax.mul(dq, down))


# So many terms one by one, and so many of Euler's and Maclaurin's sum of the others.
_ALONE, _TOGETHER = 10, 12


def _by_exponent(x: Array, q: Array) -> Array:
    """The derivative of the zeta function by its exponent."""
    total: Any = like(0, x)
    for k in range(_ALONE):
        base = lax.add(q, like(k, q))
        total = lax.add(total, lax.mul(lax.log(base), _inverse(base, x)))
    far = lax.add(q, like(_ALONE, q))
    log, power, above = lax.log(far), _inverse(far, x), lax.sub(x, like(1, x))
    rest = lax.div(lax.mul(far, lax.add(log, lax.div(like(1, x), above))), above)
    rest = lax.add(rest, lax.mul(like(0.5, x), log))
    rising, harmonic = lax.div(x, far), lax.div(like(1, x), x)
    for j, number in enumerate(_even(_TOGETHER), 1):
        share = like(float(number / math.factorial(2 * j)), x)
        rest = lax.add(rest, lax.mul(lax.mul(share, rising), lax.sub(log, harmonic)))
        for k in (2 * j - 1, 2 * j):
            upper = lax.add(x, like(k, x))
            rising = lax.mul(rising, lax.div(upper, far))
            harmonic = lax.add(harmonic, lax.div(like(1, x), upper))
    return lax.neg(lax.add(total, lax.mul(power, rest)))


def _inverse(base: Array, x: Array) -> Array:
    return lax.pow(base, lax.neg(x))


def spence(x: Operand) -> Array:
    """The integral of `log(t) / (1 - t)` from 1 to `x`; floating, NaN below 0.

    It is a power series of `log(x)` with Bernoulli's numbers, after reflections that
    leave `x` between 1/2 and 1. Raises TypeError (face.complex).

    >>> spence(2.0)
    Array(-0.822467, dtype=float32)
    """
    [value] = reals("spence", asarray(x))
    refuse_complex("spence", value)
    return as_array(convert(_spence(widened(value)), value.dtype))


def _reflected(x: Array) -> Array:
    one = like(1, x)
    above = lax.gt(x, one)
    # Beyond the largest number there is none whose inverse is not 0.
    within = where(above, lax.div(one, lax.max(x, one)), clamped(x, 0.0, 1.0))
    low = lax.lt(within, like(0.5, x))
    minus = where(low, lax.log1p(lax.neg(within)), lax.log(within))
    # Near 1 the logarithm of the inverse is that of a rounded number.
    minus = where(
        lax.bitwise_and(above, lax.bitwise_not(low)), lax.neg(lax.log(x)), minus
    )
    # 0, and not -0, of the logarithm of 1.
    u = lax.sub(like(0, x), minus)
    found = _series(u)
    log = where(low, lax.log(where(low, within, 1.0)), 0.0)
    product = where(lax.eq(within, like(0, x)), 0.0, lax.mul(log, minus))
    other = lax.sub(like(math.pi**2 / 6, x), lax.add(product, found))
    found = where(low, other, found)
    square = lax.mul(like(-0.5, x), lax.square(lax.log(lax.max(x, one))))
    found = where(above, lax.sub(square, found), found)
    return where(lax.lt(x, like(0, x)), np.nan, found)


def _series(u: Array) -> Array:
    """Spence's function of `exp(-u)`, by its logarithm up to log(2)."""
    numbers = [b / math.factorial(2 * k + 1) for k, b in enumerate(_even(12), 1)]
    square = lax.mul(u, u)
    rest = lax.mul(square, exact(square, numbers, math.log(2) ** 2))
    quarter = lax.mul(u, like(-0.25, u))
    return lax.mul(u, lax.add(like(1, u), lax.add(quarter, rest)))


_spence = named("spence", _reflected)


@_spence.defjvp
def _spence_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    [x], [t] = primals, tangents
    below, at_one = lax.lt(x, like(0, x)), lax.eq(x, like(1, x))
    apart = where(at_one, 1.0, lax.sub(like(1, x), x))
    slope = where(at_one, -1.0, lax.div(lax.log(x), apart))
    return _spence(x), lax.mul(t, where(below, np.nan, slope))
