"""First calls: tracing, compiling, another shape; and how they grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import jax

import traceir
from benchmarks.measure import seconds
from benchmarks.worlds import OWN, waited

# Equations of each kind's programs, and how often a first call of that length is tried.
SIZES = {5: 7, 20: 7, 100: 7, 400: 5, 1000: 3, 3000: 3}
_fresh = count(1)

Times = dict[str, list[float]]


def chain(xp: Any, steps: int, seed: int) -> Callable[..., Any]:
    """A function of about three equations a step, of an order that the seed decides."""

    def run(x: Any) -> Any:
        y = x
        for k in range(steps):
            match (k * 7 + seed) % 5:
                case 0:
                    x = x * (1.0 + seed / 1024) + xp.sin(x)
                case 1:
                    x, y = x - 0.5 * y * x, x
                case 2:
                    x = xp.where(x > y, x, 0.5 * y)
                case 3:
                    x = xp.exp(-x * x) + y
                case _:
                    x, y = x * 0.25 - y, xp.maximum(x, y)
        return x + y

    return run


def trigonometry(xp: Any, equations: int, seed: int) -> Callable[..., Any]:
    """A function that takes sines and cosines of its own results."""

    def run(x: Any) -> Any:
        for k in range(equations // 2):
            x = (xp.sin if k % 3 else xp.cos)(x) * (1.0 + (seed + k) / 1024)
        return x

    return run


def unlike(xp: Any, equations: int, seed: int) -> Callable[..., Any]:
    """A function whose operations are of many kinds, in an order of the seed's."""
    steps = [
        lambda x, y: xp.tanh(x),
        lambda x, y: x + y * 0.5,
        lambda x, y: xp.sqrt(xp.abs(x)),
        lambda x, y: xp.where(x > y, x, y),
        lambda x, y: xp.floor(x * 3.0) - y,
        lambda x, y: xp.log1p(xp.abs(y)),
        lambda x, y: x / (1.5 + y * y),
        lambda x, y: xp.exp(-xp.abs(x)),
        lambda x, y: xp.minimum(x, y) - 1.25,
        lambda x, y: xp.arctan(x),
    ]

    def run(x: Any) -> Any:
        y = x * 2.0
        for k in range(equations // 2):
            x, y = steps[(k * k + 3 * k + seed) % len(steps)](x, y), x
        return x + y

    return run


def updates(world: Any, equations: int, seed: int) -> Callable[..., Any]:
    """A function of loops that write into parts of an array, no two of them alike."""
    turns = [
        lambda i, x, c: x.at[1:-1].set(0.5 * (x[:-2] + x[2:]) + c).at[i].add(x[i + 1]),
        lambda i, x, c: x.at[2:].add(c * x[:-2]).at[i].set(x[-1 - i] * 0.5),
        lambda i, x, c: x.at[::2].multiply(c).at[i].set(world.numpy.mean(x)),
        lambda i, x, c: world.lax.dynamic_update_slice(x, x[:100] * c + x[i], (i,)),
    ]

    def run(x: Any) -> Any:
        for k in range(max(1, equations // 10)):
            turn = partial(turns[k % 4], c=(seed + k + 1) / 1024)
            x = world.lax.fori_loop(0, 10 + k % 3, turn, x) * (1.0 + k / 1024)
        return x

    return run


# What makes a function of so many equations for a world, and the arrays' dtype.
KINDS: dict[str, tuple[Callable[[Any, int, int], Callable[..., Any]], str]] = {
    "chain": (lambda world, n, seed: chain(world.numpy, n // 3, seed), "float32"),
    "float64 sines": (lambda w, n, seed: trigonometry(w.numpy, n, seed), "float64"),
    "unlike operations": (lambda w, n, seed: unlike(w.numpy, n, seed), "float32"),
    "loops and updates": (updates, "float32"),
}


def _warm(x: Any, y: Any) -> None:
    """Load what each of the two loads with its first compilation."""
    traceir.jit(chain(traceir.numpy, 5, 0), backend="numba")(x)
    jax.jit(chain(jax.numpy, 5, 0))(y)


def rows() -> Iterator[tuple[str, Times]]:
    """Milliseconds matter here, so that one call is one sample."""
    for module in (traceir, jax):
        module.config.update("jax_enable_x64", True)
    for kind, (make, dtype) in KINDS.items():
        mine, theirs = (
            [w.numpy.linspace(0.1, 1.0, n, dtype=dtype) for n in (1000, 1001)]
            for w in (traceir, jax)
        )
        _warm(mine[0], theirs[0])
        for equations, tries in SIZES.items():
            yield from _of_length(kind, make, equations, tries, mine, theirs)


def _of_length(
    kind: str,
    make: Callable[[Any, int, int], Callable[..., Any]],
    equations: int,
    tries: int,
    mine: list[Any],
    theirs: list[Any],
) -> Iterator[tuple[str, Times]]:
    first: Times = {OWN: [], "JAX": []}
    shape: Times = {OWN: [], "JAX": []}
    trace: Times = {OWN: [], "JAX": []}
    for _ in range(tries):
        seed = next(_fresh)
        ours, other = (make(world, equations, seed) for world in (traceir, jax))
        f, g = traceir.jit(ours, backend="numba"), waited(jax.jit(other))
        for times, x, y in zip((first, shape), mine, theirs, strict=False):
            times[OWN].append(seconds(partial(f, x)))
            times["JAX"].append(seconds(partial(g, y)))
        ours, other = (make(world, equations, seed) for world in (traceir, jax))
        trace[OWN].append(seconds(partial(traceir.make_jaxpr(ours), mine[0])))
        trace["JAX"].append(seconds(partial(jax.make_jaxpr(other), theirs[0])))
    yield f"first call, {equations} equations, {kind}", first
    yield f"another shape, {equations} equations, {kind}", shape
    yield f"trace alone, {equations} equations, {kind}", trace


def growth() -> Iterator[tuple[str, int, Times]]:
    """Seconds to trace, and to trace and compile, by the number of equations."""
    x, y = traceir.numpy.ones(10), jax.numpy.ones(10)
    _warm(x, y)
    for equations in (10, 100, 1000, 10_000):
        steps, seed = equations // 3, next(_fresh)
        ours, theirs = (chain(xp, steps, seed) for xp in (traceir.numpy, jax.numpy))
        yield (
            "trace",
            equations,
            {
                OWN: [seconds(partial(traceir.make_jaxpr(ours), x))],
                "JAX": [seconds(partial(jax.make_jaxpr(theirs), y))],
            },
        )
        f, g = traceir.jit(ours, backend="numba"), waited(jax.jit(theirs))
        times = {OWN: [seconds(partial(f, x))]}
        if equations <= 1000:  # XLA takes minutes for the longest
            times["JAX"] = [seconds(partial(g, y))]
        yield "first call", equations, times
