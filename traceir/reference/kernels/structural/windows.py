"""Kernels of window reductions and convolutions, over strided views.

Serves: class.window, select_and_*.*, conv_general_dilated.*
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from traceir.reference.kernels.registry import kernel
from traceir.reference.kernels.structural.reductions import ends_of
from traceir.reference.kernels.structural.structure import pad

Shape = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def _windows(
    x: np.ndarray,
    fill: Any,
    dims: Sequence[int],
    window_dimensions: Shape,
    window_strides: Shape,
    padding: Pairs,
    base_dilation: Shape,
    window_dilation: Shape,
) -> np.ndarray:
    """A view with a window for each place: its elements have dimensions at the end.

    Dilations are how many places elements are apart, in the operand and in a window.
    """
    config, wide = [(0, 0, 0)] * x.ndim, list(x.shape)
    for d, (low, high), by in zip(dims, padding, base_dilation):
        config[d] = (low, high, by - 1)
        wide[d] += low + high + max(0, wide[d] - 1) * (by - 1)
    if any(map(any, config)):
        x = _padded(x, fill, config)
    shape, steps = list(x.shape), list(x.strides)
    windows = zip(dims, window_dimensions, window_strides, window_dilation)
    for d, extent, stride, by in windows:
        span = (extent - 1) * by + 1 if extent else 0
        shape[d] = max(0, (wide[d] - span) // stride + 1)
        steps[d] = x.strides[d] * stride
    shape += window_dimensions
    steps += [x.strides[d] * by for d, by in zip(dims, window_dilation)]
    return as_strided(x, shape, steps, writeable=False)


def _padded(x: np.ndarray, fill: Any, config: Sequence[tuple[int, int, int]]) -> Any:
    """The padded operand; of one that is shorter than nothing nothing is left."""
    config = [
        (low, max(high, -(low + n + max(0, n - 1) * inner)), inner)
        for n, (low, high, inner) in zip(x.shape, config)
    ]
    return pad(x, fill, padding_config=tuple(config))


def _all(x: np.ndarray, fill: Any, **window: Any) -> tuple[np.ndarray, Shape]:
    """Windows over all dimensions, and the axes of their elements."""
    axes = tuple(range(x.ndim, 2 * x.ndim))
    return _windows(x, fill, range(x.ndim), **window), axes


@kernel("reduce_window_sum")
def reduce_window_sum(x: np.ndarray, **window: Any) -> Any:
    """The sum of each window."""
    view, axes = _all(x, x.dtype.type(0), **window)
    return np.add.reduce(view, axis=axes, dtype=x.dtype)


@kernel("reduce_window_max")
def reduce_window_max(x: np.ndarray, **window: Any) -> Any:
    """The greatest of each window, NaN if there is one."""
    view, axes = _all(x, ends_of(x.dtype)[0], **window)
    return np.maximum.reduce(view, axis=axes)


@kernel("reduce_window_min")
def reduce_window_min(x: np.ndarray, **window: Any) -> Any:
    """The least of each window, NaN if there is one."""
    view, axes = _all(x, ends_of(x.dtype)[1], **window)
    return np.minimum.reduce(view, axis=axes)


def _chosen(x: np.ndarray, select_prim: str, **window: Any) -> tuple[Any, Any]:
    """The place of each window's choice in x, flat, and a mask of windows with one."""
    places = np.arange(x.size).reshape(x.shape)
    numbers, _ = _all(places, -1, **window)
    count = math.prod(window["window_dimensions"])
    numbers = numbers.reshape(*numbers.shape[: x.ndim], count)
    if not x.size:
        return numbers[..., 0], np.zeros(numbers.shape[:-1], bool)
    values = x.reshape(-1)[numbers]
    inside = numbers >= 0
    extreme, end = (np.maximum, 0) if select_prim == "ge" else (np.minimum, 1)
    best = np.where(inside, values, ends_of(x.dtype)[end])
    top = extreme.reduce(best, axis=-1, keepdims=True)
    # A NaN is where the extreme is one; padding is never chosen.
    first = np.argmax(inside & ((best == top) | (best != best)), axis=-1)
    found = np.take_along_axis(numbers, first[..., None], axis=-1)[..., 0]
    return found, found >= 0


@kernel("select_and_gather_add")
def select_and_gather_add(
    u: np.ndarray, x: np.ndarray, *, select_prim: str, **window: Any
) -> Any:
    """The elements of u at which each window of x has its extreme."""
    places, any_ = _chosen(x, select_prim, **window)
    if not x.size:
        return np.zeros(places.shape, u.dtype)
    return np.where(any_, u.reshape(-1)[places], u.dtype.type(0))


@kernel("select_and_scatter_add")
def select_and_scatter_add(
    source: np.ndarray,
    x: np.ndarray,
    *,
    select_prim: str,
    base_dilation: Shape = (),
    window_dilation: Shape = (),
    **window: Any,
) -> Any:
    """The source's elements, each added where its window of x has its extreme."""
    ones = (1,) * x.ndim
    places, any_ = _chosen(
        x,
        select_prim,
        base_dilation=base_dilation or ones,
        window_dilation=window_dilation or ones,
        **window,
    )
    result = np.zeros(x.size, x.dtype)
    np.add.at(result, places[any_], source[any_])
    return result.reshape(x.shape)


@kernel("conv_general_dilated")
def conv_general_dilated(
    x: np.ndarray,
    y: np.ndarray,
    *,
    batch_group_count: int,
    dimension_numbers: tuple[Shape, Shape, Shape],
    feature_group_count: int,
    lhs_dilation: Shape,
    padding: Pairs,
    rhs_dilation: Shape,
    window_strides: Shape,
    preferred_element_type: np.dtype | None = None,
    precision: tuple[str, str] | None = None,
    out_sharding: None = None,
) -> Any:
    """Sums of products of windows of x with y, by a product of matrices."""
    if preferred_element_type is not None:
        x, y = x.astype(preferred_element_type), y.astype(preferred_element_type)
    nx, ny, no = dimension_numbers
    x, y = x.transpose(nx), y.transpose(ny)
    batches, features = x.shape[0] // batch_group_count, y.shape[0]
    taps, space = y.shape[2:], x.ndim - 2
    view = _windows(
        x,
        x.dtype.type(0),
        range(2, x.ndim),
        taps,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
    )
    size = view.shape[2 : 2 + space]
    # Groups, then examples and space, then what is summed: features and taps.
    groups = feature_group_count * batch_group_count
    split = (batch_group_count, batches, feature_group_count, y.shape[1])
    view = view.reshape(*split, *size, *taps)
    n = 4 + space
    order = (0, 2, 1, *range(4, n), 3, *range(n, n + space))
    inner = math.prod((y.shape[1], *taps))
    rows = view.transpose(order).reshape(groups, batches * math.prod(size), inner)
    columns = y.reshape(groups, features // groups, inner).transpose(0, 2, 1)
    found = np.matmul(rows, columns).reshape(groups, batches, *size, features // groups)
    found = np.moveaxis(found, (0, -1), (1, 2)).reshape(batches, features, *size)
    return found.transpose(np.argsort(no))
