"""Kernels that put elements in order. Serves: sort, top_k

NumPy's fastest sort is not stable, which shows only where equal elements have different
bits or places. So keys of up to 32 bits are sorted together with their places, as one
64-bit integer; wider ones are sorted first, and then the places of equal ones. An array
alone is sorted by the stable one if it is small, and at once unless it has a negative
zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.base import cost_model
from traceir.reference.kernels.registry import kernel

# No more elements of a line than places that the other half of 64 bits can count.
_PACKED = 1 << 32


@kernel("sort")
def sort(
    *xs: np.ndarray,
    dimension: int,
    is_stable: bool = True,
    num_keys: int = 1,
    places: Sequence[int] | None = None,
) -> list[Any]:
    """All operands in the stable order of the first ones; NaN last, zeros equal.

    Where there are `places`, only what is found at these is looked at.
    """
    if places and (selected := _selected(xs[0], dimension, places)) is not None:
        return [selected]
    alone = len(xs) == 1 and xs[0].dtype.kind in "biuf"
    if alone and xs[0].size <= cost_model.STABLE_SORT_LINE:
        return [np.sort(xs[0], dimension, "stable")]
    if len(xs) == 1 and xs[0].dtype.kind != "c" and not _has_negative_zero(xs[0]):
        return [np.sort(_comparable(xs[0]), dimension).astype(xs[0].dtype, copy=False)]
    order = _order(xs[:num_keys], dimension)
    return _taken(xs, order, dimension)


def _selected(x: np.ndarray, axis: int, places: Sequence[int]) -> np.ndarray | None:
    """The elements in an order that is right at some places; None where equal ones have
    different bits there.
    """
    if x.dtype.kind not in "iuf":
        return None
    found = np.partition(x, places, axis)
    there = found.take(places, axis)
    unclear = x.dtype.kind == "f" and ((there == 0) | np.isnan(there)).any()
    return None if unclear else found


@kernel("top_k")
def top_k(x: np.ndarray, *, axis: int, k: int) -> list[Any]:
    """The greatest elements, the greatest first, and their places."""
    lines = np.moveaxis(x, axis, -1)
    order = _greatest(lines, k)
    if order is None:
        keys = ~_rank(lines, zeros_equal=False)
        few = 0 < k < keys.shape[-1] // cost_model.SELECTED_SHARE
        order = _first(keys, k) if few else _argsort(keys)[..., :k]
    places = np.moveaxis(order, -1, axis)
    return [np.take_along_axis(x, places, axis), places.astype("int32")]


def _order(keys: Sequence[np.ndarray], axis: int) -> np.ndarray:
    """The places of a line's elements, in the stable order of the keys."""
    keys = [part for key in keys for part in _parts(key)]
    if len(keys) > 1:
        return np.lexsort([_comparable(x) for x in reversed(keys)], axis)
    lines = np.moveaxis(_rank(keys[0], zeros_equal=True), axis, -1)
    return np.moveaxis(_argsort(lines), -1, axis)


def _parts(key: np.ndarray) -> list[np.ndarray]:
    """The keys that a key is: two where it is complex."""
    return [key.real, key.imag] if key.dtype.kind == "c" else [key]


def _taken(xs: Sequence[np.ndarray], order: np.ndarray, axis: int) -> list[np.ndarray]:
    """The elements of each array at these places along an axis."""
    order = np.moveaxis(order, axis, -1)
    shape = order.shape
    # Places in all of an array; those of a dimension alone are found more slowly.
    lines = order.size // max(1, shape[-1])
    first = np.arange(lines)[:, None] * shape[-1]
    places = order.reshape(lines, shape[-1]) + first
    found = (np.moveaxis(x, axis, -1).reshape(-1)[places].reshape(shape) for x in xs)
    return [np.moveaxis(x, -1, axis) for x in found]


def _argsort(keys: np.ndarray) -> np.ndarray:
    """The places of integers along the last axis, in stable order."""
    n = keys.shape[-1]
    if n >= _PACKED or (keys.itemsize == 8 and n < cost_model.STABLE_SORT_LINE):
        return keys.argsort(-1, "stable")
    if keys.itemsize == 8:
        return _in_runs(keys, keys.argsort(-1))
    return _packed(keys.astype(f"{keys.dtype.kind}8"), np.arange(n))


def _in_runs(keys: np.ndarray, order: np.ndarray) -> np.ndarray:
    """An order of the keys made stable: places of equal keys in their own order."""
    ordered = np.take_along_axis(keys, order, -1)
    new = ordered[..., 1:] != ordered[..., :-1]
    if new.all():
        return order
    runs = np.zeros(keys.shape, "uint64")
    np.cumsum(new, -1, out=runs[..., 1:])
    return _packed(runs, order)


def _packed(keys: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The places in the order of 32-bit keys, which are overwritten, then their own."""
    keys <<= 32
    keys |= places.astype(keys.dtype)
    keys.sort(-1)
    keys &= _PACKED - 1
    return keys.view("int64")


def _greatest(x: np.ndarray, k: int) -> np.ndarray | None:
    """The places of the `k` greatest elements along the last axis, the greatest first.

    They are among the blocks whose greatest elements are. None where that leaves too
    many elements, as in short lines, and where many are equal.
    """
    n = x.shape[-1]
    if not 0 < k <= n // cost_model.BLOCKED_SHARE or n < cost_model.BLOCKED_LINE:
        return None
    rows = _comparable(x).reshape(-1, n)
    # The elements of a block are a step apart, so neighbours are compared with
    # neighbours.
    width = math.isqrt(n // k) // 2
    step = n // width
    blocks = rows[:, : width * step].reshape(len(rows), width, step)
    keys = ~_rank(blocks.max(1), zeros_equal=True)
    last = np.partition(keys, k - 1)[:, k - 1 : k]
    several = int(np.count_nonzero(keys <= last, -1).max(initial=0))
    if not 0 < 2 * several * width <= n:
        return None
    few = np.sort(_first(keys, several), -1)
    inside = few[:, None, :] + step * np.arange(width)[:, None]
    outside = np.broadcast_to(np.arange(width * step, n), (len(rows), n - width * step))
    # In their own order, as that of equal elements is.
    places = np.concatenate([inside.reshape(len(rows), -1), outside], -1)
    part = rows.reshape(-1)[places + n * np.arange(len(rows))[:, None]]
    order = _first(~_rank(part, zeros_equal=False), k)
    return np.take_along_axis(places, order, -1).reshape(*x.shape[:-1], k)


def _first(keys: np.ndarray, k: int) -> np.ndarray:
    """The places of the `k` least integers along the last axis, in stable order."""
    last = np.partition(keys, k - 1)[..., k - 1 : k]
    rows = keys.reshape(-1, keys.shape[-1])
    lines = rows <= last.reshape(-1, 1)
    for line in np.flatnonzero(np.count_nonzero(lines, -1) > k):
        # Of those that are equal to the last one the first count.
        equal = np.flatnonzero(rows[line] == last.reshape(-1)[line])
        below = np.count_nonzero(rows[line] < last.reshape(-1)[line])
        lines[line, equal[k - below :]] = False
    # Faster than `nonzero` of two dimensions.
    few = np.flatnonzero(lines) % keys.shape[-1]
    few = few.reshape(*keys.shape[:-1], k)
    order = np.take_along_axis(keys, few, -1).argsort(-1, "stable")
    return np.take_along_axis(few, order, -1)


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
    rank = bits >> (8 * values.itemsize - 1)  # -1 where a number is negative
    rank &= most
    rank ^= bits
    unordered = np.isnan(values)
    if unordered.any():
        rank[unordered] = most
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
