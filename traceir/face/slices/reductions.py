"""NumPy's functions of arrays whose extents values decide.

Serves: slice.length
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.functions.functions import reduction_dtype
from traceir.face.python.numbers import require
from traceir.face.slices import vectors
from traceir.face.slices.delayed_arrays import (
    DelayedArray,
    applied,
    check_equal,
    materialized,
    of_operand,
    of_view,
    plain_read,
)
from traceir.face.slices.element_loops import fold
from traceir.face.slices.extents import index_of
from traceir.face.slices.sliced_view import SlicedView
from traceir.lax.checks.shapes import axis_in

FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def _implements(*functions: Any) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        FUNCTIONS.update(dict.fromkeys(functions, function))
        return function

    return register


def _by_axis(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of all elements as one along axes, too."""

    def reduced(a: DelayedArray, axis: Any = None, **options: Any) -> Any:
        options = {k: v for k, v in options.items() if v is not np._NoValue}
        if options.pop("out", None) is not None or options.pop("keepdims", False):
            return NotImplemented
        if not set(options) <= {"dtype", "ddof", "initial"}:
            return NotImplemented
        if axis is None or (a.ndim == 1 and axis_in(axis, 1) == 0):
            return reduce(a, **options)
        axes = axis if isinstance(axis, tuple) else (axis,)
        gone = [axis_in(one, a.ndim) for one in axes]
        kept = [d for d in range(a.ndim) if d not in gone]
        if not kept:
            return reduce(a, **options)
        sample = reduce(of_operand(np.ones((1,) * len(gone), a.dtype)), **options)

        def at(indices: Any, read: Any) -> Any:
            return reduce(_row(a, gone, kept, indices), **options)

        extents = tuple(a.extents[d] for d in kept)
        return of_stored(materialized(DelayedArray(extents, sample.dtype, at)))

    return reduced


def of_stored(view: SlicedView) -> Any:
    """A result that has memory: the array itself if its extents are known."""
    known = all(extent.known is not None for extent in view.extents)
    return view.base if known else view


def _row(
    a: DelayedArray, gone: list[int], kept: list[int], indices: Any
) -> DelayedArray:
    """The elements along some dimensions, at indices of the others."""

    def at(own: Any, read: Any) -> Any:
        every: list[Any] = [0] * a.ndim
        for d, k in (*zip(gone, own), *zip(kept, indices)):
            every[d] = k
        return a.at(every, read)

    return DelayedArray(tuple(a.extents[d] for d in gone), a.dtype, at)


def _fold(a: DelayedArray, start: Any, step: Callable[..., Any]) -> Any:
    return fold(a.extents, start, lambda s, at: step(s, a.element(at)))


def _total(ufunc: np.ufunc, unit: int) -> Callable[..., Any]:
    def total(a: DelayedArray, dtype: Any = None, initial: Any = None) -> Any:
        own = reduction_dtype(a.dtype) if dtype is None else np.dtype(dtype)
        start = own.type(unit) if initial is None else own.type(1) * initial
        return _fold(a.cast(own), start, ufunc)

    return total


def _end(dtype: np.dtype, most: bool) -> Any:
    """The least or the greatest value of a dtype."""
    if dtype.kind == "b":
        return np.bool_(most)
    if dtype.kind == "f":
        return dtype.type(np.inf if most else -np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if most else limits.min)


def _check_any(a: DelayedArray, name: str) -> None:
    """Have the program raise if there are no elements."""
    for extent in a.extents:
        if extent.known == 0:
            raise rules.error("slice.lengths", got=f"{name} of no elements")
        if extent.known is None:
            require(extent.length == 0, "slice.lengths", f"{name} of no elements")


