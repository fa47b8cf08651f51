"""Results of the Array API standard where JAX has others.

Serves: cache.flag.array_api

With the flag `array_api` they are signs of zeros, quotients at infinities and the dtype
of places. Plain NumPy functions have NumPy's in any case.
"""

from __future__ import annotations

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.config import local
from traceir.lax.checks.operands import Operand, like
from traceir.numpy.elementwise.logic import isinf


def is_followed() -> bool:
    """True if the flag is on, and the function is none of NumPy's."""
    context = local.context
    return bool(context.array_api) and context.face == "jax"


def quotient(floor: Array, x: Array, y: Array) -> Array:
    """A floor quotient of floats by the standard: of an infinite operand it is their
    quotient, and 0 has its sign.
    """
    whole = lax.div(x, y)
    zero = lax.mul(whole, like(0, whole))
    floor = lax.select_n(lax.eq(floor, like(0, floor)), floor, zero)
    return lax.select_n(lax.bitwise_or(isinf(x), isinf(y)), floor, whole)


def remainder(rest: Array, y: Array) -> Array:
    """A remainder of floats by the standard: 0 has the sign of the divisor."""
    zero = lax.mul(lax.abs(rest), lax.sign(y))
    return lax.select_n(lax.eq(rest, like(0, rest)), rest, zero)


def sign(x: Operand) -> Array:
    """Signs by the standard, and by NumPy: that of -0 is 0."""
    found = lax.sign(x)
    zero = lax.broadcast(like(0, found), found.shape)
    return lax.select_n(lax.eq(found, zero), found, zero)
