"""The CUDA dialect that is at hand, and memory on its device. Serves: backend.device

A dialect is a module with `jit`, `device_array` and the rest of what `numba.cuda` has;
which one is chosen at run time. The simulator that comes with some of them runs
kernels on the processor, for tests.
"""

from __future__ import annotations

import importlib
import math
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from traceir import rules
from traceir.forks import kept_over_forks
from traceir_numba.cuda import simulated
from traceir_numba.functions import NUMBERS, short

# Where the dialects are, the newest first. The package `numba_cuda` puts itself in the
# place of `numba.cuda` when it is installed.
MODULES = ("numba_cuda_mlir.cuda", "numba.cuda")
# Threads of a block and blocks of a launch at most: on a device, in the simulator.
REAL, SIMULATED = (256, 65535), (4, 2)

# A device's kernels are started by one thread at a time.
lock = kept_over_forks(threading.RLock())


def is_simulated() -> bool:
    """Whether kernels run in Numba's simulator, on the processor.

    The environment says so, by NUMBA_ENABLE_CUDASIM=1, before Numba is imported.
    """
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@cache
def dialect() -> Any:
    """The module that compiles for a device.

    Raises RuntimeError (backend.device) where there is no such module, no driver or no
    device.
    """
    reasons = []
    for name in MODULES:
        try:
            found = importlib.import_module(name)
        except ImportError as error:
            reasons.append(f"{name}: {error}")
            continue
        if is_simulated() and not hasattr(found, "simulator"):
            reasons.append(f"{name} has no simulator")
        elif not found.is_available():
            reasons.append(f"{name} finds no driver or no device")
        else:
            return found
    raise rules.error("backend.device", got="; ".join(reasons))


def limits() -> tuple[int, int]:
    """The threads of a block, and the blocks of a launch, that there are at most."""
    return SIMULATED if is_simulated() else REAL


def namespace() -> dict[str, Any]:
    """The names of a module of kernels, but for the functions that they call."""
    space: dict[str, Any] = {"cuda": dialect(), "np": np}
    space |= {"inf": math.inf, "nan": math.nan}
    if is_simulated():
        return space | simulated.names()
    import numba

    types = {d: getattr(numba, "boolean" if d == "bool" else d) for d in NUMBERS}
    casts = {short(d): types[d] for d in NUMBERS}
    return space | casts | {"math": math, "function": dialect().jit(device=True)}


def kernel(space: dict[str, Any], name: str) -> Callable[..., Any]:
    """A function of a namespace as a kernel: of blocks and threads, then of arrays."""
    if is_simulated():
        run = simulated.kernel(space, name, dialect())
    else:
        compiled = dialect().jit(space[name])

        def run(blocks: Any, threads: Any, *args: Any) -> None:
            compiled[blocks, threads](*args)

    def launch(blocks: Any, threads: Any, *args: Any) -> None:
        with lock:
            run(blocks, threads, *args)

    return launch


# -- memory ---------------------------------------------------------------------------


def empty(length: int, dtype: str) -> Any:
    """Memory of so many elements, one at least."""
    return dialect().device_array(max(1, length), np.dtype(dtype))


def upload(array: np.ndarray) -> Any:
    """A copy of an array's elements on the device."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return dialect().to_device(flat if flat.size else np.zeros(1, flat.dtype))


def download(memory: Any, length: int) -> np.ndarray:
    """A copy of the first elements of some memory."""
    return np.array(memory.copy_to_host()[:length])


def copy(source: Any, target: Any) -> None:
    """Put the elements of one memory in another of the same length."""
    target.copy_to_device(source)


def synchronize() -> None:
    """Wait until the device has done all that it was given."""
    dialect().synchronize()