def _extreme(ufunc: np.ufunc, most: bool) -> Callable[..., Any]:
    better = np.greater if most else np.less

    def step(state: Any, value: Any) -> Any:
        best, missing = state
        nan = np.logical_or(missing, np.not_equal(value, value))
        return np.where(better(value, best), value, best)[()], nan

    def extreme(a: DelayedArray, initial: Any = None) -> Any:
        if initial is None:
            _check_any(a, ufunc.__name__)
        start = _end(a.dtype, not most) if initial is None else a.dtype.type(initial)
        if a.dtype.kind != "f":
            return _fold(a, start, ufunc)
        best, missing = _fold(a, (start, np.False_), step)
        return np.where(missing, a.dtype.type(np.nan), best)[()]

    return extreme


def _place(name: str, most: bool) -> Callable[..., Any]:
    better = np.greater if most else np.less

    def place(a: DelayedArray) -> Any:
        if a.ndim != 1:
            return NotImplemented
        _check_any(a, name)
        first = a.element((0,))

        def step(state: Any, at: Any) -> Any:
            best, where = state
            value = a.element(at)
            wins = better(value, best)
            if a.dtype.kind == "f":  # the first NaN
                nan, had = np.not_equal(value, value), np.not_equal(best, best)
                wins = np.logical_or(wins, np.logical_and(nan, np.logical_not(had)))
            return np.where(wins, value, best)[()], np.where(
                wins, index_of(at[0]), where
            )[()]

        found = fold(a.extents, (first, np.int64(0)), step)
        return found[1]

    return place


def _mean(a: DelayedArray, dtype: Any = None) -> Any:
    own = a.dtype if a.dtype.kind in "fc" else np.dtype(float)
    own = own if dtype is None else np.dtype(dtype)
    return (_sum(a, own) / _count(a)).astype(own)


def _count(a: DelayedArray) -> Any:
    found: Any = 1
    for length in a.lengths:
        found = found * length
    return found


def _variance(a: DelayedArray, ddof: Any = 0, dtype: Any = None) -> Any:
    centre = _mean(a, dtype)
    less = by_numbers(lambda x: np.abs(x - centre) ** 2, a)
    return (_sum(less) / (_count(a) - ddof)).astype(centre.real.dtype)


def _deviation(a: DelayedArray, **options: Any) -> Any:
    return np.sqrt(_variance(a, **options))


def by_numbers(function: Callable[..., Any], *operands: Any) -> DelayedArray:
    """A function of elements."""
    found: DelayedArray = applied("a function", function, operands)
    return found


def _counted(a: DelayedArray) -> Any:
    return _sum(by_numbers(lambda x: x != 0, a))


_sum = _total(np.add, 0)
_ALL_OF: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.prod: _total(np.multiply, 1),
    np.max: _extreme(np.maximum, True),
    np.min: _extreme(np.minimum, False),
    np.mean: _mean,
    np.var: _variance,
    np.std: _deviation,
    np.any: lambda a: _fold(by_numbers(lambda x: x != 0, a), np.False_, np.logical_or),
    np.all: lambda a: _fold(by_numbers(lambda x: x != 0, a), np.True_, np.logical_and),
    np.count_nonzero: _counted,
    np.argmax: _place("argmax", True),
    np.argmin: _place("argmin", False),
}
FUNCTIONS.update({func: _by_axis(reduce) for func, reduce in _ALL_OF.items()})


@_implements(np.size)
def _size(a: DelayedArray, axis: Any = None) -> Any:
    return _count(a) if axis is None else a.lengths[axis]


@_implements(np.shape)
def _shape(a: DelayedArray) -> Any:
    return a.lengths


@_implements(np.ndim)
def _ndim(a: DelayedArray) -> int:
    return a.ndim


@_implements(np.copy)
def _copy(a: DelayedArray, order: str = "K", subok: bool = False) -> Any:
    return materialized(a)


@_implements(np.inner)
def _inner(a: Any, b: Any) -> Any:
    return NotImplemented if of_operand(b).ndim > 1 else _product(a, b)


