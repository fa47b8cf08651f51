"""NumPy's functions that give views or copies. Serves: face.view"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.array import NumpyTracer, known, traced
from traceir.face.functions import OWN, viewing
from traceir.face.views import Index, Reshape, Transpose, contiguous, laid_out, memory
from traceir.face.writing import read
from traceir.lax.shapes import axis_in


def reshape(
    a: NumpyTracer, shape: Any = None, order: str = "C", *, copy: Any = None
) -> NumpyTracer:
    """The elements under another shape: a view if that can be one, else a copy."""
    if order in "FA" and not (order == "A" and a.strides is None):
        made: NumpyTracer = transpose(reshape(transpose(a), _reversed(shape)))
        return made
    extents = _extents(shape, a)
    step = Reshape(extents, a.shape)
    if _has_view(a, step) and copy is not True:
        return a.through(step)
    return reshape(duplicate(a, "C"), extents)


def _reversed(shape: Any) -> tuple[int, ...]:
    return tuple(reversed(_shape(shape)))


def _shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (tuple, list)):
        return tuple(int(n) for n in shape)
    return (int(shape),)


def _extents(shape: Any, a: NumpyTracer) -> tuple[int, ...]:
    """The shape with its -1 worked out. Raises ValueError (face.size)."""
    asked = _shape(shape)
    rest = prod(n for n in asked if n != -1)
    found = tuple(a.size // max(rest, 1) if n == -1 else n for n in asked)
    if prod(found) != a.size or asked.count(-1) > 1:
        raise rules.error("face.size", got=f"{a.aval.str_short()} to {asked}")
    return found


def _has_view(a: NumpyTracer, step: Reshape) -> bool:
    value = a.concrete
    try:
        step.of(memory(a) if value is None else value)
    except ValueError:
        return False
    return True


def transpose(a: Any, axes: Any = None) -> Any:
    """The dimensions in another order, as a view."""
    if axes is None:
        order = tuple(reversed(range(a.ndim)))
    else:
        order = tuple(axis_in(axis, a.ndim) for axis in axes)
    return a.through(Transpose(order))


def duplicate(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """The elements in memory of their own."""
    value = a.concrete
    if value is not None:
        return known(np.array(value, order=order))
    made = traced(a, number=False)
    if order == "K" and a.strides is not None and len(a.strides) > 1:
        strides = laid_out(a.shape, a.strides)
        made.strides = None if strides == contiguous(a.shape) else strides
    return made


def ravel(a: Any, order: str = "C") -> NumpyTracer:
    """The elements in one dimension: a view if they lie so."""
    return reshape(a, (-1,), order)


def flatten(a: Any, order: str = "C") -> NumpyTracer:
    """The elements in one dimension, copied."""
    return ravel(duplicate(a, "C"), order)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two dimensions in each other's place."""
    order = list(range(a.ndim))
    one, two = axis_in(axis1, a.ndim), axis_in(axis2, a.ndim)
    order[one], order[two] = order[two], order[one]
    return transpose(a, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Dimensions in other places, the rest in order."""
    order = np.moveaxis(np.empty([2] * a.ndim, np.int8), source, destination)
    strides = np.empty([2] * a.ndim, np.int8).strides
    return transpose(a, [strides.index(s) for s in order.strides])


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without dimensions of extent 1."""
    probe = np.broadcast_to(np.int8(0), a.shape)
    shape = probe.squeeze(axis).shape
    if axis is None:
        drop = [d for d, n in enumerate(a.shape) if n == 1]
    else:
        axes = axis if isinstance(axis, tuple) else (axis,)
        drop = [axis_in(d, a.ndim) for d in axes]
    index = tuple(0 if d in drop else slice(None) for d in range(a.ndim))
    assert len(shape) == a.ndim - len(drop)
    return a.through(Index(index)) if drop else read(a, Ellipsis)


def expand_dims(a: Any, axis: Any) -> Any:
    """With new dimensions of extent 1."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = a.ndim + len(axes)
    new = [axis_in(d, rank) for d in axes]
    return a.through(
        Index(tuple(None if d in new else slice(None) for d in range(rank)))
    )


def flip(m: Any, axis: Any = None) -> Any:
    """The elements of some dimensions from the last to the first."""
    axes = range(m.ndim) if axis is None else axis
    turned = [axis_in(d, m.ndim) for d in (axes if np.iterable(axes) else (axes,))]
    index = [slice(None, None, -1 if d in turned else 1) for d in range(m.ndim)]
    return m.through(Index(tuple(index)))


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along a dimension, as views."""
    return _parts(np.split, ary, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along a dimension that need not be equal, as views."""
    return _parts(np.array_split, ary, indices_or_sections, axis)


def _parts(func: Any, a: Any, places: Any, axis: int) -> list[Any]:
    """The views of the parts that NumPy makes of a range."""
    at = axis_in(axis, a.ndim)
    ranges = func(np.arange(a.shape[at]), places)
    found = []
    first = 0
    for part in ranges:
        cut = slice(first, first + len(part))
        if len(part):
            cut = slice(int(part[0]), int(part[-1]) + 1)
            first = cut.stop
        found.append(a.through(Index((slice(None),) * at + (cut,))))
    return found


def atleast_1d(*arys: Any) -> Any:
    """Arrays with one dimension at least."""
    return _least(1, arys, lambda a: a[None])


def atleast_2d(*arys: Any) -> Any:
    """Arrays with two dimensions at least, new ones before the others."""
    return _least(2, arys, lambda a: a[None] if a.ndim else a[None, None])


def _least(rank: int, arys: Sequence[Any], grown: Any) -> Any:
    made = [a if isinstance(a, NumpyTracer) else known(np.asarray(a)) for a in arys]
    found = tuple(a if a.ndim >= rank else grown(a) for a in made)
    return found[0] if len(found) == 1 else found


for _function in (
    *(reshape, transpose, ravel, swapaxes, moveaxis, squeeze, expand_dims, flip),
    *(split, array_split, atleast_1d, atleast_2d),
):
    viewing(getattr(np, _function.__name__))(_function)
viewing(np.copy)(duplicate)
viewing(np.flipud)(lambda m: flip(m, 0))
viewing(np.fliplr)(lambda m: flip(m, 1))
viewing(np.vsplit)(lambda ary, parts: split(ary, parts, 0))
viewing(np.hsplit)(lambda ary, parts: split(ary, parts, 1 if ary.ndim > 1 else 0))
viewing(np.matrix_transpose)(lambda x: swapaxes(x, -1, -2))
OWN[np.ndim] = lambda a: a.ndim
OWN[np.shape] = lambda a: a.shape
OWN[np.size] = lambda a, axis=None: a.size if axis is None else a.shape[axis]
