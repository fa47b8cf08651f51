"""Calls outside of traced functions beside NumPy's: what ten elements cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import traceir.numpy as jnp
from benchmarks.measure import Call
from benchmarks.worlds import OWN

# An expression for each row: x and y have ten floats, m and n are matrices of (4, 4),
# i has ten integers, b ten truths, p the places 3, 1 and 4.
TEXTS = (
    *("x + y", "x * 2.0", "2.0 * x", "-x", "x > 0.5", "x ** 2", "i // 3", "i % 3"),
    *("m @ n", "x[2]", "x[1:3]", "x[::-1]", "m[1]", "m[:, 1]", "x[p]"),
    *("np.add(x, y)", "np.sin(x)", "np.exp(x)", "np.sqrt(x)", "np.maximum(x, 0.5)"),
    *("np.where(b, x, y)", "np.clip(x, 0.0, 1.0)", "np.abs(x)", "np.round(x)"),
    *("np.sum(x)", "m.sum(axis=0)", "np.mean(x)", "np.var(x)", "np.max(m, axis=1)"),
    *("np.argmax(x)", "np.cumsum(x)", "np.sort(x)", "np.any(b)", "np.dot(x, y)"),
    *("np.reshape(x, (2, 5))", "m.T", "np.concatenate([x, y])", "np.stack([x, y])"),
    *("np.take(x, p)", "x.astype('int32')", "np.zeros(10)", "np.arange(10)"),
    *("np.asarray(x)", "np.linalg.norm(x)"),
)


def operands(library: Any) -> dict[str, Any]:
    """The names of the expressions, as arrays of a library."""
    rng = np.random.default_rng(0)
    whole, real = np.arange(10, dtype="int32"), "float32"
    made = {
        "x": rng.random(10).astype(real),
        "y": rng.random(10).astype(real),
        "m": rng.random((4, 4)).astype(real),
        "n": rng.random((4, 4)).astype(real),
        "i": whole,
        "b": whole > 4,
        "p": np.array([3, 1, 4], "int32"),
    }
    return {name: library.asarray(value) for name, value in made.items()}


def call_of(text: str, library: Any) -> Call:
    """A call that evaluates an expression with a library in the place of `np`."""
    made: Callable[..., Call] = eval(f"lambda np, x, y, m, n, i, b, p: lambda: {text}")
    return made(library, **operands(library))


def rows() -> Iterator[tuple[str, dict[str, Call]]]:
    """Each beside NumPy, which gives views where we may copy: x[::-1], m.T, m[:, 1]."""
    for text in TEXTS:
        own = call_of(text, jnp)
        for _ in range(3):
            own()
        yield text, {OWN: own, "NumPy": call_of(text, np)}
