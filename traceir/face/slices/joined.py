"""NumPy's functions that join, repeat and count, where values decide extents.

Serves: slice.length
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.functions import functions
from traceir.face.functions.selection import Unsized
from traceir.face.python.numbers import require
from traceir.face.slices.created import extent_of, filled
from traceir.face.slices.delayed_arrays import (
    DelayedArray,
    Indices,
    Read,
    applied,
    check_equal,
    flat,
    of_operand,
    padded,
    plain_read,
)
from traceir.face.slices.dynamic_array import DynamicArray, held, shown
from traceir.face.slices.element_loops import each
from traceir.face.slices.extents import Extent, greater, index_of, less
from traceir.face.slices.vectors import implements
from traceir.lax.checks.shapes import axis_in


def _is_dynamic(value: Any) -> bool:
    """True for the elements of an array of which values decide how many there are."""
    return isinstance(value, DelayedArray)


def _is_unknown(value: Any) -> bool:
    """True for an array of the trace, or a number, that is not known."""
    return isinstance(value, NumpyTracer) and value.concrete is None


def _joined(name: str, parts: Sequence[DelayedArray], axis: int) -> Any:
    """Arrays one behind another along an axis, in memory of their own."""
    if len({part.ndim for part in parts}) > 1 or not parts[0].ndim:
        return NotImplemented
    axis = axis_in(axis, parts[0].ndim)
    extents = list(parts[0].extents)
    for part in parts[1:]:
        for dim, extent in enumerate(part.extents):
            if dim != axis:
                check_equal(name, extents[dim], extent)
    counts = [part.extents[axis] for part in parts]
    total: Any = 0
    starts = []
    for count in counts:
        starts.append(total)
        total = total + count.length
    extents[axis] = Extent(total, sum(count.most for count in counts))
    made = filled(extents, np.result_type(*(part.dtype for part in parts)))
    for start, part in zip(starts, parts, strict=True):

        def body(at: Any, start: Any = start, part: DelayedArray = part) -> None:
            to = [index_of(k) for k in at]
            to[axis] = to[axis] + start
            made.write(to, part.cast(made.base.dtype).element(at))

        each(part.extents, body)
    return made


@implements(np.concatenate)
def _concatenate(arrays: Any, axis: Any = 0, **options: Any) -> Any:
    """`np.concatenate`: one behind another along an axis, or all as one row."""
    if options:
        return NotImplemented
    parts = [of_operand(part) for part in arrays]
    if axis is None:
        parts, axis = [flat(part) for part in parts], 0
    return _joined("concatenate", parts, axis)


@implements(np.hstack)
def _hstack(tup: Any, **options: Any) -> Any:
    parts = [of_operand(part) for part in tup]
    if options:
        return NotImplemented
    return _joined("hstack", parts, 0 if parts[0].ndim == 1 else 1)


@implements(np.vstack)
def _vstack(tup: Any, **options: Any) -> Any:
    parts = [of_operand(part) for part in tup]
    if options or any(part.ndim < 2 for part in parts):
        return NotImplemented
    return _joined("vstack", parts, 0)


@implements(np.append)
def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    one, other = of_operand(arr), of_operand(_row(values))
    if axis is None:
        return _joined("append", [flat(one), flat(other)], 0)
    return _joined("append", [one, other], axis)


def _row(value: Any) -> Any:
    """A number as a vector of one element."""
    return value if np.ndim(value) or _is_dynamic(value) else np.stack([value])


def _along(a: DelayedArray, count: Extent, place: Callable[[Any], Any]) -> DelayedArray:
    """A vector of as many elements of another one, each from its place."""

    def at(indices: Indices, read: Read) -> Any:
        return a.at((place(index_of(indices[0])),), plain_read)

    return DelayedArray((count,), a.dtype, at, a.views)


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """`np.repeat`: each element as often as a traced number says."""
    given = held(a)
    if not (_is_dynamic(given) or _is_dynamic(held(repeats)) or _is_unknown(repeats)):
        return functions.new(np.repeat, (a, repeats), {"axis": axis})
    source = of_operand(given)
    if source.ndim != 1 and axis is not None:
        return functions.new(np.repeat, (a, repeats), {"axis": axis})
    source = flat(source)
    require(np.any(np.less(repeats, 0)), "slice.negative", "repeat")
    count = source.lengths[0]
    if not np.ndim(repeats):
        most = count * repeats
        found = _along(source, extent_of(most), lambda k: k // repeats)
        return shown(found)
    times = padded(flat(of_operand(held(repeats))), 0)
    ends = traced(jnp.cumsum(times), number=False)
    check_equal("repeat", source.extents[0], of_operand(held(repeats)).extents[0])
    total = ends[-1] if ends.size else 0
    return shown(
        _along(
            source,
            extent_of(total),
            lambda k: np.searchsorted(ends, k, side="right"),
        )
    )


def _tile(A: Any, reps: Any) -> Any:
    """`np.tile`: a vector as often as a traced number says."""
    given = held(A)
    if np.ndim(reps) or not (_is_dynamic(given) or _is_unknown(reps)):
        return functions.new(np.tile, (A, reps), {})
    source = of_operand(_row(given))
    if source.ndim != 1:
        return functions.new(np.tile, (A, reps), {})
    count = source.lengths[0]
    extent = extent_of(count * greater(reps, 0))
    return shown(_along(source, extent, lambda k: k % count))


def _bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """`np.bincount`: as many counts as the greatest number says."""
    given, source = held(x), of_operand(held(x))
    counted = source.ndim == 1 and source.dtype.kind in "biu"
    if not counted or not (_is_dynamic(given) or _is_unknown(given)):
        options = {"weights": weights, "minlength": minlength}
        return functions.new(np.bincount, (x,), options)
    numbers = DynamicArray(source.cast(np.dtype(np.int64)))
    greatest = np.max(numbers, initial=-1)
    require(np.min(numbers, initial=0) < 0, "slice.negative", "bincount")
    extent = extent_of(greater(greater(greatest + 1, minlength), 0))
    dtype = np.dtype(np.int64 if weights is None else float)
    made = DynamicArray(filled((extent,), dtype))
    added = None if weights is None else flat(of_operand(held(weights)))
    if added is not None:
        check_equal("bincount", source.extents[0], added.extents[0])

    def body(at: Any) -> None:
        which = source.element(at)
        made[which] += np.int64(1) if added is None else added.element(at)

    each(source.extents, body)
    return made


def _compress(condition: Any, a: Any, axis: Any = None, **options: Any) -> Any:
    """`np.compress`: what a mask takes of an array."""
    unknown = _is_unknown(condition) and condition.ndim == 1
    if options or not unknown or condition.dtype.kind != "b":
        return functions.new(np.compress, (condition, a, axis), options)
    whole = a.reshape(-1) if axis is None else np.moveaxis(a, axis, 0)
    found = whole[: condition.shape[0]][condition]
    return found if axis in (None, 0) else np.moveaxis(found, 0, axis)


def _by_unique(name: str, combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of two sets."""
    func = getattr(np, name)

    def called(ar1: Any, ar2: Any, *args: Any, **options: Any) -> Any:
        pair = ar1, ar2
        known = not any(isinstance(v, Unsized) or _is_unknown(v) for v in pair)
        if known or args or options:
            return functions.new(func, (ar1, ar2, *args), options)
        return combine(*(np.unique(v) for v in pair))

    return called


