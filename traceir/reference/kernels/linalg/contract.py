"""The kernel of contractions, by NumPy's matrix product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from traceir.reference.kernels.registry import kernel

Shape = tuple[int, ...]
MATMUL = (((1,), (0,)), ((), ()))


@kernel("dot_general")
def dot_general(
    x: np.ndarray,
    y: np.ndarray,
    *,
    dimension_numbers: tuple[tuple[Shape, Shape], tuple[Shape, Shape]],
    preferred_element_type: np.dtype | None = None,
    precision: tuple[str, str] | None = None,
    out_sharding: None = None,
) -> Any:
    """Sums of products over pairs of axes: batch, then left, then right dimensions.

    In the operands' dtype, which is the highest precision.
    """
    if preferred_element_type is not None and preferred_element_type != x.dtype:
        x, y = x.astype(preferred_element_type), y.astype(preferred_element_type)
    if dimension_numbers == MATMUL and x.ndim == y.ndim == 2:
        return np.matmul(x, y)
    (lc, rc), (lb, rb) = dimension_numbers
    rows = _others(x, lb + lc)
    columns = _others(y, rb + rc)
    batch = tuple(x.shape[d] for d in lb)
    left = x.transpose(lb + rows + lc)
    right = y.transpose(rb + rc + columns)
    shape = tuple(x.shape[d] for d in rows) + tuple(y.shape[d] for d in columns)
    extent = math.prod(x.shape[d] for d in lc)
    product = np.matmul(
        left.reshape(*batch, _size(x, rows), extent),
        right.reshape(*batch, extent, _size(y, columns)),
    )
    return product.reshape(batch + shape)


def _others(x: np.ndarray, axes: Shape) -> Shape:
    return tuple(d for d in range(x.ndim) if d not in axes)


def _size(x: np.ndarray, axes: Shape) -> int:
    return math.prod(x.shape[d] for d in axes)
