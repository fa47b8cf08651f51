"""Indices of grids, diagonals and triangles.

Serves: index.option, index.size
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    is_tracer,
    joined,
    operand,
    operands,
    typed,
)
from traceir.lax.checks.shapes import shape_tuple
from traceir.lax.structural.index_dtypes import widened
from traceir.numpy.arrays.creation import asarray, ones
from traceir.numpy.elementwise.composites import clip, floor_divide, remainder, where
from traceir.numpy.indexing.nonzero import nonzero
from traceir.numpy.ranges.linspace import arange
from traceir.tracing.concretization import refusal
from traceir.tracing.trace import typeof

Pair = tuple[Array, Array]


def unravel_index(indices: Operand, shape: Any) -> tuple[Array, ...]:
    """The place in each dimension, of places among all elements in a row.

    Places below 0 count from the end; what is outside is the nearest place. Raises
    TypeError (index.type, face.shape).

    >>> import traceir.numpy as jnp
    >>> unravel_index(jnp.array([5, 3]), (2, 3))
    (Array([1, 1], dtype=int32), Array([2, 0], dtype=int32))
    """
    places, extents = as_array(operand("unravel_index", indices)), shape_tuple(shape)
    if places.dtype.kind not in "iu":
        raise rules.error("index.type", got=f"an array of {places.dtype}")
    size = math.prod(extents)
    places = as_array(widened(places, size))
    low = -size if places.dtype.kind == "i" else 0
    places = clip(places, low, max(size - 1, low))
    places = where(lax.lt(places, typed(0, places.dtype, False)), places + size, places)
    found: list[Array] = []
    for extent in reversed(extents):
        found.append(remainder(places, max(extent, 1)))
        places = floor_divide(places, max(extent, 1))
    return tuple(reversed(found))


def ravel_multi_index(
    multi_index: Sequence[Operand],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: DTypeLike = None,
) -> Array:
    """The place among all elements in a row, of a place in each dimension.

    With the mode "raise" the places must be known, and inside; with "clip" they are the
    nearest, with "wrap" they go around. The order is "C" or "F". Without a `dtype` the
    result has that of the places, if it holds every place. Raises ValueError
    (index.option), TypeError (index.type).

    >>> import traceir.numpy as jnp
    >>> ravel_multi_index((jnp.array([1, 0]), jnp.array([2, 1])), (2, 3))
    Array([5, 1], dtype=int32)
    """
    extents = shape_tuple(dims)
    given = operands("ravel_multi_index", tuple(multi_index))
    if len(given) != len(extents):
        got = f"{len(given)} arrays of places for {len(extents)} dimensions"
        raise rules.error("index.option", got=got)
    integers = default_dtype(int) if dtype is None else dtype_of(dtype)
    own = joined(given)[0] if given and dtype is None else integers
    if own.kind in "iu" and math.prod(extents) - 1 <= np.iinfo(own).max:
        integers = own
    if math.prod(extents) - 1 > np.iinfo(integers).max:
        got = f"places in {extents} of dtype {integers.name}"
        raise rules.error("index.option", got=got)
    found: Any = typed(0, integers, False)
    stride = 1
    lines = list(zip(given, extents))
    for places, extent in lines if order == "F" else reversed(lines):
        if typeof(places).dtype.kind not in "iu":
            raise rules.error("index.type", got=f"an array of {typeof(places).dtype}")
        inside = _inside(as_array(places), extent, mode)
        found = found + convert(inside, integers) * stride
        stride *= extent
    if order not in ("C", "F"):
        raise rules.error("index.option", got=f"order={order!r}")
    return as_array(found)


def _inside(places: Array, extent: int, mode: str) -> Array:
    places = as_array(widened(places, extent))
    match mode:
        case "clip":
            return clip(places, 0, extent - 1)
        case "wrap":
            return remainder(places, extent)
        case "raise" if not is_tracer(places):
            known = np.asarray(places)
            if ((known < 0) | (known >= extent)).any():
                raise rules.error("index.option", got=f"{known} outside of {extent}")
            return places
        case "raise":
            tracer: Any = places
            raise refusal(tracer, "level.concretize.number", "mode='raise'")
    raise rules.error("index.option", got=f"mode={mode!r}")


def ix_(*args: Operand) -> tuple[Array, ...]:
    """Vectors as index arrays of all their combinations, each along its own dimension.

    A vector of booleans stands for its true places. Raises ValueError (face.vector),
    ConcretizationTypeError (index.size).

    >>> import traceir.numpy as jnp
    >>> rows, columns = ix_(jnp.array([0, 1]), jnp.array([2, 0]))
    >>> rows.shape, columns.shape
    ((2, 1), (1, 2))
    """
    found = []
    for k, arg in enumerate(args):
        x = asarray(arg)
        if x.ndim != 1:
            raise rules.error("face.vector", got=f"an argument of shape {x.shape}")
        if x.dtype == bool:
            [x] = nonzero(x)
        elif not x.size:
            x = x.astype(default_dtype(int))
        found.append(
            lax.reshape(x, [x.size if d == k else 1 for d in range(len(args))])
        )
    return tuple(found)


def indices(
    dimensions: Sequence[int], dtype: DTypeLike = int, sparse: bool = False
) -> Any:
    """The place in each dimension, for every element of an array of these extents.

    One array, whose first dimension is that of dimensions; with `sparse`, one for each,
    of extent 1 elsewhere. Raises TypeError (face.shape, face.dtype).

    >>> indices((2, 2))
    Array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]], dtype=int32)
    """
    if np.ndim(dimensions) == 0:
        raise rules.error("face.shape", got=repr(dimensions), hint="give a tuple")
    extents, wanted = shape_tuple(dimensions), dtype_of(dtype, "indices")
    lines = [
        [n if k == d else 1 for k in range(len(extents))] for d, n in enumerate(extents)
    ]
    if sparse:
        return tuple(
            lax.broadcasted_iota(wanted, line, d) for d, line in enumerate(lines)
        )
    if not extents:
        return lax.full((0,), 0, wanted)
    return lax.stack(
        [lax.broadcasted_iota(wanted, extents, d) for d in range(len(extents))], 0
    )


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The index arrays of a diagonal of `n` elements in `ndim` dimensions.

    >>> diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    return (arange(n),) * ndim


def diag_indices_from(arr: Operand) -> tuple[Array, ...]:
    """The index arrays of the diagonal of an array of equal extents.

    Raises ValueError (face.least-rank, index.option).

    >>> import traceir.numpy as jnp
    >>> diag_indices_from(jnp.zeros((2, 2)))[0]
    Array([0, 1], dtype=int32)
    """
    shape = typeof(operand("diag_indices_from", arr)).shape
    if len(shape) < 2:
        raise rules.error("face.least-rank", got=f"{shape} for 2 dimensions")
    if len(set(shape)) > 1:
        raise rules.error("index.option", got=f"a diagonal of shape {shape}")
    return diag_indices(shape[0], len(shape))


def _triangle(n: int, k: int, m: int | None, lower: bool) -> Pair:
    shape = shape_tuple((n, n if m is None else m))
    if min(shape) < 0:
        raise rules.error("face.shape", got=f"a triangle of {shape}")
    rows, columns = np.indices(shape)
    inside = columns - rows <= k if lower else columns - rows >= k
    integers = default_dtype(int)
    first, second = (asarray(p.astype(integers)) for p in np.nonzero(inside))
    return first, second


def tril_indices(n: int, k: int = 0, m: int | None = None) -> Pair:
    """The index arrays of elements on and below diagonal `k` of an `n` by `m` matrix.

    >>> tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    return _triangle(n, k, m, True)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> Pair:
    """The index arrays of elements on and above diagonal `k` of an `n` by `m` matrix.

    >>> triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return _triangle(n, k, m, False)


def tril_indices_from(arr: Operand, k: int = 0) -> Pair:
    """As `tril_indices`, for a matrix of that shape; ValueError (index.option).

    >>> import traceir.numpy as jnp
    >>> tril_indices_from(jnp.zeros((2, 1)))
    (Array([0, 1], dtype=int32), Array([0, 0], dtype=int32))
    """
    return tril_indices(*_matrix("tril_indices_from", arr, k))


def triu_indices_from(arr: Operand, k: int = 0) -> Pair:
    """As `triu_indices`, for a matrix of that shape; ValueError (index.option).

    >>> import traceir.numpy as jnp
    >>> triu_indices_from(jnp.zeros((1, 2)))
    (Array([0, 0], dtype=int32), Array([0, 1], dtype=int32))
    """
    return triu_indices(*_matrix("triu_indices_from", arr, k))


def _matrix(name: str, arr: Operand, k: int) -> tuple[int, int, int]:
    shape = typeof(operand(name, arr)).shape
    if len(shape) != 2:
        raise rules.error("index.option", got=f"a triangle of shape {shape}")
    return shape[0], k, shape[1]


def mask_indices(
    n: int,
    mask_func: Callable[..., Array],
    k: Any = 0,
    *,
    size: int | None = None,
) -> Pair:
    """The index arrays of elements that `mask_func(m, k)` leaves of `n` by `n` ones.

    Raises ConcretizationTypeError (index.size).

    >>> import traceir.numpy as jnp
    >>> mask_indices(2, jnp.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    first, second = nonzero(mask_func(ones((n, n)), k), size=size)
    return first, second
