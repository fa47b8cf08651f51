"""Kernels of a process, each made once, and the shapes that they are launched with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from traceir.forks import kept_over_forks
from traceir_numba.cuda import device, products, simulated, texts
from traceir_numba.cuda.emit import Kernel, emit
from traceir_numba.cuda.forms import Form, counts, form_of, items_of, parts_of
from traceir_numba.nests import Nest
from traceir_numba.problems import wrapped
from traceir_numba.products import call_arguments
from traceir_numba.program import Call, Launch

# Sides of the tiles of products: on a device, in the simulator.
TILE, SMALL_TILE = 16, 4
# Threads of a block take no fewer than a device runs as one.
WARP = 32

_lock = kept_over_forks(threading.RLock())
_kernels: dict[tuple[Nest, Form], Made] = {}
_products: dict[str, Callable[..., None]] = {}
_numbers = count()


@dataclass(frozen=True, slots=True)
class Made:
    """A kernel that can be launched; `end` is the one that ends what it began."""

    kernel: Kernel
    run: Callable[..., None]
    end: Callable[..., None] | None


def made(step: Launch) -> Made:
    """The kernel of a launch."""
    key = step.nest, form_of(step.nest, step.extents, step.params)
    with _lock:
        if key not in _kernels:
            kernel = emit(step.nest, step.labels, key[1], f"kernel_{next(_numbers)}")
            _kernels[key] = _make(kernel)
        return _kernels[key]


def _make(kernel: Kernel) -> Made:
    with wrapped("backend.compile", kernel.name):
        space = device.namespace()
        if device.is_simulated():
            space |= {name: simulated.scalar(name) for name in kernel.calls}
        else:
            exec(texts.source(kernel.calls), space)
        exec(kernel.text, space)
        end = None
        if kernel.end is not None:
            exec(kernel.end, space)
            end = device.kernel(space, f"{kernel.name}_end")
        return Made(kernel, device.kernel(space, kernel.name), end)


def launch(step: Launch, memory: Sequence[Any]) -> None:
    """Run the kernel of a launch on memory of the device."""
    one = made(step)
    values = {f"n{d}": n for d, n in enumerate(step.extents)}
    values |= {f"p{k}": value for k, value in enumerate(step.params)}
    form = one.kernel.form
    values["parts"] = parts = parts_of(step.nest, step.extents, form)
    length = parts * counts(step.nest, step.extents)[0]
    scratch = [device.empty(length, dtype) for dtype in one.kernel.scratch]
    given = [*memory, *scratch, *(values[name] for name in one.kernel.sizes)]
    items, blocks = items_of(step.nest, step.extents, form)
    shape = shape_of(items, blocks, form.by_thread)
    if blocks:
        one.run(*shape, *given)
    if blocks and one.end is not None:
        # Lines have as many parts left to do, tiles have joined them.
        left = blocks if form.kind == "lines" else blocks // parts
        one.end(*shape_of(items, left), *given)


def shape_of(items: int, blocks: int, by_thread: bool = False) -> tuple[int, int]:
    """Blocks, and threads of each: a power of 2 that is enough, within the limits.

    Where it is `by_thread`, so many threads could have something to do in all.
    """
    most, many = device.limits()
    threads = min(WARP, most)
    while threads < min(items, most):
        threads *= 2
    if by_thread:
        blocks = -(-blocks // threads)
    return min(blocks, many), threads


def multiply(step: Call, dtype: str, memory: Sequence[Any]) -> None:
    """Run a product on memory of the device."""
    tile = SMALL_TILE if device.is_simulated() else TILE
    with _lock:
        if dtype not in _products:
            space = device.namespace()
            exec(products.source(dtype, tile), space)
            _products[dtype] = device.kernel(space, products.name_of(dtype))
    outer, batch, rows, inner, columns, *strides = call_arguments(step.eqn)
    most = device.limits()[1]
    grid = (-(-columns // tile), -(-rows // tile), outer * batch)
    if all(grid):
        shape = tuple(min(n, most) for n in grid)
        sizes = (outer, batch, rows, inner, columns, *strides)
        _products[dtype](shape, (tile, tile), *memory, *sizes)
