"""Collectives over the mapped axis, as movements of data.

Over other axes a collective is batched as its row says. Serves: batch.collective
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.ir.jaxpr import Params, sort_params
from traceir.tracing.trace import Value, bind, bind_all, typeof
from traceir.transforms.rules.axes import move, place_at
from traceir.transforms.rules.registry import BatchAxis, Batched, Dim, Dims, Values

ParamDict = dict[str, Any]
# A value, and its batched dimension.
Placed = tuple[Value, Dim]
# Operand, its batched dimension, the axis, params -> result and its dimension.
OwnRule = Callable[[Value, Dim, BatchAxis, ParamDict], Placed]


def over_axis(
    primitive: str, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """A collective over the batched axis, maybe among others.

    >>> import numpy as np
    >>> x, axis = np.ones((2, 3), "float32"), BatchAxis("i", 2)
    >>> groups = {"axis_index_groups": None}
    >>> over_axis("psum", axis, [x], [0], sort_params({"axes": ("i",), **groups}))
    ([Array([2., 2., 2.], dtype=float32)], [None])
    """
    operand, dim = (values[0], dims[0]) if values else (None, None)
    result, target = OWN[primitive](operand, dim, axis, dict(params))
    return [result], [target]


def folded(primitive: str, repeated: Callable[[Value, int], Value]) -> OwnRule:
    """The rule of a fold: of equal examples it is `repeated`, else over a dimension."""

    def rule(value: Value, dim: Dim, axis: BatchAxis, params: ParamDict) -> Placed:
        axes = params["axes"]
        if dim is None:
            left = tuple(a for a in axes if a != axis.name)
            same = repeated(value, axis.size)
            return (_fold(primitive, same, params, left) if left else same), None
        numbers = tuple(_in_batch(a, axis) for a in axes)
        return _fold(primitive, move(value, dim, 0), params, numbers), None

    return rule


def _in_batch(name: Any, axis: BatchAxis) -> Any:
    """An axis of the example as one of the batch, whose examples come first."""
    if name == axis.name:
        return 0
    return name + 1 if isinstance(name, int) else name


def _fold(
    primitive: str, value: Value, params: ParamDict, axes: tuple[Any, ...]
) -> Value:
    return bind_all(primitive, [value], sort_params({**params, "axes": axes}))[0]


def psum_invariant(
    value: Value, dim: Dim, axis: BatchAxis, params: ParamDict
) -> Placed:
    """The sum of a value that varies: no type tells that it did."""
    return OWN["psum"](value, dim, axis, {**params, "axis_index_groups": None})


def times(value: Value, size: int) -> Value:
    """A sum of equal examples.

    >>> times(1.5, 4)
    Array(6., dtype=float32, weak_type=True)
    """
    return bind("mul", number(size, value), value)


def number(number: int, like: Value) -> Value:
    """A number of a value's dtype, weak if the value is."""
    aval = typeof(like)
    scalar = np.asarray(number, aval.dtype)[()]
    return scalar.item() if aval.weak_type else scalar


def same(value: Value, size: int) -> Value:
    """An extreme of equal examples is that of one."""
    return value


def all_gather(value: Value, dim: Dim, axis: BatchAxis, params: ParamDict) -> Placed:
    """The examples along a dimension of their own, or joined along one of theirs."""
    _only(axis, params)
    target = params["all_gather_dimension"]
    gathered = place_at(value, dim, axis.size, target)
    return (_merged(gathered, target) if params["tiled"] else gathered), None


def reduce_scatter(
    value: Value, dim: Dim, axis: BatchAxis, params: ParamDict
) -> Placed:
    """The sum of the examples, of which each gets its part."""
    _only(axis, params)
    target = params["scatter_dimension"]
    if dim is None:
        total = bind("mul", value, number(axis.size, value))
    else:
        total = bind("reduce_sum", value, axes=(dim,))
    return (_split(total, target, axis.size) if params["tiled"] else total), target


