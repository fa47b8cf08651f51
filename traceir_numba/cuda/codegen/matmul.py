"""Products of stacks of matrices: tiles of the result in registers.

A block lays out tiles of both operands in the memory that its threads share; a thread
adds up several elements of the result, `each` by `each`, so that what it reads from
there is used as often. Each element is summed from the first product to the last,
whatever the tile is. Serves: choice.dot-order

A thread adds up to 8 by 8 elements; the tile is as large as leaves 128 blocks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir_numba.cuda import cost_model
from traceir_numba.device_functions import short

SIZES = (
    *("outer", "batch", "rows", "inner", "columns"),
    *("x_outer", "x_batch", "x_row", "x_along"),
    *("y_outer", "y_batch", "y_along", "y_column"),
)


@dataclass(frozen=True, slots=True)
class BlockTile:
    """`each` by `each` elements of each of `side` by `side` threads."""

    dtype: str
    side: int
    each: int

    @property
    def width(self) -> int:
        """Its elements along one side."""
        return self.side * self.each

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return f"product_{short(self.dtype)}_{self.width}"


def tile_of(
    dtype: str,
    arguments: tuple[int, ...],
    side: int | None = None,
    busy: int | None = None,
) -> BlockTile:
    """The largest tile that leaves enough blocks, for a call's arguments.

    The simulator has tiles of its own, of other sides, and busy with fewer blocks.
    """
    side = cost_model.MATMUL_SIDE if side is None else side
    busy = cost_model.MATMUL_BLOCKS if busy is None else busy
    small = np.dtype(dtype).itemsize <= 4
    per_thread = (
        cost_model.MATMUL_ELEMENTS if small else cost_model.MATMUL_WIDE_ELEMENTS
    )
    tiles = [BlockTile(dtype, side, each) for each in per_thread]
    enough = (t for t in tiles if np.prod(grid_of(t, arguments)) >= busy)
    return next(enough, tiles[-1])


def grid_of(tile: BlockTile, arguments: tuple[int, ...]) -> tuple[int, int, int]:
    """The number of tiles: along columns, along rows, and of products."""
    outer, batch, rows, _, columns, *_ = arguments
    return -(-columns // tile.width), -(-rows // tile.width), outer * batch


def source(tile: BlockTile) -> str:
    """The kernel of a tile, run by blocks of `side` times `side` threads."""
    return "\n".join(_lines(tile))


def _lines(tile: BlockTile) -> Iterator[str]:
    """The lines of the kernel: tiles through shared memory, sums in registers."""
    t, side, width = short(tile.dtype), tile.side, tile.width
    zero = f"{t}({'0.0' if tile.dtype.startswith('float') else '0'})"
    numbers = range(tile.each)
    pairs = [(p, q) for p in numbers for q in numbers]
    # A place more in each line, or threads that write along lines would wait.
    shape = f"({side}, {width + 1}), np.{tile.dtype}"
    yield f"def {tile.name}(X, Y, Z, {', '.join(SIZES)}):"
    yield f"    left = cuda.shared.array({shape})"
    yield f"    right = cuda.shared.array({shape})"
    # Places in shared memory have no sign, so nobody asks whether they are below 0.
    yield f"    x = u64(cuda.threadIdx.x % {side})"
    yield f"    y = u64(cuda.threadIdx.x // {side})"
    for o, step in (("x", "x_row"), ("y", "y_column")):
        yield f"    {o}_k = x if {o}_along < {step} else y"
        yield f"    {o}_i = y if {o}_along < {step} else x"
    yield "    for b in range(cuda.blockIdx.z, outer * batch, cuda.gridDim.z):"
    yield "        x_from = b // batch * x_outer + b % batch * x_batch"
    yield "        y_from = b // batch * y_outer + b % batch * y_batch"
    yield f"        high = cuda.gridDim.y * {width}"
    yield f"        wide = cuda.gridDim.x * {width}"
    yield f"        for top in range(cuda.blockIdx.y * {width}, rows, high):"
    yield f"            for base in range(cuda.blockIdx.x * {width}, columns, wide):"
    head = " " * 16
    yield from (f"{head}z{p}{q} = {zero}" for p, q in pairs)
    yield f"{head}for start in range(0, inner, {side}):"
    yield from _laid_out(tile, "left", "X", "x_row", "top", "rows", zero)
    yield from _laid_out(tile, "right", "Y", "y_column", "base", "columns", zero)
    yield f"{head}    cuda.syncthreads()"
    yield f"{head}    for k in range({side}):"
    line = f"{head}        "
    yield from (f"{line}x{p} = left[u64(k), y + u64({side * p})]" for p in numbers)
    yield from (f"{line}y{q} = right[u64(k), x + u64({side * q})]" for q in numbers)
    yield from (f"{line}z{p}{q} = {t}(z{p}{q} + x{p} * y{q})" for p, q in pairs)
    yield f"{head}    cuda.syncthreads()"
    for p in numbers:
        yield f"{head}i = top + i64(y) + {side * p}"
        yield f"{head}if i < rows:"
        for q in numbers:
            yield f"{head}    j = base + i64(x) + {side * q}"
            yield f"{head}    if j < columns:"
            yield f"{head}        Z[(b * rows + i) * columns + j] = z{p}{q}"


def _laid_out(
    tile: BlockTile,
    name: str,
    operand: str,
    step: str,
    first: str,
    count: str,
    zero: str,
) -> Iterator[str]:
    """The lines that lay out a tile of an operand.

    Neighbouring threads read along what is near in memory: terms, or rows of the tile.
    """
    o, head = operand.lower(), " " * 20
    yield f"{head}inside = start + i64({o}_k) < inner"
    place = (
        f"{o}_from + ({first} + i64({o}_i)) * {step} + (start + i64({o}_k)) * {o}_along"
    )
    yield f"{head}place = {place}"
    for q in range(tile.each):
        more = tile.side * q
        i = f"i64({o}_i) + {more}"
        yield f"{head}value = {zero}"
        yield f"{head}if inside & ({first} + {i} < {count}):"
        there = f"place + {more} * {step}" if more else "place"
        yield f"{head}    value = {operand}[{there}]"
        yield f"{head}{name}[{o}_k, {o}_i + u64({more})] = value"