def _is_in(found: Any, others: Any) -> Any:
    """True where elements are among those of another vector, which are in order."""
    mine, last = of_operand(held(found)), others.size - 1

    def at(indices: Indices, read: Read) -> Any:
        value = mine.at(indices, plain_read)
        place = np.searchsorted(others, value)
        inside = np.logical_and(place <= last, last >= 0)
        near = others[np.where(inside, place, 0)[()]]
        return np.logical_and(inside, near == value)

    return DynamicArray(DelayedArray(mine.extents, np.dtype(bool), at))


def _common(a: Any, b: Any) -> Any:
    """The elements of one vector that another one has, in the dtype of both."""
    dtype = np.result_type(a.dtype, b.dtype)
    one, other = a.astype(dtype), b.astype(dtype)
    return one[_is_in(one, other)]


_SETS = {
    "union1d": lambda a, b: np.unique(np.concatenate((a, b))),
    "intersect1d": _common,
    "setdiff1d": lambda a, b: a[np.logical_not(_is_in(a, b))],
}


def _like(value: Any) -> Callable[..., Any]:
    def made(a: DelayedArray, dtype: Any = None, order: str = "K", **_: Any) -> Any:
        return filled(a.extents, a.dtype if dtype is None else np.dtype(dtype), value)

    return made


