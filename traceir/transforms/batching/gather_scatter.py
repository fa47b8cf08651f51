"""Batching rules of gathers, scatters and dynamic slices. Serves: batch.indexed

A box at a place that differs from example to example is a window of `gather` or
`scatter`, for which the batch is one more dimension: of windows, of rows, or of both.
"""

from __future__ import annotations

from typing import Any

from traceir.base.config import local
from traceir.ir.jaxpr import Params, sort_params
from traceir.tracing.trace import Value, bind, bind_all, typeof
from traceir.transforms.rules.axes import at_front, move, stretch
from traceir.transforms.rules.derivative_templates import filled
from traceir.transforms.rules.registry import (
    BATCH,
    BatchAxis,
    Batched,
    Dim,
    Dims,
    Values,
)

Shape = tuple[int, ...]
CLIP = "GatherScatterMode.CLIP"
PROMISE = "GatherScatterMode.PROMISE_IN_BOUNDS"


def _after(axes: Shape) -> Shape:
    """Axes of an example as those of a batch whose dimension is the first."""
    return tuple(a + 1 for a in axes)


def _rows(starts: Values, dims: Dims, size: int) -> tuple[Value, Dim]:
    """Starts as one row of indices, or as one for each example."""
    lead = () if all(d is None for d in dims) else (size,)
    kept = [() if d is None else (0,) for d in dims]
    parts = [stretch(s, (*lead, 1), k) for s, k in zip(starts, kept, strict=True)]
    if len(parts) > 1:
        parts = [bind("concatenate", *parts, dimension=len(lead))]
    return parts[0], 0 if lead else None


def _of_boxes(rank: int) -> tuple[Shape, ...]:
    """The numbers of dimensions where a row is a place in every dimension."""
    every = tuple(range(rank))
    return every, (), every, (), ()


def _moved() -> str:
    """The mode of boxes that are moved inside; with `sanitize`, none has to be."""
    return PROMISE if local.context.sanitize else CLIP


def batch_dynamic_slice(
    axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """A gather of one window for each example."""
    sizes: Any = dict(params)["slice_sizes"]
    if not sizes:
        return [values[0]], [dims[0]]
    indices, rows = _rows(values[1:], dims[1:], axis.size)
    given = {
        "dimension_numbers": _of_boxes(len(sizes)),
        "slice_sizes": sizes,
        "indices_are_sorted": True,
        "unique_indices": True,
        "mode": _moved(),
        "fill_value": None,
    }
    return batch_gather(axis, [values[0], indices], [dims[0], rows], sort_params(given))


def batch_dynamic_update_slice(
    axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """A scatter of one window for each example."""
    x, update = values[:2]
    rank = typeof(x).ndim - (dims[0] is not None)
    if not rank:
        return [update], [dims[1]]
    indices, rows = _rows(values[2:], dims[2:], axis.size)
    given = {
        "dimension_numbers": _of_boxes(rank),
        "indices_are_sorted": True,
        "unique_indices": True,
        "mode": _moved(),
        "update_consts": (),
        "update_jaxpr": None,
    }
    several, places = [x, indices, update], [dims[0], rows, dims[1]]
    return _batch_scatter("scatter", axis, several, places, sort_params(given))


def batch_gather(
    axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """The batch is a whole dimension of every window, or one of rows, or of both: then
    each row reads in its own example."""
    (x, indices), (own, rows) = values, dims
    given: dict[str, Any] = dict(params)
    windows, single, names, batched, along = given["dimension_numbers"]
    if own is not None:
        x = move(x, own, 0)
    if rows is not None:
        indices = move(indices, rows, 0)
        along = _after(along)
        windows = _after(windows)
    if rows is None:
        windows = (0, *_after(windows))
        given["slice_sizes"] = (axis.size, *given["slice_sizes"])
    elif own is None:
        given |= {"indices_are_sorted": False, "unique_indices": False}
    elif not axis.size:
        return [_nothing(x, indices, given)], [0]
    else:
        given["slice_sizes"] = (1, *given["slice_sizes"])
    if own is not None:
        single, names, batched = map(_after, (single, names, batched))
        if rows is not None:
            batched, along = (0, *batched), (0, *along)
    given["dimension_numbers"] = (windows, single, names, batched, along)
    return bind_all("gather", [x, indices], sort_params(given)), [0]


def _nothing(x: Value, indices: Value, given: dict[str, Any]) -> Value:
    """The result for no examples, of which none has an element."""
    windows, single, _, batched, _ = given["dimension_numbers"]
    sizes = [
        n for d, n in enumerate(given["slice_sizes"]) if d not in (*single, *batched)
    ]
    extents = dict(zip(windows, sizes, strict=True))
    rest = iter(typeof(indices).shape[1:-1])
    rank = typeof(indices).ndim - 2 + len(sizes)
    shape = (0, *(extents[d] if d in extents else next(rest) for d in range(rank)))
    return filled(0, typeof(x).update(shape=shape))


def _batch_scatter(
    primitive: str, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """The batch is a whole dimension of every window; or each row writes in its own
    example."""
    x, indices, updates = values
    given: dict[str, Any] = dict(params)
    windows, single, names, batched, along = given["dimension_numbers"]
    x = at_front(x, dims[0], axis.size)
    if not axis.size:
        return [x], [0]
    updates = at_front(updates, dims[2], axis.size)
    windows, single, names, batched = map(_after, (windows, single, names, batched))
    if dims[1] is None:
        windows = (0, *windows)
    else:
        indices = move(indices, dims[1], 0)
        batched, along = (0, *batched), (0, *_after(along))
    given["dimension_numbers"] = (windows, single, names, batched, along)
    return bind_all(primitive, [x, indices, updates], sort_params(given)), [0]


def _scatter_rule(primitive: str) -> Any:
    def rule(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
        return _batch_scatter(primitive, axis, values, dims, params)

    return rule


BATCH["dynamic_slice"] = batch_dynamic_slice
BATCH["dynamic_update_slice"] = batch_dynamic_update_slice
BATCH["gather"] = batch_gather
for _name in ("", "-add", "-sub", "-mul", "-min", "-max"):
    BATCH[f"scatter{_name}"] = _scatter_rule(f"scatter{_name}")
