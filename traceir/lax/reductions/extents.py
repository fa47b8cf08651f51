"""Shapes of results, by the shapes of operands, and shapes as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base.config import local
from traceir.ir.avals import ShapedArray
from traceir.lax.checks.operands import as_array, default_dtype
from traceir.lax.reductions.convolution import (
    ConvNumbers,
    conv_dimension_numbers,
    conv_general_dilated,
    conv_transpose,
)
from traceir.lax.reductions.windows import Padding, explicit, spread
from traceir.tracing.staging import stage

Shape = Sequence[int]


def _shape(function: Callable[..., Array], *shapes: Shape) -> tuple[int, ...]:
    """The shape of a function's result, for arrays of such shapes."""
    avals = [ShapedArray(tuple(s), np.dtype("float32")) for s in shapes]
    paths, face = [""] * len(avals), local.context.face
    jaxpr, _, _ = stage(lambda xs: [function(*xs)], avals, paths, "f", "jit", face)
    return jaxpr.out_avals[0].shape


def shape_as_value(shape: Shape) -> Array:
    """The extents as an array of integers.

    >>> shape_as_value((2, 3))
    Array([2, 3], dtype=int32)
    """
    return as_array(np.asarray(tuple(shape), default_dtype(int)))


def conv_general_permutations(
    dimension_numbers: tuple[str, str, str],
) -> tuple[tuple[int, ...], ...]:
    """The places of batch or features and of space in two operands and a result.

    >>> conv_general_permutations(("NCHW", "OIHW", "NHWC"))
    ((0, 1, 2, 3), (0, 1, 2, 3), (0, 3, 1, 2))
    """
    shapes = [(1,) * len(text) for text in dimension_numbers[:2]]
    numbers = conv_dimension_numbers(shapes[0], shapes[1], dimension_numbers)
    return numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec


def conv_general_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    window_strides: Sequence[int],
    padding: Padding,
    dimension_numbers: ConvNumbers,
) -> tuple[int, ...]:
    """The shape of a convolution's result.

    >>> names = "NCH", "OIH", "NHC"
    >>> conv_general_shape_tuple((2, 3, 8), (4, 3, 3), (2,), "SAME", names)
    (2, 4, 4)
    """
    given: dict[str, Any] = {"window_strides": window_strides, "padding": padding}
    given["dimension_numbers"] = dimension_numbers
    return _shape(partial(conv_general_dilated, **given), lhs_shape, rhs_shape)


def conv_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    strides: Sequence[int],
    pads: Padding,
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The shape of a convolution's result, batch and features first.

    >>> conv_shape_tuple((2, 3, 8), (4, 3, 3), (2,), [(1, 1)])
    (2, 4, 4)
    """
    given: dict[str, Any] = {"window_strides": strides, "padding": pads}
    given["batch_group_count"] = batch_group_count
    return _shape(partial(conv_general_dilated, **given), lhs_shape, rhs_shape)


def conv_transpose_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    window_strides: Sequence[int],
    padding: Padding,
    dimension_numbers: ConvNumbers,
) -> tuple[int, ...]:
    """The shape of the result of `conv_transpose`.

    >>> names = "NHC", "HIO", "NHC"
    >>> conv_transpose_shape_tuple((2, 8, 3), (3, 3, 4), (2,), "SAME", names)
    (2, 16, 4)
    """
    given: dict[str, Any] = {"strides": window_strides, "padding": padding}
    given["dimension_numbers"] = dimension_numbers
    return _shape(partial(conv_transpose, **given), lhs_shape, rhs_shape)


def reduce_window_shape_tuple(
    operand_shape: Shape,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of what `reduce_window` gives.

    >>> reduce_window_shape_tuple((8, 8), (2, 3), (1, 2), "VALID")
    (7, 3)
    """
    ones = (1,) * len(tuple(operand_shape))
    extents = spread(operand_shape, base_dilation or ones)
    windows = spread(window_dimensions, window_dilation or ones)
    pads = explicit(padding, extents, windows, window_strides)
    return tuple(
        max(0, (n + before + after - w) // step + 1)
        for n, w, step, (before, after) in zip(
            extents, windows, window_strides, pads, strict=True
        )
    )
