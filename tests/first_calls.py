"""First calls in many threads at once, in a process that has loaded nothing yet.

`python tests/first_calls.py N` takes the Nth arrangement; it prints what went wrong.
Threads change places as often as Python can: after every few instructions.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax

THREADS = 8


def eager() -> Any:
    """Functions outside every trace."""
    return jnp.median(jnp.arange(7.0)) + jnp.linspace(0, 1, 5).sum()


def jitted() -> Any:
    """A function under `jit`."""
    return traceir.jit(lambda x: jnp.sin(x).sum() * 0 + x.sum())(jnp.ones(5))


def gradient() -> Any:
    """A gradient, eager."""
    return traceir.grad(lambda x: (x * x).sum())(jnp.ones(4)).sum()


def mapped() -> Any:
    """A mapped function."""
    return traceir.vmap(lambda x: jnp.dot(x, x))(jnp.ones((3, 4))).sum()


def plain() -> Any:
    """A function of NumPy's, under the decorator."""

    @traceir_numba.jit
    def f(x: Any) -> Any:
        y = np.zeros_like(x)
        y[1:] = np.cumsum(x)[:-1]
        return np.maximum(y, 1).mean()

    return f(np.ones(5))


def drawn() -> Any:
    """Random numbers."""
    return traceir.random.uniform(traceir.random.key(1), (3,)).shape[0]


def solved() -> Any:
    """Linear algebra."""
    return jnp.linalg.solve(jnp.eye(3) * 2, jnp.ones(3)).sum()


def looped() -> Any:
    """A loop in a compiled program."""
    return traceir.jit(lambda x: lax.fori_loop(0, 5, lambda i, x: x + i, x))(1.0)


def scoped() -> Any:
    """A flag of this thread alone."""
    with traceir.enable_x64():
        found = jnp.arange(3.0).astype("float64")
        return found.sum() if found.dtype == "float64" else None


def named() -> Any:
    """A universal function's method, and one function by two names."""
    return jnp.add.reduce(jnp.ones(3)) * (jnp.mod is jnp.remainder)


CALLS: list[tuple[Callable[[], Any], float]] = [
    *((eager, 5.5), (jitted, 5), (gradient, 8), (mapped, 12), (plain, 2.2)),
    *((drawn, 3), (solved, 1.5), (looped, 11), (scoped, 3), (named, 3)),
]


def forked(faults: list[str]) -> None:
    """A child that is forked meanwhile makes first calls of its own."""
    child = os.fork()
    if child == 0:
        os._exit(0 if float(jitted()) == float(looped()) - 6 == 5 else 1)
    if os.waitpid(child, 0)[1]:
        faults.append("a forked child fails")


def main(number: int) -> list[str]:
    """The failures of threads that each make another first call, or all the same."""
    faults: list[str] = []
    together = threading.Barrier(THREADS + 1)

    def work(k: int) -> None:
        together.wait()
        # Even arrangements: each its own; odd ones: all the same.
        first = number // 2 if number % 2 else number // 2 + k
        call, expected = CALLS[first % len(CALLS)]
        try:
            for _ in range(2):
                found = float(call())
                if found != expected:
                    faults.append(f"{call.__name__}: {found}, not {expected}")
        except BaseException:
            faults.append(f"{call.__name__}: {traceback.format_exc()}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    sys.setswitchinterval(1e-6)
    for thread in threads:
        thread.start()
    together.wait()
    if number % 4 == 2:
        forked(faults)
    traceir.clear_caches()
    for thread in threads:
        thread.join()
    return faults


if __name__ == "__main__":
    found = main(int(sys.argv[1]))
    print("\n".join(found))
    sys.exit(bool(found))
