"""Nests specialized to extents: constants, lanes, blocks.

None of it changes a bit of the results.

Kernels for fewer than 2,048 points know no extents; with more of them a short loop pays
for code of its own. A long body is one chain of operations that wait for each other:
with many points, four vectors of them (two, of very long bodies) are computed
interleaved, so that the processor finds other work in between; with few, the shorter
code compiles faster.

Rows of up to 512 elements have their length as a constant if there are many; shorter
launches mask what lies beyond the end of the last vector where the processor can. Where
an element is read a few elements past another one, so many are a constant, too.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from traceir_numba import cost_model
from traceir_numba.emitters.kinds import reduce_of
from traceir_numba.loops.nest import (
    Access,
    Apply,
    ClampIndex,
    IndexInBounds,
    LoopNest,
    accesses,
    map_accesses,
)
from traceir_numba.runtime.mcjit import processor

Shape = tuple[int, ...]


def specialize(nest: LoopNest, extents: Shape, params: tuple[int, ...]) -> LoopNest:
    """The nest with short loops' extents, and short strides, as constants.

    The loops outside of them then vectorise. Small launches keep the common kernel,
    which gives the same bits.
    """
    if prod(extents) < cost_model.SPECIALIZED_POINTS or nest.scan_direction:
        return nest
    nest = _with_neighbours(nest, params)
    nest = replace(nest, constants=_known_numbers(nest, params))
    if nest.form == "whole":
        return replace(nest, long=_are_long(nest, extents))
    fixed = _unrolled(nest, extents)
    folded = [d for d, fold in enumerate(nest.reduced) if fold]
    blocks = short = known = masked = long = False
    match nest.form:
        case "rows":
            # Several lines for a result are folded in lanes, even where each is short.
            short = (
                len(folded) == 1
                and folded[0] in fixed
                and extents[-1] <= _most_sequential(nest, cost_model.SEQUENTIAL_ROW)
            )
            known = not short and _has_fixed_length(nest, extents, folded)
            long = not known and _are_long(nest, extents)
            few = extents[-1] <= cost_model.SEQUENTIAL_ROW
            some = long or (not few and extents[-1] <= cost_model.SHORT_ROW)
            masked = not (short or known) and some and has_masks()
            length = {nest.rank - 1: extents[-1]} if known else {}
            fixed = fixed if short else length
        case "map" if not fixed and _has_known_rows(nest, extents):
            fixed = {nest.rank - 1: extents[-1]}
        case "columns":
            short = all(d in fixed for d in folded)
            blocks = not short and _in_blocks(nest, extents)
            if not short:
                few = _are_few(nest, extents, folded)
                fixed = {nest.rank - 1: extents[-1]} if few else {}
    constants = tuple(fixed.get(d) for d in range(nest.rank)) if fixed else ()
    return replace(
        nest,
        extents=constants,
        short=short,
        masked=masked,
        long=long,
        blocks=blocks,
        interleave=_interleave(nest, extents),
    )


def _most_sequential(nest: LoopNest, others: int) -> int:
    """The longest rows that are reduced one element after the other, and side by side.

    Those of searches are, whose result is the same in any order; `others` are shorter.
    """
    every = [r.primitive for one in nest.passes for r in one.reductions]
    searches = bool(every) and all(reduce_of(name).positions for name in every)
    return cost_model.SEARCHED_ROW if searches else others


def _interleave(nest: LoopNest, extents: Shape) -> int:
    """The number of vectors of points that are computed side by side.

    A long body is one chain of operations that wait for each other, and a processor
    cannot look so far ahead that it finds the next points' in between.
    """
    body = weight(nest)
    if (
        prod(extents) < cost_model.FIXED_ROW_ELEMENTS
        or body <= cost_model.INTERLEAVED_COST
    ):
        return 1
    most = cost_model.INTERLEAVED_VECTORS
    return most if body < cost_model.HALF_INTERLEAVED_COST else most // 2


def _known_numbers(nest: LoopNest, params: tuple[int, ...]) -> tuple[int | None, ...]:
    """The parameters that are short strides of the innermost loop, and last places.

    Vectors of every second element are parts of whole ones, if that is known. An index
    that was found to be a place is not clamped to the last one.
    """
    innermost = {access.strides[-1] for access in accesses(nest) if nest.rank}
    last = {n.last for n in nest.nodes if isinstance(n, ClampIndex | IndexInBounds)}
    known = [
        k in last
        or (k in innermost and n != 1 and abs(n) <= cost_model.CONSTANT_STRIDE)
        for k, n in enumerate(params)
    ]
    found = (n if is_known else None for n, is_known in zip(params, known, strict=True))
    return tuple(found) if any(known) else ()


def _with_neighbours(nest: LoopNest, params: tuple[int, ...]) -> LoopNest:
    """The nest in which it is known of places that they lie a few elements past others.

    Their elements are then parts of the same vectors, and one pointer serves for all.
    """

    def start(access: Access) -> int:
        return 0 if access.offset is None else params[access.offset]

    def is_short(access: Access) -> bool:
        *_, last = access.strides or (None,)
        known = (
            isinstance(last, int) and abs(params[last]) <= cost_model.CONSTANT_STRIDE
        )
        return access.width == 1 and (last == () or known)

    places = {*filter(is_short, accesses(nest))}
    first: dict[Access, Access] = {}  # of those that differ in their offset alone
    found: dict[Access, Access] = {}
    for access in sorted(places, key=start):
        alike = replace(access, offset=None)
        before = first.setdefault(alike, access)
        past = start(access) - start(before)
        if past > cost_model.NEIGHBOURS:
            first[alike] = access
        elif past:
            found[access] = replace(before, past=past)
    return map_accesses(nest, lambda a: found.get(a, a)) if found else nest


def _has_fixed_length(nest: LoopNest, extents: Shape, folded: list[int]) -> bool:
    """True if code of their own for rows of this length is worth its compilation.

    Not where several make a result: LLVM keeps accumulators of a loop around straight
    code as numbers, not as vectors.
    """
    return (
        prod(extents) >= cost_model.FIXED_ROW_ELEMENTS
        and 1 < extents[-1] <= cost_model.FIXED_ROW
        and len(folded) == 1
    )


def _has_known_rows(nest: LoopNest, extents: Shape) -> bool:
    """True if code for rows of this length is worth it where nothing is reduced.

    Not where other loops run along memory: both then go in tiles.
    """
    crossed = any(() in access.strides[:-1] for access in accesses(nest))
    return (
        nest.rank > 1
        and prod(extents) >= cost_model.FIXED_ROW_ELEMENTS
        and 1 < extents[-1] <= cost_model.FIXED_ROW
        and not (crossed or nest.ordered)
    )


def _are_long(nest: LoopNest, extents: Shape) -> bool:
    """True if full vectors of long rows are worth code of their own.

    They keep accumulators in registers. An expensive body takes longer than memory.
    """
    cheap = weight(nest) <= cost_model.INTERLEAVED_COST
    return (
        prod(extents) >= cost_model.FIXED_ROW_ELEMENTS
        and extents[-1] > cost_model.SHORT_ROW
        and cheap
    )


def has_masks() -> bool:
    """True if the machine reads parts of vectors, of any dtype."""
    features = processor()[1].split(",")
    return "+avx512f" in features and "+avx512bw" in features


def _are_few(nest: LoopNest, extents: Shape, folded: list[int]) -> bool:
    """True if there are so few columns, so long, that rows are taken side by side."""
    each = prod(extents[d] for d in (*folded, nest.rank - 1))
    return (
        extents[-1] <= cost_model.UNROLLED_POINTS
        and extents[folded[-1]] >= cost_model.INTERLEAVED_ROWS
        and each >= cost_model.SPECIALIZED_POINTS
    )


def few_columns(nest: LoopNest) -> bool:
    """True if few columns were found: their number is then a constant."""
    return not nest.short and nest.fixed(nest.rank - 1) is not None


def _in_blocks(nest: LoopNest, extents: Shape) -> bool:
    """True if there are so few columns, so long, that threads share their rows."""
    if nest.reduced[:-1] != (True,) * (nest.rank - 1):
        return False
    most = cost_model.COLUMN_BLOCK_TILES * cost_model.COLUMN_TILE
    rows = rows_of_block(replace(nest, blocks=True), extents)
    return extents[-1] <= most and extents[0] >= cost_model.COLUMN_BLOCKS * rows


def rows_of_block(nest: LoopNest, extents: Shape) -> int:
    """The number of indices of loop 0 in one block of a reduction.

    A block of columns has so many rows that what it leaves is little beside them.
    """
    rows = cost_model.REDUCTION_BLOCK // max(1, prod(extents[1:]))
    if nest.blocks:
        rows = max(
            rows, -(-cost_model.COLUMN_BLOCK_ROWS // max(1, prod(extents[1:-1])))
        )
    return max(1, rows)


def _unrolled(nest: LoopNest, extents: Shape) -> dict[int, int]:
    """The loops that are unrolled, with their extents: reduced ones before others."""
    fixed: dict[int, int] = {}
    most = _most_sequential(nest, cost_model.UNROLLED_POINTS)
    body = weight(nest)
    if most > cost_model.UNROLLED_POINTS:
        body += cost_model.SEARCH_COST - len(accesses(nest))
    most = min(most, cost_model.UNROLLED_INSTRUCTIONS // max(1, body))
    for d in sorted(range(nest.rank), key=lambda d: (not nest.reduced[d], -d)):
        if _unrolls(nest, d) and prod(fixed.values()) * extents[d] <= most:
            fixed[d] = extents[d]
    return fixed if len(fixed) < nest.rank else {}


def _unrolls(nest: LoopNest, d: int) -> bool:
    """True if a short loop is better within all others.

    The innermost one, those that are reduced, and those along which memory is read.
    """
    if d == nest.rank - 1 or nest.reduced[d]:
        return True
    return any(access.strides[d] == () for access in accesses(nest))


def weight(nest: LoopNest) -> int:
    """About how many instructions a point of the loops takes."""
    nodes = (n for one in nest.passes for n in one.body if isinstance(n, Apply))
    costs = (cost_model.operation_cost(n.primitive) for n in nodes)
    return len(accesses(nest)) + sum(costs)
