"""Values of sparse arrays: found, summed, multiplied and put among zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from traceir import numpy as jnp
from traceir.experimental.sparse.coordinates import (
    Coordinates,
    columns,
    each,
    live,
    raveled,
    sparse_shape,
    unraveled,
)

C = TypeVar("C", bound=Coordinates)


def fromdense(
    kind: type[C],
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> C:
    """The values of an array that are not zero, of which each example has `nse`.

    Within a trace `nse` is needed: it is the length of the arrays. Where there are
    fewer values, the rest is zeros, outside.
    """
    dense = jnp.asarray(mat)
    last = dense.ndim - n_dense
    found = jnp.any(dense != 0, axis=tuple(range(last, dense.ndim)))
    places = dense.shape[n_batch:last]
    if nse is None:
        counts = jnp.sum(found, axis=tuple(range(n_batch, last)))
        nse = int(jnp.max(counts, initial=0))

    def one(values: Any, found: Any) -> Any:
        where = jnp.nonzero(found.reshape(-1), size=nse, fill_value=prod(places))[0]
        flat = values.reshape(prod(places), *values.shape[len(places) :])
        data = flat.at[where].get(mode="fill", fill_value=0)
        return data, unraveled(where, places).astype(index_dtype)

    data, indices = each(one, n_batch)(dense, found)
    return kind(
        (data, indices), shape=dense.shape, indices_sorted=True, unique_indices=True
    )


def bcoo_todense(mat: Coordinates) -> Any:
    """The array, zeros included."""
    shape, dtype = mat._element, mat.dtype

    def one(data: Any, indices: Any) -> Any:
        if not indices.shape[-1]:
            return jnp.sum(data, axis=0, dtype=dtype)
        zeros = jnp.zeros(shape, dtype)
        return zeros.at[columns(indices)].add(data, mode="drop")

    return each(one, mat.n_batch)(*live(mat))


def todense(arr: Any) -> Any:
    """An array, zeros included, of a sparse one or of an array."""
    return arr.todense() if hasattr(arr, "todense") else jnp.asarray(arr)


def on_values(function: Callable[[Any], Any], mat: C) -> C:
    """A function of elements that keeps zeros, applied to the values."""
    if not mat.unique_indices:
        mat = bcoo_sum_duplicates(mat, mat.nse)
    return mat._with(function(mat.data))


def bcoo_sort_indices(mat: C) -> C:
    """The same array with its values in the order of their places."""
    shape = sparse_shape(mat)

    def one(data: Any, indices: Any) -> Any:
        order = jnp.argsort(raveled(indices, shape), stable=True)
        return data[order], indices[order]

    found = each(one, mat.n_batch)(mat.data, mat.indices)
    same = {"unique_indices": mat.unique_indices}
    return type(mat)(found, shape=mat.shape, indices_sorted=True, **same)


def nonzero(mat: C) -> C:
    """The array with values that are zero moved outside."""
    axes = tuple(range(mat.n_batch + 1, mat.data.ndim))
    zero = jnp.all(mat.data == 0, axis=axes)
    outside = np.array(sparse_shape(mat), mat.indices.dtype)
    indices = jnp.where(zero[..., None], outside, mat.indices)
    return type(mat)((mat.data, indices), shape=mat.shape)


def bcoo_sum_duplicates(mat: C, nse: int | None = None) -> C:
    """The same array with one value a place, in order: `nse` of them.

    Within a trace `nse` is needed; what is more is left out.

    >>> from traceir.experimental.sparse import BCOO
    >>> x = BCOO((jnp.ones(3), jnp.array([[1], [0], [1]])), shape=(4,))
    >>> bcoo_sum_duplicates(x).data
    Array([1., 2.], dtype=float32)
    """
    shape = sparse_shape(mat)
    flat = raveled(mat.indices, shape)
    if nse is None:
        rows = np.asarray(flat).reshape(-1, mat.nse)
        nse = max((len(set(row.tolist()) - {prod(shape)}) for row in rows), default=0)

    def one(data: Any, flat: Any) -> Any:
        places, where = jnp.unique(
            flat, return_inverse=True, size=nse, fill_value=prod(shape)
        )
        there = (
            places[jnp.minimum(where, max(nse - 1, 0))] == flat if nse else where < 0
        )
        where = jnp.where(there, where, nse)
        zeros = jnp.zeros((nse, *data.shape[1:]), data.dtype)
        found = zeros.at[where].add(data, mode="drop")
        return found, unraveled(places, shape).astype(mat.indices.dtype)

    found = each(one, mat.n_batch)(live(mat)[0], flat)
    return type(mat)(found, shape=mat.shape, indices_sorted=True, unique_indices=True)


def bcoo_extract(sparr: C, arr: Any, *, assume_unique: bool | None = None) -> C:
    """The elements of an array at the places of a sparse one.

    Where a place stands twice, each value has its element if `assume_unique`, as they
    are unless it is said otherwise; else the first has it and others are zero.
    """
    unique = sparr.unique_indices if assume_unique is None else assume_unique
    dense = jnp.asarray(arr)

    def one(values: Any, indices: Any) -> Any:
        return values.at[columns(indices)].get(mode="fill", fill_value=0)

    data = each(one, sparr.n_batch)(dense, sparr.indices)
    found = sparr._with(data)
    if assume_unique is None or unique:
        return found
    firsts = each(_firsts, sparr.n_batch)(raveled(sparr.indices, sparse_shape(sparr)))
    firsts = firsts.reshape(firsts.shape + (1,) * sparr.n_dense)
    return sparr._with(jnp.where(firsts, data, jnp.zeros((), data.dtype)))


def _firsts(flat: Any) -> Any:
    """True for the numbers that did not stand before."""
    earlier = jnp.tril(flat[:, None] == flat[None, :], -1)
    return ~jnp.any(earlier, axis=1)


def bcoo_multiply_dense(sp_mat: C, v: Any) -> Any:
    """The values of a sparse array times an array that is stretched to its shape."""
    factor = jnp.asarray(v)
    if factor.ndim == 0:
        return sp_mat.data * v
    stretched = jnp.broadcast_to(factor, sp_mat.shape)
    return sp_mat.data * bcoo_extract(sp_mat, stretched).data


def bcoo_multiply_sparse(lhs: C, rhs: C) -> C:
    """The product of elements of two sparse arrays of one shape and layout."""
    _same_layout(lhs, rhs)
    shape = sparse_shape(lhs)

    def one(a: Any, places: Any, b: Any, others: Any) -> Any:
        own, their = raveled(places, shape), raveled(others, shape)
        same = (own[:, None] == their[None, :]).reshape(-1)
        dense = a.shape[1:]
        product = (a[:, None] * b[None, :]).reshape(-1, *dense)
        rows = jnp.repeat(places, len(their), axis=0)
        return product, jnp.where(same[:, None], rows, np.array(shape, rows.dtype))

    found = each(one, lhs.n_batch)(*live(lhs), *live(rhs))
    return type(lhs)(found, shape=lhs.shape)


def _same_layout(lhs: C, rhs: C) -> None:
    wanted = lhs.shape, lhs.n_batch, lhs.n_dense
    if wanted != (rhs.shape, rhs.n_batch, rhs.n_dense):
        raise ValueError(f"Sparse arrays have one shape and layout, got {lhs}, {rhs}.")


def added(lhs: C, rhs: C) -> C:
    """The sum of two sparse arrays of one shape and layout: the values of both."""
    _same_layout(lhs, rhs)
    if lhs.indices is rhs.indices:
        return lhs._with(lhs.data + rhs.data)
    data = jnp.concatenate([lhs.data, rhs.data], axis=lhs.n_batch)
    indices = jnp.concatenate([lhs.indices, rhs.indices], axis=lhs.n_batch)
    return type(lhs)((data, indices), shape=lhs.shape)


def bcoo_reduce_sum(mat: C, *, axes: Sequence[int]) -> C:
    """The sum along some axes, a sparse array: places lose these dimensions.

    >>> from traceir.experimental.sparse import BCOO
    >>> x = BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 1.0]]))
    >>> bcoo_reduce_sum(x, axes=[0]).todense()
    Array([3., 3.], dtype=float32)
    """
    batch = [a for a in axes if a < mat.n_batch]
    last = mat.n_batch + mat.n_sparse
    kept = [k for k in range(mat.n_sparse) if mat.n_batch + k not in axes]
    dense = tuple(a - last + mat.n_batch + 1 for a in axes if a >= last)
    data, indices = live(mat)
    data, indices = jnp.sum(data, axis=dense), indices[..., np.array(kept, int)]
    rest = [k for k in range(mat.n_batch) if k not in batch]

    def merged(part: Any) -> Any:
        """Values of the examples that are added up, as those of one."""
        order = (*rest, *batch, *range(mat.n_batch, part.ndim))
        count = prod(part.shape[k] for k in (*batch, mat.n_batch))
        extents = [part.shape[k] for k in rest]
        tail = part.shape[mat.n_batch + 1 :]
        return jnp.transpose(part, order).reshape(*extents, count, *tail)

    shape = [n for k, n in enumerate(mat.shape) if k not in axes]
    return type(mat)((merged(data), merged(indices)), shape=shape)