@_implements(np.matmul, np.dot)
def _product(a: Any, b: Any) -> Any:
    """The products of rows with columns, added up."""
    x, y = of_operand(a), of_operand(b)
    if not x.ndim or not y.ndim:
        return applied("dot", np.multiply, (x, y))
    if x.ndim > 2 or y.ndim > 2:
        return NotImplemented
    inner = 0 if y.ndim == 1 else y.ndim - 2
    check_equal("a product", x.extents[-1], y.extents[inner])
    rows, columns = x.extents[:-1], y.extents[inner + 1 :]
    one = of_operand(np.ones(1, x.dtype)), of_operand(np.ones(1, y.dtype))
    dtype = applied("dot", np.multiply, one).dtype
    count = x.extents[-1] if x.extents[-1].known is not None else y.extents[inner]

    def at(indices: Any, read: Any) -> Any:
        row, column = indices[: len(rows)], indices[len(rows) :]

        def step(total: Any, k: Any) -> Any:
            return total + x.at((*row, *k), read) * y.at((*k, *column), read)

        return fold((count,), dtype.type(0), step)

    if not rows and not columns:
        return at((), plain_read)
    return of_stored(materialized(DelayedArray((*rows, *columns), dtype, at)))


@_implements(np.vdot)
def _vdot(a: Any, b: Any) -> Any:
    return _product(applied("vdot", np.conjugate, (a,)), b)


@_implements(np.outer)
def _outer(a: Any, b: Any, out: Any = None) -> Any:
    x, y = of_operand(a), of_operand(b)
    if x.ndim != 1 or y.ndim != 1 or out is not None:
        return NotImplemented
    tall = DelayedArray(
        (*x.extents, of_operand(np.ones(1)).extents[0]),
        x.dtype,
        lambda at, read: x.at(at[:1], read),
        x.views,
    )
    return applied("outer", np.multiply, (tall, y))


@_implements(np.linalg.norm)
def _norm(
    x: DelayedArray, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    plain = ord in (None, 2) if x.ndim == 1 or axis is not None else ord is None
    if keepdims or isinstance(axis, tuple) or not (plain or ord in (1, np.inf)):
        return NotImplemented
    if not plain and x.ndim > 1 and axis is None:
        return NotImplemented
    size = by_numbers(np.abs, x)
    if plain:
        real = size if size.dtype.kind == "f" else size.cast(np.dtype(float))
        found = FUNCTIONS[np.sum](by_numbers(lambda v: v * v, real), axis=axis)
        if axis is None or x.ndim == 1:
            return np.sqrt(found)
        part = of_view(found) if isinstance(found, SlicedView) else of_operand(found)
        return of_stored(materialized(by_numbers(np.sqrt, part)))
    return FUNCTIONS[np.sum if ord == 1 else np.max](size, axis=axis)


def _element_by_element(func: Any) -> Callable[..., Any]:
    def called(*args: Any, **options: Any) -> Any:
        return applied(func.__name__, lambda *v: func(*v, **options), args)

    return called


_choose = _element_by_element(np.where)


@_implements(np.where)
def _where(condition: Any, *both: Any) -> Any:
    """`np.where`: of a condition alone the places where it holds."""
    if both:
        return _choose(condition, *both)
    return vectors.FUNCTIONS[np.nonzero](condition)


for _func in (np.clip, np.round, np.around, np.real, np.imag, np.isclose):
    FUNCTIONS[_func] = _element_by_element(_func)


@_implements(np.transpose)
def _transpose(a: DelayedArray, axes: Any = None) -> Any:
    if axes is not None:
        return NotImplemented
    view = materialized(a)
    return SlicedView(view.base, view.axes, view.dims[::-1])


METHODS = frozenset(
    (
        *("sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax"),
        *("argmin", "dot", "clip", "round", "conjugate", "cumsum"),
        *("cumprod", "searchsorted", "argsort", "nonzero", "repeat"),
    )
)
