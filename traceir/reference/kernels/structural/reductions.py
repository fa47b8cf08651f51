"""Kernels that combine the elements along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.exact.numerics import limits
from traceir.reference.kernels.registry import kernel

Shape = tuple[int, ...]


@kernel("reduce_sum")
def reduce_sum(x: np.ndarray, *, axes: Shape, out_sharding: None = None) -> Any:
    """The sum."""
    return np.add.reduce(x, axis=axes, dtype=x.dtype)


@kernel("reduce_prod")
def reduce_prod(x: np.ndarray, *, axes: Shape) -> Any:
    """The product."""
    return np.multiply.reduce(x, axis=axes, dtype=x.dtype)


@kernel("reduce_max")
def reduce_max(x: np.ndarray, *, axes: Shape) -> Any:
    """The greatest, NaN if there is one; of nothing the dtype's least value."""
    if x.size:
        return np.maximum.reduce(x, axis=axes)
    return np.maximum.reduce(x, axis=axes, initial=ends_of(x.dtype)[0])


@kernel("reduce_min")
def reduce_min(x: np.ndarray, *, axes: Shape) -> Any:
    """The least, NaN if there is one; of nothing the dtype's greatest value."""
    if x.size:
        return np.minimum.reduce(x, axis=axes)
    return np.minimum.reduce(x, axis=axes, initial=ends_of(x.dtype)[1])


@kernel("reduce_and")
def reduce_and(x: np.ndarray, *, axes: Shape) -> Any:
    """The bits that all have."""
    return np.bitwise_and.reduce(x, axis=axes)


@kernel("reduce_or")
def reduce_or(x: np.ndarray, *, axes: Shape) -> Any:
    """The bits that one has."""
    return np.bitwise_or.reduce(x, axis=axes)


@kernel("reduce_xor")
def reduce_xor(x: np.ndarray, *, axes: Shape) -> Any:
    """The bits that an odd number has."""
    return np.bitwise_xor.reduce(x, axis=axes)


@kernel("argmax")
def argmax(x: np.ndarray, *, axes: Shape, index_dtype: np.dtype) -> Any:
    """The first index of the greatest, or of the first NaN."""
    return x.argmax(axes[0]).astype(index_dtype)


@kernel("argmin")
def argmin(x: np.ndarray, *, axes: Shape, index_dtype: np.dtype) -> Any:
    """The first index of the least, or of the first NaN."""
    return x.argmin(axes[0]).astype(index_dtype)


def ends_of(dtype: np.dtype) -> tuple[Any, Any]:
    """The least and the greatest value of a dtype."""
    if dtype.kind in "fc":
        return dtype.type(-np.inf), dtype.type(np.inf)
    low, high = limits(dtype)
    return dtype.type(low), dtype.type(high)
