"""Functions of NumPy's that look for places in an order.

Serves: order.sorted, face.weights

NumPy counts NaN as the greatest number, and sorts complex numbers with a NaN part
behind all others. A line through infinite points has the value of its finite side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from traceir import lax
from traceir import numpy as jnp
from traceir.face.arrays.array import traced
from traceir.face.arrays.values import array_of
from traceir.face.checks.status import note_rule
from traceir.face.functions.functions import CHECKED, by_name, own
from traceir.lax.checks.operands import convert
from traceir.lax.checks.shapes import axis_in

INDEX = np.dtype(np.int64)


@own(np.digitize)
def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The numbers of bins, whose edges ascend or descend."""
    value, edges = array_of(x).now(), array_of(bins).now()
    if edges.ndim != 1 or edges.size < 2:
        return traced(convert(jnp.digitize(value, edges, right), INDEX))
    differ = jnp.not_equal(edges, edges[0])
    ascends = jnp.less(edges[0], edges[jnp.argmax(differ)])
    ascends = jnp.logical_or(ascends, jnp.logical_not(jnp.any(differ)))
    falls = jnp.any(jnp.greater(edges[:-1], edges[1:]))
    rises = jnp.any(jnp.less(edges[:-1], edges[1:]))
    got = "edges that neither ascend nor descend"
    note_rule(jnp.where(ascends, falls, rises), "order.sorted", got)
    side = "left" if right else "right"
    up = jnp.searchsorted(edges, value, side)
    down = edges.size - jnp.searchsorted(edges[::-1], value, side)
    return traced(convert(jnp.where(ascends, up, down), INDEX))


@own(np.interp)
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """The line through points, as NumPy computes it."""
    at, points, values = (array_of(v).now() for v in (x, xp, fp))
    kind = complex if values.dtype.kind == "c" else float
    if at.dtype.kind != "c" and points.dtype.kind != "c":
        at, points = convert(at, np.dtype(float)), convert(points, np.dtype(float))
    values = convert(values, np.dtype(kind))
    if points.ndim != 1 or points.shape != values.shape or points.size < 2:
        return traced(jnp.interp(at, points, values, left, right, period))
    if period is not None:
        return traced(jnp.interp(at, points, values, None, None, period))
    ends = [values[k] if v is None else v for v, k in ((left, 0), (right, -1))]
    ends = [convert(array_of(end).now(), values.dtype) for end in ends]
    below = jnp.clip(jnp.searchsorted(points, at, "right") - 1, 0, points.size - 2)
    if kind is float:
        found = _on_line(at, points, values, below, jnp.divide)
    else:
        parts = jnp.real(values), jnp.imag(values)
        real, imag = (_on_line(at, points, p, below, _by_inverse) for p in parts)
        found = lax.complex(real, jnp.where(jnp.isnan(at), 0.0, imag))
    found = jnp.where(jnp.equal(at, points[-1]), values[-1], found)
    found = jnp.where(jnp.less(at, points[0]), ends[0], found)
    return traced(jnp.where(jnp.greater(at, points[-1]), ends[1], found))


def _by_inverse(x: Any, y: Any) -> Any:
    """The slope of a complex line, as NumPy rounds it."""
    return jnp.multiply(x, jnp.divide(1.0, y))


def _on_line(at: Any, points: Any, values: Any, below: Any, divide: Any) -> Any:
    """Values between points by the slope from the lower one, or else the upper one."""
    low, high = points[below], points[below + 1]
    first, last = values[below], values[below + 1]
    slope = divide(jnp.subtract(last, first), jnp.subtract(high, low))
    found = slope * (at - low) + first
    found = jnp.where(jnp.isnan(found), slope * (at - high) + last, found)
    level = jnp.logical_and(jnp.isnan(found), jnp.equal(first, last))
    found = jnp.where(level, first, found)
    found = jnp.where(jnp.equal(at, low), first, found)
    return jnp.where(jnp.isnan(at), at, found)


def _check_weights(bound: Mapping[str, Any]) -> None:
    """Refuse weights whose sum is zero when the program runs."""
    if bound.get("weights") is None:
        return
    given = {**bound, "returned": True}
    operands = [array_of(given.pop(name)).now() for name in ("a", "weights")]
    _, total = jnp.average(operands[0], weights=operands[1], **given)
    note_rule(jnp.any(jnp.equal(total, 0)), "face.weights")


CHECKED[np.average] = _check_weights


@own(np.sort)
def _sort(a: Any, axis: int | None = -1, *args: Any, **options: Any) -> Any:
    """Elements in NumPy's order."""
    value = array_of(a).now()
    if value.dtype.kind != "c":
        return by_name(np.sort, (a, axis, *args), options)
    _, real, imag, _ = _in_order(value, axis)
    return traced(lax.complex(real, imag))


@own(np.argsort)
def _argsort(a: Any, axis: int | None = -1, *args: Any, **options: Any) -> Any:
    """The places of elements in NumPy's order."""
    value = array_of(a).now()
    if value.dtype.kind != "c":
        return by_name(np.argsort, (a, axis, *args), options)
    return traced(_in_order(value, axis)[-1])


def _in_order(value: Any, axis: int | None) -> Any:
    """Complex numbers in NumPy's order: which parts of each are NaN, both parts, and
    their places before."""
    value = jnp.ravel(value) if axis is None else value
    along = axis_in(-1 if axis is None else axis, value.ndim)
    real, imag = jnp.real(value), jnp.imag(value)
    parts = 2 * jnp.isnan(real).astype(np.int8) + jnp.isnan(imag).astype(np.int8)
    places = lax.broadcasted_iota(INDEX, value.shape, along)
    return lax.sort((parts, real, imag, places), along, True, 3)
