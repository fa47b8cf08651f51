"""The schedule of a nest: merged loops, their order, tiles, threads.

A sum's order depends on extents and dtype alone, never on threads or how the work was
split (choice.sum-order): lanes first, then blocks of a fixed length.

Adjacent loops are merged wherever all accesses allow it.

*Maps* run in the order of their result. Innermost loops of up to 8 points are
constants, unrolled inside the long ones, so that the long one vectorises; loops of that
length along which memory is read, too. Where some memory is read across, as of a
transposed array, two loops run in tiles of 64 by 16 points, so that lines of the cache
are used while they are there.

A *reduction* has an order that follows from the shape and dtype alone, never from
threads (choice.sum-order):

* A row of up to 8 elements is folded from the first to the last. One of up to 256 is
  folded into 32 lanes, a longer one into 128: element *k* into lane *k* modulo their
  number. The lanes are halved until one is left.
* Columns are folded from the first row to the last, each one in a lane of its own. Of
  up to 8 columns 32 rows are folded beside one another, if there are so many, and then
  halved. Up to 1,024 columns with many rows are folded in blocks of at least 64 rows,
  which threads share, and the blocks from the first to the last. A nest of several
  passes takes the blocks one after the other, in the same order.
* Everything is cut into blocks of 16,384 elements, each of which is folded as a row;
  what they leave is halved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from traceir.base.fast_dataclass import dataclass
from traceir_numba import cost_model
from traceir_numba.emitters.kinds import reduce_of
from traceir_numba.loops.nest import (
    Access,
    Apply,
    InRange,
    LoadElement,
    LoopIndex,
    LoopNest,
    Node,
    Pass,
    Stride,
    accesses,
    map_accesses,
    map_nodes,
)
from traceir_numba.loops.specialize import (
    Shape,
    rows_of_block,
    specialize,
)

# -- merging --------------------------------------------------------------------------


def merge(
    nest: LoopNest, extents: Shape, params: tuple[int, ...]
) -> tuple[LoopNest, Shape]:
    """The same nest with adjacent loops merged wherever all accesses allow.

    Contiguous elementwise code of any rank becomes one loop. What is left of a map has
    no loop of one point.
    """
    for d in reversed(range(nest.rank - 1)):
        if _mergeable(nest, d):
            nest = _merged(nest, d)
            extents = (*extents[:d], extents[d] * extents[d + 1], *extents[d + 2 :])
    for d in reversed(range(nest.rank)):
        if extents[d] == 1 < nest.rank and nest.form == "map" and not _counts(nest, d):
            nest = _without(nest, d)
            extents = (*extents[:d], *extents[d + 1 :])
    return specialize(nest, extents, params), extents


def _counts(nest: LoopNest, d: int) -> bool:
    """True if a body uses the index of loop d."""
    used = (n for n in nest.nodes if isinstance(n, LoopIndex | InRange))
    return any(d in (node.dim, *getattr(node, "over", ())) for node in used)


def _mergeable(nest: LoopNest, d: int) -> bool:
    """True if loops d and d + 1 can be one."""
    if nest.reduced[d] != nest.reduced[d + 1]:
        return False
    found = (r.primitive for one in nest.passes for r in one.reductions)
    if nest.reduced[d] and any(reduce_of(primitive).positions for primitive in found):
        return False
    for node in nest.nodes:
        if isinstance(node, InRange) and node.dim in (d, d + 1):
            return False
        if isinstance(node, LoopIndex):
            loops = node.dim, *node.over
            if (d + 1 in loops and d not in loops) or loops[-1] == d:
                return False
    return all(_allows(access, d) for access in accesses(nest))


def _allows(access: Access, d: int) -> bool:
    """True if an access reads loops d and d + 1 as one: their strides are nested."""
    outer, inner = access.strides[d], access.strides[d + 1]
    others = (s for k, s in enumerate(access.strides) if k not in (d, d + 1))
    if any(isinstance(s, tuple) and (d in s) != (d + 1 in s) for s in others):
        return False
    if outer is None or inner is None:
        return outer is inner
    return (
        isinstance(outer, tuple)
        and isinstance(inner, tuple)
        and d not in inner
        and outer == tuple(sorted((*inner, d + 1)))
    )


def _merged(nest: LoopNest, d: int) -> LoopNest:
    """The nest with loops d and d + 1 as one."""
    return _fewer(nest, d, True)


def _without(nest: LoopNest, d: int) -> LoopNest:
    """The nest without loop d, which has one point."""
    return _fewer(nest, d, False)


def _fewer(nest: LoopNest, d: int, merged: bool) -> LoopNest:
    """The nest without loop d, which has one point or is `merged` with the next."""

    def number(dim: int) -> int:
        return dim - 1 if dim > d else dim

    def stride(s: Stride) -> Stride:
        if not isinstance(s, tuple):
            return s
        kept = (k for k in s if merged or k != d)
        return tuple(sorted({number(k) for k in kept}))

    def access(a: Access) -> Access:
        kept = (*a.strides[:d], *a.strides[d + 1 :])
        return replace(a, strides=tuple(map(stride, kept)))

    def node(n: Node) -> Node:
        if isinstance(n, LoopIndex):
            over = tuple(number(k) for k in n.over if not merged or k != d + 1)
            return replace(n, dim=number(n.dim), over=over)
        return replace(n, dim=number(n.dim)) if isinstance(n, InRange) else n

    moved = map_nodes(map_accesses(nest, access), node)
    return replace(moved, reduced=(*nest.reduced[:d], *nest.reduced[d + 1 :]))


# -- loops ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoopOrder:
    """The order of a nest's loops.

    `outer` are kept and run first, `inner` are reduced and run within, `lanes` is the
    innermost one, which is cut into lanes; a map has none. The range that is split over
    threads is that of `outer[0]`, of tiles of the lanes ("columns" with no outer loop)
    or of blocks of loop 0 ("whole", few columns). The last two long loops of `tiled`
    maps run in pieces.
    """

    outer: tuple[int, ...]
    inner: tuple[int, ...]
    lanes: int | None
    tiled: bool = False
    blocks: bool = False

    @property
    def split(self) -> str:
        """The unit of a launch's range: loop, tiles or blocks; none without loops."""
        if self.outer:
            return "loop"
        if self.lanes is None:
            return "none"
        return "blocks" if self.blocks or self.lanes in self.inner else "tiles"


