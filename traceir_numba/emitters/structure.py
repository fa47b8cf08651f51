"""Where a structural primitive's elements come from, as maps of indices."""

from __future__ import annotations

from traceir.ir import Eqn
from traceir_numba.emitters.entry import (
    Expression,
    Generator,
    Index,
    Map,
    Parts,
    View,
    register,
)

HERE = Index(None)


def pointwise_map(indices: Map, shape: tuple[int, ...], out: tuple[int, ...]) -> Map:
    """The map of an operand that is a scalar or is stretched from extents of 1."""
    if shape == out:
        return indices
    if not shape:
        return ()
    return tuple(
        HERE if n == 1 != m else index
        for index, n, m in zip(indices, shape, out, strict=True)
    )


def broadcast_in_dim(eqn: Eqn, indices: Map) -> Map:
    """An extent of 1 is read again and again."""
    shape = eqn.inputs[0].aval.shape
    target = eqn.outputs[0].aval.shape
    return tuple(
        HERE if n == 1 != target[d] else indices[d]
        for n, d in zip(shape, eqn.param("broadcast_dimensions"), strict=True)
    )


def transpose(eqn: Eqn, indices: Map) -> Map:
    """Dimensions in another order."""
    permutation = eqn.param("permutation")
    return tuple(indices[permutation.index(k)] for k in range(len(permutation)))


def squeeze(eqn: Eqn, indices: Map) -> Map:
    """Dimensions of extent 1 come back."""
    rank = len(eqn.inputs[0].aval.shape)
    removed = {d % rank for d in eqn.param("dimensions")}
    rest = iter(indices)
    return tuple(HERE if d in removed else next(rest) for d in range(rank))


def rev(eqn: Eqn, indices: Map) -> Map:
    """The last element comes first."""
    shape, dimensions = eqn.inputs[0].aval.shape, eqn.param("dimensions")
    return tuple(
        Index(index.dim, n - 1 - index.start, -index.step) if d in dimensions else index
        for d, (index, n) in enumerate(zip(indices, shape, strict=True))
    )


def slice_(eqn: Eqn, indices: Map) -> Map:
    """Starts and strides."""
    starts = eqn.param("start_indices")
    steps = eqn.param("strides") or (1,) * len(starts)
    return tuple(
        Index(index.dim, start + step * index.start, step * index.step)
        for index, start, step in zip(indices, starts, steps, strict=True)
    )


def reshape(eqn: Eqn, indices: Map) -> Map | None:
    """Linear where only dimensions of extent 1 come and go."""
    shape = eqn.inputs[0].aval.shape
    target = eqn.outputs[0].aval.shape
    if [n for n in shape if n != 1] != [n for n in target if n != 1]:
        return None
    rest = iter(i for i, n in zip(indices, target, strict=True) if n != 1)
    return tuple(HERE if n == 1 else next(rest) for n in shape)


register("broadcast_in_dim", View(broadcast_in_dim))
register("transpose", View(transpose, reorders=True))
register("squeeze", View(squeeze))
register("rev", View(rev))
register("slice", View(slice_))
register("reshape", View(reshape))


def iota(e: Expression, position: str) -> str:
    """The index as a number."""
    return position if e.dtype == "int64" else e.cast(position)


register("iota", Generator(lambda eqn: int(eqn.param("dimension")), iota))


def concatenate(eqn: Eqn, number: int) -> Map:
    """Each operand starts where the one before ends."""
    dimension = eqn.param("dimension")
    start = sum(x.aval.shape[dimension] for x in eqn.inputs[:number])
    rank = len(eqn.inputs[0].aval.shape)
    return tuple(Index(d, start if d == dimension else 0) for d in range(rank))


def stack(eqn: Eqn, number: int) -> Map:
    """Each operand has one index of the new dimension."""
    axis = eqn.param("axis")
    indices = [Index(d) for d in range(len(eqn.inputs[0].aval.shape))]
    return (*indices[:axis], Index(None, number), *indices[axis:])


register("concatenate", Parts(concatenate))
register("stack", Parts(stack))
