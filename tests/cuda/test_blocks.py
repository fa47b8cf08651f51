"""Threads of the simulator run in turn, and what a device forbids is told."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import device_programs as programs
import numpy as np
import pytest

import traceir
from traceir.pytrees import flatten
from traceir_numba.cuda.runtime import device
from traceir_numba.cuda.simulator import blocks, simulated


def run(body: str, size: int = 12, grid: Any = 2, block: Any = 4) -> list[int]:
    """The memory that was 0 before a kernel ran."""
    space = device.namespace()
    exec(f"def kernel(X):\n    {body}", space)
    memory = device.upload(np.zeros(size, np.int64))
    device.kernel(space, "kernel")(grid, block, memory)
    return list(device.download(memory, size).tolist())


def test_threads_run_one_after_the_other_in_either_order() -> None:
    count = "X[0] += 1; X[X[0]] = cuda.grid(1)"
    assert run(count, 9) == [8, *range(8)]
    with blocks.backwards():
        assert run(count, 9) == [8, *reversed(range(8))]


def test_at_a_barrier_all_others_have_their_turn() -> None:
    turns = "k = cuda.grid(1); X[k] = k; cuda.syncthreads(); X[k + 4] = X[3 - k]"
    for way in (nullcontext, blocks.backwards, simulated.by_numba):
        with way():
            assert run(turns, 8, 1) == [0, 1, 2, 3, 3, 2, 1, 0]


def test_places_and_sizes_have_three_dimensions() -> None:
    text = "t = cuda.threadIdx; b = cuda.blockIdx; x, y = cuda.grid(2); "
    text += "X[x * 4 + y] = 100 * t.y + 10 * b.x + cuda.gridsize(2)[1]"
    assert run(text, 8, (2, 2), (1, 2)) == [4, 104, 4, 104, 14, 114, 14, 114]


def test_memory_that_a_block_shares_begins_as_nonsense() -> None:
    text = "s = cuda.shared.array(4, np.uint8); X[cuda.grid(1)] = s[0]; s[0] = 1"
    first = [blocks.NONSENSE, 1, 1, 1]
    assert run(text) == [*first, *first, 0, 0, 0, 0]
    text = "s = cuda.local.array(4, np.uint8); X[cuda.grid(1)] = s[0]; s[0] = 1"
    assert run(text, 8) == [blocks.NONSENSE] * 8


BROKEN = {
    "if cuda.threadIdx.x > 1: cuda.syncthreads()": (RuntimeError, "line 2 of kernel"),
    "if cuda.threadIdx.x > 1: return\n    cuda.syncthreads()": (
        RuntimeError,
        "at line 3 of kernel, the end",
    ),
    "if cuda.threadIdx.x > 1: cuda.syncthreads()\n    else:\n"
    "        cuda.syncthreads()": (RuntimeError, "line 2 of kernel, line 4"),
    "X[cuda.threadIdx.x - 1] = 1": (IndexError, "at -1"),
    "X[12] = X[0]": (IndexError, "12"),
    "cuda.syncthreads(); X[cuda.threadIdx.x - 2] = 1; cuda.syncthreads()": (
        IndexError,
        "at -2",
    ),
    "s = cuda.shared.array((2, 2), np.int8); s[1, -1] = 1": (IndexError, "-1"),
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_a_device_forbids_is_an_error(text: str) -> None:
    error, match = BROKEN[text]
    with pytest.raises(error, match=match):
        run(text)
    assert run("X[cuda.grid(1)] = 1") == [1] * 8 + [0] * 4


FEW = ("elementwise", "passes", "columns", "many", "first-extreme", "small-product")


@pytest.mark.parametrize("name", FEW)
def test_numbas_own_simulator_gives_the_same_bits(name: str) -> None:
    fun, argument = programs.PROGRAMS[name]

    def bits() -> list[bytes]:
        found = traceir.jit(fun, backend="cuda")(argument)
        return [np.asarray(leaf).tobytes() for leaf in flatten.leaves(found)]

    want = bits()
    with simulated.by_numba():
        assert bits() == want
    with blocks.backwards():
        assert bits() == want
