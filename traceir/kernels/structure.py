"""Kernels that move elements: views where NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.kernels.registry import kernel

Shape = tuple[int, ...]


@kernel("broadcast_in_dim")
def broadcast_in_dim(
    x: np.ndarray,
    *,
    shape: Shape,
    broadcast_dimensions: Shape = (),
    sharding: None = None,
) -> Any:
    """`x` with its dimensions at those given, repeated along the others."""
    order = np.argsort(broadcast_dimensions) if len(broadcast_dimensions) > 1 else None
    source = x if order is None else x.transpose(order)
    extents = [1] * len(shape)
    for d, n in zip(sorted(broadcast_dimensions), source.shape):
        extents[d] = n
    return np.broadcast_to(source.reshape(extents), shape)


@kernel("reshape")
def reshape(
    x: np.ndarray, *, new_sizes: Shape, dimensions: None = None, sharding: None = None
) -> Any:
    """The elements in row-major order under another shape."""
    return x.reshape(new_sizes)


@kernel("transpose")
def transpose(x: np.ndarray, *, permutation: Shape) -> Any:
    """The dimensions in the order given."""
    return x.transpose(permutation)


@kernel("squeeze")
def squeeze(x: np.ndarray, *, dimensions: Shape) -> Any:
    """Without dimensions of extent 1."""
    return x.reshape([n for d, n in enumerate(x.shape) if d not in dimensions])


@kernel("slice")
def slice_(
    x: np.ndarray,
    *,
    start_indices: Shape,
    limit_indices: Shape,
    strides: Shape | None = None,
) -> Any:
    """The box from start to limit, every stride-th element."""
    steps = strides if strides is not None else (1,) * x.ndim
    return x[tuple(map(slice, start_indices, limit_indices, steps))]


@kernel("concatenate")
def concatenate(*xs: np.ndarray, dimension: int) -> Any:
    """One after another along a dimension."""
    return np.concatenate(xs, axis=dimension)


@kernel("stack")
def stack(*xs: np.ndarray, axis: int) -> Any:
    """One after another along a new dimension."""
    return np.stack(xs, axis=axis)


@kernel("iota")
def iota(
    *, dimension: int, dtype: np.dtype, shape: Shape, sharding: None = None
) -> Any:
    """The index along one dimension."""
    extents = [1] * len(shape)
    extents[dimension] = shape[dimension]
    line = np.arange(shape[dimension]).astype(dtype)
    return np.broadcast_to(line.reshape(extents), shape)
