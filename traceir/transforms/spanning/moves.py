"""Parts gathered and cut, from one layout to another. Serves: sharding.value

Everything is done by primitives over `RankAxis`, in the trace in force.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.arrays.process_mesh import ProcessMesh
from traceir.arrays.propagation.specs import Axes, Spec
from traceir.ranks.groups import RankAxis
from traceir.tracing.trace import Value, bind, typeof


def gather_along(ranks: RankAxis, value: Value, dim: int) -> Value:
    """The arrays of all processes along an axis, joined along a dimension."""
    return bind(
        "all_gather",
        value,
        all_gather_dimension=dim,
        axis_name=(ranks,),
        axis_size=ranks.size,
        tiled=True,
    )


def part_along(ranks: RankAxis, value: Value, dim: int, extent: int) -> Value:
    """This process's part of a dimension, of this extent."""
    start = bind("mul", bind("axis_index", axis_name=ranks), np.int32(extent))
    shape = list(typeof(value).shape)
    shape[dim] = extent
    starts = [start if d == dim else np.int32(0) for d in range(len(shape))]
    return bind("dynamic_slice", value, *starts, slice_sizes=tuple(shape))


def relaid(value: Value, mesh: ProcessMesh, before: Spec, after: Spec) -> Value:
    """This process's part of an array as another spec has it.

    Of an array with an axis that goes from one dimension to another each process sends
    parts; of others it gathers what `before` divides, and cuts what `after` does.
    """
    changed = [d for d in range(len(before)) if before[d] != after[d]]
    if (found := _exchange(mesh, before, after, changed)) is not None:
        axis, split, joined = found
        return bind(
            "all_to_all",
            value,
            axis_name=axis,
            axis_size=axis.size,
            split_axis=split,
            concat_axis=joined,
            tiled=True,
        )
    for d in changed:
        value = _along(value, mesh, before[d], d, True)
    for d in changed:
        value = _along(value, mesh, after[d], d, False)
    return value


def _exchange(
    mesh: ProcessMesh, before: Spec, after: Spec, changed: list[int]
) -> tuple[RankAxis, int, int] | None:
    """The processes along the one axis that changes its dimension, which is split
    there, and where it is joined."""
    if len(changed) != 2:
        return None
    for joined, split in (changed, changed[::-1]):
        moved = before[joined]
        if len(moved) == 1 and moved == after[split]:
            ranks = mesh.along(moved[0])
            if before[split] == after[joined] == () and _is_one_each(mesh, moved[0]):
                return (ranks, split, joined) if ranks else None
    return None


def _is_one_each(mesh: ProcessMesh, name: Any) -> bool:
    return bool(mesh.own.shape[name] == 1)


def _along(
    value: Value, mesh: ProcessMesh, axes: Axes, dim: int, gather: bool
) -> Value:
    """A dimension that axes divide, gathered from all processes or cut to this one."""
    ranks = [mesh.along(axis) for axis in axes]
    if not any(ranks):
        return value
    shape = typeof(value).shape
    here = [mesh.own.shape[axis] for axis in axes]
    every = [n * (r.size if r else 1) for n, r in zip(here, ranks, strict=True)]
    parts = here if gather else every
    rest = shape[dim]
    for n in parts:
        rest //= n
    value = _shaped(value, (*shape[:dim], *parts, rest, *shape[dim + 1 :]))
    for k, (axis, extent) in enumerate(zip(ranks, here, strict=True)):
        if axis and gather:
            value = gather_along(axis, value, dim + k)
        elif axis:
            value = part_along(axis, value, dim + k, extent)
    shape = typeof(value).shape
    joined = 1
    for n in shape[dim : dim + len(axes) + 1]:
        joined *= n
    return _shaped(value, (*shape[:dim], joined, *shape[dim + len(axes) + 1 :]))


def _shaped(value: Value, shape: tuple[int, ...]) -> Value:
    if typeof(value).shape == shape:
        return value
    return bind("reshape", value, new_sizes=shape)
