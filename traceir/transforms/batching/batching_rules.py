"""Batching rules, one per class of primitives. Serves: batch.*

A rule applies the primitive once, to operands that have one dimension more. It moves
operands only where it must, since a moved array is a copied one.

Rules about the axis itself are in `collectives`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from traceir import rules
from traceir.ir.jaxpr import ClosedJaxpr, Params, programs_in, sort_params
from traceir.rules import Prim
from traceir.tracing.trace import Value, bind_all, typeof
from traceir.transforms.batching.collectives import over_axis
from traceir.transforms.batching.placed import (
    apply,
    apply_at,
    apply_placed,
    example_shape,
    operand_names,
)
from traceir.transforms.batching.rank_collectives import over_ranks
from traceir.transforms.rules.axes import move, stretch
from traceir.transforms.rules.registry import (
    BATCH,
    BatchAxis,
    Batched,
    Dim,
    Dims,
    Mask,
    Values,
)

ClassRule = Callable[[Prim, BatchAxis, Values, Dims, Params], Batched]


def batching_rule(
    primitive: str, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """Batch a primitive by the class that its row names.

    >>> import numpy as np
    >>> x, axis = np.ones((2, 3), "float32"), BatchAxis(None, 2)
    >>> batching_rule("mul", axis, [x, 2.0], [0, None], ())
    ([Array([[2., 2., 2.],
           [2., 2., 2.]], dtype=float32)], (0,))
    """
    row = rules.default().prims[primitive]
    assert row.batch is not None  # each row has the column, by a test
    if not any(d is not None for d in dims) and row.batch.rule not in _OF_THE_AXIS:
        return constant(row, axis, values, dims, params)
    return CLASSES[row.batch.rule](row, axis, values, dims, params)


def pointwise(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """Element by element: scalars and extents of 1 stretch by themselves."""
    dim = _common(values, dims, _unbatched_scalars(values, dims))
    if dim is None:
        lined = [_in_front(v, d) for v, d in zip(values, dims, strict=True)]
        rank = max(typeof(v).ndim for v in lined)
        values = [
            _to_rank(v, rank) if d is not None else v
            for v, d in zip(lined, dims, strict=True)
        ]
        dim = 0
    return apply(row, values, params, dim)


def aligned(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """Operands of one shape, beside which some may be scalars."""
    assert row.batch is not None
    may = [name in row.batch.scalars for name in operand_names(row, len(values))]
    scalars = _unbatched_scalars(values, dims)
    stay = [m and s for m, s in zip(may, scalars, strict=True)]
    dim = _common(values, dims, stay)
    if dim is not None:
        return apply(row, values, params, dim)
    if stay != may:  # one of them has to be stretched, and so all have
        stay = [False] * len(values)
    shapes = [example_shape(v, d) for v, d in zip(values, dims, strict=True)]
    shape = (axis.size, *max(shapes, key=len))
    lined = list(values)
    # As the field's texts have it: scalars that are stretched come last.
    for k in sorted(range(len(values)), key=scalars.__getitem__):
        if not stay[k]:
            lined[k] = _to_shape(values[k], dims[k], shape)
    full = [
        v if s or typeof(v).shape == shape else stretch(v, shape, (0,))
        for v, s in zip(lined, stay, strict=True)
    ]
    return apply(row, full, params, 0)


def anywhere(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """The batched dimension may stand anywhere, if in all operands in one place."""
    assert row.batch is not None
    names = operand_names(row, len(values))
    own = [d for d, n in zip(dims, names, strict=True) if n not in row.batch.shared]
    dim = own[0]
    moved = dim is None or any(d != dim for d in own)
    to = 0 if dim is None or moved else dim
    return apply_placed(row, axis, values, dims, params, to, moved)


def front(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """Batch with the batched dimension first."""
    return apply_placed(row, axis, values, dims, params, 0, True)


def together(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """All operands have the batched dimension where the first batched one has it."""
    dim = next(d for d in dims if d is not None)
    return apply_placed(row, axis, values, dims, params, dim, True)


def contraction(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """A sum of products: a batched dimension becomes a batch dimension of both
    operands, or a free one of the only operand that has it."""
    known: dict[str, Any] = dict(params)
    (lc, rc), (lb, rb) = known["dimension_numbers"]
    left, right = dims
    lhs = [_around(axes, left) for axes in (lc, lb)]
    rhs = [_around(axes, right) for axes in (rc, rb)]
    if left is not None and right is not None:
        lhs[1], rhs[1] = (left, *lhs[1]), (right, *rhs[1])
        dim = 0
    elif left is not None:
        before = {*lhs[0], *lhs[1]}
        dim = len(lb) + sum(a not in before for a in range(left))
    else:
        assert right is not None  # one operand is batched
        before = {*rhs[0], *rhs[1]}
        free = typeof(values[0]).ndim - len(lc)  # with the batch dimensions
        dim = free + sum(a not in before for a in range(right))
    known["dimension_numbers"] = ((lhs[0], rhs[0]), (lhs[1], rhs[1]))
    return apply(row, values, sort_params(known), dim)


def constant(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """Without operands of several examples there is nothing to batch."""
    results = bind_all(row.name, values, params)
    return results, [None] * len(results)


def collective(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """About all examples where it names the axis; over others as the row says."""
    if axis.name is not None and axis.name in named_axes(row.name, params):
        over = over_axis if axis.ranks is None else over_ranks
        return over(row.name, axis, values, dims, params)
    [dim] = dims
    if dim is None:
        return constant(row, axis, values, dims, params)
    return apply_at(row, axis, values[0], dim, params)


def region(
    row: Prim, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """Batch by a rule of the primitive's own."""
    return BATCH[row.name](axis, values, dims, params)


