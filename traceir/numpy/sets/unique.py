"""Distinct values, with their indices, counts and inverse.

Serves: order.size, face.axis

Their number is known if the values are. `size` tells it beforehand, as it must in a
trace: what is missing is filled, what is too much is cut off.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    operand,
    typed,
)
from traceir.lax.checks.shapes import axis_in, shape_tuple
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import (
    equal,
    isnan,
    logical_and,
    logical_not,
    not_equal,
)
from traceir.numpy.indexing.gather_inside import at_places, counted, filled
from traceir.numpy.manipulation.shapes import concatenate, moveaxis
from traceir.numpy.sets.sorting import argsort, lexsort
from traceir.tracing.concretization import demanded, origin
from traceir.tracing.trace import Tracer


class UniqueAll(NamedTuple):
    """Different values, their first places, which each element is, and counts."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Different values, and how many there are of each."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Different values, and which of them each element is."""

    values: Array
    inverse_indices: Array


def unique(
    ar: Operand,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Operand = None,
    sorted: bool = True,
) -> Any:
    """The different values in ascending order; along an axis, the different parts.

    On request a tuple: where each value is first, which of them each element is (of
    the shape of `ar`, or one for each part), and how many there are of each. NaN are
    one value if `equal_nan`. `size` is how many values are given: where there are
    fewer, `fill_value`, by default the first, is in their place, with a count of 0.
    Values are in order also where `sorted` does not ask for it. Raises
    ConcretizationTypeError (order.size), ValueError (face.axis, order.fill).

    >>> import traceir.numpy as jnp
    >>> unique(jnp.array([2, 1, 2]), return_counts=True)
    (Array([1, 2], dtype=int32), Array([1, 2], dtype=int32))
    """
    value = as_array(operand("unique", ar))
    if size is None and not is_known(value):
        raise demanded(rules.error("order.size", got=_traced("unique", value)), value)
    if value.dtype.kind == "c":  # as those whose parts are compared
        value = as_array(convert(value, value.dtype))
    lines = axis is not None
    rows = moveaxis(value, axis_in(axis, value.ndim), 0) if axis is not None else value
    flat = (rows.shape[0], prod(rows.shape[1:])) if lines else (rows.size, 1)
    order, kept, first = _ordered(lax.reshape(rows, flat), equal_nan)
    found = known_size("unique", first, size)
    if size and fill_value is None and not flat[0]:
        raise rules.error("order.fill", got=f"{found} values of {value.shape}")
    taken = _taken_all(order, first, found)
    tail = rows.shape[1:] if lines else ()
    values = at_places(kept, taken.first, 0)
    values = _filled(values, taken.counts, fill_value)
    shaped = lax.reshape(values, (found, *tail))
    if axis is not None:
        shaped = moveaxis(shaped, 0, axis_in(axis, value.ndim))
    inverse = taken.inverse if lines else lax.reshape(taken.inverse, value.shape)
    asked = (return_index, return_inverse, return_counts)
    parts = (taken.places, inverse, taken.counts)
    rest = tuple(p for p, wanted in zip(parts, asked, strict=True) if wanted)
    return (shaped, *rest) if rest else shaped


class _UniqueValues(NamedTuple):
    """The first place of each value in order, and in the array; its count.

    Of each element: the number of its value.
    """

    first: Array
    places: Array
    inverse: Array
    counts: Array


def known_size(name: str, mask: Any, size: int | None) -> int:
    """The number of true elements, if it is known, or the number asked for."""
    if size is not None:
        return shape_tuple(size)[0]
    if isinstance(mask, Tracer):
        raise demanded(rules.error("order.size", got=_traced(name, mask)), mask)
    return int(np.asarray(mask).sum())


def is_known(value: Any) -> bool:
    """True if the elements are known, as those are of which a derivative is taken.

    >>> import traceir.numpy as jnp
    >>> is_known(jnp.arange(2))
    True
    """
    return not isinstance(value, Tracer) or value.knows("level.concretize.bool")


def _traced(name: str, value: Any) -> str:
    return f"{name} of a traced array, {origin(value)}"


def first_ones(values: Array) -> Array:
    """True where a value of a vector in order is the first of its equals.

    >>> import traceir.numpy as jnp
    >>> first_ones(jnp.array([1, 1, 2]))
    Array([ True, False,  True], dtype=bool)
    """
    return _firsts(lax.reshape(values, (values.shape[0], 1)), True)


@composite(static_argnames=["equal_nan"])
def _ordered(rows: Array, equal_nan: bool) -> tuple[Array, Array, Array]:
    """The order of rows, the rows in it, and which are the first of their equals."""
    count, width = rows.shape
    if width == 1:
        order = argsort(lax.reshape(rows, (count,)))
    elif width:
        order = lexsort([rows[:, k] for k in reversed(range(width))])
    else:
        order = lax.iota(default_dtype(int), count)
    kept = at_places(rows, order, 0)
    return order, kept, _firsts(kept, equal_nan)


def _firsts(rows: Array, equal_nan: bool) -> Array:
    count = rows.shape[0]
    some = min(1, count)
    differ = _differ(rows[some:], rows[: count - some], equal_nan)
    return concatenate([lax.full((some,), True), differ])


def _differ(x: Array, y: Array, equal_nan: bool) -> Array:
    """True where rows differ in some element."""
    found = not_equal(x, y)
    if equal_nan and kind_of(x.dtype) == "f":
        found = logical_and(found, logical_not(logical_and(isnan(x), isnan(y))))
    return lax.reduce_or(found, (1,))


def _taken_all(order: Array, first: Array, size: int) -> _UniqueValues:
    """The values whose first places are marked, with their indices and counts."""
    count = first.shape[0]
    dtype = default_dtype(int)
    ranks = lax.sub(
        lax.cumsum(convert(first, dtype)), lax.full((count,), typed(1, dtype, False))
    )
    starts = filled(first, ranks, size)
    index = at_places(order, starts, 0)
    inverse = _scattered(ranks, order)
    return _UniqueValues(starts, convert(index, dtype), inverse, counted(ranks, size))


def _scattered(x: Array, order: Array) -> Array:
    """A vector put back where an order has taken it from."""
    return at_places(x, argsort(order), 0)


def _filled(values: Array, counts: Array, fill: Operand) -> Array:
    """Values, and a fill value where there is none."""
    if fill is None:
        return values
    missing = lax.reshape(equal(counts, 0), (values.shape[0], 1))
    return _where(missing, convert(operand("unique", fill), values.dtype), values)


def unique_all(
    x: Operand, /, *, size: int | None = None, fill_value: Operand = None
) -> UniqueAll:
    """Different values with all that `unique` tells of them; NaN are all different.

    >>> import traceir.numpy as jnp
    >>> unique_all(jnp.array([2, 1, 2])).counts
    Array([1, 2], dtype=int32)
    """
    options = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return UniqueAll(*unique(x, True, True, True, **options))


def unique_counts(
    x: Operand, /, *, size: int | None = None, fill_value: Operand = None
) -> UniqueCounts:
    """Different values, and how many there are of each; NaN are all different.

    >>> import traceir.numpy as jnp
    >>> unique_counts(jnp.array([2, 1, 2])).values
    Array([1, 2], dtype=int32)
    """
    options = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return UniqueCounts(*unique(x, return_counts=True, **options))


def unique_inverse(
    x: Operand, /, *, size: int | None = None, fill_value: Operand = None
) -> UniqueInverse:
    """Different values, and which of them each element is; NaN are all different.

    >>> import traceir.numpy as jnp
    >>> unique_inverse(jnp.array([2, 1, 2])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    options = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return UniqueInverse(*unique(x, return_inverse=True, **options))


def unique_values(
    x: Operand, /, *, size: int | None = None, fill_value: Operand = None
) -> Array:
    """Different values; NaN are all different.

    >>> import traceir.numpy as jnp
    >>> unique_values(jnp.array([2, 1, 2]))
    Array([1, 2], dtype=int32)
    """
    options = {"equal_nan": False, "size": size, "fill_value": fill_value}
    found: Array = unique(x, **options)
    return found
