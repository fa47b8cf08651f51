"""Structural primitives as index maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var
from traceir_numba import cost_model
from traceir_numba.emitters.decompositions import DecompositionBuilder, params_of
from traceir_numba.emitters.kinds import (
    AffineIndex,
    Concat,
    ExpressionContext,
    IndexGenerator,
    IndexMap,
    View,
    register,
)

HERE = AffineIndex(None)


def pointwise_map(
    indices: IndexMap, shape: tuple[int, ...], out: tuple[int, ...]
) -> IndexMap:
    """The map of an operand that is a scalar or is stretched from extents of 1."""
    if shape == out:
        return indices
    if not shape:
        return ()
    return tuple(
        HERE if n == 1 != m else index
        for index, n, m in zip(indices, shape, out, strict=True)
    )


def broadcast_in_dim(eqn: Eqn, indices: IndexMap) -> IndexMap:
    """An extent of 1 is read again and again."""
    shape = eqn.inputs[0].aval.shape
    target = eqn.outputs[0].aval.shape
    return tuple(
        HERE if n == 1 != target[d] else indices[d]
        for n, d in zip(shape, eqn.param("broadcast_dimensions"), strict=True)
    )


def transpose(eqn: Eqn, indices: IndexMap) -> IndexMap:
    """Dimensions in another order."""
    permutation = eqn.param("permutation")
    return tuple(indices[permutation.index(k)] for k in range(len(permutation)))


def squeeze(eqn: Eqn, indices: IndexMap) -> IndexMap:
    """Dimensions of extent 1 come back."""
    rank = len(eqn.inputs[0].aval.shape)
    removed = {d % rank for d in eqn.param("dimensions")}
    rest = iter(indices)
    return tuple(HERE if d in removed else next(rest) for d in range(rank))


def rev(eqn: Eqn, indices: IndexMap) -> IndexMap:
    """The last element comes first."""
    shape, dimensions = eqn.inputs[0].aval.shape, eqn.param("dimensions")
    return tuple(
        index.times(-1, n - 1) if d in dimensions else index
        for d, (index, n) in enumerate(zip(indices, shape, strict=True))
    )


def slice_(eqn: Eqn, indices: IndexMap) -> IndexMap:
    """Starts and strides."""
    starts = eqn.param("start_indices")
    steps = eqn.param("strides") or (1,) * len(starts)
    return tuple(
        index.times(step, start)
        for index, start, step in zip(indices, starts, steps, strict=True)
    )


def reshape(eqn: Eqn, indices: IndexMap) -> IndexMap | None:
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


def iota(e: ExpressionContext, position: str) -> str:
    """The index as a number."""
    return position if e.dtype == "int64" else e.cast(position)


register("iota", IndexGenerator(lambda eqn: int(eqn.param("dimension")), iota))

# The equation that makes an operand by a primitive, if it is made so.
Producer = Callable[[Atom, str], Eqn | None]


def as_number(eqn: Eqn, producer: Producer) -> Eqn | None:
    """A sum of indices as an `iota` over several dimensions; None for other sums.

    A counter of random numbers is the sum of products of indices. As one `iota`, whose
    own param `apart` says how far apart elements of each dimension are, it is the index
    of one loop where the loops are one: `loops.element_numbers`. `producer` gives the
    equation that makes an operand by a primitive.
    """
    out = eqn.outputs[0].aval
    if out.dtype.kind not in "iu":
        return None
    parts = [_apart(a, out.shape, producer) for a in eqn.inputs]
    if None in parts:
        return None
    apart = tuple(map(sum, zip(*parts, strict=True)))
    moving = [d for d, k in enumerate(apart) if k]
    nested = (apart[d] == apart[e] * out.shape[e] for d, e in pairwise(moving))
    if len(moving) < 2 or not all(nested):
        return None
    own = {"dimension": moving[-1], "apart": apart}
    return replace(eqn, primitive="iota", inputs=(), params=params_of("iota", out, own))


def nested_update(eqn: Eqn, producer: Producer) -> list[Eqn] | None:
    """A write into a slice that is written back where it was, as one write.

    So plain functions write to views of views.
    """
    base, part, *starts = eqn.inputs
    inner = producer(part, "dynamic_update_slice")
    cut = inner and producer(inner.inputs[0], "slice")
    if not (inner and cut and cut.inputs[0] == base) or cut.param("strides"):
        return None
    new, own, places = inner.inputs[1], _numbers(inner.inputs[2:]), _numbers(starts)
    if len(own) < len(starts) or (*places,) != cut.param("start_indices"):
        return None
    room = (n - m for n, m in zip(part.aval.shape, new.aval.shape, strict=True))
    inside = (max(0, min(k, n)) for k, n in zip(own, room, strict=True))
    sums = zip(starts, places, inside, strict=True)
    moved = (Literal(a.aval.dtype.type(p + k), a.aval) for a, p, k in sums)
    return [replace(eqn, inputs=(base, new, *moved))]


def transposed_update(eqn: Eqn, producer: Producer) -> list[Eqn] | None:
    """A write into a transposed array that is transposed back, as a write to that."""
    order = eqn.param("permutation")
    update = producer(eqn.inputs[0], "dynamic_update_slice")
    there = update and producer(update.inputs[0], "transpose")
    if not (update and there):
        return None
    if [there.param("permutation")[k] for k in order] != [*range(len(order))]:
        return None
    new, starts = update.inputs[1], update.inputs[2:]
    back = Var(new.aval.update(shape=tuple(new.aval.shape[k] for k in order)))
    inputs = (there.inputs[0], back, *(starts[k] for k in order))
    return [
        replace(eqn, inputs=(new,), outputs=(back,)),
        replace(update, inputs=inputs, outputs=(Var(eqn.outputs[0].aval),)),
    ]


def _numbers(atoms: Sequence[Atom]) -> list[int]:
    return [int(a.value) for a in atoms if isinstance(a, Literal)]


def _apart(
    atom: Atom, shape: tuple[int, ...], producer: Producer
) -> tuple[int, ...] | None:
    """The distances of elements along each dimension, in a number times an index."""
    if atom.aval.shape != shape:
        return None
    factor = 1
    product = producer(atom, "mul")
    if product is not None:
        atom, times = sorted(product.inputs, key=lambda a: isinstance(a, Literal))
        if not isinstance(times, Literal):
            return None
        factor = int(times.array)
    made = producer(atom, "iota")
    if made is None:
        return None
    one = tuple(int(d == made.param("dimension")) for d in range(len(shape)))
    apart = dict(made.params).get("apart", one)
    assert isinstance(apart, tuple)
    return tuple(factor * k for k in apart)


def concatenate(eqn: Eqn, number: int) -> IndexMap:
    """Each operand starts where the one before ends."""
    dimension = eqn.param("dimension")
    start = sum(x.aval.shape[dimension] for x in eqn.inputs[:number])
    rank = len(eqn.inputs[0].aval.shape)
    return tuple(AffineIndex(d, start if d == dimension else 0) for d in range(rank))


def stack(eqn: Eqn, number: int) -> IndexMap:
    """Each operand has one index of the new dimension."""
    axis, lanes = eqn.param("axis"), _lanes(eqn)
    indices = [AffineIndex(d) for d in range(len(eqn.inputs[0].aval.shape))]
    last = [AffineIndex(None, number % lanes)] if lanes > 1 else []
    return (*indices[:axis], AffineIndex(None, number // lanes), *indices[axis:], *last)


def _lanes(eqn: Eqn) -> int:
    """The number of operands that lie element beside element, in a last dimension."""
    return next((int(str(value)) for name, value in eqn.params if name == "lanes"), 1)


def part_of(index: AffineIndex, start: int, extent: int) -> AffineIndex | None:
    """An index counted from `start`, within an extent."""
    first = index.start - start
    if index.dim is None:
        return replace(index, start=first) if 0 <= first < extent else None
    if index.step > 0:
        low, high = -(first // index.step), -((first - extent) // index.step)
    else:
        low, high = (first - extent) // -index.step + 1, first // -index.step + 1
    before = index.within or (0, high)
    low, high = max(low, before[0], 0), min(high, before[1])
    return replace(index, start=first, within=(low, high)) if low < high else None


def of_concatenate(
    eqn: Eqn, number: int, indices: IndexMap
) -> tuple[IndexMap, AffineIndex] | None:
    """An operand's own index along the dimension."""
    d = eqn.param("dimension")
    start = concatenate(eqn, number)[d].start
    index = part_of(indices[d], start, eqn.inputs[number].aval.shape[d])
    return None if index is None else ((*indices[:d], index, *indices[d + 1 :]), index)