def loops_of(nest: LoopNest) -> LoopOrder:
    """The order of the loops by the nest's form."""
    kept = tuple(d for d, fold in enumerate(nest.reduced) if not fold)
    reduced = tuple(d for d, fold in enumerate(nest.reduced) if fold)
    innermost = nest.rank - 1
    match nest.form:
        case "map":
            return _of_map(nest)
        case _ if nest.short:
            return LoopOrder(_long_first(nest, kept), reduced, None)
        case "columns":
            # A tile of several passes stays in the cache: one thread does it all.
            blocks = nest.blocks and not nest.later_passes
            return LoopOrder(kept[:-1], reduced, innermost, blocks=blocks)
        case _:
            return LoopOrder(kept, reduced, innermost)


def _of_map(nest: LoopNest) -> LoopOrder:
    """Unrolled loops are inside; the two that cross each other run in tiles."""
    if nest.ordered:
        return LoopOrder(tuple(range(nest.rank)), (), None)
    order = _long_first(nest, range(nest.rank))
    long = [d for d in order if nest.fixed(d) is None]
    if len(long) > 1:
        last = long[-1]
        crossing = [d for d in long[:-1] if crosses(nest, d, last)]
        if crossing:
            rest = (d for d in long if d not in (crossing[-1], last))
            order = (*rest, crossing[-1], last, *order[len(long) :])
            return LoopOrder(order, (), None, tiled=True)
    return LoopOrder(order, (), None)


def _long_first(nest: LoopNest, loops: Iterable[int]) -> tuple[int, ...]:
    """Loops in the same order, but that those of constant extents are inside."""
    return tuple(sorted(loops, key=lambda d: nest.fixed(d) is not None))


