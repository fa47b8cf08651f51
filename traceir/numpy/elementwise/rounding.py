"""Rounding, remainders and special values. Serves: promote.*

Functions of several operands promote and broadcast them as those of
`traceir.numpy.elementwise.arithmetic` do.
"""

from __future__ import annotations

import math

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import finfo, kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    as_array,
    convert,
    default_dtype,
    like,
    operand,
    operands,
    promoted_inexact,
    promoted_numeric,
    refuse_complex,
    refuse_key,
    shape_of,
    typed,
)
from traceir.numpy.elementwise.composites import round as _round
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import equal, greater, isnan, less, logical_or
from traceir.tracing.trace import typeof

EVEN = lax.RoundingMethod.TO_NEAREST_EVEN


@composite
def trunc(x: Operand) -> Array:
    """Each element without its fraction; integers stay.

    >>> trunc(-1.5)
    Array(-1., dtype=float32, weak_type=True)
    """
    refuse_complex("trunc", x)
    value = operand("trunc", x)
    refuse_key(value)
    if kind_of(typeof(value).dtype) != "f":
        return as_array(value)
    return _where(lax.lt(value, like(0, value)), lax.ceil(value), lax.floor(value))


@composite
def rint(x: Operand) -> Array:
    """The nearest whole number to each element, halves to even; floating.

    >>> rint(2.5), rint(3)
    (Array(2., dtype=float32, weak_type=True), Array(3., dtype=float32))
    """
    value = operand("rint", x)
    dtype = typeof(value).dtype
    if dtype.kind == "c":
        return lax.complex(rint(lax.real(value)), rint(lax.imag(value)))
    if kind_of(dtype) != "f":
        return as_array(convert(value, default_dtype(float)))
    return lax.round(value, EVEN)


@composite(static_argnames=["decimals"])
def around(a: Operand, decimals: int = 0, out: None = None) -> Array:
    """Elements rounded to `decimals` places, as by `round`.

    >>> around(2.567, 2)
    Array(2.57, dtype=float32, weak_type=True)
    """
    return _round(a, decimals, out)


@composite
def modf(x: Operand) -> tuple[Array, Array]:
    """The fraction of each element and its whole part, with its sign; floating.

    >>> modf(2.75)
    (Array(0.75, dtype=float32, weak_type=True),
     Array(2., dtype=float32, weak_type=True))
    """
    refuse_complex("modf", x)
    (value,) = promoted_inexact("modf", x)
    up = lax.ge(value, like(0, value))
    whole: Array = _where(up, lax.floor(value), lax.ceil(value))
    return lax.sub(value, whole), whole


def fabs(x: Operand) -> Array:
    """Magnitude of each element, floating.

    >>> fabs(-2)
    Array(2., dtype=float32, weak_type=True)
    """
    refuse_complex("fabs", x)
    return lax.abs(*promoted_inexact("fabs", x))


def deg2rad(x: Operand) -> Array:
    """Each element, an angle in degrees, in radians; floating.

    >>> deg2rad(180)
    Array(3.1415927, dtype=float32, weak_type=True)
    """
    return _scaled("deg2rad", x, math.pi / 180)


