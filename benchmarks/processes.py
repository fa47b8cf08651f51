"""A fresh process to its first result, with and without stored code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.measure import seconds
from benchmarks.worlds import OWN

ROUNDS = 7
# The entries of a store that an installed package has beside its modules.
PREPARED = "*.tables", "*.functions"
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


Empty = Callable[[str], dict[str, str]]


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
        for what, installed in (("empty store", True), ("first of a checkout", False)):
            empty = partial(_empty, Path(folder), installed)
            times = _in_turn(PROGRAMS, _environment(Path(folder), None), empty)
            yield f"process to first result, {what}", times
        yield (
            "process that imports",
            _in_turn(IMPORTS, _environment(Path(folder), None)),
        )


def _in_turn(
    programs: dict[str, str], own: dict[str, str], empty: Empty | None = None
) -> dict[str, list[float]]:
    """Seconds of each program; each run has an `empty` store of its own, if there is
    one."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    for program in programs.values():
        _run(program, own)
    for k in range(ROUNDS):
        for name, program in programs.items():
            if empty is not None:
                own = empty(f"{k} {name}")
            times[name].append(seconds(partial(_run, program, own)))
    return times


def _empty(folder: Path, installed: bool, name: str) -> dict[str, str]:
    """The environment of a process whose store has what is `installed` alone."""
    store = folder / f"{installed} {name}"
    (store / "traceir").mkdir(parents=True)
    for pattern in PREPARED if installed else ():
        for path in (folder / "traceir").glob(pattern):
            shutil.copy(path, store / "traceir")
    return _environment(folder, store)
