"""Integrals of exponentials, sines and cosines. Serves: promote.*, custom_jvp.*

Near 0 they are power series, or polynomials of `fits`; far from it the integrals of
waves are sums of a sine and a cosine with slowly changing factors: M. Abramowitz and I.
Stegun, "Handbook of Mathematical Functions" (1964), 5.2.8, 5.2.9, 7.3.9, 7.3.10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, convert, like, refuse_complex
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.logs import named, reals
from traceir.scipy.special.polynomials import clamped, exact, fitted, widened

_EULER = 0.57721566490153286061
# Where the exponential of the half is infinite, in every dtype.
_OVER = 4096.0
_HARMONIC = [Fraction(1, k * math.factorial(k)) for k in range(1, 50)]


def expi(x: Operand) -> Array:
    """The exponential integral, of `exp(t) / t` up to `x`; floating, -inf at 0.

    Raises TypeError (face.complex).

    >>> expi(1.0)
    Array(1.8951178, dtype=float32)
    """
    found: Array = _narrowed("expi", _expi, x)
    return found


def exp1(x: Operand) -> Array:
    """The integral of `exp(-t) / t` from `x` on; floating, NaN below 0.

    Raises TypeError (face.complex).

    >>> exp1(1.0)
    Array(0.21938396, dtype=float32)
    """
    found: Array = _narrowed("exp1", _exp1, x)
    return found


def _narrowed(name: str, function: Any, x: Operand) -> Any:
    """A function of a wide operand, its results in the operand's dtype."""
    refuse_complex(name, x)
    [value] = reals(name, x)
    found = function(widened(value))
    if isinstance(found, Array):
        return convert(found, value.dtype)
    return tuple(convert(part, value.dtype) for part in found)


def _pieces(x: Array, size: Array, name: str, edges: Sequence[float]) -> Array:
    """Polynomials in `1 / size`, each from its edge on to the next."""
    found = None
    for k, edge in reversed(list(enumerate(edges))):
        high = edges[k + 1] if k + 1 < len(edges) else _OVER
        part = fitted(f"{name}_{k}", lax.div(like(1, x), clamped(size, edge, high)))
        below = lax.lt(size, like(high, x))
        found = part if found is None else where(below, part, found)
    assert found is not None
    return found


def _near(x: Array) -> Array:
    """The exponential integral from -1 to 6 without its infinite part at 0."""
    return lax.mul(x, exact(x, _HARMONIC, 6.0))


def _logarithm(size: Array) -> Array:
    return lax.add(lax.log(size), like(_EULER, size))


def _ei(x: Array) -> Array:
    size = lax.abs(x)
    near = lax.add(_logarithm(size), _near(clamped(x, -1.0, 6.0)))
    # The exponential may be infinite where the quotient is not.
    root = lax.exp(lax.mul(like(0.5, x), clamped(x, 0.0, _OVER)))
    share = lax.div(root, clamped(x, 1.0, _OVER))
    above = lax.mul(root, lax.mul(_pieces(x, x, "ei", (6, 10, 20)), share))
    far = where(lax.gt(x, like(6, x)), above, near)
    return where(lax.lt(x, like(-1, x)), lax.neg(_tail(size)), far)


def _tail(x: Array) -> Array:
    """exp1 from 1 on."""
    share = lax.div(lax.exp(lax.neg(x)), clamped(x, 1.0, _OVER))
    return lax.mul(_pieces(x, x, "e1", (1, 4)), share)


def _e1(x: Array) -> Array:
    small = clamped(x, 0.0, 1.0)
    near = lax.neg(lax.add(_logarithm(lax.max(x, like(0, x))), _near(lax.neg(small))))
    found = where(lax.gt(x, like(1, x)), _tail(x), near)
    return where(lax.lt(x, like(0, x)), np.nan, found)


_expi, _exp1 = named("expi", _ei), named("exp1", _e1)
_expi.defjvps(lambda t, out, x: lax.mul(t, lax.div(lax.exp(x), x)))


@_exp1.defjvp
def _exp1_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    [x], [t] = primals, tangents
    slope = lax.neg(lax.div(lax.exp(lax.neg(x)), x))
    return _exp1(x), lax.mul(t, where(lax.lt(x, like(0, x)), np.nan, slope))


def sici(x: Operand) -> tuple[Array, Array]:
    """The sine integral and the cosine integral, up to `x`; floating.

    The second is that of `|x|`, -inf at 0. Raises TypeError (face.complex).

    >>> sici(1.0)
    (Array(0.94608307, dtype=float32), Array(0.33740395, dtype=float32))
    """
    found: tuple[Array, Array] = _narrowed("sici", _sici, x)
    return found


