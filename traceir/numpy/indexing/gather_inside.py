"""Reads at indices that are known to be in bounds. Serves: gather"""

from __future__ import annotations

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import typed
from traceir.tracing.trace import bind_one


def at_places(x: Array, places: Array, axis: int, keepdims: bool = False) -> Array:
    """The elements of `x` at some indices of an axis, the same for all of its lines.

    The dimensions of `places` come first. At one place, a scalar, the axis may stay,
    with extent 1. An axis without places gives zeros.

    >>> import traceir.numpy as jnp
    >>> at_places(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 0]), 1)
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    lead = places.ndim
    rank = lead + x.ndim - (not keepdims)
    single = () if keepdims else (axis,)
    sizes = tuple(1 if d == axis else n for d, n in enumerate(x.shape))
    if not x.shape[axis]:
        kept = [n for d, n in enumerate(sizes) if keepdims or d != axis]
        return lax.full((*places.shape, *kept), typed(0, x.dtype, False))
    return bind_one(
        "gather",
        x,
        lax.broadcast_in_dim(places, (*places.shape, 1), range(lead)),
        dimension_numbers=(tuple(range(lead, rank)), single, (axis,), (), ()),
        slice_sizes=sizes,
    )


def along_axis(x: Array, places: Array, axis: int) -> Array:
    """The elements of each line of `x` at its own indices along an axis.

    `places` has the shape of `x` but for the extent of the axis. Of an array without
    elements there are zeros.

    >>> import traceir.numpy as jnp
    >>> along_axis(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [0]]), 1)
    Array([[2],
           [3]], dtype=int32)
    """
    if not x.size:
        return lax.full(places.shape, typed(0, x.dtype, False))
    others = tuple(d for d in range(x.ndim) if d != axis)
    shape = (*places.shape, 1)
    return bind_one(
        "gather",
        x,
        lax.broadcast_in_dim(places, shape, range(places.ndim)),
        dimension_numbers=((), (axis,), (axis,), others, others),
        slice_sizes=(1,) * x.ndim,
    )


def filled(marks: Array, ranks: Array, size: int) -> Array:
    """The places that are marked, the first `size` of them; 0 where there are fewer.

    `ranks` counts the marks up to each place, from 0.

    >>> import traceir.numpy as jnp
    >>> filled(jnp.array([True, False, True]), jnp.array([0, 0, 1]), 3)
    Array([0, 2, 0], dtype=int32)
    """
    places = lax.iota(ranks.dtype, ranks.shape[0])
    outside = lax.full(ranks.shape, typed(size, ranks.dtype, False))
    return _put("scatter", size, lax.select_n(marks, outside, ranks), places)


def counted(places: Array, size: int) -> Array:
    """The count of each of the first `size` numbers among some.

    >>> import traceir.numpy as jnp
    >>> counted(jnp.array([0, 2, 2, 5]), 3)
    Array([1, 0, 2], dtype=int32)
    """
    ones = lax.full(places.shape, typed(1, places.dtype, False))
    return _put("scatter-add", size, places, ones)


def added(size: int, places: Array, values: Array) -> Array:
    """The values at each of the first `size` places of a vector, added up.

    >>> import traceir.numpy as jnp
    >>> added(2, jnp.array([1, 1, 7]), jnp.array([0.5, 1.0, 9.0]))
    Array([0. , 1.5], dtype=float32)
    """
    return _put("scatter-add", size, places, values)


def _put(primitive: str, size: int, places: Array, values: Array) -> Array:
    """Values put, or added, into so many zeros; those outside are dropped."""
    none = lax.full((size,), typed(0, values.dtype, False))
    if not size:
        return none
    return bind_one(
        primitive,
        none,
        lax.broadcast_in_dim(places, (*places.shape, 1), (0,)),
        values,
        dimension_numbers=((), (0,), (0,), (), ()),
        mode="GatherScatterMode.FILL_OR_DROP",
    )