def ppermute(value: Value, dim: Dim, axis: BatchAxis, params: ParamDict) -> Placed:
    """The examples in another order; zeros for one that nothing is sent to."""
    _only(axis, params)
    perm = params["perm"]
    if any(k >= axis.size for pair in perm for k in pair):
        got = f"{perm} over {axis.size} examples"
        raise rules.error("axis.permutation", got=got)
    at = 0 if dim is None else dim
    batch = place_at(value, dim, axis.size, at)
    sources = {target: source for source, target in perm}
    wanted = [sources.get(k) for k in range(axis.size)]
    parts = [_part(batch, at, first, count) for first, count in _runs(wanted)]
    if len(parts) == 1:
        return parts[0], at
    return bind("concatenate", *parts, dimension=at), at


def _runs(wanted: Sequence[int | None]) -> Iterator[tuple[int | None, int]]:
    """Numbers that follow one another, and places without one, put together."""
    k = 0
    while k < len(wanted):
        first, count = wanted[k], 1
        while k + count < len(wanted):
            follows = None if first is None else first + count
            if wanted[k + count] != follows:
                break
            count += 1
        yield first, count
        k += count


def _part(batch: Value, dim: int, first: int | None, count: int) -> Value:
    """A part of a batch along a dimension; zeros if it has no first element."""
    shape = typeof(batch).shape
    if first is None:
        zero = np.zeros((), typeof(batch).dtype)[()]
        extents = (*shape[:dim], count, *shape[dim + 1 :])
        return bind("broadcast_in_dim", zero, shape=extents, broadcast_dimensions=())
    if count == shape[dim]:
        return batch
    starts, limits = [0] * len(shape), list(shape)
    starts[dim], limits[dim] = first, first + count
    return bind(
        "slice", batch, start_indices=tuple(starts), limit_indices=tuple(limits)
    )


def all_to_all(value: Value, dim: Dim, axis: BatchAxis, params: ParamDict) -> Placed:
    """Each example's part for another becomes that one's part from it."""
    split, joined = params["split_axis"], params["concat_axis"]
    if split == joined:
        return _exchanged(value, dim, axis, split)
    merged = _merged(place_at(value, dim, axis.size, joined), joined)
    return _split(merged, split, axis.size), split


def _exchanged(value: Value, dim: Dim, axis: BatchAxis, split: int) -> Placed:
    """The parts of a dimension change places with the examples."""
    at = 0 if dim is None else dim
    here = split + (at <= split)
    parts = _split(place_at(value, dim, axis.size, at), here, axis.size)
    examples = at + (here < at)
    order = list(range(typeof(parts).ndim))
    order[here], order[examples] = examples, here
    swapped = bind("transpose", parts, permutation=tuple(order))
    return _merged(swapped, here), at


def axis_index(value: Value, dim: Dim, axis: BatchAxis, params: ParamDict) -> Placed:
    """The number of each example."""
    dtype = np.dtype("int32")
    return bind("iota", dimension=0, dtype=dtype, shape=(axis.size,)), 0


def pvary(value: Value, dim: Dim, axis: BatchAxis, params: ParamDict) -> Placed:
    """The same examples: that they may differ is told by types alone.

    Over other axes the rest is still to be told.
    """
    left = tuple(a for a in params["axes"] if a != axis.name)
    return (bind("pvary", value, axes=left) if left else value), dim


def _only(axis: BatchAxis, params: ParamDict) -> None:
    # Functions over several names apply the primitive name by name.
    assert params["axis_name"] == (axis.name,)


def _merged(value: Value, dim: int) -> Value:
    """Two dimensions as one."""
    shape = typeof(value).shape
    sizes = (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :])
    return bind("reshape", value, new_sizes=sizes)


def _split(value: Value, dim: int, count: int) -> Value:
    """A dimension as `count` parts of it, along a dimension of their own before it."""
    shape = typeof(value).shape
    sizes = (*shape[:dim], count, shape[dim] // max(count, 1), *shape[dim + 1 :])
    return bind("reshape", value, new_sizes=sizes)


OWN: dict[str, OwnRule] = {
    "psum": folded("psum", times),
    "psum_invariant": psum_invariant,
    "pmax": folded("pmax", same),
    "pmin": folded("pmin", same),
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "ppermute": ppermute,
    "all_to_all": all_to_all,
    "axis_index": axis_index,
    "pvary": pvary,
}