def crosses(nest: LoopNest, d: int, last: int) -> bool:
    """True if some memory has neighbours along loop d, and none along the last one."""
    return any(
        access.strides[d] == () and access.strides[last] not in ((), None)
        for access in accesses(nest)
    )


def tile_of(nest: LoopNest) -> int:
    """The number of adjacent columns that are reduced together.

    With several passes fewer, so that a tile is still in the cache when it is read
    again.
    """
    return (
        cost_model.MULTIPASS_COLUMN_TILE
        if nest.later_passes
        else cost_model.COLUMN_TILE
    )


def sizes_of(nest: LoopNest) -> tuple[str, ...]:
    """The names of a kernel's 64-bit arguments, in order."""
    loops = loops_of(nest)
    split = loops.split
    constants = {k for k, value in enumerate(nest.constants) if value is not None}
    params = tuple(f"p{k}" for k in nest.parameters if k not in constants)
    if split == "none":
        return params
    needed = {*loops.outer[1:], *loops.inner}
    if loops.lanes is not None:
        needed.add(loops.lanes)
    for access in accesses(nest):
        for stride in access.strides:
            needed.update(stride if isinstance(stride, tuple) else ())
    for node in nest.nodes:
        needed.update(node.over if isinstance(node, LoopIndex) else ())
    extents = [f"n{d}" for d in sorted(needed) if nest.fixed(d) is None]
    blocks = ["step", "blocks", "last"] if split == "blocks" else []
    return ("lo", "hi", *extents, *blocks, *params)


# -- launches -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LaunchRange:
    """The arguments of a launch: the split range's length, all sizes, its work."""

    length: int
    values: dict[str, int]
    work: int  # in additions, roughly: 80 take a nanosecond

    @property
    def blocks(self) -> int:
        """The number of blocks of a whole reduction."""
        return self.values.get("blocks", 0)


def range_of(nest: LoopNest, extents: Shape, params: tuple[int, ...]) -> LaunchRange:
    """The sizes of a launch over loops of these extents."""
    loops = loops_of(nest)
    values = {f"n{d}": n for d, n in enumerate(extents)}
    values |= {f"p{k}": value for k, value in enumerate(params)}
    match loops.split:
        case "loop":
            length = extents[loops.outer[0]]
        case "tiles":
            length = -(-extents[-1] // tile_of(nest))
        case "blocks":
            step = rows_of_block(nest, extents)
            length = max(1, -(-extents[0] // step))
            values |= {"step": step, "blocks": length, "last": 1}
        case _:
            length = 1
    values |= {"lo": 0, "hi": length}
    return LaunchRange(length, values, prod(extents) * cost(nest))


def shared_from(nest: LoopNest, sizes: LaunchRange) -> int | None:
    """The length from which on threads share a launch in a loop; None for one that is
    too short, or whose parts may not run at once.
    """
    least = cost_model.SHARED_LAUNCH_WORK
    if sizes.work < least or sizes.length == 1 or nest.ordered:
        return None
    return -(-least * sizes.length // sizes.work)


def cost(nest: LoopNest) -> int:
    """The cost of one point of the loops, in additions."""
    return sum(map(pass_cost, nest.passes)) + (
        cost_model.SCAN_COST if nest.scan_direction else 0
    )


def pass_cost(one: Pass) -> int:
    """The cost of one point in a pass, in additions."""
    total = cost_model.MEMORY_COST * len(one.stores)
    for node in one.body:
        match node:
            case LoadElement():
                total += cost_model.MEMORY_COST
            case Apply(primitive):
                total += cost_model.operation_cost(primitive)
    return total


def scratch_of(
    nest: LoopNest, extents: Shape, params: tuple[int, ...]
) -> list[tuple[int, str]]:
    """The length and dtype of each array that the blocks of a reduction need."""
    if loops_of(nest).split != "blocks":
        return []
    blocks = range_of(nest, extents, params).blocks
    blocks *= extents[-1] if nest.blocks else 1
    dtypes = ("uint8" if r.dtype == "bool" else r.dtype for r in nest.reductions)
    return [
        (blocks, dtype)
        for r, own in zip(nest.reductions, dtypes, strict=True)
        for dtype in reduce_of(r.primitive).accumulators(own)
    ]
