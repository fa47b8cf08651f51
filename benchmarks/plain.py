"""Plain NumPy functions: updates in place and loops of Python, as they are.

JAX's are the same loops, with `x.at`; Numba's the same functions under `njit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numba
import numpy as np

import traceir_numba
from benchmarks.measure import Call
from benchmarks.workload import normal
from benchmarks.worlds import OWN

Function = Callable[..., Any]


def heat(u: Any) -> Any:
    """Ten steps of heat along a rod."""
    u = u.copy()
    for _ in range(10):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def heat_in_jax(u: Any) -> Any:
    """The same in JAX."""
    for _ in range(10):
        u = u.at[1:-1].add(0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]))
    return u


def plate(u: Any) -> Any:
    """Three means of four neighbours, the edge kept."""
    u = u.copy()
    for _ in range(3):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


def plate_in_jax(u: Any) -> Any:
    """The same in JAX."""
    for _ in range(3):
        new = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u = u.at[1:-1, 1:-1].set(0.25 * new)
    return u


def clipped(x: Any) -> Any:
    """Outliers replaced, by a mask."""
    x = x - x.mean()
    s = x.std()
    x[x > s] = s
    x[x < -s] = -s
    return x


def clipped_in_jax(x: Any) -> Any:
    """The same in JAX."""
    x = x - x.mean()
    s = x.std()
    x = jax.numpy.where(x > s, s, x)
    return jax.numpy.where(x < -s, -s, x)


def clipped_by_hand(x: Any) -> Any:
    """The same as a loop."""
    x = x - x.mean()
    s = x.std()
    for i in range(x.size):
        x[i] = min(max(x[i], -s), s)
    return x


def spread(x: Any) -> Any:
    """Columns to mean 0 and deviation 1."""
    return (x - np.mean(x, axis=0)) / (np.std(x, axis=0) + 1e-6)


def distances(a: Any, b: Any) -> Any:
    """Of each point to each other."""
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(-1))


def distances_by_hand(a: Any, b: Any) -> Any:
    """The same as loops."""
    out = np.empty((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(a.shape[1]):
                total += (a[i, k] - b[j, k]) ** 2
            out[i, j] = np.sqrt(total)
    return out


def with_module(f: Function) -> Function:
    """A function whose `np` is JAX's."""
    import types

    return types.FunctionType(f.__code__, {"np": jax.numpy})


def _row(
    name: str, f: Function, args: tuple[Any, ...], g: Function, hand: Function | None
) -> tuple[str, dict[str, Call]]:
    own, other = traceir_numba.jit(f), jax.jit(g)
    calls: dict[str, Call] = {
        OWN: lambda: own(*args),
        "JAX": lambda: np.asarray(other(*args)),
        "NumPy": lambda: f(*args),
    }
    if hand is not None:
        compiled = numba.njit(hand)
        calls["by hand"] = lambda: compiled(*args)
    expected = calls["NumPy"]()
    for found in calls.values():
        np.testing.assert_allclose(found(), expected, rtol=1e-4, atol=1e-5)
    return name, calls


def rows() -> Iterator[tuple[str, dict[str, Call]]]:
    """Arrays of NumPy's go in and come out; float64, which NumPy has by default."""
    jax.config.update("jax_enable_x64", True)
    line, square = normal(100_000, dtype="f8"), normal(1000, 1000, dtype="f8")
    yield _row("heat along a rod", heat, (line,), heat_in_jax, heat)
    yield _row("means of four neighbours", plate, (square,), plate_in_jax, plate)
    masked = clipped_in_jax, clipped_by_hand
    yield _row("outliers by masks", clipped, (line,), *masked)
    columns = with_module(spread)
    yield _row("columns standardized", spread, (square,), columns, None)
    points = normal(500, 3, dtype="f8"), normal(400, 3, dtype="f8")
    between = with_module(distances), distances_by_hand
    yield _row("distances, 500 by 400", distances, points, *between)
