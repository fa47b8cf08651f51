"""Loops over vectors that we write ourselves have the bits of those that LLVM makes."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from compiling import AVX512, executable, forgotten, same_bits, traced

import traceir as jax
import traceir.numpy as jnp
from traceir_numba.llvm import optimize
from traceir_numba.llvm.vectors.widen import SHORT_LINES, widened
from traceir_numba.runtime import code_loader, mcjit

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e-30, 1e-40, 2.5, -3.5]


def floats(n: int, dtype: str = "float32") -> np.ndarray:
    """Numbers of all sizes, those with a meaning of their own among them."""
    found = np.resize(np.concatenate([np.linspace(-90, 90, 31), SPECIAL]), n)
    return found.astype(dtype)


def chain(x: Any) -> Any:
    """More than the lines of a loop that is written out twice."""
    y = x
    for k in range(SHORT_LINES // 8):
        x, y = jnp.where(x > y, x * 0.5, y - k) + jnp.exp(-x * x), x
    return x


def sines(x: Any) -> Any:
    """So many calls of one function that they stay calls."""
    for k in range(40):
        x = jnp.sin(x) * (1 + k / 64)
    return x


def drawn(key: Any, x: Any) -> Any:
    """As many of some numbers, at places that are drawn."""
    return jax.random.choice(jax.random.wrap_key_data(key[:2]), x, x.shape)


def near(x: Any) -> Any:
    """Numbers of moderate size in place of all others."""
    return jnp.where(abs(x) < 80, x, 1)


def bits(key: Any, shape: tuple[int, ...]) -> Any:
    """Random bits of two words."""
    return jax.random.bits(jax.random.wrap_key_data(key), shape)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "a product and a sum": (lambda x, y: x * y + 1, ("float32", "float32")),
    "functions": (lambda x: jnp.tanh(x) + jnp.exp(x), ("float32",)),
    "functions of tables": (lambda x: jnp.sin(x) * jnp.cos(x), ("float32",)),
    "rows of tables that are near": (
        lambda x: jnp.sin(near(x)) * jnp.tan(near(x)),
        ("float32",),
    ),
    "rows of tables that are far": (lambda x: jnp.sin(x * 1e9), ("float32",)),
    "a short table": (lambda x: jnp.exp(x) - jnp.exp2(near(x)), ("float64",)),
    "a key for all": (lambda x: bits(x[:2], x.shape), ("uint32",)),
    "places that values tell": (drawn, ("uint32", "float32")),
    "float64": (lambda x: jnp.where(x > 0, x, jnp.expm1(x)), ("float64",)),
    "two widths": (lambda x: (x.astype("float64") * 3, x < 1), ("float32",)),
    "the index": (lambda x: x + jnp.arange(x.size) * 3, ("float32",)),
    "integers": (lambda x, y: (x ^ y) + (x << 3) - x * y, ("int32", "int32")),
    "small integers": (lambda x: (x * 3 + 100, x > 5), ("uint8",)),
    "a row for all": (lambda x: x[:, None] * 2 + jnp.sqrt(x[None]), ("float32",)),
    "every second and third": (lambda x: (x[::2] * 2, -x[1::3]), ("float32",)),
    "every fourth": (lambda x: (x[::4] + 1, x[2::4] > 5), ("uint8",)),
    "every second, selected": (
        lambda x: jnp.where(x[:-1:2] > x[1::2], jnp.exp(x[:-1:2]), x[1::2]),
        ("float64",),
    ),
    "a long body": (chain, ("float32",)),
    "calls": (sines, ("float64",)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [7, 515])
def test_the_bits_are_those_of_llvm(
    name: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fun, dtypes = PROGRAMS[name]
    n *= 32 if "every" in name else 1  # few points have strides that vary
    with jax.enable_x64(True):
        args = [
            floats(n, t) if t[0] == "f" else np.arange(3, n + 3).astype(t)
            for t in dtypes
        ]
        closed = traced(fun, *args)
        found = []
        for bits in (0, 512):
            made: list[bool] = []

            def seen(*given: Any, made: list[bool] = made) -> Any:
                wide, left = widened(*given)
                made.append(wide is not None)
                return wide, left

            forgotten(monkeypatch, bits)
            monkeypatch.setattr(optimize, "widened", seen)
            found.append(executable(closed).run(*args))
            if n > 500:  # shorter loops of known ends are LLVM's
                assert any(made) == (bits > 0)
    assert same_bits(*([np.asarray(x) for x in one] for one in found))


def twice(x: Any, places: slice) -> Any:
    """Twice some elements."""
    return x[places] * 2


@pytest.mark.skipif(not AVX512, reason="the processor has no such vectors")
@pytest.mark.parametrize("step", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_nothing_is_read_beyond_the_last_element(step: int, dtype: str) -> None:
    libc, page = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE
    memory = mmap.mmap(-1, 4 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    closed = ctypes.c_void_p(start + 3 * page), ctypes.c_size_t(page)
    assert libc.mprotect(*closed, 0) == 0
    with jax.enable_x64(True):
        for n in (400, 511, 512, 513, 514):
            size = np.dtype(dtype).itemsize
            offset = 3 * page - n * size
            x = np.frombuffer(memory, dtype, n, offset)
            x[:] = np.arange(n) % 100
            first = (n - 1) % step  # so that the last element is among them
            places = slice(first, None, step)
            run = executable(traced(partial(twice, places=places), x)).run
            assert np.array_equal(run(x)[0], x[places] * 2)
    assert libc.mprotect(*closed, mmap.PROT_READ | mmap.PROT_WRITE) == 0


LOOP = """define void @f(ptr noalias %a0, ptr noalias %a1, i64 %a2, i64 %a3) nounwind {
b0:
br label %b1
b1:
%r1 = phi i64 [%a2, %b0], [%r9, %b2]
%r2 = icmp slt i64 %r1, %a3
br i1 %r2, label %b2, label %b3
b2:
BODY
%r9 = add nsw i64 %r1, 1
br label %b1
b3:
ret void
}
"""
NEGATIVE = """%r3 = getelementptr inbounds float, ptr %a0, i64 %r1
%r4 = load float, ptr %r3
%r5 = getelementptr inbounds float, ptr %a1, i64 %r1
%r8 = fneg float %r4
store float %r8, ptr %r5"""
LEFT = {
    "a long stride": NEGATIVE.replace("%a0, i64 %r1", "%a0, i64 %r0").replace(
        "%r3", "%r0 = mul i64 %r1, 5\n%r3", 1
    ),
    "a stride of what is written": NEGATIVE.replace(
        "%a1, i64 %r1", "%a1, i64 %r0"
    ).replace("%r3", "%r0 = mul i64 %r1, 2\n%r3", 1),
    "a place that an earlier round wrote": NEGATIVE.replace(
        "%a0, i64 %r1", "%a1, i64 %r0"
    ).replace("%r3", "%r0 = sub i64 %r1, 1\n%r3", 1),
    "a number that all rounds write": NEGATIVE.replace("%a1, i64 %r1", "%a1, i64 0"),
    "a place that a pointer from elsewhere may be at": NEGATIVE.replace("%a0", "%p"),
    "a copy": NEGATIVE.replace("%r8 = fneg float %r4\n", "").replace("%r8", "%r4"),
    "a quotient": NEGATIVE.replace("%r5 =", "%r6 = sdiv i64 7, %r1\n%r5 =", 1),
    "a function that nobody gave": NEGATIVE.replace(
        "%r5 =", "%r6 = call float @g(float %r4)\n%r5 =", 1
    ),
}


def test_a_loop_of_numbers_becomes_one_of_vectors() -> None:
    text, left = widened([LOOP.replace("BODY", NEGATIVE)], [], 512)
    assert text is not None
    assert not left
    assert "load <64 x float>, ptr %r3.m, align 4" in text
    assert "@llvm.masked.store.v16f32.p0(<16 x float> %r8.v16" in text
    with code_loader.lock:
        optimize._simplified(text, mcjit.target_machine(), None)


@pytest.mark.parametrize("name", LEFT)
def test_what_differs_by_round_is_left_to_llvm(name: str) -> None:
    text = LOOP.replace("BODY", LEFT[name])
    assert widened([text], [], 512) == (None, (text,))
