"""Error functions of complex numbers, and scaled ones. Serves: custom_jvp.*

An integral with a Gaussian weight is a sum at equal distances, and what its poles leave
out is an exponential: C. Chiarella and A. Reichel, "On the evaluation of integrals
related to the error function", Mathematics of Computation 22 (1968). The points are
those between multiples of a step, or the multiples, whichever are further away.
"""

from __future__ import annotations

import math
from typing import Any

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import Operand, as_array, convert, like, refuse_complex
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.logs import filled, named, reals
from traceir.scipy.special.polynomials import clamped, fitted, widened

# The step, and how many points count: the sum is as exact as exp(-(pi / step)**2).
_STEPS = {4: (0.6875, 7), 8: (0.5, 13)}
_ROOT = math.sqrt(math.pi)


def _step(x: Array) -> tuple[float, int]:
    return _STEPS[x.dtype.itemsize // (2 if kind_of(x.dtype) == "c" else 1)]


def erfcx(x: Operand) -> Array:
    """`exp(x**2) * erfc(x)`, which does not vanish far above 0; floating or complex.

    >>> erfcx(100.0)
    Array(0.00564161, dtype=float32)
    """
    [value] = reals("erfcx", x)
    if kind_of(value.dtype) == "c":
        found: Array = _wofz(_turned(_strong(value)))
        return found
    return as_array(convert(_erfcx(widened(value)), value.dtype))


def _scaled(x: Array) -> Array:
    size = lax.abs(x)
    step, count = _step(x)
    total = filled(x, 0)
    for k in range(count):
        place = ((k + 0.5) * step) ** 2
        apart = lax.add(size, lax.div(like(place, x), size))
        weight = like(2 * step / math.pi * math.exp(-place), x)
        total = lax.add(total, lax.div(weight, apart))
    # Up to a half turn of its poles the sum lacks this.
    near = clamped(size, 0.0, math.pi / step)
    fade = lax.mul(near, like(-2 * math.pi / step, x))
    lack = lax.exp(lax.add(lax.mul(near, near), fade))
    lack = lax.div(lax.mul(like(2, x), lack), lax.add(like(1, x), lax.exp(fade)))
    found = lax.add(total, where(lax.lt(size, like(math.pi / step, x)), lack, 0.0))
    low = lax.mul(like(2, x), lax.exp(lax.mul(x, x)))
    return where(lax.lt(x, like(0, x)), lax.sub(low, found), found)


_erfcx = named("erfcx", _scaled)


@_erfcx.defjvp
def _erfcx_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    [x], [t] = primals, tangents
    found = _erfcx(x)
    rise = lax.mul(like(2, x), lax.mul(x, found))
    return found, lax.mul(t, lax.sub(rise, like(2 / _ROOT, x)))


def dawsn(x: Operand) -> Array:
    """Dawson's integral: `exp(-x**2)` times that of `exp(t**2)` up to `x`; floating.

    Raises TypeError (face.complex).

    >>> dawsn(1.0)
    Array(0.5380795, dtype=float32)
    """
    refuse_complex("dawsn", x)
    [value] = reals("dawsn", x)
    return as_array(convert(_dawsn(widened(value)), value.dtype))


def _dawson(x: Array) -> Array:
    size = lax.abs(x)
    square = lax.mul(x, x)
    small = clamped(square, 0.0, 9.0)
    near = lax.add(like(1, x), lax.mul(small, fitted("dawsn_0", small)))
    near = lax.div(near, lax.add(like(1, x), lax.mul(like(2, x), small)))
    near = lax.mul(x, near)
    inverse = lax.div(like(1, x), lax.max(square, like(9.0, x)))
    parts = [
        fitted(f"dawsn_{k}", clamped(inverse, low, high))
        for k, (low, high) in enumerate([(1 / 36, 1 / 9), (0.0, 1 / 36)], 1)
    ]
    far = where(lax.gt(size, like(6, x)), parts[1], parts[0])
    far = lax.div(far, lax.mul(like(2, x), x))
    return where(lax.gt(size, like(3, x)), far, near)


_dawsn = named("dawsn", _dawson)


@_dawsn.defjvp
def _dawsn_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    [x], [t] = primals, tangents
    found = _dawsn(x)
    fall = lax.mul(like(2, x), lax.mul(x, found))
    return found, lax.mul(t, lax.sub(like(1, x), fall))


def wofz(z: Operand) -> Array:
    """The Faddeeva function `exp(-z**2) * erfc(-1j * z)`; complex.

    >>> wofz(1j)
    Array(0.4275836+0.j, dtype=complex64)
    """
    [value] = reals("wofz", z)
    if kind_of(value.dtype) != "c":
        value = _strong(widened(value))
        value = lax.complex(value, filled(value, 0))
    found: Array = _wofz(_strong(value))
    return found


def _strong(value: Array) -> Array:
    return as_array(convert(value, value.dtype))


def _turned(z: Array) -> Array:
    """`1j * z`, the signs of zeros and infinities kept."""
    return lax.complex(lax.neg(lax.imag(z)), lax.real(z))


def _upper(z: Array) -> Array:
    """The function where the imaginary part is not below 0."""
    x, y = lax.real(z), lax.imag(z)
    step, count = _step(z)
    turns = lax.div(lax.abs(x), like(step, x))
    part = lax.sub(turns, lax.floor(turns))
    # Between multiples, unless the number itself is there.
    whole = lax.bitwise_and(lax.ge(part, like(0.25, x)), lax.le(part, like(0.75, x)))
    square, total = lax.mul(z, z), filled(z, 0)
    for k in range(count):
        places = ((k + 0.5) * step) ** 2, (k * step) ** 2
        weights = math.exp(-places[0]), math.exp(-places[1]) * (1 if k else 0.5)
        place = where(whole, like(places[1], x), like(places[0], x))
        weight = where(whole, like(weights[1], x), like(weights[0], x))
        apart = lax.sub(square, lax.complex(place, filled(x, 0)))
        total = lax.add(total, lax.div(lax.complex(weight, filled(x, 0)), apart))
    total = lax.mul(total, lax.mul(z, like(2 * step / math.pi, z)))
    return lax.add(_turned(total), _lack(z, square, y, whole))


def _lack(z: Array, square: Array, y: Array, whole: Array) -> Array:
    """The contribution of the poles that the sum leaves out."""
    step, _ = _step(z)
    near = lax.lt(y, like(math.pi / step, y))
    safe = where(near, z, like(0, z))
    turn = lax.exp(lax.mul(_turned(safe), like(2 * math.pi / step, z)))
    fall = lax.exp(lax.neg(where(near, square, like(0, z))))
    signed = where(whole, lax.neg(turn), turn)
    # The exponential of the quotient's inverse, which does not overflow.
    found = lax.mul(
        like(2, z), lax.mul(fall, lax.div(turn, lax.add(like(1, z), signed)))
    )
    return where(near, where(whole, lax.neg(found), found), like(0, z))


# From here on the first term of the asymptotic series is all there is.
_FAR = 2.0**27


def _everywhere(z: Array) -> Array:
    below = lax.lt(lax.imag(z), like(0, lax.imag(z)))
    upper = where(below, lax.neg(z), z)
    size = lax.max(lax.abs(lax.real(z)), lax.abs(lax.imag(z)))
    far = lax.gt(size, like(_FAR, size))
    near = _upper(where(far, like(1j, z), upper))
    found = where(far, lax.div(like(1j / _ROOT, z), upper), near)
    square = lax.mul(z, z)
    other = lax.mul(like(2, z), lax.exp(lax.neg(where(below, square, like(0, z)))))
    return where(below, lax.sub(other, found), found)


_wofz = named("wofz", _everywhere)


@_wofz.defjvp
def _wofz_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    [z], [t] = primals, tangents
    found = _wofz(z)
    fall = lax.mul(like(2, z), lax.mul(z, found))
    return found, lax.mul(t, lax.sub(like(2j / _ROOT, z), fall))
