"""Hypothesis strategies: operands and params of windows and formats, for `operands`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from traceir.ir.avals import ShapedArray
from traceir.ir.typecheck import infer

Draw = Callable[[st.SearchStrategy[Any]], Any]
Built = tuple[list[ShapedArray], dict[str, Any]]

DTYPES = tuple(
    np.dtype(name)
    for name in ("int32", "int64", "uint8", "uint32", "float32", "float64")
)
EXTENTS = st.sampled_from([0, 1, 2, 3])
SHAPES = st.lists(EXTENTS, max_size=3).map(tuple)


def aval_of(shape: Sequence[int], dtype: np.dtype) -> ShapedArray:
    """The type of an operand."""
    return ShapedArray(tuple(shape), dtype)


def _window(draw: Draw, dtype: np.dtype) -> Built:
    """Few windows of few elements, some of them empty."""
    shape = tuple(draw(st.lists(EXTENTS, min_size=1, max_size=2)))

    def each(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(least, most)) for _ in shape)

    lows, highs = each(-1, 2), each(-1, 1)
    params = {
        "base_dilation": each(1, 2),
        "padding": tuple(zip(lows, highs)),
        "window_dilation": each(1, 2),
        "window_dimensions": each(1, 3),
        "window_strides": each(1, 2),
    }
    return [aval_of(shape, dtype)], params


def _gather_choice(draw: Draw, dtype: np.dtype) -> Built:
    avals, params = _window(draw, dtype)
    return avals * 2, {**params, "select_prim": draw(st.sampled_from(["ge", "le"]))}


def _scatter_choice(draw: Draw, dtype: np.dtype) -> Built:
    (x,), params = _window(draw, dtype)
    source = infer("reduce_window_max", (x,), params)[0]
    given = {**params, "select_prim": draw(st.sampled_from(["ge", "le"]))}
    return [source, x], given


def _convolution(draw: Draw, dtype: np.dtype) -> Built:
    """Small operands with their dimensions in any order."""
    space = draw(st.integers(0, 2))
    groups = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (1, 2)]))
    few, features = draw(st.integers(1, 2)), draw(st.integers(1, 2))

    def each(least: int, most: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(least, most)) for _ in range(space))

    taps, extents, within, apart = each(1, 2), each(1, 3), each(1, 2), each(1, 2)
    batch = draw(st.integers(1, 2)) * groups[1]
    left = (batch, few * groups[0], *extents)
    right = (features * groups[0] * groups[1], few, *taps)
    specs = [tuple(draw(st.permutations(range(space + 2)))) for _ in range(3)]
    avals = []
    for extents, spec in zip((left, right), specs):
        shape = [0] * (space + 2)
        for d, n in zip(spec, extents):
            shape[d] = n
        avals.append(aval_of(shape, dtype))
    wider = [d for d in DTYPES if d.kind == dtype.kind and d.itemsize >= dtype.itemsize]
    return avals, {
        "batch_group_count": groups[1],
        "dimension_numbers": tuple(specs),
        "feature_group_count": groups[0],
        "lhs_dilation": apart,
        "padding": tuple(zip(each(0, 1), each(-1, 1))),
        "preferred_element_type": draw(st.sampled_from([None, *wider])),
        "rhs_dilation": within,
        "window_strides": each(1, 2),
    }


def _bitcast(draw: Draw, dtype: np.dtype) -> Built:
    # A floating number stays one: the bits of a NaN are not said.
    others = [d for d in DTYPES if d.kind in "iu" or (d.kind == "f" != dtype.kind)]
    wanted = draw(st.sampled_from(others)) if dtype.kind in "iu" else dtype
    shape = draw(SHAPES)
    if wanted.itemsize > dtype.itemsize:
        shape = (*shape, wanted.itemsize // dtype.itemsize)
    return [aval_of(shape, dtype)], {"new_dtype": wanted}


def _reduce_precision(draw: Draw, dtype: np.dtype) -> Built:
    bits = {
        "exponent_bits": draw(st.integers(1, 12)),
        "mantissa_bits": draw(st.integers(0, 55)),
    }
    return [aval_of(draw(SHAPES), dtype)], bits


WINDOWS = {
    "window": _window,
    "select_and_gather_add": _gather_choice,
    "select_and_scatter_add": _scatter_choice,
    "conv_general_dilated": _convolution,
    "bitcast_convert_type": _bitcast,
    "reduce_precision": _reduce_precision,
}
