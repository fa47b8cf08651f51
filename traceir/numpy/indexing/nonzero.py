"""Indices of elements that are not zero, and compressed arrays.

Their number is known for a known array; for a traced one it has to be told. Serves:
index.size
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    is_tracer,
    no_out,
    operand,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.composites import floor_divide, remainder
from traceir.numpy.elementwise.composites import where as where_both
from traceir.numpy.elementwise.logic import known_truth, truth
from traceir.numpy.indexing.at_updates import IndexUpdate
from traceir.numpy.indexing.index_plan import traced
from traceir.numpy.indexing.take_put import take
from traceir.numpy.manipulation.shapes import ravel
from traceir.tracing.concretization import demanded


def nonzero(
    a: Operand, *, size: int | None = None, fill_value: Any = None
) -> tuple[Array, ...]:
    """The places of the elements that are not zero, an array for each dimension.

    With `size`, there are so many: what is too much is cut off, and what is missing is
    `fill_value`, a number or one for each dimension, by default 0. Raises
    ConcretizationTypeError (index.size), ValueError (face.least-rank).

    >>> import traceir.numpy as jnp
    >>> nonzero(jnp.array([0, 5, 6]))
    (Array([1, 2], dtype=int32),)
    >>> nonzero(jnp.array([0, 5, 6]), size=3, fill_value=-1)
    (Array([ 1,  2, -1], dtype=int32),)
    """
    given = operand("nonzero", a)
    if not shape_of(given):
        raise rules.error("face.least-rank", got="0 dimensions of 1")
    integers = default_dtype(int)
    if size is None:
        which = known_truth(given)
        if is_tracer(which):
            raise demanded(rules.error("index.size", got=traced(given)), given)
        known = np.nonzero(np.asarray(which))
        return tuple(asarray(found.astype(integers)) for found in known)
    x = as_array(given)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * x.ndim
    if len(fills) != x.ndim:
        raise rules.error("index.option", got=f"{len(fills)} fills of {x.ndim}")
    which = ravel(truth(x))
    places = _places(which, size, integers)
    if not x.size:
        places = lax.full((size,), 0, integers)
    count = lax.reduce_sum(convert(which, integers), (0,))
    missing = lax.ge(lax.iota(integers, size), count)
    found = []
    for d, (extent, fill) in enumerate(zip(x.shape, fills, strict=True)):
        stride = math.prod(x.shape[d + 1 :])
        own = remainder(floor_divide(places, max(stride, 1)), max(extent, 1))
        other = typed(0, integers, False) if fill is None else fill
        found.append(convert(where_both(missing, other, own), integers))
    return tuple(found)


def _places(which: Array, size: int, integers: np.dtype) -> Array:
    """The places of the first true elements of a row: before the one of number k are
    all elements up to which there are at most k true ones."""
    upto = lax.cumsum(convert(which, integers))
    none = lax.full((size,), 0, integers)
    counts = IndexUpdate(none, upto).add(typed(1, integers, False), mode="drop")
    return lax.cumsum(counts)


def flatnonzero(
    a: Operand, *, size: int | None = None, fill_value: Any = None
) -> Array:
    """The places of the elements that are not zero, of all in a row; as `nonzero`.

    >>> import traceir.numpy as jnp
    >>> flatnonzero(jnp.array([[0, 5], [6, 0]]))
    Array([1, 2], dtype=int32)
    """
    return nonzero(ravel(asarray(a)), size=size, fill_value=fill_value)[0]


def argwhere(a: Operand, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements that are not zero, one in each row; as `nonzero`.

    >>> import traceir.numpy as jnp
    >>> argwhere(jnp.array([[0, 5], [6, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    x = as_array(operand("argwhere", a))
    if not x.ndim:
        [found] = nonzero(lax.reshape(x, (1,)), size=size, fill_value=fill_value)
        return lax.reshape(lax.slice(found, (0,), (0,)), (found.size, 0))
    return lax.stack(nonzero(x, size=size, fill_value=fill_value), 1)


def compress(
    condition: Operand,
    a: Operand,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
    out: None = None,
) -> Array:
    """The elements at those places of an axis where the condition, a vector, holds; of
    all elements in a row without an axis.

    With `size`, so many, the rest filled. Raises TracerBoolConversionError
    (index.condition), ValueError (face.vector, face.axis, index.choices, index.taken).

    >>> import traceir.numpy as jnp
    >>> compress(jnp.array([True, False, True]), jnp.array([5, 6, 7]))
    Array([5, 7], dtype=int32)
    """
    no_out("compress", out)
    which = known_truth(condition)
    known = not is_tracer(which)
    which = np.asarray(which) if known else which
    x = as_array(operand("compress", a, 1))
    if len(which.shape) != 1:
        raise rules.error("face.vector", got=f"a condition of shape {which.shape}")
    if axis is None:
        x, axis = ravel(x), 0
    at = axis_in(axis, x.ndim)
    extent, count = x.shape[at], which.shape[0]
    if size is None and not known:
        raise rules.error("index.condition", got=traced(condition))
    if size is None and which[extent:].any():
        got = f"{count} conditions of {extent} places"
        raise rules.error("index.choices", got=got)
    if size is not None and not 0 <= size <= min(extent, count):
        got = f"{size} elements, by {count} conditions of {extent} places"
        raise rules.error("index.taken", got=got)
    which = which[:extent]
    # A place outside is filled.
    [places] = nonzero(which, size=size, fill_value=extent)
    fill = typed(np.asarray(fill_value).item(), x.dtype, False)
    found = take(x, places, at, mode="fill", fill_value=fill)
    # What a number is filled up with has a dtype.
    return found if size is None else convert(found, found.dtype)


def extract(
    condition: Operand, arr: Operand, *, size: int | None = None, fill_value: Any = 0
) -> Array:
    """The elements of which the condition holds, in a row; as `compress`.

    >>> import traceir.numpy as jnp
    >>> x = jnp.array([[1, -2], [-3, 4]])
    >>> extract(x > 0, x)
    Array([1, 4], dtype=int32)
    """
    given, x = operand("extract", condition), operand("extract", arr, 1)
    known = not is_tracer(given)
    which = np.ravel(np.asarray(given)) if known else ravel(given)
    return compress(which, ravel(x), size=size, fill_value=fill_value)
