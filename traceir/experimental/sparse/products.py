"""Products of sparse arrays."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from traceir import lax
from traceir import numpy as jnp
from traceir.experimental.sparse.coordinates import (
    Coordinates,
    columns,
    each,
    inside,
    live,
    sparse_shape,
)
from traceir.experimental.sparse.elements import C, bcoo_sum_duplicates, bcoo_todense
from traceir.experimental.sparse.layouts import bcoo_update_layout

__all__ = ["bcoo_dot_general", "matmul"]


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`lax.dot_general` with a sparse operand, or two, of which the product is sparse.

    >>> from traceir.experimental.sparse import BCOO
    >>> x = BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> bcoo_dot_general(x, jnp.ones(2), dimension_numbers=(((1,), (0,)), ((), ())))
    Array([2., 3.], dtype=float32)
    """
    (lc, rc), (lb, rb) = dimension_numbers
    lc, rc, lb, rb = (tuple(map(int, part)) for part in (lc, rc, lb, rb))
    pairs = [*zip(lc, rc, strict=True), *zip(lb, rb, strict=True)]
    if any(lhs.shape[a] != rhs.shape[b] for a, b in pairs):
        raise TypeError(
            f"Dimensions that are contracted have one extent, got {lhs.shape} by "
            f"{rhs.shape}, {dimension_numbers}."
        )
    kind = preferred_element_type or jnp.result_type(lhs.dtype, rhs.dtype)
    if isinstance(lhs, Coordinates) and isinstance(rhs, Coordinates):
        found = _sparse_product(lhs, rhs, (lc, rc), (lb, rb))
        return found.astype(kind)
    if isinstance(lhs, Coordinates):
        return _product(lhs, jnp.asarray(rhs), (lc, rc), (lb, rb), kind)
    swapped = _product(rhs, jnp.asarray(lhs), (rc, lc), (rb, lb), kind)
    first = len(lb)
    last = first + rhs.ndim - len(rc) - len(rb)
    order = [*range(first), *range(last, swapped.ndim), *range(first, last)]
    return jnp.transpose(swapped, order)


def _product(mat: C, dense: Any, contracted: Any, batch: Any, kind: Any) -> Any:
    """A sparse array by an array: the batch, what is left of one and of the other."""
    (lc, rc), (lb, rb) = contracted, batch
    places = range(mat.n_batch, mat.n_batch + mat.n_sparse)
    if mat.n_dense or any(d not in places for d in lc) or any(d in places for d in lb):
        numbers = (lc, rc), (lb, rb)
        return lax.dot_general(
            bcoo_todense(mat), dense, numbers, preferred_element_type=kind
        )
    alone = [d for d in range(mat.n_batch) if d not in lb]
    data, indices = live(mat)
    order = (*lb, *alone)
    data = jnp.transpose(data, (*order, mat.n_batch))
    indices = jnp.transpose(indices, (*order, mat.n_batch, mat.n_batch + 1))
    free = [d for d in range(dense.ndim) if d not in (*rc, *rb)]
    dense = jnp.transpose(dense, (*rb, *rc, *free))
    used = np.array([d - mat.n_batch for d in lc], int)
    left = [k for k in range(mat.n_sparse) if mat.n_batch + k not in lc]
    extents = [sparse_shape(mat)[k] for k in left]

    def one(data: Any, indices: Any, dense: Any) -> Any:
        where = columns(indices[:, used])
        rows = dense.at[where].get(mode="fill", fill_value=0) if where else dense[None]
        values = data.reshape(data.shape + (1,) * (dense.ndim - len(used)))
        terms = (values * rows).astype(kind)
        if not left:
            return jnp.sum(terms, axis=0, dtype=kind)
        zeros = jnp.zeros((*extents, *terms.shape[1:]), kind)
        return zeros.at[columns(indices[:, np.array(left, int)])].add(
            terms, mode="drop"
        )

    def apart(data: Any, indices: Any, dense: Any) -> Any:
        return each(lambda d, i: one(d, i, dense), len(alone))(data, indices)

    return each(apart, len(lb))(data, indices, dense)


def _sparse_product(lhs: C, rhs: C, contracted: Any, batch: Any) -> C:
    """Two sparse arrays: each value of one by each of the other, where these meet."""
    (lc, rc), (lb, rb) = contracted, batch
    if lb != tuple(range(len(lb))) or rb != tuple(range(len(rb))):
        raise ValueError(f"Sparse arrays have their batch first, got {lb} and {rb}.")
    lhs, rhs = (bcoo_update_layout(m, n_batch=len(lb), n_dense=0) for m in (lhs, rhs))
    own, other = ([d - len(lb) for d in part] for part in (lc, rc))
    left = [k for k in range(lhs.n_sparse) if k not in own]
    right = [k for k in range(rhs.n_sparse) if k not in other]
    extents = [sparse_shape(lhs)[k] for k in left]
    extents += [sparse_shape(rhs)[k] for k in right]

    def one(a: Any, places: Any, b: Any, others: Any) -> Any:
        count = len(a), len(b)
        mine, theirs = (np.array(part, int) for part in (own, other))
        same = (
            jnp.all(places[:, None, mine] == others[None, :, theirs], axis=-1)
            & (inside(places, sparse_shape(lhs))[:, None])
        )
        values = jnp.where(same, a[:, None] * b[None, :], 0)
        rows = jnp.concatenate(
            [
                jnp.broadcast_to(
                    places[:, None, np.array(left, int)], (*count, len(left))
                ),
                jnp.broadcast_to(
                    others[None, :, np.array(right, int)], (*count, len(right))
                ),
            ],
            axis=-1,
        )
        rows = jnp.where(same[..., None], rows, np.array(extents, rows.dtype))
        return values.reshape(-1), rows.reshape(count[0] * count[1], len(extents))

    found = each(one, len(lb))(*live(lhs), *live(rhs))
    product = type(lhs)(found, shape=(*lhs.shape[: len(lb)], *extents))
    most = prod(extents)
    return product if product.nse <= most else bcoo_sum_duplicates(product, most)


def matmul(lhs: Any, rhs: Any) -> Any:
    """`lhs @ rhs`, of which one or both are sparse.

    Raises TypeError where extents do not fit.
    """
    ranks = lhs.ndim, jnp.ndim(rhs) if not isinstance(rhs, Coordinates) else rhs.ndim
    if 0 in ranks:
        raise TypeError(f"A product of matrices has no numbers, got {lhs} and {rhs}.")
    lhs, rhs = (m if isinstance(m, Coordinates) else jnp.asarray(m) for m in (lhs, rhs))
    batch = min(max(ranks[0] - 2, 0), max(ranks[1] - 2, 0))
    one = lhs.ndim - 1, max(rhs.ndim - 2, 0)
    same = tuple(range(batch))
    if max(ranks) > 2 and min(ranks) > 2 and ranks[0] != ranks[1]:
        raise TypeError(f"Batches of matrices have one rank, got {lhs} and {rhs}.")
    numbers = ((one[:1], one[1:]), (same, same))
    found = bcoo_dot_general(lhs, rhs, dimension_numbers=numbers)
    further = rhs.ndim - 2 - batch
    if further <= 0 or lhs.ndim - batch < 2:
        return found
    # A batch of the right operand's alone stands before the rows.
    order = list(range(found.ndim))
    order.insert(batch + further, order.pop(batch))
    return found.transpose(order)
