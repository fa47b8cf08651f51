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

# Steps of the chain, and the equations that they make.
SIZES = {5: 2, 20: 7, 100: 33, 400: 133}
TRIES = 7
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


def _warm(x: Any, y: Any) -> None:
    """Load what each of the two loads with its first compilation."""
    traceir.jit(chain(traceir.numpy, 5, 0), backend="numba")(x)
    jax.jit(chain(jax.numpy, 5, 0))(y)


def rows() -> Iterator[tuple[str, Times]]:
    """Milliseconds matter here, so that one call is one sample."""
    x, y = traceir.numpy.ones(1000), jax.numpy.ones(1000)
    _warm(x, y)
    longer = traceir.numpy.ones(1001), jax.numpy.ones(1001)
    for equations, steps in SIZES.items():
        first: Times = {OWN: [], "JAX": []}
        shape: Times = {OWN: [], "JAX": []}
        trace: Times = {OWN: [], "JAX": []}
        for _ in range(TRIES):
            seed = next(_fresh)
            f = traceir.jit(chain(traceir.numpy, steps, seed), backend="numba")
            g = waited(jax.jit(chain(jax.numpy, steps, seed)))
            first[OWN].append(seconds(partial(f, x)))
            first["JAX"].append(seconds(partial(g, y)))
            shape[OWN].append(seconds(partial(f, longer[0])))
            shape["JAX"].append(seconds(partial(g, longer[1])))
            ours, theirs = (chain(xp, steps, seed) for xp in (traceir.numpy, jax.numpy))
            trace[OWN].append(seconds(partial(traceir.make_jaxpr(ours), x)))
            trace["JAX"].append(seconds(partial(jax.make_jaxpr(theirs), y)))
        yield f"first call, {equations} equations", first
        yield f"another shape, {equations} equations", shape
        yield f"trace alone, {equations} equations", trace


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
