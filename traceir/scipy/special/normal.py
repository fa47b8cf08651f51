"""The error functions and the normal distribution. Serves: promote.*, custom_jvp.*"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, convert, like, operand
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.logs import filled, named, real
from traceir.tracing.trace import typeof
from traceir.transforms.custom.custom_jvp import custom_jvp

_HALF_LOG_TAU = math.log(2 * math.pi) / 2
# Below these numbers the asymptotic series of so many terms is as exact as the dtype
# allows.
_SERIES = {np.dtype(np.float32): -10.0, np.dtype(np.float64): -20.0}
_TERMS = {np.dtype(np.float32): 3, np.dtype(np.float64): 10}


def erf(x: Operand) -> Array:
    """The error function, floating.

    >>> erf(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return real("erf", x)


def erfc(x: Operand) -> Array:
    """`1 - erf(x)`, exact far above 0; floating.

    >>> erfc(0)
    Array(1., dtype=float32, weak_type=True)
    """
    return real("erfc", x)


def erfinv(x: Operand) -> Array:
    """The inverse of `erf`; floating, NaN beyond 1.

    >>> erfinv(0)
    Array(0., dtype=float32, weak_type=True)
    """
    return real("erfinv", x, "erf_inv")


def _single(name: str, x: Operand) -> Array:
    """An operand in single or double precision; TypeError (face.single)."""
    value = as_array(operand(name, x))
    if typeof(value).dtype not in _SERIES:
        raise rules.error("face.single", got=f"{name} of {typeof(value).str_short()}")
    return value


def ndtr(x: Operand) -> Array:
    """The normal distribution's cdf: how much of it is below.

    Raises TypeError (face.single).

    >>> ndtr(0.0)
    Array(0.5, dtype=float32)
    """
    value = _single("ndtr", asarray(x))
    return convert(_ndtr(value), value.dtype)


def _ndtr(x: Array) -> Array:
    root = like(math.sqrt(0.5), x)
    scaled = lax.mul(x, root)
    size = lax.abs(scaled)
    near = lax.lt(size, root)
    middle = lax.add(like(1.0, x), lax.erf(scaled))
    above = lax.gt(scaled, like(0, x))
    high = lax.sub(like(2.0, x), lax.erfc(size))
    ends = lax.select(above, high, lax.erfc(size))
    return lax.mul(like(0.5, x), lax.select(near, middle, ends))


def log_ndtr(x: Operand, series_order: int = 3) -> Array:
    """The logarithm of `ndtr`, exact far below 0 and above; TypeError (face.single).

    Far below, an asymptotic series of at least `series_order` terms is summed: M.
    Abramowitz and I. Stegun, "Handbook of Mathematical Functions" (1964), 26.2.12.

    >>> log_ndtr(-100.0)
    Array(-5005.524, dtype=float32)
    """
    value = _single("log_ndtr", asarray(x))
    found: Array = convert(_log_ndtr(value, index(series_order)), value.dtype)
    return found


def _pieces(x: Array, series_order: int) -> Array:
    dtype = typeof(x).dtype
    lower = like(_SERIES[dtype], x)
    high = lax.gt(x, like(0, x))
    # What is not taken has derivatives, too: its operand is one where they are finite.
    middle = _ndtr(where(high, lax.neg(x), lax.max(x, lower)))
    above = lax.log1p(lax.neg(middle))
    between, log = lax.gt(x, lower), lax.log(middle)
    terms = max(series_order, _TERMS[dtype])
    low = where(between, log, _tail(lax.min(x, lower), terms))
    return where(high, above, low)


def _tail(x: Array, series_order: int) -> Array:
    square = lax.mul(like(-0.5, x), lax.square(x))
    lead = lax.sub(square, lax.log(lax.neg(x)))
    lead = lax.sub(lead, like(_HALF_LOG_TAU, x))
    return lax.add(lead, lax.log(_series(lax.square(x), series_order)))


def _series(square: Array, order: int) -> Array:
    """1 - 1/x**2 + 3/x**4 - 15/x**6 and so on, positive and negative terms apart."""
    sums = [filled(square, 0), filled(square, 0)]
    power, double_factorial = square, 1.0
    for n in range(1, order + 1):
        term = lax.div(like(double_factorial, square), power)
        sums[n % 2] = lax.add(sums[n % 2], term)
        power = lax.mul(power, square)
        double_factorial *= 2 * n + 1
    return lax.sub(lax.add(like(1, square), sums[0]), sums[1])


def _log_density(x: Array) -> Array:
    square = lax.mul(like(-0.5, x), lax.square(x))
    return lax.sub(square, like(_HALF_LOG_TAU, x))


_pieces.__name__ = "log_ndtr"
_log_ndtr = custom_jvp(_pieces, nondiff_argnums=(1,))


@_log_ndtr.defjvp
def _log_ndtr_jvp(order: int, primals: Any, tangents: Any) -> tuple[Array, Array]:
    [x], [t] = primals, tangents
    found = _log_ndtr(x, order)
    return found, lax.mul(t, lax.exp(lax.sub(_log_density(x), found)))


def ndtri(p: Operand) -> Array:
    """The inverse of `ndtr`: the point below which a part `p` of the distribution is.

    NaN outside of 0 to 1. In the tails it is found by Newton's method on the logarithm
    of `ndtr`, which is concave, so that every step comes nearer. Raises TypeError
    (face.single).

    >>> import traceir.numpy as jnp
    >>> ndtri(jnp.array([0.0, 0.5, 1.0]))
    Array([-inf,   0.,  inf], dtype=float32)
    """
    value = _single("ndtri", p)
    found: Array = convert(_ndtri(value), value.dtype)
    return found


_TAIL = 0.05
_STEPS = {np.dtype(np.float32): 3, np.dtype(np.float64): 4}


def _inverse(p: Array) -> Array:
    half, one = like(0.5, p), like(1, p)
    high = lax.gt(p, half)
    part = lax.select(high, lax.sub(one, p), p)
    tail = lax.lt(part, like(_TAIL, p))
    twice = lax.sub(lax.mul(like(2, p), p), one)
    middle = lax.mul(like(math.sqrt(2), p), lax.erf_inv(twice))
    low = _newton(lax.select(tail, part, filled(p, _TAIL)))
    inside = lax.select(tail, lax.select(high, lax.neg(low), low), middle)
    end = lax.eq(part, like(0, p))
    signed = lax.mul(lax.sub(p, half), like(np.inf, p))
    return lax.select(end, signed, inside)


def _newton(p: Array) -> Array:
    """The point below which a small part of the normal distribution lies."""
    wanted = lax.log(p)
    # The first terms of the tail's own series: Abramowitz and Stegun, 26.2.12.
    square = lax.mul(like(-2, p), wanted)
    less = lax.add(lax.log(square), like(2 * _HALF_LOG_TAU, p))
    z = lax.neg(lax.sqrt(lax.sub(square, less)))
    for _ in range(_STEPS[typeof(p).dtype]):
        now = _pieces(z, 3)
        slope = lax.exp(lax.sub(_log_density(z), now))
        z = lax.sub(z, lax.div(lax.sub(now, wanted), slope))
    return z


_ndtri = named("ndtri", _inverse)


@_ndtri.defjvp
def _ndtri_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    [p], [t] = primals, tangents
    z = _ndtri(p)
    return z, lax.mul(t, lax.exp(lax.neg(_log_density(z))))