@implements(np.full_like)
def _full_like(a: DelayedArray, fill_value: Any, dtype: Any = None, **_: Any) -> Any:
    return filled(a.extents, a.dtype if dtype is None else np.dtype(dtype), fill_value)


@implements(np.ptp)
def _ptp(a: DelayedArray, axis: Any = None, **options: Any) -> Any:
    found = DynamicArray(a)
    return np.max(found, axis, **options) - np.min(found, axis, **options)


def _without_nan(name: str) -> Callable[..., Any]:
    func = getattr(np, name)

    def reduced(a: DelayedArray, axis: Any = None, **options: Any) -> Any:
        if a.ndim != 1 or axis not in (None, 0, -1):
            return NotImplemented
        found = DynamicArray(a)
        return func(found[np.logical_not(np.isnan(found))], **options)

    return reduced


@implements(np.interp)
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, **options: Any
) -> Any:
    """The line through points, whose number values decide."""
    points, values = of_operand(xp), of_operand(fp)
    if options.get("period") is not None or points.ndim != 1 or values.ndim != 1:
        return NotImplemented
    check_equal("interp", points.extents[0], values.extents[0])
    places = DynamicArray(points.cast(np.dtype(float)))
    count = points.lengths[0]
    require(count == 0, "slice.lengths", "interp of no points")
    first, last = values.element((0,)), values.element((count - 1,))
    least, most = places[0], places[count - 1]

    def on_line(value: Any) -> Any:
        after = np.searchsorted(places, value, side="right")
        low = greater(less(after - 1, count - 2), 0)
        high = less(low + 1, count - 1)
        x0, y0 = places[low], values.element((low,))
        x1, y1 = places[high], values.element((high,))
        found = (y1 - y0) / np.where(high > low, x1 - x0, 1.0)[()] * (value - x0) + y0
        found = np.where(value >= most, last, found)[()]
        if right is not None:
            found = np.where(value > most, right, found)[()]
        outside = first if left is None else left
        return np.where(value < least, outside, found)[()]

    if not np.ndim(x) and not _is_dynamic(x):
        return on_line(x)
    return applied("interp", on_line, (x,))


@implements(np.cov)
def _cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None
) -> Any:
    """The covariances of one vector or of two."""
    rows = [of_operand(v) for v in (m, y) if v is not None]
    if any(row.ndim != 1 for row in rows):
        return NotImplemented
    less = [v - np.mean(v) for v in map(DynamicArray, rows)]
    own = (0 if bias else 1) if ddof is None else ddof
    count = rows[0].lengths[0] - own
    found = [[np.sum(a * b) / count for b in less] for a in less]
    return np.stack(list(map(np.stack, found))) if len(rows) > 1 else found[0][0]


@implements(np.corrcoef)
def _corrcoef(x: Any, y: Any = None, **options: Any) -> Any:
    """The correlation of two vectors."""
    if options or y is None:
        return NotImplemented
    found = _cov(x, y)
    if found is NotImplemented:
        return found
    sizes = np.sqrt(np.diag(found))
    return np.clip(found / sizes[:, None] / sizes[None, :], -1, 1)


def register() -> None:
    """Have traced arrays give such arrays."""
    owns: dict[Any, Callable[..., Any]] = {
        np.repeat: _repeat,
        np.tile: _tile,
        np.bincount: _bincount,
        np.compress: _compress,
    }
    owns |= {getattr(np, n): _by_unique(n, combine) for n, combine in _SETS.items()}
    for func, own in owns.items():
        functions.direct(func)(own)
        implements(func)(_of_elements(own))
    for name, value in (("zeros_like", 0), ("empty_like", 0), ("ones_like", 1)):
        implements(getattr(np, name))(_like(value))
    for name in ("nansum", "nanmean", "nanstd", "nanvar", "nanmax", "nanmin"):
        implements(getattr(np, name))(_without_nan(name.removeprefix("nan")))


def _of_elements(own: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays, on the elements of such as values decide."""

    def called(*args: Any, **options: Any) -> Any:
        return own(*(shown(a) if _is_dynamic(a) else a for a in args), **options)

    return called
