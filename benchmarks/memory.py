"""The memory of a process that compiles many functions, each another one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.worlds import OWN

COUNT = 5000
PROGRAM = """
import gc, os, sys
import numpy as np
count, keep = int(sys.argv[1]), sys.argv[2] == "held"
x = jnp.ones(100)
page = os.sysconf("SC_PAGE_SIZE") / 2**20
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * page
def one(k):
    return jax.jit(lambda x: jnp.sin(x) * (k + 0.5) + jnp.sqrt(x + k))
np.asarray(one(count)(x))
before, held = resident(), []
for k in range(count):
    f = one(k)
    np.asarray(f(x))
    if keep:
        held.append(f)
gc.collect()
print(resident() - before)
"""
HEADS = {
    OWN: "import traceir as jax, traceir.numpy as jnp",
    "JAX": "import jax, jax.numpy as jnp",
}


def rows() -> Iterator[tuple[str, dict[str, list[float]]]]:
    """Megabytes that a process has more in the end, one process of each."""
    own = {**os.environ, "TRACEIR_BACKEND": "numba"}
    for what in ("held", "dropped"):
        found = {}
        for name, head in HEADS.items():
            command = [sys.executable, "-c", head + PROGRAM, str(COUNT), what]
            text = subprocess.run(command, env=own, check=True, capture_output=True)
            found[name] = [max(float(text.stdout), 0.1)]
        yield f"{COUNT:,} functions, {what}", found
