"""`shard_map`: a function of parts, applied on each device of a mesh.

Serves: shard_map.*

The devices along an axis are the examples of a batch whose axis has that name, so the
program is one for all of them, and collectives are movements in memory that they share.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from traceir import rules
from traceir.arrays.laying import lying
from traceir.arrays.meshes import AbstractMesh, Mesh
from traceir.arrays.process_mesh import ProcessMesh, crosses, process_mesh
from traceir.arrays.sharding import (
    NamedSharding,
    PartitionSpec,
    check_sharding,
    spread_specs,
)
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import wraps
from traceir.pytrees import flatten
from traceir.tracing.trace import Value, bind, typeof
from traceir.transforms.autodiff.arguments import as_array
from traceir.transforms.batching.axis_specs import (
    MappedLeaf,
    argument_paths,
    check_axes,
)
from traceir.transforms.batching.vmap import apply_batched
from traceir.transforms.rules.registry import BatchAxis
from traceir.transforms.spanning import calls

F = TypeVar("F", bound=Callable[..., Any])
Names = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class _Manual:
    """The axes of a mesh whose parts a function sees.

    Where the mesh is over several processes it is this one's block of it, and `over`
    knows the whole.
    """

    mesh: Mesh
    names: Names
    over: ProcessMesh | None = None

    def axis(self, name: Hashable, checked: bool) -> BatchAxis:
        """The devices along an axis as examples of a batch."""
        ranks = None if self.over is None else self.over.along(name)
        return BatchAxis(name, self.size(name), checked, ranks)

    def here(self) -> _Manual:
        """The same axes, of the devices of this process."""
        over = process_mesh(self.mesh)
        return _Manual(over.own, self.names, over)

    def size(self, name: Hashable) -> int:
        """The number of devices along an axis."""
        return self.mesh.axis_sizes[self.mesh.axis_names.index(name)]

    def sharding(self, spec: PartitionSpec | None) -> NamedSharding:
        """A spec as a sharding over the mesh; None divides nothing."""
        return NamedSharding(self.mesh, PartitionSpec() if spec is None else spec)

    def named(self, spec: PartitionSpec | None) -> list[Hashable]:
        """The axes that a spec names, in its order."""
        if spec is None:
            return []
        return [axis for d in range(len(spec)) for axis in spec.axes(d)]


def shard_map(
    f: F | None = None,
    /,
    *,
    mesh: Mesh | AbstractMesh | None = None,
    in_specs: Any = None,
    out_specs: Any,
    axis_names: Iterable[Hashable] = frozenset(),
    check_vma: bool = True,
) -> Any:
    """A function that applies `f` to the parts of its arguments, on each device.

    `in_specs` and `out_specs` are trees of `PartitionSpec` that are prefixes of the
    arguments and of the results; the `mesh` is the one that is set where none is given.
    A dimension for which a spec names axes is divided
    among the devices along these, and of the results it is put together. Collectives
    of `lax` name the axes of the mesh, of which `axis_names` are some, by default all.
    A result whose spec leaves an axis out must be the same along it; with
    `check_vma=False`, the first device's is taken. Without `f`, a decorator.

    Raises TypeError (jit.callable, shard_map.mesh, shard_map.specs), ValueError
    (shard_map.axes, shard_map.manual, shard_map.replicated,
    sharding.tree, sharding.rank, sharding.divides, sharding.repeated, device.known).

    >>> import traceir, traceir.numpy as jnp
    >>> from traceir.sharding import P
    >>> mesh = traceir.make_mesh((1,), ("x",))
    >>> total = lambda rows: traceir.lax.psum(rows.sum(0), "x")
    >>> total = shard_map(total, mesh=mesh, in_specs=P("x"), out_specs=P())
    >>> total(jnp.ones((4, 2)))
    Array([4., 4.], dtype=float32)
    """
    if f is None:
        return functools.partial(
            shard_map,
            mesh=mesh,
            in_specs=in_specs,
            out_specs=out_specs,
            axis_names=axis_names,
            check_vma=check_vma,
        )
    if not callable(f):
        raise rules.error("jit.callable", got=repr(f))
    ins = tuple(in_specs) if type(in_specs) is list else in_specs

    def over(mesh: Any) -> _Manual:
        manual = _manual(mesh, axis_names)
        _check_specs("in_specs", ins, manual)
        _check_specs("out_specs", out_specs, manual)
        return manual

    given = None if mesh is None else over(mesh)

    @wraps(f)
    def mapped(*args: Any) -> Any:
        manual = over(config.current().mesh) if given is None else given
        return _apply(f, manual, args, ins, out_specs, check_vma)

    return mapped


def smap(
    f: F | None = None,
    /,
    *,
    in_axes: Any,
    out_axes: Any,
    axis_name: Hashable,
) -> Any:
    """`shard_map` over one axis of the mesh that is set, with axes in place of specs.

    An int says which dimension is divided, None that none is; trees of these are
    prefixes of the arguments and of the results. Raises TypeError (vmap.axes-type) and
    what `shard_map` raises.

    >>> import traceir, traceir.numpy as jnp
    >>> number = lambda row: row + traceir.lax.axis_index("x")
    >>> with traceir.set_mesh(traceir.make_mesh((1,), ("x",))):
    ...     smap(number, in_axes=0, out_axes=0, axis_name="x")(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    in_axes = tuple(in_axes) if type(in_axes) is list else in_axes
    check_axes("in_axes", in_axes, top=True)
    check_axes("out_axes", out_axes)

    def spec(axis: int | None) -> PartitionSpec:
        if axis is not None and axis < 0:
            raise rules.error("shard_map.specs", got=f"the axis {axis}")
        parts = () if axis is None else (*[None] * axis, axis_name)
        return PartitionSpec(*parts)

    return shard_map(
        f,
        in_specs=flatten.map_(spec, in_axes, is_leaf=_is_none),
        out_specs=flatten.map_(spec, out_axes, is_leaf=_is_none),
        axis_names={axis_name},
    )


def _manual(mesh: Any, axis_names: Iterable[Hashable]) -> _Manual:
    if not isinstance(mesh, Mesh):
        raise rules.error("shard_map.mesh", got=repr(mesh))
    given = {axis_names} if isinstance(axis_names, str) else set(axis_names)
    if lost := given - set(mesh.axis_names):
        listed = ", ".join(sorted(map(repr, lost)))
        raise rules.error("shard_map.axes", got=f"{listed} for {mesh}")
    names = tuple(n for n in mesh.axis_names if not given or n in given)
    return _Manual(mesh, names)


def _is_none(tree: Any) -> bool:
    return tree is None


def _check_specs(what: str, specs: Any, manual: _Manual) -> None:
    """Raise an error unless these are specs of axes that are divided."""
    for spec in flatten.leaves(specs, is_leaf=_is_none):
        if spec is not None and not isinstance(spec, PartitionSpec):
            raise rules.error("shard_map.specs", got=f"{what} with {spec!r}")
        for axis in manual.named(spec):
            if axis not in manual.names:
                got = f"{axis!r} of {what} with {spec!r}, for {manual.names}"
                raise rules.error("shard_map.manual", got=got)
        manual.sharding(spec)


def _apply(
    fun: Callable[..., Any],
    manual: _Manual,
    args: tuple[Any, ...],
    in_specs: Any,
    out_specs: Any,
    checked: bool,
) -> Any:
    values, tree = flatten.flatten(args)
    specs = spread_specs("in_specs", in_specs, tree)
    _, none = flatten.flatten({})
    paths = argument_paths(fun, tree, none)
    given, whole = manual, [manual.sharding(spec) for spec in specs]
    if crosses(manual.sharding(None)) and calls.in_parts():
        manual = given.here()
        values = list(map(_part, values, whole, paths))
    leaves = [
        _split(value, spec, manual, path)
        for value, spec, path in zip(values, specs, paths, strict=True)
    ]

    @wraps(fun)
    def body(*parts: Any) -> Any:
        outs = fun(*tree.unflatten(parts))
        spread_specs("out_specs", out_specs, flatten.structure(outs))
        return outs

    results = _over_devices(
        body, manual, manual.names, leaves, specs, paths, out_specs, checked
    )
    outs, out_tree = flatten.flatten(results)
    # Outside, no type tells of the axes; a derivative would have counted them twice.
    assert not any({*typeof(out).vma} & {*manual.names} for out in outs)
    out_places = spread_specs("out_specs", out_specs, out_tree)
    joined = [
        _joined(out, spec, manual, f"the result{flatten.key_path(path)}")
        for out, spec, path in zip(outs, out_places, out_tree.paths(), strict=True)
    ]
    if manual is not given:
        rows = zip(joined, out_places, strict=True)
        joined = [_of_parts(value, given.sharding(spec)) for value, spec in rows]
    return out_tree.unflatten(joined)


def _part(argument: Any, sharding: NamedSharding, path: str) -> Value:
    """This process's part of an array over several processes."""
    value = as_array(argument, lambda: f"argument {path}")
    check_sharding(sharding, typeof(value).shape, f"the argument {path}")
    return calls.part_for(value, sharding)


def _of_parts(part: Value, sharding: NamedSharding) -> Value:
    """The array that the parts of all processes make up."""
    block = process_mesh(sharding.mesh).block(sharding)
    aval, places = typeof(part), range(len(sharding.spec))
    more = {d: sharding.parts(d) // block.parts(d) for d in places}
    shape = tuple(n * more.get(d, 1) for d, n in enumerate(aval.shape))
    return calls.array_of(part, aval.update(shape=shape), sharding)


def _over_devices(
    fun: Callable[..., Any],
    manual: _Manual,
    names: Names,
    leaves: Sequence[Value],
    specs: Sequence[PartitionSpec | None],
    paths: Sequence[str],
    out_specs: Any,
    checked: bool,
) -> Any:
    """The results of all devices, with those along each axis that is named in front."""
    if not names:
        return fun(*leaves)
    name, *rest = names
    dims = [0 if name in manual.named(spec) else None for spec in specs]
    mapped = [MappedLeaf(*row) for row in zip(leaves, dims, paths, strict=True)]
    out_axes = flatten.map_(
        lambda spec: 0 if name in manual.named(spec) else None,
        out_specs,
        is_leaf=_is_none,
    )

    def within(*parts: Any) -> Any:
        return _over_devices(
            *(fun, manual, tuple(rest), parts, specs, paths, out_specs, checked)
        )

    _, tree = flatten.flatten((tuple(leaves), {}))
    return apply_batched(
        wraps(fun)(within),
        manual.axis(name, checked),
        mapped,
        tree,
        out_axes,
        not checked,
        "shard_map.replicated",
    )


def _split(
    argument: Any, spec: PartitionSpec | None, manual: _Manual, path: str
) -> Value:
    """The parts of an array, by the axes of the mesh that divide it, which are first.

    They are in the order of the mesh.
    """
    value = as_array(argument, lambda: f"argument {path}")
    sharding = manual.sharding(spec)
    shape = typeof(value).shape
    check_sharding(sharding, shape, f"the argument {path}")
    named = manual.named(spec)
    if not named:
        return value
    extents: list[int] = []
    kept: list[int] = []
    place: dict[Hashable, int] = {}
    for d, part in enumerate(sharding.shard_shape(shape)):
        for axis in sharding.spec.axes(d):
            place[axis] = len(extents)
            extents.append(manual.size(axis))
        kept.append(len(extents))
        extents.append(part)
    front = [place[axis] for axis in manual.names if axis in place]
    parts = bind("reshape", value, new_sizes=tuple(extents))
    order = (*front, *kept)
    if order == tuple(range(len(extents))):
        return parts
    return bind("transpose", parts, permutation=order)


def _joined(
    value: Value, spec: PartitionSpec | None, manual: _Manual, what: str
) -> Value:
    """The array that parts make up; the inverse of `_split`."""
    sharding = manual.sharding(spec)
    named = manual.named(spec)
    front = [axis for axis in manual.names if axis in named]
    shape = typeof(value).shape
    part = shape[len(front) :]
    if spec is not None and len(spec) > len(part):
        raise rules.error("sharding.rank", got=f"{spec!r} of {part} for {what}")
    order: list[int] = []
    whole: list[int] = []
    for d, extent in enumerate(part):
        order += [front.index(axis) for axis in sharding.spec.axes(d)]
        order.append(len(front) + d)
        whole.append(extent * sharding.parts(d))
    if order != list(range(len(order))):
        value = bind("transpose", value, permutation=tuple(order))
    if tuple(whole) != shape:
        value = bind("reshape", value, new_sizes=tuple(whole))
    return lying(value, sharding)