def rad2deg(x: Operand) -> Array:
    """Each element, an angle in radians, in degrees; floating.

    >>> rad2deg(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _scaled("rad2deg", x, 180 / math.pi)


def _scaled(name: str, x: Operand, factor: float) -> Array:
    (value,) = promoted_inexact(name, x)
    if typeof(value).weak_type and not shape_of(value):
        return lax.mul(value, factor)
    return lax.mul(value, like(factor, value))


radians = deg2rad
degrees = rad2deg


def isposinf(x: Operand) -> Array:
    """True where an element is the positive infinity.

    >>> isposinf(float("inf"))
    Array(True, dtype=bool)
    """
    return _is_infinity("isposinf", x, math.inf)


def isneginf(x: Operand) -> Array:
    """True where an element is the negative infinity.

    >>> isneginf(float("inf"))
    Array(False, dtype=bool)
    """
    return _is_infinity("isneginf", x, -math.inf)


def _is_infinity(name: str, x: Operand, infinity: float) -> Array:
    refuse_complex(name, x)
    value = operand(name, x)
    if kind_of(typeof(value).dtype) != "f":
        return lax.full(shape_of(value), False)
    return lax.eq(value, typed(infinity, typeof(value).dtype, False))


@composite(static_argnames=["copy"])
def nan_to_num(
    x: Operand,
    copy: bool = True,
    nan: Operand = 0.0,
    posinf: Operand = None,
    neginf: Operand = None,
) -> Array:
    """Elements with numbers in the place of NaN and of infinities.

    An infinity becomes the greatest or the least number, unless another is given. The
    result is an array of its own whatever `copy` says.

    >>> import traceir.numpy as jnp
    >>> nan_to_num(jnp.array([jnp.nan, 1.0, jnp.inf]), posinf=9.0)
    Array([0., 1., 9.], dtype=float32)
    """
    value = operand("nan_to_num", x)
    dtype = typeof(value).dtype
    if dtype.kind == "c":
        parts = (part(value) for part in (lax.real, lax.imag))
        return lax.complex(*[nan_to_num(p, copy, nan, posinf, neginf) for p in parts])
    if kind_of(dtype) != "f":
        return as_array(value)
    info = finfo(dtype)
    high = typed(info.max, dtype, False) if posinf is None else posinf
    low = typed(info.min, dtype, False) if neginf is None else neginf
    found = _where(isnan(value), _strong(nan, dtype), value)
    found = _where(isposinf(found), _strong(high, dtype), found)
    return _where(isneginf(found), _strong(low, dtype), found)


def _strong(x: Operand, dtype: np.dtype) -> Operand:
    return convert(operand("nan_to_num", x), dtype)


@composite
def fmax(x1: Operand, x2: Operand) -> Array:
    """Greater of each two elements; the other one where one is NaN.

    >>> fmax(1.0, float("nan"))
    Array(1., dtype=float32, weak_type=True)
    """
    return _where(logical_or(greater(x1, x2), isnan(x2)), x1, x2)


@composite
def fmin(x1: Operand, x2: Operand) -> Array:
    """Lesser of each two elements; the other one where one is NaN.

    >>> fmin(1.0, float("nan"))
    Array(1., dtype=float32, weak_type=True)
    """
    return _where(logical_or(less(x1, x2), isnan(x2)), x1, x2)


@composite
def fmod(x1: Operand, x2: Operand) -> Array:
    """Remainder with the sign of the dividend; of integers by 0 it is 0.

    >>> fmod(-7, 3)
    Array(-1, dtype=int32, weak_type=True)
    """
    pair = operands("fmod", (x1, x2))
    if all(kind_of(typeof(v).dtype) in "iu" for v in pair):
        y = pair[1]
        none = equal(y, 0)
        one = typed(1, typeof(y).dtype, typeof(y).weak_type)
        pair[1] = _where(none, lax.broadcast(one, shape_of(y)), y)
    return lax.rem(*aligned("fmod", promoted_numeric("fmod", *pair)))


@composite
def heaviside(x1: Operand, x2: Operand) -> Array:
    """0 below zero, 1 above it, and `x2` at it; NaN stays. Floating.

    >>> heaviside(0.0, 0.5)
    Array(0.5, dtype=float32, weak_type=True)
    """
    refuse_complex("heaviside", x1, x2)
    x, y = promoted_inexact("heaviside", x1, x2)
    zero, one = like(0, x), like(1, x)
    below, above = lax.lt(x, zero), lax.gt(x, zero)
    rest = _where(isnan(x), x, y)
    return _where(below, zero, _where(above, one, rest))


def nextafter(x: Operand, y: Operand) -> Array:
    """The neighbour of each element of `x` on the side of `y`; floating.

    >>> nextafter(1, 2) - 1
    Array(1.1920929e-07, dtype=float32, weak_type=True)
    """
    return lax.nextafter(*aligned("nextafter", promoted_inexact("nextafter", x, y)))


def float_power(x: Operand, y: Operand) -> Array:
    """Power of each element, floating.

    >>> float_power(2, 3)
    Array(8., dtype=float32, weak_type=True)
    """
    return lax.pow(*aligned("float_power", promoted_inexact("float_power", x, y)))
