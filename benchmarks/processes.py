"""A fresh process to its first result, with and without stored code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.measure import seconds
from benchmarks.worlds import OWN

ROUNDS = 7
HEAD = "import numpy as np; x = np.linspace(-3, 3, 1_000_000, dtype=np.float32)\n"
BODY = """
@jax.jit
def selu(x):
    return 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67)
np.asarray(selu(x))
"""
PROGRAMS = {
    OWN: f"{HEAD}import traceir as jax, traceir.numpy as jnp\n{BODY}",
    "JAX": f"{HEAD}import jax, jax.numpy as jnp\n{BODY}",
    "NumPy alone": HEAD,
}

IMPORTS = {
    OWN: "import traceir, traceir.numpy",
    "JAX": "import jax, jax.numpy",
    "NumPy": "import numpy",
}


def _environment(folder: Path, store: Path | None) -> dict[str, str]:
    own = dict(os.environ)
    # Modules as bytecode, as they are where a package was installed.
    own.pop("PYTHONDONTWRITEBYTECODE", None)
    own["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    own["TRACEIR_BACKEND"] = "numba"
    if store is None:
        own["TRACEIR_CACHE"] = "0"
        return own
    own.pop("TRACEIR_CACHE", None)
    own["TRACEIR_CACHE_DIR"] = str(store / "traceir")
    own["JAX_COMPILATION_CACHE_DIR"] = str(store / "jax")
    own["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    own["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    return own


def _run(program: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", program]
    subprocess.run(command, env=environment, check=True)


def rows() -> Iterator[tuple[str, dict[str, list[float]]]]:
    """Whole processes, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        for what, store in (("no store", None), ("warm store", Path(folder))):
            times = _in_turn(PROGRAMS, _environment(Path(folder), store))
            yield f"process to first result, {what}", times
        times = _in_turn(PROGRAMS, _environment(Path(folder), None), Path(folder))
        yield "process to first result, empty store", times
        yield (
            "process that imports",
            _in_turn(IMPORTS, _environment(Path(folder), None)),
        )


def _in_turn(
    programs: dict[str, str], own: dict[str, str], empty: Path | None = None
) -> dict[str, list[float]]:
    """Seconds of each program; `empty` is where each run gets a store of its own."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    for program in programs.values():
        _run(program, own)
    for k in range(ROUNDS):
        for name, program in programs.items():
            if empty is not None:
                own = _environment(empty, empty / f"empty {k} {name}")
            times[name].append(seconds(partial(_run, program, own)))
    return times
