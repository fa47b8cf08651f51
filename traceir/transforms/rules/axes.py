"""Batch dimensions moved, added and repeated. Serves: batch.*

Everything is done by primitives, in the trace in force.
"""

from __future__ import annotations

from collections.abc import Sequence

from traceir.tracing.trace import Value, bind, typeof


def move(value: Value, source: int, target: int) -> Value:
    """The dimension at `source` moved to `target`; the others keep their order.

    >>> import traceir.numpy as jnp
    >>> move(jnp.zeros((2, 3, 4)), 2, 0).shape
    (4, 2, 3)
    """
    if source == target:
        return value
    order = [a for a in range(typeof(value).ndim) if a != source]
    order.insert(target, source)
    return bind("transpose", value, permutation=tuple(order))


def repeat(value: Value, size: int, dim: int) -> Value:
    """The value `size` times along a new dimension.

    >>> repeat(1.5, 2, 0)
    Array([1.5, 1.5], dtype=float32, weak_type=True)
    """
    shape = list(typeof(value).shape)
    kept = [a for a in range(len(shape) + 1) if a != dim]
    shape.insert(dim, size)
    return stretch(value, tuple(shape), tuple(kept))


def stretch(value: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
    """The value repeated to a shape, its dimensions at `dims` of it."""
    return bind(
        "broadcast_in_dim", value, shape=tuple(shape), broadcast_dimensions=tuple(dims)
    )


def at_front(value: Value, dim: int | None, size: int) -> Value:
    """The value with its batched dimension first: moved there, or made."""
    return repeat(value, size, 0) if dim is None else move(value, dim, 0)


def place_at(value: Value, dim: int | None, size: int, target: int) -> Value:
    """The value with its batched dimension at `target`: moved there, or made."""
    if dim is None:
        return repeat(value, size, target)
    return move(value, dim, target)


def first(value: Value, dim: int) -> Value:
    """The first example of a batch.

    >>> import traceir.numpy as jnp
    >>> first(jnp.arange(3.0) + 5, 0)
    Array(5., dtype=float32)
    """
    shape = typeof(value).shape
    limits = (*shape[:dim], 1, *shape[dim + 1 :])
    starts = (0,) * len(shape)
    part = bind("slice", value, start_indices=starts, limit_indices=limits)
    return bind("squeeze", part, dimensions=(dim,))
