"""The mapping of a nest's loops to threads, lanes and blocks.

Nothing here depends on how many threads and blocks a launch has, so no bit of a result
does. Serves: choice.sum-order

Who does what is a form, chosen by loops and extents:

* *points*: a thread takes points of the kept loops in turn, neighbours by neighbouring
  threads, and all that is reduced for a point. So are small maps, many columns, short
  rows and short lines;
* *squares*: maps of two long loops. A block takes 32 by 32 points, so that lines of
  memory are read whole where one array runs across the others, and no thread divides
  for its indices;
* *tiles*: a block takes a row, or neighbouring short rows, or neighbouring columns, in
  as many passes as the nest has. Elements enter up to 256 lanes in shared memory, which
  a tree joins. Where there are few rows, or few columns, and they are long, up to 1,024
  *parts* of each go to blocks of their own, and a second kernel joins what they leave.
  So is everything reduced;
* *lines*: prefix scans. A block folds up to 2,048 elements of a line at once: each of
  128 lanes its own stretch, then one thread runs over what the lanes have. Few long
  lines have parts, too, and the second kernel lets what is before a part enter it;
* *scatters*: elements that are written where others may be written, too. `collisions`
  finds the loops along which no two points meet in one place. Threads share those loops
  (all of them, in most gradients of lookups by a label); the others run in order, so
  the last one stays and sums have their order. Where that leaves few threads, several
  look at the same elements, each for the places that are its own. So a long sum into
  places that are computed is correct to the bit, but much slower than one whose order
  is left to chance: every thread looks at every element;
* *atomic*: integers of 32 and 64 bits that are added, or of which the least or greatest
  stays, are joined to memory in any order.

How many lanes and parts there are depends on extents alone.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir_numba.cuda import cost_model
from traceir_numba.cuda.codegen import collisions
from traceir_numba.emitters.kinds import reduce_of
from traceir_numba.loops.nest import LoopNest
from traceir_numba.loops.program import Launch, Shape
from traceir_numba.loops.schedule import crosses


@dataclass(frozen=True, slots=True)
class ThreadMapping:
    """The mapping of a nest's work to threads.

    "points": a thread takes points of the kept loops in turn, with all that is reduced
    for them. "squares": a block takes squares of two loops, `apart`, of `lanes` by
    `wide` points, so that memory is read by lines whichever of the two runs along it,
    and no thread divides for an index. "tiles": a block takes `wide` neighbouring
    points, and its threads fold what is reduced for them into `lanes` lanes each;
    neighbours read neighbouring points where nests are `across`, else neighbouring
    elements of one point. "lines": a block folds along a line, each lane `wide`
    elements at once. "puts": a thread takes points of the loops in `apart`, and runs
    the rest in order; of the places that it finds it takes the `owners`-th part.
    "atomic": a thread takes points in turn, and what it puts is joined to what is there
    in one operation.

    In `parts` several blocks share a row, and a second kernel joins what they leave.
    """

    kind: str
    lanes: int = 1
    wide: int = 1
    across: bool = False
    parts: bool = False
    apart: tuple[int, ...] = ()
    owners: int = 1

    @property
    def by_thread(self) -> bool:
        """True if threads work by themselves, in blocks of any size."""
        return self.kind in ("points", "puts", "atomic")


# What a kernel is known by.
Key = tuple[LoopNest, ThreadMapping]


def key_of(step: Launch) -> Key:
    """The key of a launch's kernel."""
    return step.nest, thread_mapping_of(step.nest, step.extents, step.params)


@lru_cache(4096)
def thread_mapping_of(nest: LoopNest, extents: Shape, params: Shape) -> ThreadMapping:
    """The form of a launch: its mapping of work to threads."""
    kept, reduced = counts(nest, extents)
    if nest.ordered:
        return _of_scatters(nest, extents, params)
    if not any(nest.reduced):
        return _of_map(nest, extents)
    if nest.scan_direction:
        return _of_lines(kept, reduced)
    if nest.form == "columns":
        return _of_columns(nest, kept, reduced)
    return _of_rows(nest, kept, reduced)


def _of_map(nest: LoopNest, extents: Shape) -> ThreadMapping:
    if (
        nest.rank < 2
        or extents[-1] < cost_model.SQUARE_SIDE // 2
        or prod(extents) < cost_model.SQUARE_POINTS
    ):
        return ThreadMapping("points")
    side = nest.rank - 1
    # A loop along which some memory lies that the last one does not run along.
    crossing = [d for d in range(side) if crosses(nest, d, side)]
    top = crossing[-1] if crossing else side - 1
    wide = cost_model.SQUARE_SIDE
    low = wide // cost_model.SQUARE_PARTS
    high = wide if extents[top] > low else low
    return ThreadMapping("squares", lanes=high, wide=wide, apart=(top, side))


