"""Memory of large results, recycled: touching fresh pages costs more than most kernels.

A block is free when nothing refers to it but this module: every array over it, and
every view of those, holds a reference to the block itself.
"""

from __future__ import annotations

import sys
import threading
from math import prod

import numpy as np

from traceir.forks import kept_over_forks

# Below this the allocator recycles by itself, and a look into the list costs more.
LARGE = 1 << 18
# What may lie unused: the blocks that were made last.
MOST_BLOCKS = 8
MOST_BYTES = 1 << 28

# Large arrays start at a cache line, so that vectors do not straddle two.
ALIGNMENT = 64

_blocks: list[np.ndarray] = []
_lock = kept_over_forks(threading.Lock())


def _references(blocks: list[np.ndarray]) -> list[int]:
    return [sys.getrefcount(block) for block in blocks]


# What a block is counted that only the list holds: it depends on Python's version.
_FREE = _references([np.empty(1, np.uint8)])[0]
# Without the global lock counts are not exact, and nothing is recycled.
_EXACT = getattr(sys, "_is_gil_enabled", lambda: True)()


def empty_large(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """As `numpy.empty`, in memory that an earlier result has left if there is any."""
    count = shape if isinstance(shape, int) else prod(shape)
    size = count * dtype.itemsize
    block = _take(size)
    if block is None:
        block = np.empty(size + ALIGNMENT, np.uint8)
        _keep(block)
    start = -block.ctypes.data % ALIGNMENT
    block.setflags(write=True)
    array = np.ndarray(shape, dtype, block, start)
    block.setflags(
        write=False
    )  # it is the array's `base`, through which none may write
    return array


def _take(size: int) -> np.ndarray | None:
    with _lock:
        for k, count in enumerate(_references(_blocks)):
            if count == _FREE and _blocks[k].nbytes == size + ALIGNMENT:
                return _blocks[k]
    return None


def _keep(block: np.ndarray) -> None:
    if block.nbytes > MOST_BYTES or not _EXACT:
        return
    with _lock:
        _blocks.append(block)
        while len(_blocks) > MOST_BLOCKS or _bytes() > MOST_BYTES:
            del _blocks[0]


def _bytes() -> int:
    return sum(block.nbytes for block in _blocks)


def clear() -> None:
    """Give back the memory that no array uses; arrays in use are not touched."""
    with _lock:
        _blocks.clear()