def _integrals(x: Array) -> tuple[Array, Array]:
    size = lax.abs(x)
    small = clamped(size, 0.0, 4.0)
    square = lax.mul(small, small)
    sine = lax.mul(small, fitted("si", square))
    cosine = lax.add(_logarithm(size), lax.mul(square, fitted("ci", square)))
    f, g = (_slow(size, f"si_{part}", power) for part, power in (("f", 1), ("g", 2)))
    # At infinity there is nothing left, whichever angle is taken.
    angle = where(lax.eq(size, like(np.inf, x)), 0.0, size)
    s, c = lax.sin(angle), lax.cos(angle)
    far_sine = lax.sub(like(math.pi / 2, x), lax.add(lax.mul(f, c), lax.mul(g, s)))
    far_cosine = lax.sub(lax.mul(f, s), lax.mul(g, c))
    far = lax.gt(size, like(4, x))
    sine = where(far, far_sine, sine)
    # The sign of a zero is that of the operand.
    signed = where(lax.lt(x, like(0, x)), lax.neg(sine), sine)
    signed = where(lax.eq(x, like(0, x)), x, signed)
    return signed, where(far, far_cosine, cosine)


def _slow(size: Array, name: str, power: int) -> Array:
    """An auxiliary function from 4 on."""
    inverse = lax.div(like(1, size), lax.max(size, like(4.0, size)))
    square = lax.mul(inverse, inverse)
    parts = [
        fitted(f"{name}_{k}", clamped(square, low, high))
        for k, (low, high) in enumerate([(1 / 64, 1 / 16), (0.0, 1 / 64)])
    ]
    found = where(lax.gt(size, like(8, size)), parts[1], parts[0])
    return lax.mul(found, inverse if power == 1 else square)


_sici = named("sici", _integrals)


@_sici.defjvp
def _sici_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    [x], [t] = primals, tangents
    at_zero = lax.eq(x, like(0, x))
    sine = where(at_zero, 1.0, lax.div(lax.sin(x), where(at_zero, 1.0, x)))
    cosine = lax.div(lax.cos(x), x)
    return _sici(x), (lax.mul(t, sine), lax.mul(t, cosine))


def fresnel(x: Operand) -> tuple[Array, Array]:
    """Fresnel's integrals, of the sine and of the cosine of `pi * t**2 / 2` up to `x`.

    Floating. Raises TypeError (face.complex).

    >>> fresnel(1.0)
    (Array(0.43825912, dtype=float32), Array(0.7798934, dtype=float32))
    """
    found: tuple[Array, Array] = _narrowed("fresnel", _fresnel, x)
    return found


_EDGES = (1.625, 3.0)
# From here on both are 1/2 in the dtype.
_STILL = {np.dtype(np.float32): 2.0**26, np.dtype(np.float64): 2.0**55}


def _turn(x: Array) -> Array:
    """`pi * x**2 / 2`, less whole turns: those of the square of an even number."""
    half = lax.mul(x, like(0.5, x))
    even = lax.mul(like(2, x), lax.round(half, lax.RoundingMethod.TO_NEAREST_EVEN))
    left = lax.sub(x, even)
    mixed = lax.rem(lax.mul(lax.mul(like(2, x), even), left), like(4, x))
    return lax.mul(lax.add(mixed, lax.mul(left, left)), like(math.pi / 2, x))


def _chirps(x: Array) -> tuple[Array, Array]:
    size = clamped(lax.abs(x), 0.0, _STILL[x.dtype])
    small = clamped(size, 0.0, _EDGES[0])
    square = lax.mul(small, small)
    fourth = lax.mul(square, square)
    sine = lax.mul(lax.mul(square, small), fitted("fresnel_s", fourth))
    cosine = lax.mul(small, fitted("fresnel_c", fourth))
    inverse = lax.div(like(1, x), lax.max(size, like(_EDGES[0], x)))
    parts = _envelope("f", size, inverse), _envelope("g", size, inverse)
    f = lax.mul(parts[0], lax.mul(inverse, like(1 / math.pi, x)))
    cube = lax.mul(inverse, lax.mul(inverse, inverse))
    g = lax.mul(parts[1], lax.mul(cube, like(1 / math.pi**2, x)))
    s, c, half = lax.sin(_turn(size)), lax.cos(_turn(size)), like(0.5, x)
    far_sine = lax.sub(half, lax.add(lax.mul(f, c), lax.mul(g, s)))
    far_cosine = lax.add(half, lax.sub(lax.mul(f, s), lax.mul(g, c)))
    far, below = lax.gt(size, like(_EDGES[0], x)), lax.lt(x, like(0, x))
    pair = where(far, far_sine, sine), where(far, far_cosine, cosine)
    first, second = (where(below, lax.neg(part), part) for part in pair)
    return first, second


def _envelope(name: str, size: Array, inverse: Array) -> Array:
    square = lax.mul(inverse, inverse)
    fourth = lax.mul(square, square)
    low, high = _EDGES[1] ** -4, _EDGES[0] ** -4
    near = fitted(f"fresnel_{name}_0", clamped(fourth, low, high))
    far = fitted(f"fresnel_{name}_1", clamped(fourth, 0.0, low))
    return where(lax.gt(size, like(_EDGES[1], size)), far, near)


_fresnel = named("fresnel", _chirps)


@_fresnel.defjvp
def _fresnel_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    [x], [t] = primals, tangents
    slopes = lax.sin(_turn(x)), lax.cos(_turn(x))
    return _fresnel(x), (lax.mul(t, slopes[0]), lax.mul(t, slopes[1]))
