"""Large matrix products: shared among our threads, without those of the BLAS.

A BLAS that waits for threads of its own in a busy loop is up to thirty times slower
where other programs, or a library in this process that does the same, have the
processors.

Serves: choice.dot-order
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, wraps
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np

from traceir_numba import pool
from traceir_numba.buffers import LARGE, empty_large

# Products of fewer multiplications OpenBLAS computes in one thread by itself: of
# matrices, and of a matrix and a vector.
MATRIX, VECTOR = 1 << 18, 1 << 13
# Products of more multiplications are split: 200 us on one core. Each piece lays out
# an operand anew for itself, so that there are few.
SPLIT = 1 << 24
PIECES = 2
# The modules that call a BLAS, each its own, and what OpenBLAS names its functions.
NUMPY, SCIPY = "numpy._core._multiarray_umath", "scipy.linalg.cython_blas"
PREFIXES = ("scipy_openblas", "openblas")
SUFFIXES = ("64_", "")

Control = tuple[Callable[[], int], Callable[[int], None]]


@cache
def _control(caller: str) -> Control | None:
    """How to ask for the number of an OpenBLAS's threads, and to set it."""
    try:
        spec = find_spec(caller)
        if spec is None or spec.origin is None:
            return None
        # Without the global lock given up, since nothing here waits.
        library = ctypes.PyDLL(spec.origin)
    except (ImportError, OSError):
        return None
    for prefix in PREFIXES:
        for suffix in SUFFIXES:
            get = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
            put = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
            if get is not None and put is not None:
                get.restype, get.argtypes = ctypes.c_int, ()
                put.restype, put.argtypes = None, (ctypes.c_int,)
                return get, put
    return None


def in_one_thread(caller: str, entry: Callable[..., Any]) -> Callable[..., Any]:
    """The same with a BLAS in the caller's thread alone, and as it was afterwards.

    The number of threads belongs to the process. Who finds more than one puts it back,
    so that whatever runs at once, the last one to end leaves what the first one found.
    """

    @wraps(entry)
    def run(*args: Any) -> Any:
        control = _control(caller)
        number = 1
        try:
            if control is not None:
                get, put = control
                number = get()
                if number > 1:
                    put(1)
            return entry(*args)
        finally:
            if number > 1:
                put(number)

    return run


def is_large(batch: int, rows: int, inner: int, columns: int) -> bool:
    """Whether a BLAS would use threads of its own for a product."""
    vector = rows == 1 or columns == 1
    return bool(batch) and rows * inner * columns > (VECTOR if vector else MATRIX)


def _matmul_large(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """As `numpy.matmul` of two stacks of matrices of the same rank."""
    shape = (*x.shape[:-1], y.shape[-1])
    large = prod(shape) * x.itemsize >= LARGE
    out = empty_large(shape, x.dtype) if large else np.empty(shape, x.dtype)
    if pool.threads() == 1 or out.size * x.shape[-1] < SPLIT:
        np.matmul(x, y, out=out)
    else:
        _split(x, y, out)
    return out


matmul_large = in_one_thread(NUMPY, _matmul_large)


def _split(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """A product in pieces: of the stack, of the rows, or of the columns."""
    pieces = PIECES * pool.threads()
    stacked = x.ndim > 2 and len(x) >= pieces
    by_rows = not stacked and x.shape[-2] >= y.shape[-1]
    axis = 0 if stacked else -2 if by_rows else -1
    ranges = pool.split(0, out.shape[axis], pieces)

    def piece(first: int, last: int) -> None:
        own = slice(ranges[first][0], ranges[last - 1][1])
        part = own if stacked else (..., own, slice(None)) if by_rows else (..., own)
        a = x[part] if stacked or by_rows else x
        b = y if by_rows else y[part]
        # What is ignored belongs to a thread.
        with np.errstate(all="ignore"):
            np.matmul(a, b, out=out[part])

    pool.parallel(piece, (), 0, len(ranges))
