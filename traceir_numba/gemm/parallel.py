"""Large products shared among threads, with the same bits.

Serves: choice.dot-order
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from traceir_numba.runtime import thread_pool
from traceir_numba.runtime.allocator import LARGE, empty_large

# Products of more multiplications are split: 40 us on one core.
SPLIT = 1 << 22
# Each piece lays out an operand anew for itself, so that there are few.
LEAST = 64
# Sums of more terms, of few results each, are cut: what a part has is part of the
# product's meaning, so it depends on sizes alone.
LONG, PART, FEW = 1 << 14, 1 << 12, 1 << 14

# No piece has more multiplications: between pieces Python handles signals.
MOST = 1 << 31

Entry = Callable[..., None]


def product(
    entry: Entry,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    outer: int,
    batch: int,
    rows: int,
    inner: int,
    columns: int,
    *strides: int,
) -> None:
    """Put stacks of products of matrices, which lie in x and y at strides, in z.

    `entry` is the machine code of `gemm.PRODUCT` for their dtype.
    """
    lines = outer * batch * rows
    if not lines * columns:
        return
    if inner >= LONG and lines * columns <= FEW and outer * batch == 1:
        _long(entry, x, y, z, rows, inner, columns, *strides)
        return
    sizes = (rows, columns, inner, batch, *strides, columns)
    _share(entry, (x, y, z), lines, inner, columns, sizes)


def strided_product(
    entry: Entry,
    x: np.ndarray,
    y: np.ndarray,
    ways: np.ndarray,
    z: np.ndarray,
    outer: int,
    batch: int,
    rows: int,
    inner: int,
    columns: int,
    *strides: int,
) -> None:
    """Put stacks of products of matrices, whose lines lie by `ways`, in z.

    `entry` is the machine code of `strided.PRODUCT` for their dtype.
    """
    sizes = (rows, columns, inner, batch, *strides)
    _share(entry, (x, y, ways, z), outer * batch * rows, inner, columns, sizes)


def _share(
    entry: Entry,
    given: tuple[np.ndarray, ...],
    lines: int,
    inner: int,
    columns: int,
    sizes: tuple[int, ...],
) -> None:
    """Give rows, or columns, to threads."""
    threads, work = thread_pool.threads(), lines * inner * columns
    if work < (MOST if threads == 1 else SPLIT):
        entry(*given, 0, lines, 0, columns, *sizes)
    elif lines >= LEAST * threads or lines >= columns:
        pieces = thread_pool.split(0, lines, _pieces(lines, threads, work))
        thread_pool.each(
            entry, [(*given, lo, hi, 0, columns, *sizes) for lo, hi in pieces]
        )
    else:
        pieces = thread_pool.split(0, columns, _pieces(columns, threads, work))
        thread_pool.each(
            entry, [(*given, 0, lines, lo, hi, *sizes) for lo, hi in pieces]
        )


def _pieces(length: int, threads: int, work: int) -> int:
    """The number of pieces: two for each thread, if they are long enough, or short
    ones.
    """
    few = 2 * threads if length >= 8 * LEAST * threads else threads
    return max(few, min(work // MOST, length // LEAST))


def _long(
    entry: Entry,
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    rows: int,
    inner: int,
    columns: int,
    *strides: int,
) -> None:
    """One product with long sums: parts of them at once, then their sum in order."""
    _, _, x_row, x_along, _, _, y_along, y_column = strides
    count, rest = divmod(inner, PART)
    shape = (count + bool(rest), rows, columns)
    large = shape[0] * z.nbytes >= LARGE
    parts = empty_large(shape, z.dtype) if large else np.empty(shape, z.dtype)
    steps = (x_row, x_along, 0, PART * y_along, y_along, y_column, columns)
    sizes = (0, columns, rows, columns, PART, count, 0, PART * x_along, *steps)
    threads = thread_pool.threads()
    pieces = thread_pool.split(0, count, 4 * threads) if threads > 1 else [(0, count)]
    tasks = [(x, y, parts, lo * rows, hi * rows, *sizes) for lo, hi in pieces]
    thread_pool.each(entry, tasks)
    if rest:
        last_x = x.ravel("K")[count * PART * x_along :]
        last_y = y.ravel("K")[count * PART * y_along :]
        sizes = (0, columns, rows, columns, rest, 1, 0, 0, *steps)
        entry(last_x, last_y, parts[count], 0, rows, *sizes)
    total = z.reshape(rows, columns)
    with np.errstate(all="ignore"):
        np.add(parts[0], parts[1], out=total)
        for part in parts[2:]:
            np.add(total, part, out=total)