CLASSES: dict[str, ClassRule] = {
    rule.__name__: rule
    for rule in (
        pointwise,
        aligned,
        anywhere,
        front,
        together,
        contraction,
        constant,
        collective,
        region,
    )
}

# What an example knows of an axis without the others.
_ALONE = frozenset({"axis_index", "pvary"})
# Rules for which an axis matters that no operand has.
_OF_THE_AXIS = frozenset({"collective", "region"})


def named_axes(primitive: str, params: Params) -> tuple[Any, ...]:
    """The names of axes in an application's params, and in the programs there.

    >>> named_axes("psum", (("axes", ("i", 0)), ("axis_index_groups", None)))
    ('i',)
    """
    found = _own_axes(primitive, params)
    for closed in programs_in(params):
        found += closed.memo("named axes", partial(_axes_within, closed))
    return tuple(found)


def _own_axes(primitive: str, params: Params) -> list[Any]:
    """The names of axes in an application's params."""
    known = dict(params)
    found: list[Any] = []
    for name, several in _axis_params(primitive):
        given: Any = known[name]
        found += [v for v in (given if several else (given,)) if type(v) is not int]
    return found


def waits_for(closed: ClosedJaxpr, axis: Hashable) -> str:
    """The name of a collective in which examples along an axis wait for one another,
    in a program or in those within; "" if there is none."""
    for eqn in closed.eqns:
        asked = eqn.primitive not in _ALONE
        if asked and axis in _own_axes(eqn.primitive, eqn.params):
            return str(eqn.primitive)
        for inner in programs_in(eqn.params):
            if found := waits_for(inner, axis):
                return found
    return ""


def _axes_within(closed: ClosedJaxpr) -> tuple[Any, ...]:
    every = [named_axes(eqn.primitive, eqn.params) for eqn in closed.eqns]
    return tuple(dict.fromkeys(itertools.chain(*every)))


@functools.cache
def _axis_params(primitive: str) -> tuple[tuple[str, bool], ...]:
    """The params that name axes, and whether each names several."""
    row = rules.default().prims.get(primitive)
    listed = () if row is None else row.params
    several = {"axis_names": True, "axis_name": False}
    return tuple((p.name, several[p.domain]) for p in listed if p.domain in several)


# --- what the rules share -------------------------------------------------------------


def _unbatched_scalars(values: Values, dims: Dims) -> list[bool]:
    pairs = zip(values, dims, strict=True)
    return [d is None and not typeof(v).ndim for v, d in pairs]


def _common(values: Values, dims: Dims, left_out: Mask) -> Dim:
    """The batched dimension of all operands of one shape; None if there is none.

    Those left out do not count.
    """
    rest = [
        (d, typeof(v).shape)
        for v, d, out in zip(values, dims, left_out, strict=True)
        if not out
    ]
    return rest[0][0] if len(set(rest)) == 1 else None


def _in_front(value: Value, dim: Dim) -> Value:
    """The batched dimension first; an extent of 1, which stretches, where none is."""
    if dim is not None:
        return move(value, dim, 0)
    shape = typeof(value).shape
    if not shape:
        return value
    return stretch(value, (1, *shape), range(1, len(shape) + 1))


def _to_rank(value: Value, rank: int) -> Value:
    """The batch with extents of 1 at the end: scalars beside arrays."""
    shape = typeof(value).shape
    if len(shape) == rank:
        return value
    missing = (1,) * (rank - len(shape))
    return stretch(value, shape + missing, range(len(shape)))


def _to_shape(value: Value, dim: Dim, shape: tuple[int, ...]) -> Value:
    """The batched dimension first; an unbatched value has the whole shape at once."""
    if dim is not None:
        return move(value, dim, 0)
    rank = typeof(value).ndim
    return stretch(value, shape, range(len(shape) - rank, len(shape)))


def _around(axes: Sequence[int], dim: Dim) -> tuple[int, ...]:
    """Axes of an example as axes of the batch."""
    return tuple(a if dim is None or a < dim else a + 1 for a in axes)
