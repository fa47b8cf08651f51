"""Spherical harmonics. Serves: face.choice

The functions of the polar angle come one degree after another: M. Abramowitz and I.
Stegun, "Handbook of Mathematical Functions" (1964), 8.5.3, normalized as 8.14.13 says.
"""

from __future__ import annotations

import math
from operator import index

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    as_array,
    convert,
    default_dtype,
    like,
    operand,
    refuse_complex,
)
from traceir.numpy.assembly.tiling import broadcast_arrays
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.logs import filled, reals


def sph_harm_y(
    n: Operand,
    m: Operand,
    theta: Operand,
    phi: Operand,
    diff_n: None = None,
    n_max: int | None = None,
) -> Array:
    """Spherical harmonics of degree `n` and order `m`, of a polar angle and an azimuth.

    Degrees and orders are of an integer dtype, and no degree is above `n_max`, by
    default the greatest: NaN if one is. The result is complex, of default floats.
    Raises TypeError (face.integers) for other dtypes, ValueError (face.choice) for
    `diff_n`.

    >>> sph_harm_y(1, 0, 0.0, 0.0)
    Array(0.48860252+0.j, dtype=complex64)
    """
    if diff_n is not None:
        raise rules.error("face.choice", got=f"diff_n={diff_n!r} in sph_harm_y")
    refuse_complex("sph_harm_y", theta, phi)
    places = [operand("sph_harm_y", x) for x in (n, m)]
    for x in map(as_array, places):
        if kind_of(x.dtype) not in "iu":
            got = f"degrees or orders of dtype {x.dtype} in sph_harm_y"
            raise rules.error("face.integers", got=got)
    dtype = default_dtype(float)
    angles = [convert(x, dtype) for x in reals("sph_harm_y", theta, phi)]
    parts = broadcast_arrays(*aligned("sph_harm_y", [*places, *angles]))
    # A traced degree raises here, as every size that is traced does.
    greatest = index(parts[0].max() if n_max is None else n_max)
    return _harmonics(parts[0], parts[1], parts[2], parts[3], greatest)


def _harmonics(n: Array, m: Array, theta: Array, phi: Array, n_max: int) -> Array:
    degree, order = as_array(convert(n, theta.dtype)), as_array(convert(m, theta.dtype))
    order = lax.abs(order)
    # Beyond 0 and pi the sine is that of the angle within that has the same cosine.
    sine = lax.sin(theta)
    sine = where(lax.lt(sine, like(0, sine)), lax.neg(sine), sine)
    size = _legendre(degree, order, lax.cos(theta), sine, n_max)
    size = where(lax.gt(degree, like(n_max, degree)), np.nan, size)
    odd = lax.ne(lax.rem(order, like(2, order)), like(0, order))
    below = lax.lt(m, like(0, m))
    signed = where(lax.bitwise_and(below, odd), lax.neg(size), size)
    turn = lax.mul(as_array(convert(m, phi.dtype)), phi)
    return lax.complex(lax.mul(signed, lax.cos(turn)), lax.mul(signed, lax.sin(turn)))


def _legendre(n: Array, m: Array, x: Array, s: Array, n_max: int) -> Array:
    """The normalized associated functions, each degree from the two before it."""
    zero, one = filled(x, 0.0), filled(x, 1.0)
    before, now, found = zero, zero, zero
    first = filled(x, math.sqrt(0.25 / math.pi))
    for k in range(n_max + 1):
        if k:
            first = lax.mul(first, lax.mul(s, like(-math.sqrt(1 + 0.5 / k), s)))
        above = lax.sub(like(k * k, x), lax.mul(m, m))
        rest = lax.sub(like((k - 1) ** 2, x), lax.mul(m, m))
        later = lax.gt(like(k, m), m)
        scale = lax.sqrt(lax.div(like(abs(4 * k * k - 1), x), where(later, above, one)))
        share = lax.max(lax.div(rest, like(max(4 * (k - 1) ** 2 - 1, 1), x)), zero)
        following = lax.mul(x, now) - lax.mul(lax.sqrt(share), before)
        following = where(later, lax.mul(scale, following), zero)
        before, now = now, where(lax.eq(m, like(k, m)), first, following)
        found = where(lax.eq(n, like(k, n)), now, found)
    return found
