"""`round` of traced numbers, as Python and NumPy have it.

Serves: python.argument, python.overflow

Python rounds a float to the nearest decimal of its exact value, NumPy a product with a
power of ten: a number of either kind is rounded as its own.
"""

from __future__ import annotations

from typing import Any

from traceir import numpy as jnp
from traceir import rules
from traceir.face.arrays.array import traced
from traceir.face.python.numbers import as_float, as_integer, is_traced, number, whole
from traceir.tracing.trace import typeof

# Powers of ten that are floats, and the factor that splits a float in two halves.
_EXACT_TENS = 22
_SPLITTER = 134217729.0
_DIGITS = 2.0**53


def rounded(value: Any, ndigits: Any) -> Any:
    """The nearest integer, or decimal of so many digits; the even one of two.

    Raises TypeError (python.argument) for a number of digits that is traced.
    """
    given = number(value, "round()", "biuf")
    aval = typeof(given)
    if is_traced(ndigits):
        raise rules.error("python.argument", got="round() to a traced number of digits")
    if aval.dtype.kind != "f":
        tens = -(ndigits or 0)
        return as_integer(given) if tens <= 0 else as_integer(_to_tens(given, 10**tens))
    if ndigits is None:
        return whole(jnp.rint(given), "round()")
    if not aval.weak_type or aval.dtype.itemsize != 8:
        return traced(jnp.round(given, ndigits), number=True)
    return as_float(_to_digits(given, int(ndigits)))


def _to_tens(x: Any, ten: int) -> Any:
    """An integer to a multiple of a power of ten."""
    below = jnp.floor_divide(x, ten)
    twice = 2 * (x - below * ten)
    return (below + _rounds_up(twice, ten, below)) * ten


def _rounds_up(twice: Any, whole: Any, below: Any) -> Any:
    odd = jnp.not_equal(jnp.remainder(below, 2), 0)
    tie = jnp.logical_and(jnp.equal(twice, whole), odd)
    return jnp.logical_or(jnp.greater(twice, whole), tie)


def _to_digits(x: Any, digits: int) -> Any:
    """A float to the decimal that is nearest to its exact value."""
    if digits > _EXACT_TENS:
        return x
    if digits < -_EXACT_TENS:
        return x * 0.0
    scale = 10.0 ** abs(digits)
    if digits <= 0:
        below = jnp.floor(x / scale)
        product, error = _product(below, scale)
        rest = (x - product) - error
        found = (below + _rounds_up(2 * rest, scale, below)) * scale
    else:
        high, low = _product(x, scale)
        below = jnp.floor(high)
        half = jnp.equal(high - below, 0.5)
        odd = jnp.not_equal(jnp.remainder(below, 2), 0)
        tie_up = jnp.logical_or(low > 0, jnp.logical_and(jnp.equal(low, 0), odd))
        up = jnp.logical_or(high - below > 0.5, jnp.logical_and(half, tie_up))
        found = (below + up) / scale
    exact = jnp.abs(x) * (scale if digits > 0 else 1 / scale) < _DIGITS
    return jnp.where(exact, jnp.copysign(found, x), x)


def _product(x: Any, y: float) -> tuple[Any, Any]:
    """A product of two floats, and what it lacks of the exact one."""
    product = x * y
    (a, b), (c, d) = _halves(x), _halves(y)
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(x: Any) -> tuple[Any, Any]:
    far = x * _SPLITTER
    high = far - (far - x)
    return high, x - high
