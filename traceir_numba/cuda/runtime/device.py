"""The package that compiles for CUDA here, and the memory of its devices.

Serves: backend.device

A dialect is a module with `jit`, `device_array` and the rest of what `numba.cuda` has;
which one is chosen at run time. The simulator that comes with some of them runs
kernels on the processor, for tests.
"""

from __future__ import annotations

import importlib
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.caches import once
from traceir.base.fork_safety import in_child, kept_over_forks
from traceir_numba.cuda import cost_model
from traceir_numba.cuda.runtime import streams
from traceir_numba.cuda.runtime.pool import DevicePool, MemoryInfo
from traceir_numba.cuda.simulator import simulated
from traceir_numba.device_functions import NUMBERS, short

# Where the dialects are, the newest first. The package `numba_cuda` puts itself in the
# place of `numba.cuda` when it is installed.
MODULES = ("numba_cuda_mlir.cuda", "numba.cuda")
# A variable of the environment that names one of them.
CHOSEN = "TRACEIR_CUDA"
# Threads of a block and blocks of a launch at most, in the simulator.
SIMULATED = 4, 2
# The blocks that CUDA gives a launch along each side but the first.
GRID = 65535

# A device's kernels are started by one thread at a time.
lock = kept_over_forks(threading.RLock())


def is_simulated() -> bool:
    """True if kernels run in Numba's simulator, on the processor.

    The environment says so, by NUMBA_ENABLE_CUDASIM=1, before Numba is imported.
    """
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@once
def dialect() -> Any:
    """The module that compiles for a device.

    Raises RuntimeError (backend.device) where there is no such module, no driver or no
    device, and in a process that was forked by one that had a device in use.
    """
    if _lost:
        raise rules.error("backend.device", got=_lost[0])
    reasons = []
    asked = os.environ.get(CHOSEN)
    for name in (asked,) if asked else MODULES:
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


# Why this process, a child, can have no device.
_lost: list[str] = []


@in_child
def after_fork() -> None:
    """A driver that was in use is of no use to a child."""
    if dialect.cache_info().currsize and not is_simulated():
        dialect.cache_clear()
        why = "the process that forked this one had its device in use"
        _lost.append(f"{why}; start processes by spawn")


def limits() -> tuple[int, int]:
    """The threads of a block, and the blocks of a launch, that there are at most."""
    return SIMULATED if is_simulated() else (cost_model.LAUNCH_THREADS, GRID)


def namespace() -> dict[str, Any]:
    """The names of a module of kernels, but for the functions that they call."""
    space: dict[str, Any] = {"cuda": dialect(), "np": np}
    space |= {"inf": math.inf, "nan": math.nan}
    if is_simulated():
        return space | simulated.names()
    types = {d: getattr(_types(), "boolean" if d == "bool" else d) for d in NUMBERS}
    casts = {short(d): types[d] for d in NUMBERS}
    return space | casts | {"math": math, "function": dialect().jit(device=True)}


def _types() -> Any:
    """The module that has the types of a dialect's numbers."""
    package = dialect().__name__.partition(".")[0]
    return importlib.import_module(
        "numba" if package == "numba" else f"{package}.types"
    )


def kernel(space: dict[str, Any], name: str) -> Callable[..., Any]:
    """A function of a namespace as a kernel: of blocks and threads, then of arrays."""
    if is_simulated():
        run = _on_own_memory(simulated.kernel(space, name, dialect()))
    else:
        compiled = dialect().jit(space[name])

        def run(blocks: Any, threads: Any, *args: Any) -> None:
            compiled[blocks, threads](*args)

    def launch(blocks: Any, threads: Any, *args: Any) -> None:
        with lock:
            streams.give(lambda: run(blocks, threads, *args))

    return launch


def _on_own_memory(run: Callable[..., Any]) -> Callable[..., Any]:
    """A simulated kernel that memory of another device is not given to."""

    def checked(blocks: Any, threads: Any, *args: Any) -> None:
        for arg in args:
            there = number_of(arg) if hasattr(arg, "_ary") else None
            if there not in (None, streams.current()):
                got = f"memory of cuda:{there}, on cuda:{streams.current()}"
                raise RuntimeError(f"a kernel is given {got}")
        run(blocks, threads, *args)

    return checked


# -- memory ---------------------------------------------------------------------------


def _allocate(size: int) -> Any:
    """New bytes; if there are none, the blocks kept for later are given back first.

    Raises MemoryError (backend.memory).
    """
    try:
        return dialect().device_array(size, np.uint8)
    except Exception as error:
        if not _is_full(error):
            raise
    freed = pool().clear()
    try:
        return dialect().device_array(size, np.uint8)
    except Exception as error:
        if not _is_full(error):
            raise
        used = pool().used
        got = f"{size:,} bytes asked for; arrays have {used:,}, {freed:,} were kept"
        raise rules.error("backend.memory", got=got) from None


def _is_full(error: Exception) -> bool:
    """True if an error says that a device has no memory left: each dialect has one of
    its own.
    """
    return isinstance(error, MemoryError) or "OUT_OF_MEMORY" in str(error)


