"""Kernels that move elements: views where NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.reference.kernels.registry import kernel

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
    extents = [1] * len(shape)
    for d, n in zip(broadcast_dimensions, x.shape):
        extents[d] = n
    if sorted(broadcast_dimensions) != list(broadcast_dimensions):
        x = x.transpose(np.argsort(broadcast_dimensions))
    # Writing is quicker than a view for small arrays, and not slower for large ones,
    # since somebody reads each element anyhow.
    result = np.empty(shape, x.dtype)
    result[...] = x.reshape(extents)
    return result


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


@kernel("rev")
def rev(x: np.ndarray, *, dimensions: Shape) -> Any:
    """The elements in the other order along dimensions, and in memory.

    NumPy's functions have other last bits on arrays that lie backwards.
    """
    return np.flip(x, dimensions).copy()


@kernel("squeeze")
def squeeze(x: np.ndarray, *, dimensions: Shape) -> Any:
    """Without dimensions of extent 1."""
    return x.squeeze(dimensions)


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


@kernel("stop_gradient")
def stop_gradient(x: np.ndarray) -> Any:
    """The operand: the primitive means something to derivatives alone."""
    return x


@kernel("name")
def name(x: np.ndarray, *, name: str) -> Any:
    """The operand: the primitive means something to policies alone."""
    return x


@kernel("reshard")
def reshard(x: np.ndarray) -> Any:
    """The operand: the primitive says on which mesh it lies."""
    return x


@kernel("concatenate")
def concatenate(*xs: np.ndarray, dimension: int) -> Any:
    """One after another along a dimension."""
    return np.concatenate(xs, axis=dimension)


@kernel("stack")
def stack(*xs: np.ndarray, axis: int) -> Any:
    """One after another along a new dimension."""
    return np.stack(xs, axis=axis)


@kernel("split")
def split(x: np.ndarray, *, sizes: Shape, axis: int) -> list[Any]:
    """The parts, one after another along a dimension."""
    return np.split(x, np.cumsum(sizes)[:-1], axis)


@kernel("unstack")
def unstack(x: np.ndarray, *, axis: int) -> list[Any]:
    """The parts at each index of a dimension."""
    return list(np.moveaxis(x, axis, 0))


@kernel("pad")
def pad(
    x: np.ndarray,
    padding_value: np.ndarray,
    *,
    padding_config: tuple[tuple[int, int, int], ...],
) -> Any:
    """The elements apart and with others around; negative padding takes some away."""
    places = [_padded(n, *config) for n, config in zip(x.shape, padding_config)]
    result = np.full([extent for extent, _, _ in places], padding_value, x.dtype)
    result[tuple(into for _, into, _ in places)] = x[tuple(of for _, _, of in places)]
    return result


def _padded(n: int, low: int, high: int, interior: int) -> tuple[int, slice, slice]:
    """The extent of a padded dimension, the places filled, and those they are of."""
    step = interior + 1
    extent = low + high + n + max(0, n - 1) * interior
    first = max(0, -(low // step))
    last = max(first, min(n, -((low - extent) // step)))
    into = slice(low + first * step, low + last * step, step)
    return extent, into if last > first else slice(0, 0), slice(first, last)


@kernel("iota")
def iota(
    *, dimension: int, dtype: np.dtype, shape: Shape, sharding: None = None
) -> Any:
    """The index along one dimension."""
    line = np.arange(shape[dimension]).astype(dtype)
    if len(shape) == 1:
        return line
    result = np.empty(shape, dtype)
    result[...] = line.reshape(-1, *[1] * (len(shape) - 1 - dimension))
    return result
