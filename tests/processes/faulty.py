"""A run in which one process fails: `mpirun -n 4 python -m processes.faulty KIND`.

Each process trains a small model, with the others. The last one, by `KIND`: is `killed`
(by whoever started it; its number is in the file that is named next), is `slow` for so
many seconds, runs `another` program, finds no `memory`, `raises`, or `leaves`.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir.sharding import NamedSharding, P

STEPS = 300


def gradients(mesh: Any) -> Any:
    """The mean over all rows of the slopes of a linear model."""

    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2)

    def parts(w: Any, x: Any, y: Any) -> Any:
        return jax.lax.pmean(jax.grad(loss)(w, x, y), "x")

    specs = P(), P("x"), P("x")
    return jax.jit(
        jax.shard_map(parts, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)
    )


def fail(kind: str, how: str) -> None:
    """Do what the last process does in the middle of the run."""
    if kind == "slow":
        time.sleep(float(how))
    elif kind == "memory":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
        resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
        jnp.zeros((1 << 15, 1 << 12)) + 1
    elif kind == "raises":
        raise ValueError("a fault of the user's own")
    elif kind == "leaves":
        sys.exit(0)


def main() -> None:
    """Train, and fail."""
    kind, how, bound = sys.argv[1:]
    jax.distributed.initialize(collective_timeout_seconds=float(bound))
    last = jax.process_index() == jax.process_count() - 1
    mesh = jax.make_mesh((jax.process_count(),), ("x",))
    rows = NamedSharding(mesh, P("x"))
    random = np.random.default_rng(0)
    x = jax.device_put(random.normal(size=(64, 8)).astype("float32"), rows)
    y = jax.device_put(random.normal(size=(64, 4)).astype("float32"), rows)
    w = jnp.zeros((8, 4))
    slopes = gradients(mesh)
    if kind == "killed" and last:
        Path(how).write_text(str(os.getpid()))
    for step in range(STEPS):
        if last and step == STEPS // 2:
            fail(kind, how)
        if last and kind == "another" and step == STEPS // 2:
            other = jax.shard_map(
                lambda a: jax.lax.all_gather(a, "x"),
                mesh=mesh,
                in_specs=P("x"),
                out_specs=P("x"),
            )
            jax.jit(other)(x)
        elif kind == "another" and step == STEPS // 2:
            jax.jit(gradients(mesh))(w, x[:32], y[:32])
        w = w - 0.1 * slopes(w, x, y)
        if kind == "killed":
            time.sleep(0.01)
    if jax.process_index() == 0:
        print("done", float(jnp.sum(w)))
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
