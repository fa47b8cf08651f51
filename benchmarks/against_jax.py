"""Functions of a million float32, first calls and tracing, side by side with JAX.

Needs the extra `bench`: `python benchmarks/against_jax.py`. Prints medians of calls
that alternate between the two; first calls and traces are single ones, the best of
several for a trace. Nothing here asserts anything.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import traceir

FLAT = np.random.default_rng(0).normal(size=1_000_000).astype(np.float32)
SQUARE = FLAT.reshape(1000, 1000)
ROUNDS = 31


def functions(xp: Any) -> dict[str, tuple[Callable[..., Any], np.ndarray]]:
    """The functions, written for one of the two array modules, and their arguments."""

    def selu(x: Any) -> Any:
        return 1.05 * xp.where(x > 0, x, 1.67 * xp.exp(x) - 1.67)

    def softmax(x: Any) -> Any:
        e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)

    def standardise(x: Any) -> Any:
        return (x - xp.mean(x, axis=0)) / xp.sqrt(xp.var(x, axis=0) + 1e-5)

    def neighbours(x: Any) -> Any:
        across, down = x[1:-1, :-2] + x[1:-1, 2:], x[:-2, 1:-1] + x[2:, 1:-1]
        return 0.25 * (across + down)

    return {
        "selu": (selu, FLAT),
        "sin(x) + cos(x)": (lambda x: xp.sin(x) + xp.cos(x), FLAT),
        "sum(x * x * 0.5 + x)": (lambda x: xp.sum(x * x * 0.5 + x), FLAT),
        "log1p(abs(x))": (lambda x: xp.log1p(abs(x)), FLAT),
        "softmax of rows": (softmax, SQUARE),
        "standardised columns": (standardise, SQUARE),
        "four neighbours": (neighbours, SQUARE),
        "x.T + x": (lambda x: x.T + x, SQUARE),
    }


def chain(xp: Any, steps: int, literal: float) -> Callable[..., Any]:
    """A function of about three equations a step."""

    def run(x: Any) -> Any:
        for k in range(steps):
            x = x * literal + xp.sin(x) if k % 5 == 0 else x - 0.5 * x * x
        return x

    return run


def seconds(run: Callable[[], Any]) -> float:
    """How long a call takes, its result waited for."""
    start = time.perf_counter()
    jax.block_until_ready(run())
    return time.perf_counter() - start


def compare_call(name: str, fun: Any, other: Any, array: np.ndarray) -> None:
    """Medians of one function on a million elements."""
    f, x = traceir.jit(fun), traceir.numpy.asarray(array)
    g, y = jax.jit(other), jax.numpy.asarray(array)
    f(x)
    jax.block_until_ready(g(y))
    pairs = [(seconds(lambda: f(x)), seconds(lambda: g(y))) for _ in range(ROUNDS)]
    a, b = (statistics.median(t) * 1e6 for t in zip(*pairs))
    print(f"{name:24}{a:8.0f} us, JAX {b:8.0f} us, {b / a:5.2f}")


def compare_first_call(steps: int) -> None:
    """Trace and compile, then another shape, then the trace alone, in milliseconds."""
    x, y = traceir.numpy.ones(1000), jax.numpy.ones(1000)
    longer = traceir.numpy.ones(1001)
    f = traceir.jit(chain(traceir.numpy, steps, 1.001))
    g = jax.jit(chain(jax.numpy, steps, 1.001))
    first = seconds(lambda: f(x)) * 1e3, seconds(lambda: g(y)) * 1e3
    shape = seconds(lambda: f(longer)) * 1e3
    ours = trace_time(traceir.make_jaxpr, traceir.numpy, steps)
    theirs = trace_time(jax.make_jaxpr, jax.numpy, steps)
    print(
        f"{len(f.trace(x).jaxpr.eqns):4} equations: first call {first[0]:6.1f}, "
        f"JAX {first[1]:6.1f}; another shape {shape:5.1f}; "
        f"trace {ours:5.2f}, JAX {theirs:5.2f}"
    )


def trace_time(make_jaxpr: Callable[..., Any], xp: Any, steps: int) -> float:
    """The least of several traces of a new function, in milliseconds."""
    x = xp.ones(1000)
    times = []
    for _ in range(7):
        make = make_jaxpr(chain(xp, steps, 1.0))
        start = time.perf_counter()
        make(x)
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main() -> None:
    """Print everything."""
    theirs = functions(jax.numpy)
    for name, (fun, array) in functions(traceir.numpy).items():
        compare_call(name, fun, theirs[name][0], array)
    for steps in (2, 7, 35, 140):
        compare_first_call(steps)


if __name__ == "__main__":
    main()
