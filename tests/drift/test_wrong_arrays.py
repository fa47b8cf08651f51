"""Kernels of places, windows, orders and matrices that are wrong on purpose.

Each is told by the case that is named for it. Cites element.outside, element.order,
window.*, sort.keys, accuracy.relation
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from wrong_kernels import (
    Wrong,
    check_told,
    right,
    with_arrays,
    with_params,
    with_results,
)

CLIP = "GatherScatterMode.CLIP"


# Places -------------------------------------------------------------------------------


def _from_the_end(x: Any, indices: Any) -> Any:
    return x, np.where(indices < 0, indices + x.shape[0], indices)


def _filled_in_part(x: Any, indices: Any, *, fill_value: Any, **params: Any) -> Any:
    wide = np.pad(x, 2, constant_values=fill_value)
    return right("gather", wide, indices + 2, **params | {"mode": CLIP})


def _entries_in_order(numbers: Any) -> Any:
    windows, collapsed, names, *rest = numbers
    return (windows, collapsed, tuple(sorted(names)), *rest)


def _ends_repeat(x: Any, *starts: Any, slice_sizes: Any) -> Any:
    for d, (start, size) in enumerate(zip(starts, slice_sizes, strict=True)):
        places = int(start) + np.arange(size)
        x = np.take(x, places, d, mode="clip")
    return x


def _last_row_first(x: Any, indices: Any, updates: Any) -> Any:
    return x, indices[::-1], updates[::-1]


def _added_once(x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    none = np.zeros_like(x)
    return x + right("scatter", none, indices, updates, **params)


def _promised(mode: Any) -> str:
    return CLIP


WRONG_PLACES: dict[str, Wrong] = {
    "a read outside is moved inside": (
        "gather",
        with_params("gather", mode=_promised),
        "gather/filled",
    ),
    "a window is filled in part": (
        "gather",
        _filled_in_part,
        "gather/filled-where-any-of-the-window-is-outside",
    ),
    "negative places are from the end": (
        "gather",
        with_arrays("gather", _from_the_end),
        "gather/moved-inside",
    ),
    "entries of a row name dimensions in order": (
        "gather",
        with_params("gather", dimension_numbers=_entries_in_order),
        "gather/elements",
    ),
    "the last element is repeated": (
        "dynamic_slice",
        _ends_repeat,
        "dynamic_slice/moved-inside",
    ),
    "a write outside is moved inside": (
        "scatter",
        with_params("scatter", mode=_promised),
        "scatter/outside-is-left-out",
    ),
    "the first of several updates stays": (
        "scatter",
        with_arrays("scatter", _last_row_first),
        "scatter/the-last-of-several",
    ),
    "of several updates one is added": (
        "scatter-add",
        _added_once,
        "scatter-add/rows",
    ),
}


# Windows ------------------------------------------------------------------------------


def _one_later(padding: Any) -> Any:
    return tuple((low - 1, high + 1) for low, high in padding)


def _zeros_around(x: Any, *, padding: Any, **window: Any) -> Any:
    none = ((0, 0),) * x.ndim
    return right("reduce_window_max", np.pad(x, padding), padding=none, **window)


def _undilated(x: Any, *, window_dilation: Any, **window: Any) -> Any:
    span = (len(x) - window_dilation[0] * (window["window_dimensions"][0] - 1),)
    found = right("reduce_window_sum", x, window_dilation=(1,), **window)
    return found[: span[0]]


def _last_of_equals(u: Any, x: Any, **window: Any) -> Any:
    return right("select_and_gather_add", u[::-1], x[::-1], **window)[::-1]


def _dropped_digits(x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    gone = np.finfo(x.dtype).nmant - mantissa_bits
    return (x.view("u4") >> np.uint32(gone) << np.uint32(gone)).view(x.dtype)


WRONG_WINDOWS: dict[str, Wrong] = {
    "padding off by one": (
        "reduce_window_sum",
        with_params("reduce_window_sum", padding=_one_later),
        "reduce_window_sum/padding",
    ),
    "padding is zero": (
        "reduce_window_max",
        _zeros_around,
        "reduce_window_max/nothing-but-padding",
    ),
    "windows are not dilated": (
        "reduce_window_sum",
        _undilated,
        "reduce_window_sum/dilated-window",
    ),
    "the last of equals is chosen": (
        "select_and_gather_add",
        _last_of_equals,
        "select_and_gather_add/first-of-equal",
    ),
    "the right operand is turned round": (
        "conv_general_dilated",
        with_arrays("conv_general_dilated", lambda x, y: (x, y[:, :, ::-1])),
        "conv_general_dilated/one-feature",
    ),
    "features of groups take turns": (
        "conv_general_dilated",
        with_arrays("conv_general_dilated", lambda x, y: (x[:, [0, 2, 1, 3]], y)),
        "conv_general_dilated/groups-of-two-features",
    ),
    "high bits first": (
        "bitcast_convert_type",
        with_results("bitcast_convert_type", lambda z: z[..., ::-1]),
        "bitcast_convert_type/narrower",
    ),
    "digits are dropped": (
        "reduce_precision",
        _dropped_digits,
        "reduce_precision/ties-to-even",
    ),
}


# Order --------------------------------------------------------------------------------


def _equals_turned_round(*xs: Any, dimension: int, **params: Any) -> Any:
    turned = [np.flip(x, dimension) for x in xs]
    return right("sort", *turned, dimension=dimension, **params)


def _nan_first(x: Any) -> Any:
    return np.roll(x, np.count_nonzero(np.isnan(x)))


def _zeros_by_sign(x: Any, **_: Any) -> Any:
    return x[np.lexsort((~np.signbit(x), x))]


def _nan_least(x: Any, *, axis: int, k: int) -> Any:
    places = np.argsort(-x, axis, kind="stable")[:k].astype("int32")
    return [x[places], places]


def _last_places(x: Any, **params: Any) -> Any:
    values, places = right("top_k", x[::-1], **params)
    return [values, len(x) - 1 - places]


def _every_operand(*xs: Any, num_keys: int, **params: Any) -> Any:
    return right("sort", *xs, num_keys=len(xs), **params)


WRONG_ORDERS: dict[str, Wrong] = {
    "equals are turned round": (
        "sort",
        _equals_turned_round,
        "sort/one-key-moves-the-others",
    ),
    "NaN first": (
        "sort",
        with_results("sort", _nan_first),
        "sort/not-a-number-is-last",
    ),
    "zeros by their signs": (
        "sort",
        _zeros_by_sign,
        "sort/zeros-alone-keep-their-order",
    ),
    "every operand is a key": ("sort", _every_operand, "sort/one-key-moves-the-others"),
    "NaN is the least": ("top_k", _nan_least, "top_k/not-a-number-is-first"),
    "the last of equals": ("top_k", _last_places, "top_k/of-equals-the-first"),
}


# Matrices -----------------------------------------------------------------------------


def _without_exchanges(x: Any) -> Any:
    factors = np.array(x)
    for k in range(min(x.shape)):
        factors[k + 1 :, k] /= factors[k, k]
        rest = np.outer(factors[k + 1 :, k], factors[k, k + 1 :])
        factors[k + 1 :, k + 1 :] -= rest
    steps, rows = np.arange(min(x.shape)), np.arange(len(x))
    return [factors, steps.astype("int32"), rows.astype("int32")]


def _turned(matrix: Any) -> Any:
    return np.swapaxes(matrix, -1, -2)


def _other(flag: bool) -> bool:
    return not flag


SOLVE = "triangular_solve"
WRONG_MATRICES: dict[str, Wrong] = {
    "the upper factor": (
        "cholesky",
        with_results("cholesky", _turned),
        "cholesky/two-rows",
    ),
    "the upper triangle is read": (
        "cholesky",
        with_arrays("cholesky", lambda x: (_turned(x),)),
        "cholesky/reads-the-lower-triangle",
    ),
    "exchanges from one": (
        "lu",
        with_results("lu", lambda f, e, p: [f, e + 1, p]),
        "lu/exchanges",
    ),
    "no exchanges": ("lu", _without_exchanges, "lu/exchanges"),
    "the inverse order": (
        "lu_pivots_to_permutation",
        with_results("lu_pivots_to_permutation", np.argsort),
        "exchanges/all",
    ),
    "columns of another sign": (
        "qr",
        with_results("qr", lambda q, r: [-q, r]),
        "qr/tall",
    ),
    "eigenvalues descend": (
        "eigh",
        with_results("eigh", lambda w, v: [w[:, ::-1], v[::-1]]),
        "eigh/two-rows",
    ),
    "the other triangle": (
        "eigh",
        with_params("eigh", lower=_other),
        "eigh/lower-triangle",
    ),
    "singular values ascend": (
        "svd",
        with_results("svd", lambda s, u, v: [s[::-1], u[:, ::-1], v[::-1]]),
        "svd/tall",
    ),
    "right vectors as columns": (
        "svd",
        with_results("svd", lambda s, u, v: [s, u, _turned(v)]),
        "svd/tall",
    ),
    "upper for lower": (
        SOLVE,
        with_params(SOLVE, lower=_other),
        "triangular_solve/left-lower",
    ),
    "nothing is transposed": (
        SOLVE,
        with_params(SOLVE, transpose_a=lambda _: False),
        "triangular_solve/left-lower-transposed",
    ),
    "the diagonal is read": (
        SOLVE,
        with_params(SOLVE, unit_diagonal=lambda _: False),
        "triangular_solve/ones-on-the-diagonal",
    ),
}

WRONG: Mapping[str, Wrong] = {
    **WRONG_PLACES,
    **WRONG_WINDOWS,
    **WRONG_ORDERS,
    **WRONG_MATRICES,
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arrays_are_told_by_a_case(what: str) -> None:
    check_told(*WRONG[what])
