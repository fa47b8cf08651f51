"""The same sparse array in another order, shape or layout."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.experimental.sparse.coordinates import (
    inside,
    raveled,
    sparse_shape,
    unraveled,
)
from traceir.experimental.sparse.elements import (
    C,
    bcoo_sum_duplicates,
    bcoo_todense,
    fromdense,
)


class SparseEfficiencyError(ValueError):
    """A sparse array would have to hold zeros, for another layout."""


class SparseEfficiencyWarning(UserWarning):
    """A sparse array holds zeros, for another layout."""


def bcoo_transpose(mat: C, *, permutation: Sequence[int]) -> C:
    """The array with its dimensions in another order, each among those of its kind.

    Raises ValueError for an order that mixes dimensions of the batch, of places and of
    values.

    >>> from traceir.experimental.sparse import BCOO
    >>> x = BCOO.fromdense(jnp.array([[0.0, 2.0, 1.0]]))
    >>> bcoo_transpose(x, permutation=(1, 0)).shape
    (3, 1)
    """
    order = [operator.index(k) % mat.ndim for k in permutation]
    last = mat.n_batch + mat.n_sparse
    kinds = [(k >= mat.n_batch) + (k >= last) for k in order]
    if sorted(order) != list(range(mat.ndim)) or kinds != sorted(kinds):
        raise ValueError(
            f"Dimensions of {mat} are transposed among those of the batch, of places, "
            f"and of values, got {tuple(permutation)}; `update_layout` changes these."
        )
    batch, places = order[: mat.n_batch], order[mat.n_batch : last]
    dense = [k - last + mat.n_batch + 1 for k in order[last:]]
    data = jnp.transpose(mat.data, (*batch, mat.n_batch, *dense))
    indices = jnp.transpose(mat.indices, (*batch, mat.n_batch, mat.n_batch + 1))
    columns = np.array([k - mat.n_batch for k in places], int)
    return type(mat)(
        (data, indices[..., columns]),
        shape=[mat.shape[k] for k in order],
        indices_sorted=mat.indices_sorted and places == sorted(places),
        unique_indices=mat.unique_indices,
    )


def bcoo_reshape(
    mat: C, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None
) -> C:
    """The array with another shape of as many elements, in the same order.

    Extents of a batch and of values stay. Raises ValueError where they would not.
    """
    if dimensions is not None:
        mat = bcoo_transpose(mat, permutation=dimensions)
    old, sizes = mat.shape, list(map(int, new_sizes))
    if -1 in sizes:
        sizes[sizes.index(-1)] = prod(old) // max(-prod(sizes), 1)
    last = len(sizes) - mat.n_dense
    batch, dense = tuple(sizes[: mat.n_batch]), tuple(sizes[last:])
    kept = batch == old[: mat.n_batch] and dense == old[mat.ndim - mat.n_dense :]
    if prod(sizes) != prod(old) or not kept:
        raise ValueError(
            f"A shape of as many elements keeps the extents of a batch and of values: "
            f"{mat} cannot be {tuple(sizes)}."
        )
    own, other = sparse_shape(mat), sizes[mat.n_batch : last]
    flat = raveled(mat.indices, own)
    rows = unraveled(flat.reshape(-1), other).reshape(*flat.shape, len(other))
    return type(mat)(
        (mat.data, rows.astype(mat.indices.dtype)),
        shape=sizes,
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


def bcoo_squeeze(arr: C, *, dimensions: Sequence[int]) -> C:
    """The array without some of its dimensions of extent 1; ValueError for others."""
    gone = {operator.index(d) % arr.ndim for d in dimensions}
    if any(arr.shape[d] != 1 for d in gone):
        raise ValueError(f"Dimensions that go have extent 1: {gone} of {arr}.")
    last = arr.n_batch + arr.n_sparse
    batch = tuple(d for d in gone if d < arr.n_batch)
    dense = tuple(d - last + arr.n_batch + 1 for d in gone if d >= last)
    kept = [k for k in range(arr.n_sparse) if arr.n_batch + k not in gone]
    # A place in what goes is 0, or the value is outside.
    there = inside(arr.indices, sparse_shape(arr))[..., None]
    shape = [n for k, n in enumerate(arr.shape) if k not in gone]
    outside = np.array([sparse_shape(arr)[k] for k in kept], arr.indices.dtype)
    rows = jnp.where(there, arr.indices[..., np.array(kept, int)], outside)
    data = jnp.squeeze(arr.data, axis=batch + dense)
    if not kept:
        shaped = there[..., 0].reshape(there.shape[:-1] + (1,) * arr.n_dense)
        data = jnp.squeeze(jnp.where(shaped, arr.data, 0), axis=batch + dense)
    return type(arr)((data, jnp.squeeze(rows, axis=batch)), shape=shape)


def bcoo_broadcast_in_dim(
    mat: C, *, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> C:
    """The array stretched to a shape, in which its dimensions are some.

    New dimensions before the places belong to the batch, between them to the places,
    and after them to the values.
    """
    full, to = tuple(map(int, shape)), list(broadcast_dimensions)
    last = mat.n_batch + mat.n_sparse
    places, values = to[mat.n_batch : last], to[last:]
    begin = places[0] if places else (values[0] if values else len(full))
    end = places[-1] + 1 if places else begin
    batch, dense = full[:begin], full[end:]
    data = _spread(mat.data, to[: mat.n_batch], batch, mat.n_batch)
    indices = _spread(mat.indices, to[: mat.n_batch], batch, mat.n_batch)
    own = np.zeros(1 + len(dense), int)
    own[[0, *[1 + d - end for d in values]]] = data.shape[len(batch) :]
    data = data.reshape(*batch, *np.where(own == 0, 1, own).tolist())
    data = jnp.broadcast_to(data, (*batch, data.shape[len(batch)], *dense))
    parts = []
    for d in range(begin, end):
        known = places.index(d) if d in places else None
        if known is not None and sparse_shape(mat)[known] == full[d]:
            parts.append(indices[..., known])
            continue
        count, axis = full[d], len(batch)
        held = data.shape[axis]
        data = jnp.repeat(data, count, axis=axis)
        indices = jnp.repeat(indices, count, axis=axis)
        parts = [jnp.repeat(part, count, axis=axis) for part in parts]
        turns = jnp.tile(jnp.arange(count, dtype=indices.dtype), held)
        parts.append(jnp.broadcast_to(turns, (*batch, held * count)))
    if not parts:
        return type(mat)((data, indices), shape=full)
    return type(mat)((data, jnp.stack(parts, axis=-1)), shape=full)


def _spread(part: Any, to: Sequence[int], batch: Sequence[int], known: int) -> Any:
    """An array with a batch's dimensions at some places of another batch."""
    extents = [1] * len(batch)
    for k, d in enumerate(to):
        extents[d] = part.shape[k]
    rest = part.shape[known:]
    return jnp.broadcast_to(part.reshape(*extents, *rest), (*batch, *rest))


