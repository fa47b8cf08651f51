"""Positions in sorted arrays, and linear interpolation.

Serves: order.sorted, face.choice

NaN is behind every number, as `sort` has it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.config import local
from traceir.dtypes import finfo, kind_of
from traceir.ir.promotion import canonical_dtype
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    operand,
    operands,
    promoted,
    promoted_inexact,
    refuse_complex,
    shape_of,
    typed,
)
from traceir.lax.structural.index_dtypes import index_dtype
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise import standard
from traceir.numpy.elementwise.arithmetic import add, divide, multiply, subtract
from traceir.numpy.elementwise.composites import clip, remainder
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import (
    greater,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
)
from traceir.numpy.indexing.gather_inside import at_places
from traceir.numpy.manipulation.shapes import concatenate
from traceir.numpy.sets.sorting import argsort
from traceir.numpy.sets.sorting import sort as _sort

METHODS = ("scan", "scan_unrolled", "sort", "compare_all")
# Whether an ordered value belongs before a number that is searched.
Before = Callable[[Operand], Array]


@composite(static_argnames=["side", "method"])
def searchsorted(
    a: Operand,
    v: Operand,
    side: str = "left",
    sorter: Operand = None,
    *,
    method: str = "scan",
) -> Array:
    """The position at which each number of `v` belongs in `a`, a vector in ascending
    order.

    Places are int32, as JAX's are, and int64 where `a` is too long for that; with the
    flag `array_api`, they have the default integer dtype.

    Before its equals with `side` "left", behind them with "right". With `sorter`, it is
    `a[sorter]` that is in order. `method` says how, not what: "scan" and
    "scan_unrolled" halve what is left of `a` in turn, "sort" sorts both, "compare_all"
    compares each with each. Raises ValueError (order.sorted, face.choice).

    >>> import traceir.numpy as jnp
    >>> searchsorted(jnp.array([1, 3, 3, 5]), jnp.array([3, 6, 0]))
    Array([1, 4, 0], dtype=int32)
    """
    values, numbers = map(as_array, promoted("searchsorted", a, v))
    one_of("side", side, ("left", "right"))
    one_of("method", method, METHODS)
    if values.ndim != 1:
        raise rules.error("order.sorted", got=f"shape {values.shape}")
    if sorter is not None:
        values = at_places(values, as_array(operand("searchsorted", sorter, 2)), 0)
    found = _placed(values, numbers, side, method)
    whole = canonical_dtype(np.dtype("int64"), local.context.x64)
    dtype = whole if standard.is_followed() else index_dtype(values.shape)
    return convert(found, dtype)


def _placed(values: Array, numbers: Array, side: str, method: str) -> Array:
    if method == "sort":
        return _by_sort(values, numbers, side)
    before = _before(numbers, side)
    if method == "compare_all":
        every = lax.reshape(values, (values.shape[0], *(1,) * numbers.ndim))
        places = index_dtype(values.shape)
        return lax.reduce_sum(convert(before(every), places), (0,))
    return _by_halves(values, numbers.shape, before)


def one_of(option: str, given: str, known: tuple[str, ...]) -> None:
    """Raise ValueError (face.choice) for an option's word that is not known."""
    if given not in known:
        got = f"{option}={given!r}; one of {', '.join(known)}"
        raise rules.error("face.choice", got=got)


def _before(numbers: Array, side: str) -> Before:
    compare = less if side == "left" else less_equal
    if kind_of(numbers.dtype) != "f":
        return lambda value: compare(value, numbers)
    last = isnan(numbers)

    def before(value: Operand) -> Array:
        # Behind all numbers, and beside its equals.
        behind = (
            logical_and(last, logical_not(isnan(value))) if side == "left" else last
        )
        return logical_or(compare(value, numbers), behind)

    return before


def _by_halves(values: Array, shape: tuple[int, ...], before: Before) -> Array:
    """The number of values before each number, bit by bit from the highest."""
    count = values.shape[0]
    places = index_dtype((count,))
    found = lax.full(shape, typed(0, places, False))
    for bit in reversed(range(count.bit_length())):
        further = add(found, typed(1 << bit, places, False))
        last = lax.min(further, lax.full(shape, typed(count, places, False)))
        value = at_places(values, subtract(last, 1), 0)
        here = logical_and(less_equal(further, count), before(value))
        found = lax.select_n(here, found, further)
    return found


def _by_sort(values: Array, numbers: Array, side: str) -> Array:
    """The rank of each number among all, less its rank among the numbers."""
    flat = lax.reshape(numbers, (numbers.size,))
    parts = [flat, values] if side == "left" else [values, flat]
    ranks = _ranks(concatenate(parts))
    start = 0 if side == "left" else values.size
    among_all = lax.slice_in_dim(ranks, start, start + flat.size)
    return lax.reshape(lax.sub(among_all, _ranks(flat)), numbers.shape)


