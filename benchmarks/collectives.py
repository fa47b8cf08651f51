"""Collectives of processes beside bare calls of mpi4py.

`mpirun -n 2 python -m benchmarks.collectives` prints, for float32 arrays of several
sizes in each process, the median time of a jitted function of parts that is one
collective, and of MPI's own call on the same memory. They run in turns. With `--record`
the first process writes them to `collectives.json`, from which the table of
`docs/measurements.rst` and the model of `benchmarks.weak_scaling` are.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from mpi4py import MPI

import traceir as jax
from traceir.sharding import NamedSharding, P

SIZES = (1, 1 << 10, 1 << 16, 1 << 20, 1 << 22)
WORLD = MPI.COMM_WORLD
RECORD = Path(__file__).with_name("collectives.json")


def pairs(count: int) -> list[tuple[int, int]]:
    """Each process sends to the next."""
    return [(k, (k + 1) % count) for k in range(count)]


def jitted(mesh: Any, function: Callable[[Any], Any], spec: Any) -> Any:
    """A jitted function of parts."""
    return jax.jit(
        jax.shard_map(
            function, mesh=mesh, in_specs=P("x"), out_specs=spec, check_vma=False
        )
    )


def bare(part: np.ndarray, count: int, rank: int) -> dict[str, Callable[[], Any]]:
    """MPI's own calls."""
    total, every, got = (np.empty(n, "float32") for n in (len(part), 0, len(part)))
    every = np.empty(len(part) * count, "float32")
    after, before = (rank + 1) % count, (rank - 1) % count
    return {
        "psum": lambda: WORLD.Allreduce(part, total),
        "all_gather": lambda: WORLD.Allgather(part, every),
        "ppermute": lambda: WORLD.Sendrecv(part, after, 0, got, before),
    }


def main() -> None:
    """Measure, and print the table."""
    jax.distributed.initialize()
    count, rank = jax.process_count(), jax.process_index()
    mesh = jax.make_mesh((count,), ("x",))
    ring = pairs(count)
    ours = {
        "psum": jitted(mesh, lambda a: jax.lax.psum(a, "x"), P()),
        "all_gather": jitted(mesh, lambda a: jax.lax.all_gather(a, "x"), P()),
        "ppermute": jitted(mesh, lambda a: jax.lax.ppermute(a, "x", ring), P("x")),
    }
    seconds: dict[str, dict[str, list[float]]] = {}
    for size in SIZES:
        part = np.random.default_rng(rank).normal(size=size).astype("float32")
        rows = NamedSharding(mesh, P("x"))
        x = jax.make_array_from_process_local_data(rows, part)
        for name, call in bare(part, count, rank).items():
            both = {"traceir": partial(ours[name], x), "mpi4py": call}
            times: dict[str, list[float]] = {kind: [] for kind in both}
            for _ in range(max(5, min(300, (1 << 24) // size // 16))):
                for kind, run in both.items():
                    WORLD.Barrier()
                    start = time.perf_counter()
                    run()
                    times[kind].append(time.perf_counter() - start)
            found = {
                kind: median(ts[len(ts) // 5 :]) * 1e6 for kind, ts in times.items()
            }
            pair = [float(f"{t * 1e-6:.3g}") for t in found.values()]
            seconds.setdefault(name, {})[str(size * 4)] = pair
            if rank == 0:
                shown = "  ".join(f"{kind} {t:10.1f} µs" for kind, t in found.items())
                print(f"{name:10}  {size * 4:>10,} bytes  {shown}", flush=True)
    if rank == 0 and "--record" in sys.argv:
        made = {"processes": count, "seconds": seconds}
        RECORD.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