def bcoo_concatenate(operands: Sequence[C], *, dimension: int) -> C:
    """Sparse arrays of one layout behind one another; ValueError along values."""
    first = operands[0]
    shape = list(first.shape)
    axis = operator.index(dimension) % first.ndim
    shape[axis] = sum(mat.shape[axis] for mat in operands)
    if axis >= first.n_batch + first.n_sparse:
        raise ValueError(f"Sparse arrays are joined along places, got {axis}: {first}.")
    if axis < first.n_batch:
        most = max(mat.nse for mat in operands)
        padded = [_with_nse(mat, most) for mat in operands]
        parts = [[m.data for m in padded], [m.indices for m in padded]]
        data, indices = (jnp.concatenate(part, axis=axis) for part in parts)
        return type(first)((data, indices), shape=shape)
    column, begin, moved = axis - first.n_batch, 0, []
    for mat in operands:
        there = inside(mat.indices, sparse_shape(mat))[..., None]
        step = np.zeros(mat.n_sparse, mat.indices.dtype)
        step[column] = begin
        outside = np.array(shape[first.n_batch :][: mat.n_sparse], mat.indices.dtype)
        moved.append(jnp.where(there, mat.indices + step, outside))
        begin += mat.shape[axis]
    data = jnp.concatenate([mat.data for mat in operands], axis=first.n_batch)
    return type(first)((data, jnp.concatenate(moved, axis=first.n_batch)), shape=shape)


