"""Hypergeometric functions. Serves: promote.*, custom_jvp.*

Kummer's is its power series after his transformation, so that the argument is not below
0, and far on the asymptotic one: M. Abramowitz and I. Stegun, "Handbook of Mathematical
Functions" (1964), 13.1.27 and 13.5.1. Gauss' is its power series up to 1/2, after the
transformation 15.3.4, and then power series of the solution of its equation (15.5.1),
each half of what is left to 1 further.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, convert, like, refuse_complex
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.assembly.tiling import broadcast_arrays
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.gammas import gammaln, gammasgn
from traceir.scipy.special.logs import filled, named, reals
from traceir.scipy.special.polynomials import widened
from traceir.transforms import jvp

# Where the asymptotic series begins, and how many terms the power series has up to it.
_REACH = {4: (30.0, 90), 8: (50.0, 150)}
_ASYMPTOTIC = {4: 16, 8: 40}
_HALVES = {4: 60, 8: 110}


def hyp1f1(a: Operand, b: Operand, x: Operand) -> Array:
    """Kummer's function, the sum of `(a)_k / (b)_k * x**k / k!`; floating.

    Raises TypeError (face.complex, face.broadcast).

    >>> hyp1f1(1.0, 1.0, 0.0)
    Array(1., dtype=float32)
    """
    return _called("hyp1f1", _hyp1f1, *map(asarray, (a, b, x)))


def hyp2f1(a: Operand, b: Operand, c: Operand, x: Operand) -> Array:
    """Gauss' function, the sum of `(a)_k (b)_k / (c)_k * x**k / k!`; floating.

    NaN for `x` above 1. Raises TypeError (face.complex, face.broadcast).

    >>> hyp2f1(1.0, 1.0, 1.0, 0.5)
    Array(2., dtype=float32)
    """
    return _called("hyp2f1", _hyp2f1, a, b, c, x)


def _called(name: str, function: Callable[..., Any], *operands: Operand) -> Array:
    refuse_complex(name, *operands)
    values = reals(name, *operands)
    found = function(*broadcast_arrays(*map(widened, values)))
    return as_array(convert(found, values[0].dtype))


def _kummer(a: Array, b: Array, x: Array) -> Array:
    below, size = lax.lt(x, like(0, x)), lax.abs(x)
    first = where(below, lax.sub(b, a), a)
    reach, count = _REACH[x.dtype.itemsize]
    # A polynomial has no other series.
    whole = lax.bitwise_and(lax.eq(first, lax.floor(first)), lax.le(first, like(0, x)))
    far = lax.bitwise_and(lax.gt(size, like(reach, x)), lax.bitwise_not(whole))
    near = _series([first], [b], where(far, 0.0, size), count)
    fall = lax.exp(where(lax.bitwise_and(below, lax.bitwise_not(far)), x, 0.0))
    first, b, size = (where(far, value, 1.0) for value in (first, b, size))
    return where(far, _tail(first, b, size, below), lax.mul(near, fall))


def _series(above: list[Array], under: list[Array], x: Array, count: int) -> Array:
    """A hypergeometric series of so many terms."""

    def up(k: Any, carry: Any) -> Any:
        term, total = carry
        at = convert(k, x.dtype)
        for value in above:
            term = lax.mul(term, lax.add(value, at))
        for value in under:
            term = lax.div(term, lax.add(value, at))
        term = lax.mul(term, lax.div(x, lax.add(at, like(1, x))))
        return term, lax.add(total, term)

    one = filled(x, 1.0)
    return as_array(lax.fori_loop(0, count, up, (one, one))[1])


def _tail(a: Array, b: Array, x: Array, below: Array) -> Array:
    one, inverse = like(1, x), lax.div(like(1, x), x)
    above = [lax.sub(b, a), lax.sub(one, a)]
    total = _series(above, [], inverse, _ASYMPTOTIC[x.dtype.itemsize])
    grown = lax.add(lax.mul(lax.sub(a, b), lax.log(x)), where(below, 0.0, x))
    ratio = lax.sub(gammaln(b), gammaln(a))
    sign = lax.mul(gammasgn(b), gammasgn(a))
    return lax.mul(lax.mul(sign, total), lax.exp(lax.add(grown, ratio)))


def _partial(function: Callable[..., Any], points: Any, place: int) -> Array:
    """The derivative by one operand of a function without reverse mode."""
    ahead = [filled(v, 1.0 if k == place else 0.0) for k, v in enumerate(points)]
    return as_array(jvp(function, tuple(points), tuple(ahead))[1])


_hyp1f1 = named("hyp1f1", _kummer)


@_hyp1f1.defjvp
def _hyp1f1_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (a, b, x), (da, db, dx) = primals, tangents
    one = like(1, x)
    slope = lax.mul(lax.div(a, b), _hyp1f1(lax.add(a, one), lax.add(b, one), x))
    found = lax.mul(slope, dx)
    for place, t in enumerate((da, db)):
        found = lax.add(found, lax.mul(_partial(_kummer, primals, place), t))
    return _hyp1f1(a, b, x), found


def _gauss(a: Array, b: Array, c: Array, x: Array) -> Array:
    zero, one = like(0, x), like(1, x)
    below = lax.lt(x, zero)
    place = where(below, lax.div(x, lax.sub(x, one)), x)
    other = where(below, lax.sub(c, b), b)
    within = lax.lt(place, one)
    safe = where(within, place, 0.0)
    start = lax.min(safe, like(0.5, x))
    count = _HALVES[x.dtype.itemsize]
    value = _series([a, other], [c], start, count)
    more = [lax.add(value, one) for value in (a, other, c)]
    slope = _series(more[:2], more[2:], start, count)
    slope = lax.mul(slope, lax.div(lax.mul(a, other), c))
    value = _continued(a, other, c, safe, (start, value, slope), count)
    ends = where(lax.eq(place, one), _at_one(a, other, c), np.nan)
    value = where(within, value, ends)
    scale = lax.pow(lax.sub(one, where(below, x, zero)), lax.neg(a))
    return lax.mul(scale, value)


def _at_one(a: Array, b: Array, c: Array) -> Array:
    left = lax.sub(lax.sub(c, a), b)
    logs = lax.add(gammaln(c), gammaln(left))
    for value in (lax.sub(c, a), lax.sub(c, b)):
        logs = lax.sub(logs, gammaln(value))
    sign = lax.mul(gammasgn(c), gammasgn(lax.sub(c, a)))
    sign = lax.mul(sign, gammasgn(lax.sub(c, b)))
    return where(lax.gt(left, like(0, c)), lax.mul(sign, lax.exp(logs)), np.inf)


def _continued(a: Array, b: Array, c: Array, x: Array, carry: Any, count: int) -> Array:
    """The solution of the equation at `x`, from its value and slope before it."""
    one, both = like(1, x), lax.add(lax.add(a, b), like(1, a))

    def left(carry: Any) -> Any:
        return (lax.lt(carry[0], x)).any()

    def step(carry: Any) -> Any:
        at, value, slope = carry
        apart = lax.sub(one, at)
        ahead = lax.min(lax.sub(x, at), lax.mul(like(0.5, x), apart))
        moved = lax.gt(ahead, like(0, x))
        scale = lax.div(ahead, lax.mul(where(moved, at, 1.0), apart))
        tilt, turn = lax.sub(apart, at), lax.sub(c, lax.mul(both, at))

        def up(k: Any, terms: Any) -> Any:
            before, now, total, rise = terms
            k = convert(k, x.dtype)
            more, twice = lax.add(k, one), lax.add(k, like(2, k))
            older = lax.mul(lax.mul(lax.add(k, a), lax.add(k, b)), before)
            older = lax.mul(older, ahead)
            newer = lax.mul(lax.add(lax.mul(tilt, k), turn), lax.mul(more, now))
            term = lax.div(lax.sub(older, newer), lax.mul(more, twice))
            term = lax.mul(term, scale)
            return now, term, lax.add(total, term), lax.add(rise, lax.mul(twice, term))

        first = lax.mul(slope, ahead)
        terms = value, first, lax.add(value, first), first
        *_, total, rise = lax.fori_loop(0, count, up, terms)
        new = lax.div(rise, where(moved, ahead, 1.0))
        return lax.add(at, ahead), total, where(moved, new, slope)

    return as_array(lax.while_loop(left, step, carry)[1])


_hyp2f1 = named("hyp2f1", _gauss)


@_hyp2f1.defjvp
def _hyp2f1_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    a, b, c, x = primals
    more = [lax.add(v, like(1, v)) for v in (a, b, c)]
    slope = lax.mul(lax.div(lax.mul(a, b), c), _hyp2f1(*more, x))
    found = lax.mul(slope, tangents[3])
    for place, t in enumerate(tangents[:3]):
        found = lax.add(found, lax.mul(_partial(_gauss, primals, place), t))
    return _hyp2f1(a, b, c, x), found