def of_stack(
    eqn: Eqn, number: int, indices: IndexMap
) -> tuple[IndexMap, AffineIndex] | None:
    """The other indices, where that of the new dimension is the operand's number."""
    axis = eqn.param("axis")
    index = part_of(indices[axis], number, 1)
    rest = (*indices[:axis], *indices[axis + 1 :])
    return None if index is None else (rest, index)


def beside_one_another(eqn: Eqn) -> ClosedJaxpr | None:
    """Operands that are a few columns each as one stack of columns, which are computed
    together: each line of memory is written once. None for others.
    """
    shape = eqn.outputs[0].aval.shape
    last = len(shape) - 1
    if (
        eqn.param("dimension") != last
        or not 1 < shape[last] <= cost_model.MIXED_COLUMNS
        or prod(shape) <= cost_model.CONCAT_ELEMENTS
    ):
        return None
    build = DecompositionBuilder(eqn)
    columns = []
    for x in build.operands:
        for k in range(x.aval.shape[last]):
            starts, stops = (*(0 for _ in shape[:last]), k), (*shape[:last], k + 1)
            column = build.sliced(x, starts, stops)
            columns.append(build.reshaped(column, shape[:last]))
    return build.finish(build.bind("stack", *columns, axis=last, mixed=True))


register("concatenate", Concat(concatenate, of_concatenate, program=beside_one_another))


def is_mixed(eqn: Eqn) -> bool:
    """True if operands are computed together: marked ones, and a few columns."""
    shape = eqn.outputs[0].aval.shape
    return ("mixed", True) in eqn.params or (
        eqn.param("axis") == len(shape) - 1
        and len(eqn.inputs) <= cost_model.MIXED_COLUMNS
        and prod(shape) > cost_model.CONCAT_ELEMENTS
    )


register("stack", Concat(stack, of_stack, is_mixed))
