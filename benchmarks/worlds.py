"""The implementations: how each of them runs a workload."""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_lowercase
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np

import traceir
import traceir_numba
from benchmarks.measure import Call
from benchmarks.workload import NUMPY, Workload
from traceir_numba.runtime import thread_pool

OURS = SimpleNamespace(
    numpy=traceir.numpy,
    lax=traceir.lax,
    random=traceir.random,
    grad=traceir.grad,
    vmap=traceir.vmap,
    custom_jvp=traceir.custom_jvp,
    jit=traceir_numba.jit,
)
OWN = "traceir"


def waited(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX's, its result waited for."""
    return lambda *args: jax.block_until_ready(f(*args))


def calls_of(work: Workload) -> dict[str, Call]:
    """Calls of a workload by each implementation that can, checked to agree."""
    mine = traceir.tree.map(traceir.numpy.asarray, work.args)
    theirs = jax.tree.map(jax.numpy.asarray, work.args)
    f = traceir.jit(work.make(OURS), backend="numba")
    g = waited(jax.jit(work.make(jax)))
    found: dict[str, Call] = {
        OWN: lambda: f(*mine),
        "JAX": lambda: g(*theirs),
    }
    if work.in_numpy:
        plain = work.make(NUMPY)

        def by_numpy() -> Any:
            with np.errstate(all="ignore"):
                return plain(*work.args)

        found["NumPy"] = by_numpy
    if work.by_hand is not None:
        hand = work.by_hand()
        found["by hand"] = lambda: hand(*work.args)
    if work.numexpr is not None:
        import numexpr

        expression = work.numexpr
        named = dict(zip(ascii_lowercase, work.args))
        found["numexpr"] = lambda: numexpr.evaluate(expression, named)
    _check(work, found[OWN](), {k: v() for k, v in found.items() if k != OWN})
    if work.other_numbers is not None:
        other = work.other_numbers
        found["NumPy"] = lambda: other(*work.args)
    return found


def _check(work: Workload, ours: Any, others: dict[str, Any]) -> None:
    for name, other in others.items():
        pairs = zip(traceir.tree.leaves(ours), jax.tree.leaves(other), strict=True)
        for a, b in pairs:
            near = np.isclose(a, b, rtol=2e-2, atol=1e-3, equal_nan=True).mean()
            if near < work.near:
                raise ValueError(f"{work.name}: {near:.1%} as {name} has it")


def moved(work: Workload, result: Any) -> int:
    """The bytes that must be read and written at least: arguments and results."""
    leaves = [*traceir.tree.leaves(work.args), *traceir.tree.leaves(result)]
    return sum(np.asarray(leaf).nbytes for leaf in leaves)


def copy(size: int) -> Call:
    """A copy that moves so many bytes, reads and writes together, by all threads."""
    source = np.ones(max(1, size // 2), np.uint8)
    target = np.ones_like(source)

    def part(low: int, high: int) -> None:
        np.copyto(target[low:high], source[low:high])

    if thread_pool.threads() == 1 or size < 1 << 20:
        return lambda: np.copyto(target, source)
    return lambda: thread_pool.parallel(part, (), 0, source.size)
