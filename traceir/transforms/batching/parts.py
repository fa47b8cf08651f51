"""A function of parts, applied on the devices along axes of a mesh.

Serves: shard_map.value, shard_map.replicated

The devices along an axis are the examples of a batch whose axis has that name, so the
program is one for all of them, and collectives are movements in memory that they share.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import prod
from typing import Any

from traceir import rules
from traceir.arrays.process_mesh import ProcessMesh
from traceir.arrays.sharding import PartitionSpec, spread_specs
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import wraps
from traceir.ir.avals import ShapedArray
from traceir.pytrees import flatten
from traceir.tracing.trace import Value, bind, typeof
from traceir.transforms.batching.axis_specs import MappedLeaf
from traceir.transforms.batching.vmap import apply_batched
from traceir.transforms.rules.registry import BatchAxis

Specs = Sequence[PartitionSpec | None]


@dataclass(frozen=True, slots=True)
class ManualAxes:
    """The axes of a mesh whose parts a function sees: their sizes, by their names.

    Where the mesh is over several processes they are those of this one's block of it,
    and `over` knows the whole. Types tell along `checked` ones what varies.
    """

    sizes: Mapping[Hashable, int]
    checked: bool
    over: ProcessMesh | None = None

    def axis(self, name: Hashable) -> BatchAxis:
        """The devices along an axis as examples of a batch."""
        ranks = None if self.over is None else self.over.along(name)
        return BatchAxis(name, self.sizes[name], self.checked, ranks)

    def count(self, spec: PartitionSpec | None, dimension: int) -> int:
        """The number of parts of a dimension; None divides nothing."""
        axes = () if spec is None else spec.axes(dimension)
        return prod(self.sizes[axis] for axis in axes)

    def part(self, aval: ShapedArray, spec: PartitionSpec | None) -> ShapedArray:
        """The type of a part of an array."""
        shape = tuple(n // self.count(spec, d) for d, n in enumerate(aval.shape))
        told = named(spec) if self.checked else ()
        return aval.update(shape=shape, vma=(*aval.vma, *told))


def named(spec: PartitionSpec | None) -> list[Hashable]:
    """The axes that a spec names, in its order."""
    if spec is None:
        return []
    return [axis for d in range(len(spec)) for axis in spec.axes(d)]


def over_devices(
    fun: Callable[..., Any],
    axes: ManualAxes,
    values: Sequence[Value],
    specs: Specs,
    paths: Sequence[str],
    out_specs: Any,
) -> Any:
    """The results of a function of parts of these values, put together.

    Raises ValueError (shard_map.replicated, sharding.rank).
    """
    leaves = [_split(*row, axes) for row in zip(values, specs, strict=True)]
    results = _along(tuple(axes.sizes), fun, axes, leaves, specs, paths, out_specs)
    outs, tree = flatten.flatten(results)
    # Outside, no type tells of the axes; a derivative would have counted them twice.
    assert not any({*typeof(out).vma} & {*axes.sizes} for out in outs)
    rows = zip(outs, spread_specs("out_specs", out_specs, tree), tree.paths())
    return tree.unflatten([_joined(*row, axes) for row in rows])


def _along(
    names: tuple[Hashable, ...],
    fun: Callable[..., Any],
    axes: ManualAxes,
    leaves: Sequence[Value],
    specs: Specs,
    paths: Sequence[str],
    out_specs: Any,
) -> Any:
    """The results of all devices, with those along each axis that is named in front."""
    if not names:
        return fun(*leaves)
    name, *rest = names
    dims = [0 if name in named(spec) else None for spec in specs]
    mapped = [MappedLeaf(*row) for row in zip(leaves, dims, paths, strict=True)]
    out_axes = flatten.map_(
        lambda spec: 0 if name in named(spec) else None,
        out_specs,
        is_leaf=lambda tree: tree is None,
    )

    def within(*parts: Any) -> Any:
        return _along(tuple(rest), fun, axes, parts, specs, paths, out_specs)

    _, tree = flatten.flatten((tuple(leaves), {}))
    return apply_batched(
        wraps(fun)(within),
        axes.axis(name),
        mapped,
        tree,
        out_axes,
        not axes.checked,
        "shard_map.replicated",
    )


def _split(value: Value, spec: PartitionSpec | None, axes: ManualAxes) -> Value:
    """The parts of an array, by the axes of the mesh that divide it, which are first.

    They are in the order of the mesh.
    """
    if spec is None or not named(spec):
        return value
    extents: list[int] = []
    kept: list[int] = []
    place: dict[Hashable, int] = {}
    for d, extent in enumerate(typeof(value).shape):
        for axis in spec.axes(d):
            place[axis] = len(extents)
            extents.append(axes.sizes[axis])
        kept.append(len(extents))
        extents.append(extent // axes.count(spec, d))
    front = [place[axis] for axis in axes.sizes if axis in place]
    parts = bind("reshape", value, new_sizes=tuple(extents))
    order = (*front, *kept)
    if order == tuple(range(len(extents))):
        return parts
    return bind("transpose", parts, permutation=order)


def _joined(
    value: Value, spec: PartitionSpec | None, path: flatten.Path, axes: ManualAxes
) -> Value:
    """The array that parts make up; the inverse of `_split`."""
    spec = PartitionSpec() if spec is None else spec
    front = [axis for axis in axes.sizes if axis in named(spec)]
    shape = typeof(value).shape
    part = shape[len(front) :]
    if len(spec) > len(part):
        got = f"{spec!r} of {part} for the result{flatten.key_path(path)}"
        raise rules.error("sharding.rank", got=got)
    order: list[int] = []
    whole: list[int] = []
    for d, extent in enumerate(part):
        order += [front.index(axis) for axis in spec.axes(d)]
        order.append(len(front) + d)
        whole.append(extent * axes.count(spec, d))
    if order != list(range(len(order))):
        value = bind("transpose", value, permutation=tuple(order))
    if tuple(whole) != shape:
        value = bind("reshape", value, new_sizes=tuple(whole))
    return value
