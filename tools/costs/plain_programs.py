"""Programs that measure entries for plain NumPy functions, and for loops."""

from __future__ import annotations

from typing import Any

import numpy as np

import traceir
import traceir.numpy as jnp
import traceir_numba
from tools.costs.programs import KNOWN, PROGRAMS, Call, program
from traceir import lax
from traceir_numba.compat import prange

__all__ = ["PROGRAMS"]


@program
def traced_state() -> Call:
    """A plain function that reads an array outside, traced anew."""

    def call() -> object:
        return traceir_numba.jit(lambda x: x + KNOWN)(KNOWN)

    return call


@program
def unrolled_elements() -> Call:
    """A loop over the elements of an array, traced anew."""

    def total(x: Any) -> Any:
        found = 0.0
        for value in x:
            found = found + value
        return found

    return lambda: traceir_numba.jit(total).trace(KNOWN)


@program
def filled() -> Call:
    """Tables of one number that are known, and updated."""

    def tables(x: Any) -> Any:
        small, large = np.full(9000, np.inf), np.full((1000, 1000), np.inf)
        small[:3] = large[0, 0] = large[-1, :4] = 1.0
        for i in range(1, len(x)):
            large[i, i] = min(x[i], large[i - 1, i - 1]) + small[i]
        return large

    jitted, x = traceir_numba.jit(tables), np.ones(100)
    return lambda: jitted(x)


@program
def short_loops() -> Call:
    """Loops of 4 and of 5 steps over whole arrays, compiled anew."""

    def both(x: Any) -> Any:
        for k in range(4):
            x = x * 2 + k
        for k in range(5):
            x = x * 3 - k
        return x

    return lambda: traceir_numba.jit(both).lower(KNOWN)


@program
def nested_short_loops() -> Call:
    """Four loops of 3 steps inside of each other, compiled anew."""

    def product(x: Any) -> Any:
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    for m in range(3):
                        x[i, j] += x[i, k] * x[m, j]
        return x

    return lambda: traceir_numba.jit(product).lower(KNOWN[:9].reshape(3, 3))


@program
def known_numbers() -> Call:
    """A loop over Python's numbers alone, traced anew."""

    def powers(x: Any) -> Any:
        total = 1
        for k in range(50):
            total = (total * 3 + k) % 1000
        return x * total

    return lambda: traceir_numba.jit(powers).trace(KNOWN)


@program
def known_lengths() -> Call:
    """Products of a signal with itself some places later."""

    def products(x: Any) -> Any:
        found = np.zeros(12)
        for lag in range(12):
            found[lag] = np.dot(x[: len(x) - lag], x[lag:])
        return found

    jitted, x = traceir_numba.jit(products), np.arange(20_000.0)
    return lambda: jitted(x)


@program
def turns_in_steps() -> Call:
    """Steps of a loop, in each of which threads share turns."""

    def relaxed(x: Any, steps: Any) -> Any:
        y = x.copy()
        for _ in range(steps):
            for i in prange(1, len(x) - 1):
                y[i] = np.cos(x[i - 1]) + np.sin(x[i + 1])
            x, y = y, x
        return x

    jitted, x = traceir_numba.jit(relaxed), np.ones(200_000)
    return lambda: jitted(x, 20)


@program
def launches() -> Call:
    """Steps of a loop over arrays, some of which threads share."""

    def step(_: Any, state: Any) -> Any:
        x, y = state
        return 3.7 * x * (1 - x), y * 0.5 + 1

    def steps(x: Any, y: Any) -> Any:
        return lax.fori_loop(0, 100, step, (x, y))

    jitted = traceir.jit(steps, backend="numba")
    x, y = (jnp.full(n, 0.25) for n in (100_000, 30_000))
    return lambda: jitted(x, y)


@program
def turns() -> Call:
    """Loops of turns of a known and of an unknown length, which threads share."""

    def sums(x: Any, ends: Any) -> Any:
        out, total = np.zeros(len(ends)), 0.0
        for i in prange(len(ends)):
            for k in range(ends[i]):
                out[i] += x[k] * 0.5
            while out[i] > 1.0:
                out[i] *= 0.5
        for i in prange(len(x)):
            total += np.sin(x[i])
        return out, total

    jitted, ends = traceir_numba.jit(sums), np.arange(2000) % 23
    return lambda: jitted(KNOWN, ends)


@program
def fft() -> Call:
    """The transforms of 256 rows of 128 complex numbers."""
    return _transformed(256, 128)


@program
def fft_long() -> Call:
    """The transforms of 40 rows of 2,048 complex numbers."""
    return _transformed(40, 2048)


@program
def fft_shared() -> Call:
    """The transform of 262,144 complex numbers."""
    return _transformed(1, 1 << 18)


def _transformed(rows: int, n: int) -> Call:
    x = np.random.default_rng(0).normal(size=(rows, n)).astype("complex64")
    jitted = traceir_numba.jit(lambda x: np.fft.fft(x))
    return lambda: jitted(x)