def _ranks(x: Array) -> Array:
    """The place at which each element of a vector is in order."""
    # What is converted is an Array.
    return convert(argsort(argsort(x)), index_dtype(x.shape))


@composite(static_argnames=["right", "method"])
def digitize(
    x: Operand, bins: Operand, right: bool = False, *, method: str | None = None
) -> Array:
    """The number of the bin that each element is in; 0 is before the first edge.

    A bin has its lower edge, or its upper one if `right`. `bins` are the edges, a
    vector that ascends or descends. Raises ValueError (order.sorted).

    >>> import traceir.numpy as jnp
    >>> digitize(jnp.array([0.5, 1.0, 2.5]), jnp.array([1.0, 2.0]))
    Array([0, 1, 2], dtype=int32)
    """
    value, edges = map(as_array, operands("digitize", (x, bins)))
    if edges.ndim != 1:
        raise rules.error("order.sorted", got=f"shape {edges.shape}")
    side, how = "left" if right else "right", method or "scan"
    count = edges.shape[0]
    places = index_dtype(edges.shape)
    if not count:
        return lax.full(value.shape, typed(0, places, False))
    up = searchsorted(edges, value, side, method=how)
    down = searchsorted(lax.rev(edges, (0,)), value, side, method=how)
    ends = [lax.index_in_dim(edges, k, 0, False) for k in (count - 1, 0)]
    found = _where(lax.ge(*ends), up, subtract(count, down))
    return convert(found, places)


def interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    left: Operand = None,
    right: Operand = None,
    period: Operand = None,
) -> Array:
    """The line through points, at each element of `x`: from `fp` at ascending `xp`.

    Outside it is `left` and `right`, by default the values of the first and the last
    point. With a `period`, `x` and `xp` are taken modulo it, and `xp` need not be in
    order. Raises ValueError (order.sorted).

    >>> import traceir.numpy as jnp
    >>> interp(jnp.array([0.5, 3.0]), jnp.array([0.0, 1.0]), jnp.array([2.0, 4.0]))
    Array([3., 4.], dtype=float32)
    """
    return _interp(x, xp, fp, left, right, period)


@composite
def _interp(
    x: Operand, xp: Operand, fp: Operand, left: Operand, right: Operand, period: Operand
) -> Array:
    shapes = shape_of(operand("interp", xp, 1)), shape_of(operand("interp", fp, 2))
    if len(shapes[0]) != 1 or shapes[0] != shapes[1] or not shapes[0][0]:
        raise rules.error("order.sorted", got=f"shapes {shapes[0]} and {shapes[1]}")
    refuse_complex("interp", x, xp)
    at, points = map(as_array, promoted_inexact("interp", x, xp))
    [values] = map(as_array, promoted_inexact("interp", fp))
    if period is not None:
        at, points, values = _around(at, points, values, period)
        left = right = None
    count = points.shape[0]
    where = clip(searchsorted(points, at, "right"), 1, max(count - 1, 1))
    upper = lax.min(
        where, broadcast_to(typed(count - 1, where.dtype, False), where.shape)
    )
    low, high = (at_places(points, k, 0) for k in (subtract(where, 1), upper))
    first, last = (at_places(values, k, 0) for k in (subtract(where, 1), upper))
    width = subtract(high, low)
    # Points that are equal, up to what is lost in their dtype, have no line.
    least = typed(float(np.spacing(finfo(width.dtype).eps)), width.dtype, False)
    none = less_equal(lax.abs(width), least)
    part = divide(subtract(at, low), _where(none, 1, width))
    found = _where(none, first, add(first, multiply(part, subtract(last, first))))
    ends = [_end(values, end, k) for end, k in ((left, 0), (right, count - 1))]
    edges = [lax.index_in_dim(points, k, 0, False) for k in (0, count - 1)]
    found = _where(less(at, edges[0]), ends[0], found)
    return _where(greater(at, edges[1]), ends[1], found)


def _end(values: Array, given: Operand, place: int) -> Operand:
    if given is None:
        return lax.index_in_dim(values, place, 0, False)
    return operand("interp", given, 3)


def _around(
    x: Array, points: Array, values: Array, period: Operand
) -> tuple[Array, Array, Array]:
    """Everything within one period, with the last point before it and the first behind.

    NumPy's sign of the period does not matter.
    """
    length = lax.abs(convert(operand("interp", period, 5), x.dtype))
    moved = remainder(points, length)
    order = argsort(moved)
    points, values = _sort(moved), at_places(values, order, 0)
    count = points.shape[0]
    before = lax.slice_in_dim(points, count - 1, count)
    behind = lax.slice_in_dim(points, 0, 1)
    points = concatenate([subtract(before, length), points, add(behind, length)])
    ends = lax.slice_in_dim(values, count - 1, count), lax.slice_in_dim(values, 0, 1)
    return remainder(x, length), points, concatenate([ends[0], values, ends[1]])
