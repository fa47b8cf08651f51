"""Copies of strided arrays into one contiguous block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from traceir_numba.cuda import cost_model
from traceir_numba.cuda.runtime import device


def gathered(
    first: int, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype, of: Any
) -> Any:
    """The elements from an address on, in order; strides count bytes.

    Whole numbers that are as wide stand for the elements, whatever they are. `of` owns
    the memory.
    """
    each = dtype.itemsize
    steps = [stride // each for stride in strides]
    ends = [(n - 1) * step for n, step in zip(shape, steps, strict=True)]
    before = sum(min(0, end) for end in ends)
    length = sum(max(0, end) for end in ends) - before + 1
    source = device.at(first + before * each, (length,), dtype, of)
    made = device.empty(prod(shape), dtype.str)
    many, most = device.limits()
    threads = min(cost_model.COPY_THREADS, many)
    blocks = min(most, -(-prod(shape) // threads))
    _kernel(len(shape))(blocks, threads, source, made, -before, *shape, *steps)
    return made


@cache
def _kernel(rank: int) -> Callable[..., None]:
    space = device.namespace()
    exec(source(rank), space)
    return device.kernel(space, f"gather_{rank}")


def source(rank: int) -> str:
    """The kernel for arrays of so many dimensions.

    >>> print(source(1))
    def gather_1(X, Y, start, n0, s0):
        for i in range(cuda.grid(1), n0, cuda.gridsize(1)):
            place = start
            rest = i
            place += rest % n0 * s0
            rest //= n0
            Y[i] = X[place]
    """
    dims = range(rank)
    sizes = ", ".join([*(f"n{d}" for d in dims), *(f"s{d}" for d in dims)])
    count = " * ".join(f"n{d}" for d in dims)
    lines = [f"def gather_{rank}(X, Y, start, {sizes}):"]
    lines += [f"    for i in range(cuda.grid(1), {count}, cuda.gridsize(1)):"]
    lines += ["        place = start", "        rest = i"]
    for d in reversed(dims):
        lines += [f"        place += rest % n{d} * s{d}", f"        rest //= n{d}"]
    return "\n".join([*lines, "        Y[i] = X[place]"])
