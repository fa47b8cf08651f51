"""Elements that traced masks select, beside one another.

They are arrays whose extents are values: the first ones of an array of all places.

Serves: slice.length, face.selection
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.face.arrays.array import NumpyTracer, known, traced
from traceir.face.arrays.values import array_of
from traceir.face.functions import functions
from traceir.face.functions.selection import Selection
from traceir.face.python.numbers import as_integer
from traceir.face.slices.indexing import read


def _first(array: Any, count: Any) -> Any:
    """The first elements of an array, so many."""
    return read(traced(array), slice(None, count))


def pack(full: Any, mask: Any) -> Any:
    """The elements that a mask takes of an array, in an array of their own."""
    size, rest = int(np.prod(mask.shape)), full.shape[mask.ndim :]
    flat = jnp.reshape(full.now(), (size, *rest))
    (places,) = jnp.nonzero(jnp.reshape(mask, (size,)), size=size)
    return _first(jnp.take(flat, places, axis=0, mode="clip"), _count(mask))


def _count(which: Any) -> Any:
    return as_integer(jnp.count_nonzero(which))


def _nonzero(a: Any) -> Any:
    """`np.nonzero`: an array of places for each dimension."""
    x = array_of(a)
    unknown = isinstance(x, NumpyTracer) and x.concrete is None
    if unknown and not x.size:
        return tuple(known(np.zeros(0, np.int64)) for _ in x.shape)
    if not unknown or not x.ndim:
        return tuple(map(traced, jnp.nonzero(x)))
    count = _count(x)
    return tuple(_first(p, count) for p in jnp.nonzero(x, size=x.size))


def _flatnonzero(a: Any) -> Any:
    """`np.flatnonzero`: the places in all elements as one row."""
    return _nonzero(jnp.ravel(array_of(a)))[0]


def _argwhere(a: Any) -> Any:
    """`np.argwhere`: a row of places for each element."""
    x = array_of(a)
    unknown = isinstance(x, NumpyTracer) and x.concrete is None
    if unknown and not x.size:
        return known(np.zeros((0, x.ndim), np.int64))
    if not unknown or not x.ndim:
        return traced(jnp.argwhere(x))
    return _first(jnp.argwhere(x, size=x.size), _count(x))


def _where(condition: Any, *both: Any, **options: Any) -> Any:
    """`np.where`: of a condition alone the places where it holds."""
    if both or options:
        return functions.new(np.where, (condition, *both), options)
    return _nonzero(condition)


def register() -> None:
    """Have traced arrays give such arrays."""
    functions.direct(np.nonzero)(_nonzero)
    functions.direct(np.flatnonzero)(_flatnonzero)
    functions.direct(np.argwhere)(_argwhere)
    functions.direct(np.where)(_where)
    Selection.pack = staticmethod(pack)
