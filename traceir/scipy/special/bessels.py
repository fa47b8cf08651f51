"""Bessel functions of the first kind. Serves: promote.*, custom_jvp.*, face.choice"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, convert, like, refuse_complex
from traceir.numpy.elementwise.arithmetic import abs, divide, exp, multiply
from traceir.numpy.elementwise.composites import where
from traceir.numpy.manipulation.shapes import concatenate, stack
from traceir.scipy.special.logs import filled, real, reals
from traceir.scipy.special.polynomials import widened
from traceir.transforms.custom.custom_jvp import custom_jvp


def i0e(x: Operand) -> Array:
    """`exp(-|x|) * i0(x)`, which does not overflow; floating.

    >>> i0e(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return real("i0e", x, "bessel_i0e")


def i1e(x: Operand) -> Array:
    """`exp(-|x|) * i1(x)`, which does not overflow; floating.

    >>> i1e(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return real("i1e", x, "bessel_i1e")


def i0(x: Operand) -> Array:
    """The modified Bessel function of order 0; floating.

    >>> i0(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return exp(abs(x)) * i0e(x)


def i1(x: Operand) -> Array:
    """The modified Bessel function of order 1; floating.

    >>> i1(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return exp(abs(x)) * i1e(x)


def bessel_jn(z: Operand, *, v: int, n_iter: int = 50) -> Array:
    """The Bessel functions of the first kind of orders 0 to `v`, along a first axis.

    Floating; they are found by recurrence from far above, so that `z` has to be within
    `n_iter` of 0, and is NaN beyond. Raises ValueError (face.choice), TypeError
    (face.complex).

    >>> bessel_jn(1.0, v=1)
    Array([0.76519763, 0.44005054], dtype=float32)
    """
    refuse_complex("bessel_jn", z)
    order, reach = index(v), index(n_iter)
    if order < 0 or reach < 1:
        got = f"v={order} and n_iter={reach} in bessel_jn"
        raise rules.error("face.choice", got=got, hint="v from 0 on, n_iter from 1 on")
    [value] = reals("bessel_jn", z)
    found = _bessel_jn(widened(value), order, reach)
    return as_array(convert(found, value.dtype))


# Below, the first term of the power series is all there is.
_TINY = {np.dtype(np.float32): 2.0**-11, np.dtype(np.float64): 2.0**-26}
_LARGE = 2.0**40


def _orders(z: Array, v: int, n_iter: int) -> Array:
    tiny = lax.lt(lax.abs(z), like(_TINY[z.dtype], z))
    far = lax.gt(lax.abs(z), like(n_iter, z))
    found = _backwards(where(lax.bitwise_or(tiny, far), 1.0, z), v, n_iter)
    half = lax.mul(z, like(0.5, z))
    lead = [
        lax.mul(lax.integer_pow(half, k), like(1 / math.factorial(min(k, 170)), z))
        for k in range(v + 1)
    ]
    found = where(tiny, stack(lead), found)
    return where(lax.bitwise_or(far, lax.ne(z, z)), np.nan, found)


def _backwards(z: Array, v: int, n_iter: int) -> Array:
    """The functions by the recurrence from an order that counts no more down to 0."""
    start = max(n_iter, v) + 8 * math.ceil(n_iter ** (1 / 3)) + 8
    places = lax.broadcasted_iota(np.dtype(np.int32), (v + 1, *z.shape), 0)
    inverse = lax.div(like(2, z), z)

    def down(done: Any, carry: Any) -> Any:
        after, now, total, kept = carry
        order = lax.sub(like(start - 1, done), done)
        above = convert(lax.add(order, like(1, order)), z.dtype)
        before = lax.sub(lax.mul(lax.mul(above, inverse), now), after)
        even = lax.eq(lax.rem(order, like(2, order)), like(0, order))
        twice = where(lax.eq(order, like(0, order)), 1.0, 2.0)
        share = lax.mul(before, convert(where(even, twice, 0.0), z.dtype))
        here = lax.eq(places, convert(order, places.dtype))
        kept = where(here, before, kept)
        large = lax.gt(lax.abs(before), like(_LARGE, z))
        scale = where(large, like(1 / _LARGE, z), filled(z, 1.0))
        parts = now, before, lax.add(total, share), kept
        return tuple(multiply(part, scale) for part in parts)

    none = filled(z, 0)
    kept = lax.full((v + 1, *z.shape), 0, z.dtype)
    carry = none, filled(z, 1.0), none, kept
    *_, total, kept = lax.fori_loop(0, start, down, carry)
    return divide(kept, total)


_orders.__name__ = "bessel_jn"
_bessel_jn = custom_jvp(_orders, nondiff_argnums=(1, 2))


@_bessel_jn.defjvp
def _bessel_jn_jvp(v: int, n_iter: int, primals: Any, tangents: Any) -> Any:
    [z], [t] = primals, tangents
    more = _bessel_jn(z, v + 1, n_iter)
    lower = concatenate([lax.neg(more[1:2]), more[:v]])
    return more[: v + 1], multiply((lower - more[1:]) * 0.5, t)
