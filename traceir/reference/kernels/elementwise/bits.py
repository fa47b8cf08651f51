"""Kernels that shift and count the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.reference.kernels.registry import kernel


def _within(x: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    """The elements that are shifted by fewer bits than there are, and these shifts,
    else 0.
    """
    bits = 8 * x.dtype.itemsize
    fits = (y >= 0) & (y < bits)
    return fits, np.where(fits, y, y.dtype.type(0))


@kernel("shift_left")
def shift_left(x: np.ndarray, y: np.ndarray) -> Any:
    """Bits moved up; by more than there are, all are lost."""
    fits, by = _within(x, y)
    return np.where(fits, np.left_shift(x, by), x.dtype.type(0))


@kernel("shift_right_logical")
def shift_right_logical(x: np.ndarray, y: np.ndarray) -> Any:
    """Bits moved down, zeros from above."""
    fits, by = _within(x, y)
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    moved = np.right_shift(x.view(unsigned), by.astype(unsigned)).view(x.dtype)
    return np.where(fits, moved, x.dtype.type(0))


@kernel("shift_right_arithmetic")
def shift_right_arithmetic(x: np.ndarray, y: np.ndarray) -> Any:
    """Bits moved down, copies of the highest from above, signed or not."""
    fits, by = _within(x, y)
    signed = np.dtype(f"i{x.dtype.itemsize}")
    most = signed.type(8 * x.dtype.itemsize - 1)
    by = np.where(fits, by.astype(signed), most)
    return np.right_shift(x.view(signed), by).view(x.dtype)


@kernel("population_count")
def population_count(x: np.ndarray) -> Any:
    """The number of bits that are set."""
    return np.bitwise_count(x.view(np.dtype(f"u{x.dtype.itemsize}"))).astype(x.dtype)


@kernel("clz")
def clz(x: np.ndarray) -> Any:
    """The number of bits above the highest that is set."""
    bits = 8 * x.dtype.itemsize
    filled = x.view(np.dtype(f"u{x.dtype.itemsize}"))
    step = 1
    while step < bits:
        filled = filled | np.right_shift(filled, filled.dtype.type(step))
        step *= 2
    return (bits - np.bitwise_count(filled)).astype(x.dtype)
