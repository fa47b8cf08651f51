"""Compiled kernels of this process, and the grids of their launches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.fork_safety import kept_over_forks
from traceir_numba.cuda.codegen import device_functions, matmul
from traceir_numba.cuda.codegen.nest import CudaKernelSource, emit
from traceir_numba.cuda.codegen.thread_mapping import (
    Key,
    ThreadMapping,
    counts,
    items_of,
    key_of,
    parts_of,
)
from traceir_numba.cuda.runtime import device
from traceir_numba.cuda.simulator import simulated
from traceir_numba.errors import wrapped
from traceir_numba.loops.program import CallMatmul, Launch
from traceir_numba.lowering.matmul import call_arguments

# In the simulator products have so many threads along a side, and so many blocks.
SMALL = 2, 2
# Threads of a block take no fewer than a device runs as one.
WARP = 32

_lock = kept_over_forks(threading.RLock())
_kernels: dict[Key, LoadedKernel] = {}
_products: dict[matmul.BlockTile, Callable[..., None]] = {}
_numbers = count()


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A kernel that can be launched; `end` is its second kernel."""

    kernel: CudaKernelSource
    run: Callable[..., None]
    end: Callable[..., None] | None


def made(step: Launch) -> LoadedKernel:
    """The kernel of a launch."""
    key = key_of(step)
    with _lock:
        if key not in _kernels:
            kernel = emit(step.nest, step.labels, key[1], f"kernel_{next(_numbers)}")
            _kernels[key] = _make(kernel)
        return _kernels[key]


def _make(kernel: CudaKernelSource) -> LoadedKernel:
    with wrapped("backend.compile", kernel.name):
        space = space_of(kernel.calls)
        exec(kernel.text, space)
        end = None
        if kernel.end is not None:
            exec(kernel.end, space)
            end = device.kernel(space, f"{kernel.name}_end")
        return LoadedKernel(kernel, device.kernel(space, kernel.name), end)


def space_of(calls: Sequence[str]) -> dict[str, Any]:
    """The names of a module of kernels that call functions of numbers."""
    space = device.namespace()
    if device.is_simulated():
        return space | {name: simulated.scalar(name) for name in calls}
    exec(device_functions.source(calls), space)
    return space


def launch(step: Launch, memory: Sequence[Any]) -> None:
    """Run the kernel of a launch on memory of the device."""
    one = made(step)
    values = values_of(step, one.kernel.form)
    given = [*memory, *scratch_of(step, one.kernel)]
    given += [values[name] for name in one.kernel.sizes]
    shape, last = shapes_of(step, one.kernel.form)
    if shape[0]:
        one.run(*shape, *given)
    if shape[0] and one.end is not None:
        one.end(*last, *given)


def values_of(step: Launch, form: ThreadMapping) -> dict[str, int]:
    """The integers that a kernel may be given, by name."""
    values = {f"n{d}": n for d, n in enumerate(step.extents)}
    values |= {f"p{k}": value for k, value in enumerate(step.params)}
    return values | {"parts": parts_of(step.nest, step.extents, form)}


def scratch_of(step: Launch, kernel: CudaKernelSource) -> list[Any]:
    """Memory for the results of parts."""
    parts = parts_of(step.nest, step.extents, kernel.form)
    length = parts * counts(step.nest, step.extents)[0]
    return [device.empty(length, dtype) for dtype in kernel.scratch]


def shapes_of(
    step: Launch, form: ThreadMapping
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Blocks, and threads of each: of a kernel, and of the one that ends it."""
    items, blocks = items_of(step.nest, step.extents, form)
    # Lines have as many parts left to do, tiles have joined them.
    joined = 1 if form.kind == "lines" else parts_of(step.nest, step.extents, form)
    return shape_of(items, blocks, form.by_thread), shape_of(items, blocks // joined)


def shape_of(items: int, blocks: int, by_thread: bool = False) -> tuple[int, int]:
    """Blocks, and threads of each: a power of 2 that is enough, within the limits.

    If it is `by_thread`, so many threads could have something to do in all.
    """
    most, many = device.limits()
    threads = min(WARP, most)
    while threads < min(items, most):
        threads *= 2
    if by_thread:
        blocks = -(-blocks // threads)
    return min(blocks, many), threads


def multiply(step: CallMatmul, dtype: str, memory: Sequence[Any]) -> None:
    """Run a product on memory of the device."""
    arguments = call_arguments(step.eqn)
    shape = SMALL if device.is_simulated() else ()
    tile = matmul.tile_of(dtype, arguments, *shape)
    with _lock:
        if tile not in _products:
            space = device.namespace()
            exec(matmul.source(tile), space)
            _products[tile] = device.kernel(space, tile.name)
    grid = matmul.grid_of(tile, arguments)
    most = device.limits()[1]
    if all(grid):
        blocks = tuple(min(n, most) for n in grid)
        _products[tile](blocks, tile.side**2, *memory, *arguments)
