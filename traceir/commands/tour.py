"""The tour: a loop before and after, then SELU from Python to machine code."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir.jit.backends import default_backend

SIZE = 1_000_000
ROUNDS = 41
# Characters of the longest bar.
WIDE = 44
BOLD, BLUE, DIM = "1", "34", "2"


def smooth(x: Any, alpha: float) -> Any:
    """Exponential smoothing, as one writes it; x is a vector of numbers."""
    y = np.empty_like(x)
    level = x[0]
    for i in range(len(x)):
        level += alpha * (x[i] - level)
        y[i] = level
    return y


def selu(x: Any, alpha: float = 1.67, lambda_: float = 1.05) -> Any:
    """The scaled exponential linear unit; x is any array of numbers."""
    return lambda_ * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def tour(verbose: bool = False) -> None:
    """Print every step, a screenful each; takes some seconds.

    It needs NumPy alone, and shows more where there is a compiler. With `verbose`, the
    generated module is shown whole.
    """
    draws = np.random.default_rng(0).normal(size=SIZE)
    x = jnp.asarray(draws.astype(np.float32))
    _heading("1. A function of yours, before and after")
    _before_and_after(draws)
    _heading("2. What was traced: tracers in, a program out")
    _tracer(x)
    _heading("3. The source that runs")
    _source(x, verbose)
    _heading("4. The reference's answer, which the specification drives")
    closed = jax.make_jaxpr(selu)(x)
    (answer,) = jax.eval_jaxpr(closed.jaxpr, closed.consts, x)
    print(f"x       = {x}\nselu(x) = {answer}")
    _heading("5. The cache: hits, misses and their reasons")
    _cache(x)
    _heading("6. Functions of functions: a gradient, a batch of them, a loop")
    _transforms()
    _heading("7. Side by side: selu of float32")
    _timing(x, calls=1)
    _timing(x[:9], calls=1000)
    print("\nNumba by hand is a loop of one thread that calls the functions of the C")
    print("library; traceir takes as many threads as there are processors, and has")
    print("functions of its own, which LLVM turns into vector instructions.")
    print("\nNext: the README, or your own function under traceir_numba.jit.")


def _styled(text: str, *codes: str) -> str:
    """A text in colours, where there is a terminal that wants them."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    if plain or not sys.stdout.isatty():
        return text
    return f"\033[{';'.join(codes)}m{text}\033[0m"


def _heading(text: str) -> None:
    print(f"\n{_styled(text, BOLD)}\n{_styled('-' * len(text), DIM)}")


def _bars(seconds: Mapping[str, float]) -> None:
    """A bar for each time, the longest as wide as there is room."""
    longest = max(seconds.values())
    for name, one in seconds.items():
        bar = "█" * max(1, round(WIDE * one / longest))
        print(f"{name:20}{one * 1e3:9.2f} ms  {_styled(bar, BLUE)}")


def _before_and_after(x: np.ndarray) -> None:
    print(re.sub(r": (Any|float)\b| -> Any", "", inspect.getsource(smooth)))
    if not importlib.util.find_spec("llvmlite"):
        print("pip install 'traceir[cpu]' brings the compiler that makes this fast.")
        return
    import traceir_numba

    compiled = traceir_numba.jit(smooth)
    start = time.perf_counter()
    after = compiled(x, 0.1)
    first = time.perf_counter() - start
    runs = {"as it is": lambda: smooth(x, 0.1), "compiled": lambda: compiled(x, 0.1)}
    if importlib.util.find_spec("numba"):
        import numba

        by_numba = numba.njit(smooth)
        by_numba(x, 0.1)
        runs["numba.njit"] = lambda: by_numba(x, 0.1)
    medians = _medians(runs, rounds=5)
    print(f"smooth(x, 0.1), {x.size:,} numbers, under @traceir_numba.jit\n")
    _bars(medians)
    ratio = medians["as it is"] / medians["compiled"]
    same = "the same bits" if np.array_equal(after, smooth(x, 0.1)) else "other bits"
    print(f"\n{ratio:.0f} times faster, {same}; the first call took {first:.2f} s.")


def _tracer(x: Any) -> None:
    body = inspect.getsource(selu).strip().rpartition("\n")[2].strip()
    print(_styled(f"selu: {body}", DIM))

    def show(x: Any) -> Any:
        print(f"\nx        is {x}")
        print(f"x > 0    is {x > 0}")
        y = selu(x)
        print(f"selu(x)  is {y}\n")
        return y

    jax.eval_shape(show, x)
    print(jax.make_jaxpr(selu)(x))
    try:
        jax.jit(lambda x: selu(x) if x.sum() > 0 else x)(x)
    except TypeError as error:
        print(f"\n`if x.sum() > 0` inside the traced function:\n{error}")


def _source(x: Any, verbose: bool) -> None:
    """The generated kernel; the whole module if asked."""
    source = jax.jit(selu).source(x).strip()
    start = source.find("\n@kernel")
    if verbose or start < 0:
        print(source)
        return
    print(source[start:].strip())
    above = source[:start].count("\n")
    print(f"\nAbove it stand {above} lines: imports, constants, the jaxpr, and e**x.")
    print("`traceir tour --verbose` shows all.")


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
    medians = _medians(rows, ROUNDS, calls)
    head = f"{x.size:,} elements"
    print(f"\n{head:22}{'us a call':>14}{'ratio':>8}{'max |difference|':>18}")
    for name, seconds in medians.items():
        error = float(np.max(np.abs(answers[name] - answers["NumPy"])))
        ratio = seconds / medians[ours]
        print(f"{name:22}{seconds * 1e6:14.1f}{ratio:8.2f}{error:18.1e}")


def _medians(
    rows: Mapping[str, Callable[[], Any]], rounds: int, calls: int = 1
) -> dict[str, float]:
    """The median seconds of a call of each; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name, run in rows.items():
            start = time.perf_counter()
            for _ in range(calls):
                run()
            times[name].append((time.perf_counter() - start) / calls)
    return {name: statistics.median(t) for name, t in times.items()}


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