def _with_nse(mat: C, nse: int) -> C:
    """The array with more values, which are zeros outside."""
    more = nse - mat.nse
    batch = [(0, 0)] * mat.n_batch
    data = jnp.pad(mat.data, [*batch, (0, more), *[(0, 0)] * mat.n_dense])
    outside = jnp.broadcast_to(
        jnp.asarray(sparse_shape(mat), mat.indices.dtype),
        (*mat.indices.shape[:-2], more, mat.n_sparse),
    )
    rows = jnp.concatenate([mat.indices, outside], axis=mat.n_batch)
    return type(mat)((data, rows), shape=mat.shape)


def bcoo_slice(
    mat: C,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> C:
    """A part of an array: from a place to before another, by steps in each dimension.

    >>> from traceir.experimental.sparse import BCOO
    >>> x = BCOO.fromdense(jnp.array([[0.0, 2.0, 1.0]]))
    >>> bcoo_slice(x, start_indices=(0, 1), limit_indices=(1, 3)).todense()
    Array([[2., 1.]], dtype=float32)
    """
    steps = [1] * mat.ndim if strides is None else list(strides)
    parts = [slice(*t) for t in zip(start_indices, limit_indices, steps, strict=True)]
    sizes = [len(range(*p.indices(n))) for p, n in zip(parts, mat.shape, strict=True)]
    return _part(mat, [p.start for p in parts], sizes, steps)


def bcoo_dynamic_slice(
    mat: C, start_indices: Sequence[Any], slice_sizes: Sequence[int]
) -> C:
    """A part of an array of known extents, from a place that a program computes.

    The place is moved so far that the part lies within the array.
    """
    ends = zip(start_indices, mat.shape, slice_sizes, strict=True)
    starts = [jnp.clip(start, 0, n - size) for start, n, size in ends]
    return _part(mat, starts, list(slice_sizes), [1] * mat.ndim)


def _part(
    mat: C, starts: Sequence[Any], sizes: Sequence[int], steps: Sequence[int]
) -> C:
    data, indices = mat.data, mat.indices
    last = mat.n_batch + mat.n_sparse
    for d in [*range(mat.n_batch), *range(last, mat.ndim)]:
        where = starts[d] + steps[d] * jnp.arange(sizes[d])
        axis = d if d < mat.n_batch else d - last + mat.n_batch + 1
        data = jnp.take(data, where, axis=axis)
        if d < mat.n_batch:
            indices = jnp.take(indices, where, axis=axis)
    first, places = mat.n_batch, slice(mat.n_batch, last)
    moved = indices - jnp.stack(
        [jnp.asarray(s, indices.dtype) for s in starts[places]]
        or [jnp.zeros((0,), indices.dtype)],
        axis=-1,
    ).reshape(-1)
    own = np.array(steps[places], int).astype(indices.dtype)
    extents = np.array(sizes[places], int).astype(indices.dtype)
    rows = moved // np.where(own == 0, 1, own)
    kept = inside(indices, sparse_shape(mat)) & inside(rows, extents.tolist())
    kept = kept & jnp.all(moved % own == 0, axis=-1)
    rows = jnp.where(kept[..., None], rows, extents)
    shaped = kept.reshape(kept.shape + (1,) * mat.n_dense)
    data = jnp.where(shaped, data, jnp.zeros((), data.dtype))
    shape = (*sizes[:first], *extents.tolist(), *sizes[last:])
    found = type(mat)((data, rows), shape=shape)
    most = prod(extents.tolist())
    return found if found.nse <= most else bcoo_sum_duplicates(found, most)


def bcoo_rev(operand: C, dimensions: Sequence[int]) -> C:
    """The array with the elements of some dimensions in reverse order."""
    last = operand.n_batch + operand.n_sparse
    batch = [d for d in dimensions if d < operand.n_batch]
    dense = [d - last + operand.n_batch + 1 for d in dimensions if d >= last]
    turned = np.array(
        [operand.n_batch + k in dimensions for k in range(operand.n_sparse)]
    )
    extents = np.array(sparse_shape(operand), operand.indices.dtype)
    there = inside(operand.indices, sparse_shape(operand))[..., None]
    back = jnp.where(turned & there, extents - 1 - operand.indices, operand.indices)
    data = jnp.flip(operand.data, axis=tuple(batch + dense))
    return type(operand)((data, jnp.flip(back, axis=tuple(batch))), shape=operand.shape)


def bcoo_update_layout(
    mat: C,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> C:
    """The same array with other dimensions as its batch, and as its dense part.

    Where values become places, each is a place of its own. The other way an array has
    to hold zeros: that is an error (SparseEfficiencyError), a warning with
    `on_inefficient="warn"`, and nothing with None.
    """
    batch = mat.n_batch if n_batch is None else n_batch
    dense = mat.n_dense if n_dense is None else n_dense
    if batch < 0 or dense < 0 or batch + dense > mat.ndim:
        raise ValueError(f"{mat} has no batch of {batch} and values of {dense}.")
    if batch > mat.n_batch or dense > mat.n_dense:
        told = f"{mat} with n_batch={batch} and n_dense={dense} holds zeros."
        if on_inefficient == "error":
            raise SparseEfficiencyError(f"{told} on_inefficient=None allows it.")
        if on_inefficient == "warn":
            warnings.warn(told, SparseEfficiencyWarning, stacklevel=2)
    if (batch, dense) == (mat.n_batch, mat.n_dense):
        return mat
    places = mat.shape[batch : mat.ndim - dense]
    known = sparse_shape(mat)
    held = mat.nse
    held *= prod(mat.shape[batch : mat.n_batch]) * prod(
        mat.shape[mat.n_batch + len(known) : mat.ndim - dense]
    )
    most = min(held, prod(places))
    return fromdense(
        type(mat),
        bcoo_todense(mat),
        nse=most,
        n_batch=batch,
        n_dense=dense,
        index_dtype=mat.indices.dtype,
    )


def indexed(mat: C, index: Any) -> C:
    """`mat[index]`, of numbers, slices, None and an ellipsis; TypeError for others."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if Ellipsis not in parts:
        parts.append(Ellipsis)
    used = sum(p is not None and p is not Ellipsis for p in parts)
    at = parts.index(Ellipsis)
    parts[at : at + 1] = [slice(None)] * (mat.ndim - used)
    if used > mat.ndim:
        raise IndexError(f"{mat} has {mat.ndim} dimensions, got {used} indices.")
    starts: list[Any] = []
    sizes, steps, gone = [], [], []
    turned = []
    own = [part for part in parts if part is not None]
    for d, (part, extent) in enumerate(zip(own, mat.shape, strict=True)):
        if isinstance(part, slice):
            begin, end, step = part.indices(extent)
            count = len(range(begin, end, step))
            if step < 0:
                turned.append(d)
                begin, step = begin + (count - 1) * step, -step
            starts.append(begin)
        elif jnp.ndim(part) == 0:
            count, step = 1, 1
            where = jnp.where(part < 0, part + extent, part)
            starts.append(jnp.clip(where, 0, extent - 1))
            gone.append(d)
        else:
            raise TypeError(
                f"A sparse array is indexed by numbers and slices: {part!r}"
            )
        sizes.append(count)
        steps.append(step)
    found = _part(mat, starts, sizes, steps)
    if turned:
        found = bcoo_rev(found, turned)
    found = bcoo_squeeze(found, dimensions=gone) if gone else found
    kept = [k for k, p in enumerate(parts) if p is None or isinstance(p, slice)]
    to = [n for n, k in enumerate(kept) if parts[k] is not None]
    if len(to) == len(kept):
        return found
    shape = [1] * len(kept)
    for k, n in enumerate(to):
        shape[n] = found.shape[k]
    return bcoo_broadcast_in_dim(found, shape=shape, broadcast_dimensions=to)
