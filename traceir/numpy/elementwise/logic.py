"""Comparisons and truth values. Serves: promote.*, face.broadcast"""

from __future__ import annotations

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    BOOL,
    Operand,
    aligned,
    as_array,
    is_tracer,
    like,
    operand,
    promoted,
    shape_of,
    typed,
)
from traceir.numpy.arrays.creation import asarray
from traceir.tracing.trace import bind, bind_one, typeof


def _compare(name: str, primitive: str, x: Operand, y: Operand) -> Array:
    return bind_one(primitive, *aligned(name, promoted(name, x, y)))


def _ordered(name: str, primitive: str, x: Operand, y: Operand) -> Array:
    """As `_compare`; complex numbers by their real parts, equal ones by the others."""
    left, right = aligned(name, promoted(name, x, y))
    if typeof(left).dtype.kind != "c":
        return bind_one(primitive, left, right)
    same = lax.eq(lax.real(left), lax.real(right))
    beside = bind(primitive, lax.imag(left), lax.imag(right))
    return lax.select(same, beside, bind(primitive, lax.real(left), lax.real(right)))


def equal(x: Operand, y: Operand) -> Array:
    """True where two elements are equal; NaN equals nothing.

    >>> equal(1, 2.5)
    Array(False, dtype=bool, weak_type=True)
    """
    return _compare("equal", "eq", x, y)


def not_equal(x: Operand, y: Operand) -> Array:
    """True where two elements differ; NaN differs from itself.

    >>> not_equal(1, 2.5)
    Array(True, dtype=bool, weak_type=True)
    """
    return _compare("not_equal", "ne", x, y)


def less(x: Operand, y: Operand) -> Array:
    """True where an element of `x` is less.

    >>> less(1, 2.5)
    Array(True, dtype=bool, weak_type=True)
    """
    return _ordered("less", "lt", x, y)


def less_equal(x: Operand, y: Operand) -> Array:
    """True where an element of `x` is less or equal.

    >>> less_equal(1, 2.5)
    Array(True, dtype=bool, weak_type=True)
    """
    return _ordered("less_equal", "le", x, y)


def greater(x: Operand, y: Operand) -> Array:
    """True where an element of `x` is greater.

    >>> greater(1, 2.5)
    Array(False, dtype=bool, weak_type=True)
    """
    return _ordered("greater", "gt", x, y)


def greater_equal(x: Operand, y: Operand) -> Array:
    """True where an element of `x` is greater or equal.

    >>> greater_equal(1, 2.5)
    Array(False, dtype=bool, weak_type=True)
    """
    return _ordered("greater_equal", "ge", x, y)


def truth(x: Operand) -> Operand:
    """A checked operand as booleans: whether each element differs from 0."""
    return x if typeof(x).dtype == BOOL else bind("ne", x, like(0, x))


def known_truth(x: Operand) -> Operand:
    """A checked operand that is known, as it is; of a traced one the truth.

    In a trace of a derivative alone, that is known.
    """
    return truth(x) if is_tracer(x) else x


def _logical(name: str, primitive: str, x: Operand, y: Operand) -> Array:
    pair = aligned(name, promoted(name, x, y))
    return bind_one(primitive, *map(truth, pair))


def logical_and(x: Operand, y: Operand) -> Array:
    """True where both elements are true, or other than 0.

    >>> logical_and(True, 2)
    Array(True, dtype=bool, weak_type=True)
    """
    return _logical("logical_and", "and", x, y)


def logical_or(x: Operand, y: Operand) -> Array:
    """True where either element is true, or other than 0.

    >>> logical_or(False, 2)
    Array(True, dtype=bool, weak_type=True)
    """
    return _logical("logical_or", "or", x, y)


def logical_xor(x: Operand, y: Operand) -> Array:
    """True where exactly one of the elements is true, or other than 0.

    >>> logical_xor(True, 2)
    Array(False, dtype=bool, weak_type=True)
    """
    return _logical("logical_xor", "xor", x, y)


def logical_not(x: Operand) -> Array:
    """True where an element is false, or 0.

    >>> logical_not(0)
    Array(True, dtype=bool, weak_type=True)
    """
    return lax.bitwise_not(truth(operand("logical_not", x)))


def bitwise_and(x: Operand, y: Operand) -> Array:
    """Bits, or truth, of both elements; raises and.bits.

    >>> bitwise_and(6, 3)
    Array(2, dtype=int32, weak_type=True)
    """
    return _compare("bitwise_and", "and", x, y)


def bitwise_or(x: Operand, y: Operand) -> Array:
    """Bits, or truth, of either element; raises or.bits.

    >>> bitwise_or(6, 3)
    Array(7, dtype=int32, weak_type=True)
    """
    return _compare("bitwise_or", "or", x, y)


def bitwise_xor(x: Operand, y: Operand) -> Array:
    """Bits, or truth, of just one of the elements; raises xor.bits.

    >>> bitwise_xor(6, 3)
    Array(5, dtype=int32, weak_type=True)
    """
    return _compare("bitwise_xor", "xor", x, y)


def bitwise_not(x: Operand) -> Array:
    """Each bit, or truth value, inverted; raises not.bits.

    >>> bitwise_not(5)
    Array(-6, dtype=int32, weak_type=True)
    """
    return lax.bitwise_not(operand("bitwise_not", x))


invert = bitwise_not
bitwise_invert = bitwise_not


def isnan(x: Operand) -> Array:
    """True where an element is NaN.

    >>> isnan(0.0)
    Array(False, dtype=bool, weak_type=True)
    """
    value = operand("isnan", x)
    return lax.ne(value, value)


@composite
def isinf(x: Operand) -> Array:
    """True where an element is infinite.

    >>> isinf(0.0)
    Array(False, dtype=bool)
    """
    value = operand("isinf", x)
    if typeof(value).dtype.kind == "c":
        parts = lax.real(value), lax.imag(value)
        found = [_is_endless(p) for p in parts]
        return lax.bitwise_or(*found)
    if kind_of(typeof(value).dtype) != "f":
        return lax.full(shape_of(value), False)
    return _is_endless(value)


def _is_endless(value: Operand) -> Array:
    infinity = typed(float("inf"), typeof(value).dtype, False)
    return lax.eq(lax.abs(value), infinity)


def isfinite(x: Operand) -> Array:
    """True where an element is neither infinite nor NaN.

    >>> isfinite(0.0)
    Array(True, dtype=bool, weak_type=True)
    """
    value = operand("isfinite", x)
    if typeof(value).dtype.kind == "c":
        real = lax.is_finite(lax.real(value))
        return lax.bitwise_and(real, lax.is_finite(lax.imag(value)))
    if kind_of(typeof(value).dtype) != "f":
        return lax.full(shape_of(value), True)
    return lax.is_finite(value)


def array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> Array:
    """True if two arrays have one shape and equal elements: a boolean scalar.

    With `equal_nan`, NaN equals NaN.

    >>> import traceir.numpy as jnp
    >>> array_equal(jnp.ones(2), jnp.arange(2))
    Array(False, dtype=bool)
    """
    x, y = asarray(a1), asarray(a2)
    if shape_of(x) != shape_of(y):
        return as_array(np.bool_(False))
    same = equal(x, y)
    if equal_nan:
        same = lax.bitwise_or(same, lax.bitwise_and(isnan(x), isnan(y)))
    return lax.reduce_and(same, range(same.ndim))
