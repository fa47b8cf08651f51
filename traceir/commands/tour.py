"""The tour: SELU from Python to machine code, step by step."""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir.jit.backends import default_backend

SIZE = 1_000_000
ROUNDS = 41


def selu(x: Any, alpha: float = 1.67, lambda_: float = 1.05) -> Any:
    """The seeds' scaled exponential linear unit; x is any array of numbers."""
    return lambda_ * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def tour() -> None:
    """Print every step; takes some seconds and needs NumPy alone."""
    x = jnp.asarray(np.random.default_rng(0).normal(size=SIZE).astype(np.float32))
    _heading("1. The tracer that the function sees")
    _tracer(x)
    _heading("2. The jaxpr: what was traced")
    closed = jax.make_jaxpr(selu)(x)
    print(closed)
    _heading("3. The reference's answer, which the specification drives")
    (answer,) = jax.eval_jaxpr(closed.jaxpr, closed.consts, x)
    print(f"x       = {x}\nselu(x) = {answer}")
    _heading(f"4. The source that the {default_backend()} backend generates")
    print(jax.jit(selu).source(x).strip())
    _heading("5. The cache: hits, misses and their reasons")
    _cache(x)
    _heading("6. Functions of functions: a gradient, a batch of them, a loop")
    _transforms()
    _heading("7. Side by side")
    _timing(x, calls=1)
    _timing(x[:9], calls=1000)


def _heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def _tracer(x: Any) -> None:
    def show(x: Any) -> Any:
        print(f"x        is {x}")
        print(f"x > 0    is {x > 0}")
        y = selu(x)
        print(f"selu(x)  is {y}")
        return y

    jax.eval_shape(show, x)
    try:
        jax.jit(lambda x: selu(x) if x.sum() > 0 else x)(x)
    except TypeError as error:
        print(f"\n`if x.sum() > 0` inside the traced function:\n{error}")


def _cache(x: Any) -> None:
    f = jax.jit(selu)
    f.clear_cache()
    calls = [
        ("f(x)", (x,)),
        ("f(x + 1)", (x + 1,)),
        ("f(x[:10])", (x[:10],)),
        ("f(x.astype(int))", (x.astype(int),)),
        ("f(x, 1.5)", (x, 1.5)),
        ("f(x, 2.5)", (x, 2.5)),
    ]
    for text, args in calls:
        print(f"{text:18} {f.explain(*args)}")
        f(*args)
    print(f.cache_info())


def _transforms() -> None:
    print(jax.make_jaxpr(jax.grad(selu))(-1.0))
    points = jnp.array([-1.0, 0.5, 2.0])
    slopes = jax.jit(jax.vmap(jax.grad(selu)))(points)
    print(f"the slopes of selu at {points} are {slopes}")

    def step(x: Any, rate: Any) -> Any:
        return x - rate * jax.grad(lambda v: selu(v) ** 2)(x), x

    last, passed = jax.jit(lambda rates: jax.lax.scan(step, 1.0, rates))(
        jnp.full(4, 0.25)
    )
    print(f"four steps downhill on selu squared: {passed}, then {last}")


def _timing(x: Any, calls: int) -> None:
    """Medians of interleaved rounds of so many calls each, on one float32 array."""
    array = np.asarray(x)
    traced = jax.jit(selu)
    ours = f"traceir.jit ({default_backend()})"
    rows: dict[str, Callable[[], Any]] = {"NumPy": lambda: _numpy_selu(array)}
    rows[ours] = lambda: traced(x)
    if importlib.util.find_spec("llvmlite"):
        rows["traceir_numba.jit"] = _dropped_in(array)
    if importlib.util.find_spec("numba"):
        rows["Numba by hand"] = _by_hand(array)
    if importlib.util.find_spec("jax"):
        rows |= _jax_rows(array)
    answers = {name: np.asarray(run()) for name, run in rows.items()}
    times: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, run in rows.items():
            start = time.perf_counter()
            for _ in range(calls):
                run()
            times[name].append((time.perf_counter() - start) / calls)
    medians = {name: statistics.median(t) for name, t in times.items()}
    head = f"{x.size} elements"
    print(f"\n{head:22}{'us a call':>14}{'ratio':>8}{'max |difference|':>18}")
    for name, seconds in medians.items():
        error = float(np.max(np.abs(answers[name] - answers["NumPy"])))
        ratio = seconds / medians[ours]
        print(f"{name:22}{seconds * 1e6:14.1f}{ratio:8.2f}{error:18.1e}")


def _numpy_selu(x: np.ndarray) -> np.ndarray:
    scale, alpha = np.float32(1.05), np.float32(1.67)
    return scale * np.where(x > 0, x, alpha * np.exp(x) - alpha)


def _dropped_in(array: np.ndarray) -> Callable[[], Any]:
    import traceir_numba

    compiled = traceir_numba.jit(selu)
    return lambda: compiled(array)


def _by_hand(array: np.ndarray) -> Callable[[], Any]:
    import math

    import numba

    def by_hand(x: Any) -> Any:
        out = np.empty_like(x)
        for i in range(x.size):
            v = x[i]
            if v > 0:
                out[i] = np.float32(1.05) * v
            else:
                e = np.float32(math.exp(v))
                out[i] = np.float32(1.05) * (np.float32(1.67) * e - np.float32(1.67))
        return out

    compiled = numba.njit(by_hand)
    return lambda: compiled(array)


def _jax_rows(array: np.ndarray) -> dict[str, Callable[[], Any]]:
    installed = importlib.import_module("jax")

    def other(x: Any) -> Any:
        xp = installed.numpy
        return 1.05 * xp.where(x > 0, x, 1.67 * xp.exp(x) - 1.67)

    compiled, x = installed.jit(other), installed.numpy.asarray(array)
    return {"jax.jit": lambda: compiled(x).block_until_ready()}
