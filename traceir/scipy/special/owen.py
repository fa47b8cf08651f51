"""Owen's T function. Serves: promote.*, custom_jvp.*

D. B. Owen, "Tables for computing bivariate normal probabilities", Annals of
Mathematical Statistics 27 (1956): it is an integral, here summed by Gauss' rule, and
that from one on is what normal probabilities leave of another.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    like,
    refuse_complex,
)
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.logs import named, reals

# How many points, and where the exponential is nothing any more.
_POINTS = {4: (14, 5.75), 8: (30, 8.75)}


@cache
def _rule(count: int) -> list[tuple[float, float]]:
    """Points and weights between 0 and 1."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return [(float(p) / 2 + 0.5, float(w) / 2) for p, w in zip(points, weights)]


def owens_t(h: Operand, a: Operand) -> Array:
    """The probability of a normal number above `h`, another from 0 to `a` times it.

    The result is of the default float dtype. Raises TypeError (face.complex,
    face.broadcast).

    >>> owens_t(1.0, 2.0)
    Array(0.0784682, dtype=float32)
    """
    refuse_complex("owens_t", h, a)
    dtype = default_dtype(float)
    operands = [as_array(convert(x, dtype)) for x in reals("owens_t", h, a)]
    found: Array = _owens_t(*operands)
    return found


def _t(h: Array, a: Array) -> Array:
    h, size = lax.abs(h), lax.abs(a)
    beyond = lax.gt(size, like(1, a))
    product = where(lax.eq(h, like(0, h)), 0.0, lax.mul(h, size))
    inverse = lax.div(like(1, a), lax.max(size, like(1, a)))
    inside = _integral(where(beyond, product, h), where(beyond, inverse, size))
    first, second = _above(h), _above(product)
    half = lax.mul(like(0.5, a), lax.add(first, second))
    outside = lax.sub(lax.sub(half, lax.mul(first, second)), inside)
    found = where(beyond, outside, inside)
    return lax.mul(lax.sign(a), found)


def _above(h: Array) -> Array:
    """The part of the normal distribution that is above."""
    root = lax.mul(h, like(math.sqrt(0.5), h))
    return lax.mul(like(0.5, h), lax.erfc(root))


def _integral(h: Array, a: Array) -> Array:
    """The function where `a` is from 0 to 1."""
    count, reach = _POINTS[h.dtype.itemsize]
    end = lax.min(a, lax.div(like(reach, h), h))
    total: Any = like(0, h)
    for point, weight in _rule(count):
        place = lax.mul(end, like(point, h))
        spread = lax.mul(h, place)
        fall = lax.exp(lax.mul(like(-0.5, h), lax.mul(spread, spread)))
        share = lax.div(like(weight, h), lax.add(like(1, h), lax.mul(place, place)))
        total = lax.add(total, lax.mul(fall, share))
    ahead = lax.exp(lax.mul(like(-0.5, h), lax.mul(h, h)))
    total = lax.mul(lax.mul(total, end), like(0.5 / math.pi, h))
    return where(lax.eq(ahead, like(0, h)), 0.0, lax.mul(ahead, total))


_owens_t = named("owens_t", _t)


@_owens_t.defjvp
def _owens_t_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (h, a), (dh, da) = primals, tangents
    half = lax.mul(like(-0.5, h), lax.mul(h, h))
    wide = lax.add(like(1, a), lax.mul(a, a))
    root = lax.mul(lax.mul(a, h), like(math.sqrt(0.5), h))
    by_h = lax.mul(lax.exp(half), lax.erf(root))
    by_h = lax.mul(by_h, like(-0.5 / math.sqrt(2 * math.pi), h))
    by_a = lax.div(lax.exp(lax.mul(half, wide)), wide)
    by_a = lax.mul(by_a, like(0.5 / math.pi, a))
    return _owens_t(h, a), lax.add(lax.mul(dh, by_h), lax.mul(da, by_a))
