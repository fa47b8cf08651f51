"""Elements that several vectors have in common: read once, and never past the end."""

from __future__ import annotations

import ctypes
import mmap
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from compiling import AVX512, executable, has_bits_of_llvm, traced

import traceir as jax
import traceir.numpy as jnp
from traceir_numba import cost_model


def moving(size: int) -> Callable[[Any], Any]:
    """The sums of so many in a row."""
    return lambda x: jax.lax.reduce_window(x, 0, jax.lax.add, (size,), (1,), "VALID")


def differences(x: Any, past: int) -> Any:
    """Elements less those that lie so far before."""
    return x[past:] - x[:-past]


def nine(x: Any) -> Any:
    """Weighted neighbours of a matrix, first along rows, then along columns."""
    x = 2 * x[:, :-2] + 3 * x[:, 1:-1] + 5 * x[:, 2:]
    return 7 * x[:-2] + x[1:-1] + 4 * x[2:]


def five(x: Any) -> Any:
    """Differences of a matrix's elements and those around them."""
    around = x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]
    return around - 4 * x[1:-1, 1:-1]


PROGRAMS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "differences": (lambda x: x[1:] - x[:-1], (3001,)),
    "farther than a register": (lambda x: x[40:] - x[20:-20] * x[:-40], (4000,)),
    "sums of 3": (moving(3), (2600,)),
    "sums of 10": (moving(10), (20_000,)),
    "sums of 17": (moving(17), (20_011,)),
    "sums of 40": (moving(40), (2500,)),
    "backwards": (lambda x: x[5:] - x[:-5][::-1], (3000,)),
    "nine points": (nine, (150, 131)),
    "nine points of long rows": (nine, (20, 1100)),
    "five points": (five, (150, 130)),
    "squares of differences": (
        lambda x: ((x[:, 3:] - x[:, :-3]) ** 2).sum(1),
        (99, 203),
    ),
    "all squares of differences": (lambda x: ((x[1:] - x[:-1]) ** 2).sum(), (30_000,)),
    "a window at a number": (
        lambda x: jax.lax.dynamic_slice(x, (x[0].astype(int) % 7,), (2990,)) + x[3:-7],
        (3000,),
    ),
    "chosen": (lambda x: jnp.where(x[1:] > 0, x[1:], x[:-1]), (5000,)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16", "int8"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_shared_reads_have_the_bits_of_llvm(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fun, shape = PROGRAMS[name]
    x = (np.random.default_rng(3).normal(size=shape) * 9).astype(dtype)
    assert has_bits_of_llvm(fun, x, monkeypatch)


@pytest.mark.skipif(not AVX512, reason="the processor has no such vectors")
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_nothing_is_read_beyond_the_last_element(dtype: str) -> None:
    libc, page = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE
    size = np.dtype(dtype).itemsize
    pages = 3 * cost_model.SPECIALIZED_POINTS * size // page
    memory = mmap.mmap(-1, (pages + 2) * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    ends = (start, start + (pages + 1) * page)
    closed = [(ctypes.c_void_p(at), ctypes.c_size_t(page)) for at in ends]
    assert not any(libc.mprotect(*one, 0) for one in closed)
    most = pages * page // size
    with jax.enable_x64(True):
        for n in (most, most - 1, most - 9, most - 40, most - 64):
            for at in (page, (pages + 1) * page - n * size):  # at its start, at its end
                x = np.frombuffer(memory, dtype, n, at)
                x[:] = np.arange(n) % 100
                for past in (1, 7, 16):
                    run = executable(traced(partial(differences, past=past), x)).run
                    assert np.array_equal(run(x)[0], x[past:] - x[:-past])
    both = mmap.PROT_READ | mmap.PROT_WRITE
    assert not any(libc.mprotect(*one, both) for one in closed)


@pytest.mark.skipif(not AVX512, reason="the processor has no such vectors")
def test_a_moving_sum_reads_each_element_once() -> None:
    found = executable(traced(moving(10), np.zeros(5000, "float32")))
    assert "A[i0 + 9]" in found.source
    text = found.as_text("asm")
    (loop,) = [
        one
        for one in re.split(r"^\.LBB\w+:", text, flags=re.M)
        if "vaddps" in one and "%k1" not in one and re.search(r"\tj\w+\t", one)
    ]
    written = len(re.findall(r"vmovups\s+%zmm", loop))
    read = re.findall(r"\((%r\w+),(%r\w+),4\), %zmm", loop)
    assert 0 < len(read) <= written + 1
