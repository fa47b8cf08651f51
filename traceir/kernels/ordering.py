"""Kernels that put elements in order. Serves: sort, top_k

NumPy's fastest sort is not stable, which shows only where equal elements have different
bits or places. So keys of up to 32 bits are sorted together with their places, as one
64-bit integer; wider ones are sorted first, and then the places of equal ones. An array
alone is sorted at once unless it has a negative zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.kernels.registry import kernel

# No more elements of a line than places that the other half of 64 bits can count.
_PACKED = 1 << 32
# NumPy's stable sort is the faster one for lines below this length.
_SHORT = 1024


@kernel("sort")
def sort(
    *xs: np.ndarray, dimension: int, is_stable: bool = True, num_keys: int = 1
) -> list[Any]:
    """All operands in the stable order of the first ones; NaN last, zeros equal."""
    if len(xs) == 1 and not _has_negative_zero(xs[0]):
        return [np.sort(_comparable(xs[0]), dimension).astype(xs[0].dtype, copy=False)]
    order = _order(xs[:num_keys], dimension)
    return [np.take_along_axis(x, order, dimension) for x in xs]


@kernel("top_k")
def top_k(x: np.ndarray, *, axis: int, k: int) -> list[Any]:
    """The greatest elements, the greatest first, and their places."""
    keys = np.moveaxis(~_rank(x, zeros_equal=False), axis, -1)
    order = _first(keys, k) if 0 < k < keys.shape[-1] // 8 else _argsort(keys)[..., :k]
    places = np.moveaxis(order, -1, axis)
    return [np.take_along_axis(x, places, axis), places.astype("int32")]


def _order(keys: Sequence[np.ndarray], axis: int) -> np.ndarray:
    """The places of a line's elements, in the stable order of the keys."""
    if len(keys) > 1:
        return np.lexsort([_comparable(x) for x in reversed(keys)], axis)
    lines = np.moveaxis(_rank(keys[0], zeros_equal=True), axis, -1)
    return np.moveaxis(_argsort(lines), -1, axis)


def _argsort(keys: np.ndarray) -> np.ndarray:
    """The places of integers along the last axis, in stable order."""
    n = keys.shape[-1]
    if n >= _PACKED or (keys.itemsize == 8 and n < _SHORT):
        return keys.argsort(-1, "stable")
    if keys.itemsize == 8:
        return _in_runs(keys, keys.argsort(-1))
    least = -(1 << 31) if keys.dtype.kind == "i" else 0
    high = (keys.astype("int64") - least).astype("uint64")
    return _packed(high, np.arange(n, dtype="uint64"))


def _in_runs(keys: np.ndarray, order: np.ndarray) -> np.ndarray:
    """An order of the keys made stable: places of equal keys in their own order."""
    ordered = np.take_along_axis(keys, order, -1)
    new = ordered[..., 1:] != ordered[..., :-1]
    if new.all():
        return order
    runs = np.zeros(keys.shape, "uint64")
    np.cumsum(new, -1, out=runs[..., 1:])
    return _packed(runs, order.astype("uint64"))


def _packed(high: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Places in the order of numbers of 32 bits; those of equal ones in their own."""
    packed: np.ndarray = (high << np.uint64(32)) | places
    packed.sort(-1)
    return (packed & np.uint64(_PACKED - 1)).astype("int64")


def _first(keys: np.ndarray, k: int) -> np.ndarray:
    """The places of the `k` least integers along the last axis, in stable order."""
    found = np.empty((*keys.shape[:-1], k), "int64")
    for line in np.ndindex(keys.shape[:-1]):
        row = keys[line]
        last = np.partition(row, k - 1)[k - 1]
        below = np.flatnonzero(row < last)
        equal = np.flatnonzero(row == last)[: k - below.size]
        few = np.sort(np.concatenate((below, equal)))
        found[line] = few[row[few].argsort(kind="stable")]
    return found


def _rank(x: np.ndarray, zeros_equal: bool) -> np.ndarray:
    """Integers in the order of the elements, NaN the greatest."""
    if x.dtype.kind == "b":
        return x.astype("uint8")
    if x.dtype.kind in "iu":
        return x
    values = _comparable(x)
    if zeros_equal:
        values = values + values.dtype.type(0)
    bits = values.view(f"i{values.itemsize}")
    most = np.iinfo(bits.dtype).max
    rank = np.where(bits < 0, bits ^ most, bits)
    rank[np.isnan(values)] = most
    return rank


def _comparable(x: np.ndarray) -> np.ndarray:
    """The elements in a dtype that NumPy itself can sort."""
    return x if x.dtype.kind in "biuf" else x.astype("float32")


def _has_negative_zero(x: np.ndarray) -> bool:
    if x.dtype.kind in "biu":
        return False
    values = np.ascontiguousarray(_comparable(x))
    bits = values.view(f"i{values.itemsize}")
    return bool((bits == np.iinfo(bits.dtype).min).any())
