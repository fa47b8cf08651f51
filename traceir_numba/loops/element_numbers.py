"""Numbers of elements in the order of memory, as indices of loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from traceir.ir.jaxpr import Eqn
from traceir_numba.emitters.kinds import AffineIndex, IndexMap
from traceir_numba.loops.body_builder import BodyBuilder
from traceir_numba.loops.indirect_access import NestContext
from traceir_numba.loops.nest import Apply, LoopIndex, Operand, ScalarConstant

Shape = tuple[int, ...]


def number_of(
    nest: NestContext,
    block: BodyBuilder,
    eqn: Eqn,
    indices: IndexMap,
    dimension: int,
) -> Operand:
    """The number that an index along a dimension, or several, give to an element."""
    out = eqn.outputs[0]
    shape, dtype, name = out.aval.shape, out.aval.dtype, nest.names[out]
    apart = dict(eqn.params).get("apart")

    def apply(primitive: str, *args: Operand, kind: str = dtype.name) -> Operand:
        node = Apply(primitive, args, (kind,) * len(args), dtype.name)
        return block.add(node, name, eqn.source)

    if apart is None:
        at = nest.position(block, indices, dimension, name)
        return apply("iota", at, kind="int64")
    assert isinstance(apart, tuple)
    space = nest.cluster.space
    loops = loops_of_number(apart, shape, indices, block.loops, space)
    if loops is not None:
        at = block.add(LoopIndex(loops[0], over=loops[1:]), f"{name}_at")
        return apply("iota", at, kind="int64")
    total: Operand | None = None
    for d, factor in enumerate(apart):
        if not factor or shape[d] == 1:
            continue
        at = nest.position(block, indices, d, name)
        one = apply("iota", at, kind="int64")
        if factor != 1:
            times = str(np.asarray(factor).astype(dtype))
            one = apply("mul", one, ScalarConstant(times, dtype.name))
        total = one if total is None else apply("add", total, one)
    return ScalarConstant("0", dtype.name) if total is None else total


def loops_of_number(
    apart: Shape, shape: Shape, indices: IndexMap, loops: Sequence[int], space: Shape
) -> tuple[int, ...] | None:
    """The loops that count elements of a shape as their numbers do; None if none.

    `apart` says how far apart elements of each dimension are, `indices` which elements
    are meant; `space` are the extents of all loops.
    """
    moving = [d for d, k in enumerate(apart) if k and shape[d] > 1]
    found = []
    for d in moving:
        index = indices[d]
        if index.dim is None or index != AffineIndex(index.dim):
            return None
        found.append(loops[index.dim])
    beside = all(b == a + 1 for a, b in pairwise(found))
    whole = all(
        space[k] == shape[d] for k, d in zip(found[1:], moving[1:], strict=True)
    )
    return (
        tuple(found) if found and beside and whole and apart[moving[-1]] == 1 else None
    )
