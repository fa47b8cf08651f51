"""An allocator that recycles the memory of large results.

A block is free when nothing refers to it but this module: every array over it holds a
reference to the block, and every view, memoryview, DLPack capsule or foreign array made
of such an array holds one to that array.
"""

from __future__ import annotations

import os
import sys
import threading
from math import prod
from typing import NamedTuple

import numpy as np

from traceir.base.fork_safety import kept_over_forks
from traceir.dtypes import ADDED, is_added

# Blocks that are kept, those in use included: the ones that were made last.
MOST_BLOCKS = 64
# Large arrays start at a cache line, so that vectors do not straddle two.
ALIGNMENT = 64
# What numbers of 16 bits are to kernels, and those of fewer.
BITS, BYTE = np.dtype("uint16"), np.dtype("uint8")
NARROW_DTYPES = ("float16", *ADDED)


class HostAllocation(np.ndarray):
    """Bytes that one array uses at a time.

    A type of its own, so that NumPy lets a view of an array refer to that array, not
    past it to the block: whoever looks at an array's references sees its views.
    """

    recycled = True
    start = 0  # the first byte that is used


class MemoryInfo(NamedTuple):
    """The bytes kept for later results, and those of machine code.

    Of the memory of results `used` bytes belong to arrays that live; `free` ones wait.
    `objects` object files of `code` bytes are loaded, each with kernels that were
    compiled together.
    """

    used: int
    free: int
    objects: int = 0
    code: int = 0


# The bytes of each object file that is loaded, by a number: `mcjit` enters them here,
# so that nobody who asks for memory loads LLVM.
loaded: dict[int, int] = {}


def _references(blocks: list[HostAllocation]) -> list[int]:
    return [sys.getrefcount(block) for block in blocks]


def _block(size: int) -> HostAllocation:
    block = np.ndarray.__new__(HostAllocation, size, np.uint8)
    block.start = -block.ctypes.data % ALIGNMENT
    return block


def _bound() -> int:
    """The bytes to keep at most: an eighth of the machine's memory, at least 256 MB."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = 0
    return max(1 << 28, memory >> 3)


MOST_BYTES = _bound()
_blocks: list[HostAllocation] = []
_lock = kept_over_forks(threading.Lock())
# What a block is counted that only the list holds: it depends on Python's version.
_FREE = _references([_block(1)])[0]
# Without the global lock counts are not exact, and nothing is recycled.
_EXACT = getattr(sys, "_is_gil_enabled", lambda: True)()


def empty_large(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """As `numpy.empty`, in memory that an earlier result has left if there is any.

    If there is no memory left, the blocks kept for later are given back first.
    """
    count = shape if isinstance(shape, int) else prod(shape)
    size = count * dtype.itemsize
    block = _take(size)
    if block is None:
        block = _made(size + ALIGNMENT)
        _keep(block)
    block.setflags(write=True)
    array = np.ndarray(shape, dtype, block, block.start)
    # It is the array's `base`, through which none may write.
    block.setflags(write=False)
    return array


def _made(size: int) -> HostAllocation:
    try:
        return _block(size)
    except MemoryError:
        clear_memory()
    return _block(size)


def _take(size: int) -> HostAllocation | None:
    with _lock:
        # The last ones first: they are the likeliest to be in a processor's cache.
        for k in range(len(_blocks) - 1, -1, -1):
            if _blocks[k].nbytes == size + ALIGNMENT and _is_free(k):
                return _blocks[k]
    return None


def _is_free(k: int) -> bool:
    return _references(_blocks[k : k + 1])[0] == _FREE + 1  # the slice holds it, too


def _keep(block: HostAllocation) -> None:
    """Keep a block for later, and let others go if the bound is passed."""
    if block.nbytes > MOST_BYTES or not _EXACT:
        return
    with _lock:
        _blocks.append(block)
        held = sum(b.nbytes for b in _blocks)
        # What lies unused goes first, then what was made first.
        for free_only in (True, False):
            k = 0
            while k < len(_blocks) - 1 and not _fits(held):
                if free_only and not _is_free(k):
                    k += 1
                    continue
                held -= _blocks[k].nbytes
                del _blocks[k]


def _fits(held: int) -> bool:
    return held <= MOST_BYTES and len(_blocks) <= MOST_BLOCKS


def clear_memory() -> int:
    """Give back the memory kept for later results, and say how many bytes it was.

    Arrays that live keep theirs. Called when an allocation fails, too.

    >>> import traceir_numba
    >>> _ = traceir_numba.clear_memory()
    >>> traceir_numba.memory_info().free
    0
    """
    with _lock:
        freed = _info().free
        _blocks.clear()
    return freed


def memory_info() -> MemoryInfo:
    """The bytes that are kept for later results, and those of code that is loaded.

    Code goes with the functions that it was compiled for, but for what was used last.

    >>> import traceir_numba
    >>> info = traceir_numba.memory_info()
    >>> info.used >= 0, info.free >= 0, info.objects >= 0, info.code >= 0
    (True, True, True, True)
    """
    with _lock:
        return _info()


def _info() -> MemoryInfo:
    free = sum(_blocks[k].nbytes for k in range(len(_blocks)) if _is_free(k))
    used = sum(b.nbytes for b in _blocks) - free
    return MemoryInfo(used, free, len(loaded), sum([*loaded.values()]))


def narrow_of(dtype: object) -> str:
    """The name of a dtype of whose numbers kernels have the bits, empty for another.

    >>> narrow_of(np.dtype("float16")), narrow_of(np.dtype("int16"))
    ('float16', '')
    """
    if isinstance(dtype, np.dtype) and (is_added(dtype) or dtype == np.float16):
        return dtype.name
    return ""


def bits_dtype(narrow: str) -> np.dtype:
    """The dtype of these bits.

    >>> bits_dtype("float16"), bits_dtype("int4")
    (dtype('uint16'), dtype('uint8'))
    """
    return BITS if narrow.endswith("float16") else BYTE


def dtype_name(dtype: str) -> str:
    """The name of NumPy's dtype in a generated module.

    >>> dtype_name("float32"), dtype_name("key<fry>"), dtype_name("key<rbg>")
    ('FLOAT32', 'KEY', 'KEY_RBG')
    """
    return dtype.removesuffix("<fry>").removesuffix(">").replace("<", "_").upper()
