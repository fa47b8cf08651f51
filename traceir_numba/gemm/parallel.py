"""Large products shared among threads, with the same bits.

Serves: choice.dot-order
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from traceir_numba import cost_model
from traceir_numba.runtime import thread_pool
from traceir_numba.runtime.allocator import empty_large

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
    if is_long(outer * batch, lines, inner, columns):
        _long(entry, x, y, z, rows, inner, columns, *strides)
        return
    sizes = (rows, columns, inner, batch, *strides, columns)
    _share(entry, (x, y, z), lines, inner, columns, sizes)


def is_long(count: int, lines: int, inner: int, columns: int) -> bool:
    """True if the sums of a product are so long, and so few, that they are cut.

    >>> is_long(1, 2, 100_000, 2), is_long(1, 1000, 100_000, 1000)
    (True, False)
    """
    few = lines * columns <= cost_model.SPLIT_SUM_RESULTS
    return few and inner >= cost_model.SPLIT_SUM_TERMS and count == 1


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
    work = lines * inner * columns
    alone, shared = cost_model.MATMUL_PIECE_WORK, cost_model.THREADED_MATMUL_WORK
    most = thread_pool.threads_worth(work, shared)
    threads = min(thread_pool.threads(), most)
    if work < (alone if threads == 1 else shared):
        entry(*given, 0, lines, 0, columns, *sizes)
    elif lines >= cost_model.MATMUL_PIECE_ROWS * threads or lines >= columns:
        pieces = thread_pool.thread_split(0, lines, _pieces(lines, threads, work))
        thread_pool.each(
            entry, [(*given, lo, hi, 0, columns, *sizes) for lo, hi in pieces], most
        )
    else:
        pieces = thread_pool.thread_split(0, columns, _pieces(columns, threads, work))
        thread_pool.each(
            entry, [(*given, 0, lines, lo, hi, *sizes) for lo, hi in pieces], most
        )


def _pieces(length: int, threads: int, work: int) -> int:
    """The number of pieces: two for each thread, if they are long enough, or short
    ones.
    """
    least = cost_model.MATMUL_PIECE_ROWS
    long = length >= cost_model.HALVED_MATMUL_PIECES * least * threads
    few = 2 * threads if long else threads
    return max(few, min(work // cost_model.MATMUL_PIECE_WORK, length // least))


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
    part = cost_model.SPLIT_SUM_PART
    count, rest = divmod(inner, part)
    shape = (count + bool(rest), rows, columns)
    large = shape[0] * z.nbytes >= cost_model.POOLED_BYTES
    parts = empty_large(shape, z.dtype) if large else np.empty(shape, z.dtype)
    steps = (x_row, x_along, 0, part * y_along, y_along, y_column, columns)
    sizes = (0, columns, rows, columns, part, count, 0, part * x_along, *steps)
    threads = thread_pool.threads()
    most = cost_model.SPLIT_SUM_PIECES * threads if threads > 1 else 1
    pieces = thread_pool.thread_split(0, count, most)
    tasks = [(x, y, parts, lo * rows, hi * rows, *sizes) for lo, hi in pieces]
    thread_pool.each(entry, tasks)
    if rest:
        last_x = x.ravel("K")[count * part * x_along :]
        last_y = y.ravel("K")[count * part * y_along :]
        sizes = (0, columns, rows, columns, rest, 1, 0, 0, *steps)
        entry(last_x, last_y, parts[count], 0, rows, *sizes)
    total = z.reshape(rows, columns)
    with np.errstate(all="ignore"):
        np.add(parts[0], parts[1], out=total)
        for more in parts[2:]:
            np.add(total, more, out=total)
