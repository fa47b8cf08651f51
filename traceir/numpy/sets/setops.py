"""Intersections, unions and differences of two arrays.

Serves: order.size, face.choice, index.mask

`size` is that of `traceir.numpy.unique`. NaN equals nothing here.
"""

from __future__ import annotations

from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base import cost_model
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    is_tracer,
    operand,
    operands,
    promoted,
    typed,
)
from traceir.numpy.elementwise.composites import clip
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import equal, less, logical_and, logical_not
from traceir.numpy.indexing.gather_inside import at_places, filled
from traceir.numpy.indexing.index_plan import traced
from traceir.numpy.manipulation.shapes import concatenate, ravel
from traceir.numpy.sets.searching import one_of, searchsorted
from traceir.numpy.sets.sorting import argsort
from traceir.numpy.sets.sorting import sort as _sort
from traceir.numpy.sets.unique import first_ones, is_known, known_size, unique

METHODS = ("auto", "compare_all", "binary_search", "sort")


def _flat(name: str, ar1: Operand, ar2: Operand) -> tuple[Array, Array]:
    """Two arrays as vectors of one dtype."""
    one, other = (ravel(v) for v in promoted(name, ar1, ar2))
    return one, other


@composite(static_argnames=["assume_unique", "invert", "method"])
def isin(
    element: Operand,
    test_elements: Operand,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """True where an element is one of the others, or is none of them, if `invert`.

    `method` says how, not what: "compare_all" compares each with each, "binary_search"
    and "sort" put the others in order; "auto" goes by how many they are. Nothing
    depends on `assume_unique`. Raises ValueError (face.choice), TypeError
    (face.argument).

    >>> import traceir.numpy as jnp
    >>> isin(jnp.array([[1, 2], [3, 4]]), jnp.array([2, 4, 6]))
    Array([[False,  True],
           [False,  True]], dtype=bool)
    """
    one_of("method", method, METHODS)
    value, others = map(as_array, promoted("isin", element, test_elements))
    found = _is_in(ravel(value), ravel(others), method)
    found = lax.reshape(found, value.shape)
    return logical_not(found) if invert else found


def _is_in(value: Array, others: Array, method: str = "auto") -> Array:
    if method == "compare_all" or (
        method == "auto" and others.size <= cost_model.COMPARED_VALUES
    ):
        pairs = equal(value[:, None], others[None, :])
        return lax.reduce_or(pairs, (1,))
    if not others.size:
        return lax.full(value.shape, False)
    ordered = _sort(others)
    places = clip(searchsorted(ordered, value), 0, others.size - 1)
    return equal(at_places(ordered, places, 0), value)


def _chosen(
    name: str, values: Array, marks: Array, size: int | None, fill: Operand
) -> tuple[Array, Array, Array]:
    """The marked values in their order, where they are, and which are not missing.

    Missing elements are the first of them unless a number is given.
    """
    count = known_size(name, marks, size)
    dtype = default_dtype(int)
    some = convert(marks, dtype)
    one = lax.full(some.shape, typed(1, dtype, False))
    places = filled(marks, lax.sub(lax.cumsum(some), one), count)
    found = at_places(values, places, 0)
    here = less(lax.iota(dtype, count), lax.reduce_sum(some, (0,)))
    if size:
        first = lax.index_in_dim(_where(here, found, 0), 0, 0, False)
        number = first if fill is None else operand(name, fill)
        found = _where(here, found, convert(number, values.dtype))
    return found, places, here


def union1d(
    ar1: Operand, ar2: Operand, *, size: int | None = None, fill_value: Operand = None
) -> Array:
    """The different values of two arrays together, in ascending order.

    Raises ConcretizationTypeError (order.size).

    >>> import traceir.numpy as jnp
    >>> union1d(jnp.array([3, 1]), jnp.array([1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    both = concatenate(_flat("union1d", ar1, ar2))
    found: Array = unique(both, size=size, fill_value=fill_value)
    return found


def intersect1d(
    ar1: Operand,
    ar2: Operand,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Operand = None,
) -> Any:
    """The different values that are in both arrays, in ascending order.

    With `return_indices` also where each one is first in either; what is missing is
    behind the end. Nothing depends on `assume_unique`. Raises
    ConcretizationTypeError (order.size).

    >>> import traceir.numpy as jnp
    >>> intersect1d(jnp.array([3, 1, 3]), jnp.array([1, 3, 2]))
    Array([1, 3], dtype=int32)
    """
    one, other = _flat("intersect1d", ar1, ar2)
    order = argsort(one)
    values = at_places(one, order, 0)
    marks = logical_and(first_ones(values), _is_in(values, other))
    found, places, here = _chosen("intersect1d", values, marks, size, fill_value)
    if not return_indices:
        return found
    there = argsort(other)
    beside = clip(searchsorted(at_places(other, there, 0), found), 0, other.size - 1)
    first, second = at_places(order, places, 0), at_places(there, beside, 0)
    return found, _where(here, first, one.size), _where(here, second, other.size)


def setdiff1d(
    ar1: Operand,
    ar2: Operand,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Operand = None,
) -> Array:
    """The different values of the first array that are not in the second, in order.

    With `assume_unique` they are in the order that they have in the first. Missing
    elements are 0 by default. Raises ConcretizationTypeError (order.size), for a second
    array that alone is traced NonConcreteBooleanIndexError (index.mask).

    >>> import traceir.numpy as jnp
    >>> setdiff1d(jnp.array([3, 1, 2, 3]), jnp.array([1]))
    Array([2, 3], dtype=int32)
    """
    one, other = (ravel(v) for v in operands("setdiff1d", (ar1, ar2)))
    values = one if assume_unique else _sort(one)
    marks = logical_not(_is_in(*promoted("setdiff1d", values, other)))
    if not assume_unique:
        marks = logical_and(marks, first_ones(values))
    if size is None and is_tracer(marks) and is_known(one):
        raise rules.error("index.mask", got=traced(marks), hint="give `size=`")
    fill = 0 if fill_value is None else fill_value
    found = _chosen("setdiff1d", values, marks, size, fill)[0]
    weak = one.weak_type and kind_of(one.dtype) != "c"
    return convert(found, one.dtype, weak)


def setxor1d(
    ar1: Operand,
    ar2: Operand,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Operand = None,
) -> Array:
    """The different values that are in one of two arrays only, in ascending order.

    Nothing depends on `assume_unique`. Raises ConcretizationTypeError (order.size).

    >>> import traceir.numpy as jnp
    >>> setxor1d(jnp.array([3, 1]), jnp.array([1, 2]))
    Array([2, 3], dtype=int32)
    """
    pair = _flat("setxor1d", ar1, ar2)
    one, other = (_sort(v) for v in pair)
    marks = concatenate(
        [
            logical_and(first_ones(one), logical_not(_is_in(one, other))),
            logical_and(first_ones(other), logical_not(_is_in(other, one))),
        ]
    )
    both = concatenate([one, other])
    order = argsort(both)
    both, marks = (at_places(v, order, 0) for v in (both, marks))
    return _chosen("setxor1d", both, marks, size, fill_value)[0]