def pool() -> DevicePool:
    """The memory of this process on the present device."""
    return pool_of(number())


@once
def pool_of(number: int) -> DevicePool:
    """The memory of this process on a device, which is the present one.

    A quarter of all that the device has may lie unused; nothing, where the environment
    gives each thread a stream of its own: what one leaves another could not take.
    """
    total = dialect().current_context().get_memory_info()[1]
    bound = 0 if _own_streams() else min(total / 4, 1 << 40)
    return DevicePool(_allocate, bound, number)


def _own_streams() -> bool:
    asked = os.environ.get("NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM", "0")
    return asked not in ("", "0")


def empty(length: int, dtype: str) -> Any:
    """Memory of so many elements, one at least."""
    length, kind = max(1, length), np.dtype(dtype)
    piece = pool().take(length * kind.itemsize)
    found = at(pointer(piece.memory), (length,), kind, piece)
    return simulated.fresh(found) if is_simulated() else found


def upload(array: np.ndarray) -> Any:
    """A copy of an array's elements on the device."""
    flat = np.ascontiguousarray(array).reshape(-1)
    flat = flat if flat.size else np.zeros(1, flat.dtype)
    made = empty(flat.size, flat.dtype.str)
    made.copy_to_device(flat)
    return made


def download(memory: Any, length: int) -> np.ndarray:
    """A copy of the first elements of some memory."""
    streams.finish()
    part = memory if memory.size == length else memory[:length]
    found: np.ndarray = part.copy_to_host()
    return found


def copy(source: Any, target: Any) -> None:
    """Put the elements of one memory in another of the same length."""
    streams.give(lambda: target.copy_to_device(source))


class _DeviceRegion:
    """Memory as interfaces tell of it; `owner` lives as long as any array over it."""

    __slots__ = ("owner", "_interface")

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner = owner
        self._interface = interface

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._interface

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._interface


def at(pointer: int, shape: tuple[int, ...], dtype: np.dtype, owner: Any) -> Any:
    """The elements that lie at an address, as an argument of kernels."""
    interface = {"data": (pointer, False), "shape": shape, "typestr": dtype.str}
    region = _DeviceRegion(owner, interface | {"version": 3})
    if is_simulated():
        return _fake()(np.asarray(region))
    return dialect().as_cuda_array(region, sync=False)


@cache
def _fake() -> Any:
    return type(dialect().device_array(1))


def pointer(memory: Any) -> int:
    """The address of the first element."""
    name = "__array_interface__" if is_simulated() else "__cuda_array_interface__"
    address: int = getattr(memory, name)["data"][0]
    return address


def owner(memory: Any) -> Any:
    """The owner that `at` was given, for memory that still lies as it was given, or
    None.
    """
    if is_simulated():
        memory = memory._ary
        while isinstance(memory, np.ndarray):
            memory = memory.base
        return getattr(memory, "owner", None)
    return getattr(getattr(memory.gpu_data, "owner", None), "owner", None)


def number_of(memory: Any) -> int | None:
    """The number of the device that memory was made on; None for a library's."""
    piece = owner(memory)
    found: int | None = getattr(piece, "number", None)
    return found


# -- streams --------------------------------------------------------------------------

# Streams by their numbers in the interfaces: the one that everything here is given to
# unless the environment says otherwise, and each thread's own. Others are addresses.
LEGACY, OF_THREAD = 1, 2


def own_stream() -> int:
    """The stream that everything here is given to."""
    return OF_THREAD if _own_streams() else LEGACY


def _stream(number: int) -> Any:
    streams = dialect()
    match number:
        case 1:
            return streams.legacy_default_stream()
        case 2:
            return streams.per_thread_default_stream()
    return streams.external_stream(number)


def let_wait(waiting: int, for_: int) -> None:
    """Let one stream go on only after the present work of another one."""
    if waiting != for_ and not is_simulated():
        event = dialect().event(timing=False)
        event.record(_stream(for_))
        event.wait(_stream(waiting))


def synchronize() -> None:
    """Wait until the device has done all that it was given."""
    streams.finish()
    dialect().synchronize()


def number() -> int:
    """The number of the device that this thread gives work to."""
    if is_simulated():
        return streams.current()
    return int(dialect().get_current_device().id)


@contextmanager
def using(number: int) -> Iterator[None]:
    """Inside the `with`, this thread makes memory and runs kernels on a device."""
    with streams.using(number) if is_simulated() else dialect().gpus[number]:
        yield


@contextmanager
def beside(memory: Any) -> Iterator[None]:
    """Inside the `with`, the present device is the one that some memory is of."""
    there = number_of(memory)
    if there in (None, number()):
        yield
    else:
        with using(there):
            yield


# -- what is kept for later -----------------------------------------------------------


def memory_info() -> MemoryInfo:
    """The bytes of the device that arrays have, and those kept for later ones."""
    return pool().info()


def clear_memory() -> int:
    """Give back the memory kept for later arrays, and say how many bytes it was."""
    return pool().clear()