def _of_rows(nest: LoopNest, kept: int, reduced: int) -> ThreadMapping:
    if reduced <= cost_model.THREAD_ROW:
        return ThreadMapping("points")
    few = (n for n in cost_model.ROW_LANES if reduced <= cost_model.LANE_ITEMS * n)
    lanes = next(few, lanes_of(nest))
    parts = (
        not nest.later_passes
        and kept < cost_model.BUSY_BLOCKS
        and reduced >= 2 * cost_model.PART_ELEMENTS
    )
    enough = min(kept, cost_model.BLOCK_LANES // lanes)
    wide = next(n for n in cost_model.NEIGHBOUR_POINTS if n >= enough)
    return ThreadMapping("tiles", lanes, wide, parts=parts)


def _of_columns(nest: LoopNest, kept: int, reduced: int) -> ThreadMapping:
    """The form for reduced columns: by threads, or by tiles of neighbouring columns."""
    if reduced <= cost_model.THREAD_COLUMN or kept >= cost_model.THREAD_COLUMNS:
        return ThreadMapping("points")
    # Neighbours that are read together; fewer where more blocks are needed.
    points = cost_model.NEIGHBOUR_POINTS
    wide = next(n for n in points if n >= kept or n == points[-1])
    cut = not nest.later_passes and reduced >= 2 * cost_model.PART_ROWS
    busy, least = cost_model.BUSY_BLOCKS, cost_model.LEAST_NEIGHBOURS
    while nest.later_passes and wide > least and kept < busy * wide:
        wide //= 2
    parts = cut and kept < busy * wide
    lanes = lanes_of(nest) // wide
    return ThreadMapping("tiles", lanes, wide, True, parts)


def _of_lines(kept: int, reduced: int) -> ThreadMapping:
    if reduced <= cost_model.THREAD_LINE:
        return ThreadMapping("points")
    lanes, most = cost_model.BLOCK_LANES, cost_model.LINE_ITEMS
    items = next((n for n in most if n * lanes >= reduced), most[-1])
    parts = kept < cost_model.BUSY_BLOCKS and reduced >= 2 * cost_model.PART_ELEMENTS
    return ThreadMapping("lines", lanes, items, parts=parts)


def _of_scatters(nest: LoopNest, extents: Shape, params: Shape) -> ThreadMapping:
    apart = collisions.apart(nest, extents, params)
    if len(apart) == nest.rank:
        return ThreadMapping("points")
    if collisions.atomic(nest) is not None:
        return ThreadMapping("atomic")
    return ThreadMapping("puts", apart=apart, owners=_owners(extents, apart))


def _owners(extents: Shape, apart: tuple[int, ...]) -> int:
    """The number of threads that look at the same places, each for those that are its
    own.
    """
    points = prod(extents[d] for d in apart)
    rest = prod(n for d, n in enumerate(extents) if d not in apart)
    most = min(
        cost_model.SCATTER_THREADS // max(1, points), rest // cost_model.SCATTER_PLACES
    )
    return 1 << max(1, most).bit_length() - 1


def lanes_of(nest: LoopNest) -> int:
    """The lanes of a block: fewer where each holds much."""
    held = 0
    for reduction in (r for one in nest.passes for r in one.reductions):
        dtypes = reduce_of(reduction.primitive).accumulators(reduction.dtype)
        held += sum(np.dtype(d).itemsize for d in dtypes)
    light = held <= cost_model.LIGHT_LANE_BYTES
    return cost_model.LIGHT_BLOCK_LANES if light else cost_model.BLOCK_LANES


def counts(nest: LoopNest, extents: Shape) -> tuple[int, int]:
    """The points of the kept loops, and the elements that are reduced for each."""
    pairs = list(zip(extents, nest.reduced, strict=True))
    kept = prod(n for n, fold in pairs if not fold)
    return kept, prod(n for n, fold in pairs if fold)


def parts_of(nest: LoopNest, extents: Shape, form: ThreadMapping) -> int:
    """The number of parts into which each row, or group of columns, is cut."""
    if not form.parts:
        return 1
    kept, reduced = counts(nest, extents)
    least = cost_model.PART_ROWS if form.across else cost_model.PART_ELEMENTS
    most = cost_model.LINE_PARTS if form.kind == "lines" else cost_model.PARTS
    groups = max(1, -(-kept // form.wide) if form.kind == "tiles" else kept)
    return max(1, min(most, reduced // least, -(-2 * cost_model.BUSY_BLOCKS // groups)))


def items_of(nest: LoopNest, extents: Shape, form: ThreadMapping) -> tuple[int, int]:
    """The number of threads of a block that could have work, and the number of blocks.

    Blocks of points count a thread each.
    """
    kept, reduced = counts(nest, extents)
    match form.kind:
        case "points" | "atomic":
            return kept, kept
        case "puts":
            found = form.owners * prod(extents[d] for d in form.apart)
            return found, found if prod(extents) else 0
        case "lines":
            return cost_model.BLOCK_LANES, kept * parts_of(nest, extents, form)
    each = form.lanes * form.wide
    if form.kind == "squares":
        top, side = form.apart
        others = prod(n for d, n in enumerate(extents) if d not in form.apart)
        squares = -(-extents[top] // form.lanes) * -(-extents[side] // form.wide)
        return each, squares * others
    parts = parts_of(nest, extents, form)
    few = reduced if form.wide == 1 else each
    return min(few, each), -(-kept // form.wide) * parts
