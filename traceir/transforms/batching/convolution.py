"""The batching rule of convolutions.

Serves: batch.region, conv_general_dilated.*
"""

from __future__ import annotations

from typing import Any

from traceir.ir.jaxpr import Params, sort_params
from traceir.tracing.trace import Value, bind, bind_all, typeof
from traceir.transforms.rules.registry import BATCH, BatchAxis, Batched, Dims, Values


def into(x: Value, source: int, target: int) -> Value:
    """The dimension at `source` and that at `target` as one; `target` is without it.

    >>> import traceir.numpy as jnp
    >>> into(jnp.zeros((2, 3, 4)), 2, 0).shape
    (8, 3)
    """
    rank = typeof(x).ndim
    order = [d for d in range(rank) if d != source]
    order.insert(target, source)
    if order != list(range(rank)):
        x = bind("transpose", x, permutation=tuple(order))
    shape = typeof(x).shape
    one = shape[target] * shape[target + 1]
    return bind("reshape", x, new_sizes=(*shape[:target], one, *shape[target + 2 :]))


def out_of(x: Value, source: int, size: int) -> Value:
    """The dimension at `source` as two, of which the first has `size` places.

    >>> import traceir.numpy as jnp
    >>> out_of(jnp.zeros((6, 2)), 0, 3).shape
    (3, 2, 2)
    """
    shape = typeof(x).shape
    two = (size, shape[source] // size)
    return bind("reshape", x, new_sizes=(*shape[:source], *two, *shape[source + 1 :]))


def batch_convolution(
    axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """The examples of the left operand join its batch, those of the right its features.

    If both have examples, these are groups.
    """
    (x, y), (left, right) = values, dims
    known: dict[str, Any] = dict(params)
    nx, ny, no = known["dimension_numbers"]
    if left is not None and right is not None:
        of_batch = known["batch_group_count"] > 1
        known["batch_group_count" if of_batch else "feature_group_count"] *= axis.size
        x = into(x, left, nx[0] if of_batch else nx[1])
        y = into(y, right, ny[0])
        [out] = bind_all("conv_general_dilated", [x, y], sort_params(known))
        return [out_of(out, no[1], axis.size)], [no[1]]
    if left is not None:
        x = _within(x, left, nx[0], known["batch_group_count"])
        [out] = bind_all("conv_general_dilated", [x, y], params)
        return [out_of(out, no[0], axis.size)], [no[0]]
    assert right is not None  # one operand is batched
    groups = known["feature_group_count"] * known["batch_group_count"]
    y = _within(y, right, ny[0], groups)
    [out] = bind_all("conv_general_dilated", [x, y], params)
    if groups == 1:
        return [out_of(out, no[1], axis.size)], [no[1]]
    out = out_of(out_of(out, no[1], groups), no[1] + 1, axis.size)
    return [into(out, no[1], no[1] + 1)], [no[1]]


def _within(x: Value, dim: int, target: int, groups: int) -> Value:
    """The examples beside the places of a dimension, in each of its groups."""
    if groups == 1:
        return into(x, dim, target)
    x = out_of(x, target + (dim <= target), groups)
    x = into(x, dim + (target < dim), target + 1)
    shape = typeof(x).shape
    one = shape[target] * shape[target + 1]
    return bind("reshape", x, new_sizes=(*shape[:target], one, *shape[target + 2 :]))


BATCH["conv_general_dilated"] = batch_convolution
