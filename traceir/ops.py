"""Sums and their like over groups of rows, as `jax.ops` has them. Serves: order.size"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import Operand, as_array, is_tracer, operand, shape_of
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.creation import full
from traceir.numpy.elementwise.composites import floor_divide
from traceir.numpy.indexing.at_updates import IndexUpdate
from traceir.numpy.indexing.index_plan import traced
from traceir.numpy.ranges.linspace import arange
from traceir.numpy.reductions import reductions
from traceir.tracing.trace import typeof

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


@takes_out_sharding
def segment_sum(
    data: Operand,
    segment_ids: Operand,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Row `k` is the sum of the rows of `data` whose id is `k`; 0 where there is none.

    `segment_ids` has an integer for each row of `data`, whose shape is
    `(len(segment_ids), ...)`; the result's is `(num_segments, ...)`. Without
    `num_segments` that is one more than the greatest id. A row whose id names no
    segment is left out, as a negative one is. `indices_are_sorted` and
    `unique_indices` promise what they say, `mode` is that of `x.at[...]`, and with
    `bucket_size` so many rows are summed by themselves first, which is another order of
    summation. Raises ConcretizationTypeError (order.size) for traced ids without
    `num_segments`.

    >>> import traceir.numpy as jnp
    >>> segment_sum(jnp.array([1.0, 2.0, 4.0]), jnp.array([0, 0, 2]), 4)
    Array([3., 0., 4., 0.], dtype=float32)
    """
    flags = indices_are_sorted, unique_indices, bucket_size, mode
    return _segments("sum", data, segment_ids, num_segments, *flags)


@takes_out_sharding
def segment_prod(
    data: Operand,
    segment_ids: Operand,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Products as `segment_sum`; 1 where there is no row.

    >>> import traceir.numpy as jnp
    >>> segment_prod(jnp.array([3.0, 2.0, 4.0]), jnp.array([0, 0, 2]))
    Array([6., 1., 4.], dtype=float32)
    """
    flags = indices_are_sorted, unique_indices, bucket_size, mode
    return _segments("prod", data, segment_ids, num_segments, *flags)


@takes_out_sharding
def segment_max(
    data: Operand,
    segment_ids: Operand,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Greatest elements as `segment_sum`; the least of the dtype where there is no row.

    >>> import traceir.numpy as jnp
    >>> segment_max(jnp.array([3.0, 2.0, 4.0]), jnp.array([0, 0, 2]))
    Array([  3., -inf,   4.], dtype=float32)
    """
    flags = indices_are_sorted, unique_indices, bucket_size, mode
    return _segments("max", data, segment_ids, num_segments, *flags)


@takes_out_sharding
def segment_min(
    data: Operand,
    segment_ids: Operand,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Least elements as `segment_sum`; the greatest of the dtype where there is no row.

    >>> import traceir.numpy as jnp
    >>> segment_min(jnp.array([3, 2, 4]), jnp.array([0, 0, 1]))
    Array([2, 4], dtype=int32)
    """
    flags = indices_are_sorted, unique_indices, bucket_size, mode
    return _segments("min", data, segment_ids, num_segments, *flags)


# The method of `x.at[...]` that adds a row to its segment.
UPDATES = {"sum": "add", "prod": "multiply", "max": "max", "min": "min"}


def _segments(
    kind: str,
    data: Operand,
    segment_ids: Operand,
    num_segments: int | None,
    indices_are_sorted: bool,
    unique_indices: bool,
    bucket_size: int | None,
    mode: Any,
) -> Array:
    name = f"segment_{kind}"
    rows, ids = (as_array(operand(name, x)) for x in (data, segment_ids))
    count = _count(ids) if num_segments is None else index(num_segments)
    dtype = typeof(rows).dtype
    empty = {"sum": 0, "prod": 1}.get(kind)
    if empty is None:
        empty = reductions.end_of(dtype, kind == "max")
    shape: tuple[int, ...] = (count, *shape_of(rows)[1:])
    length = shape_of(ids)[0] if shape_of(ids) else 1
    buckets = () if bucket_size is None else (-(-length // bucket_size),)
    start = full((*buckets, *shape), empty, dtype)
    at = (floor_divide(arange(length), bucket_size), ids) if buckets else ids
    update = getattr(IndexUpdate(start, at), UPDATES[kind])
    found: Array = update(
        rows,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
        wrap_negative_indices=False,
    )
    if buckets:
        found = getattr(reductions, kind)(found, 0)
    return found


def _count(ids: Array) -> int:
    """One more than the greatest id."""
    if is_tracer(ids):
        raise rules.error("order.size", got=traced(ids), hint="give `num_segments`")
    known = np.asarray(ids)
    return max(0, int(known.max()) + 1) if known.size else 0


_publish(globals())
