"""`shard_map`: a function of parts, applied on each device of a mesh.

Serves: shard_map.*
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from traceir import rules
from traceir.arrays.array import Array
from traceir.arrays.laying import lying
from traceir.arrays.meshes import AbstractMesh, AxisType, Mesh
from traceir.arrays.process_mesh import (
    ProcessMesh,
    crosses,
    is_apart,
    process_mesh,
)
from traceir.arrays.sharding import (
    NamedSharding,
    PartitionSpec,
    check_sharding,
    spread_specs,
)
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import wraps
from traceir.ir.jaxpr import Params
from traceir.ir.typecheck import infer
from traceir.jit.api import jit
from traceir.pytrees import flatten
from traceir.tracing.staging import apply
from traceir.tracing.trace import Value, current_trace, in_force, typeof
from traceir.transforms.autodiff.arguments import as_array
from traceir.transforms.batching.axis_specs import argument_paths, check_axes
from traceir.transforms.batching.parts import ManualAxes, named, over_devices
from traceir.transforms.batching.shard_map_equation import (
    read_params,
    recorded,
    records,
)
from traceir.transforms.spanning import calls, crossing
from traceir.transforms.spanning.trace import OF_PARTS, SpanningTrace

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _Manual:
    """The axes of a mesh whose parts a function sees."""

    mesh: Mesh
    names: tuple[Hashable, ...]

    def sharding(self, spec: PartitionSpec | None) -> NamedSharding:
        """A spec as a sharding over the mesh; None divides nothing."""
        return NamedSharding(self.mesh, PartitionSpec() if spec is None else spec)

    def axes(self, checked: bool, over: ProcessMesh | None = None) -> ManualAxes:
        """The axes with their sizes: of the processes' mesh, those in this one."""
        sizes: dict[Any, int] = dict((over.own if over else self.mesh).shape_tuple)
        return ManualAxes({name: sizes[name] for name in self.names}, checked, over)


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
    compiled: list[Callable[..., Any]] = []  # for devices with memory of their own

    @wraps(f)
    def mapped(*args: Any) -> Any:
        manual = over(config.current().mesh) if given is None else given
        if is_apart(manual.mesh) and current_trace() is None:
            jitted = compiled[0] if compiled else jit(mapped)
            compiled[:] = [jitted]
            return _on_devices(jitted, manual, args, ins)
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
        for axis in named(spec):
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
    leaves, tree = flatten.flatten(args)
    specs = spread_specs("in_specs", in_specs, tree)
    _, none = flatten.flatten({})
    paths = argument_paths(fun, tree, none)
    rows = zip(leaves, map(manual.sharding, specs), paths, strict=True)
    values = [_checked(*row) for row in rows]

    @wraps(fun)
    def body(*parts: Any) -> Any:
        with config.ConfigScope({"mesh": manual.mesh}):  # of maps within it
            outs = fun(*tree.unflatten(parts))
        spread_specs("out_specs", out_specs, flatten.structure(outs))
        return outs

    spans = crosses(manual.sharding(None))
    over = process_mesh(manual.mesh) if spans and crossing.in_parts() else None
    if over is not None:
        wholes = map(manual.sharding, specs)
        values = list(map(calls.part_for, values, wholes))
    axes = manual.axes(checked, over)
    given = body, axes, values, specs, paths, out_specs
    apart = over is None and is_apart(manual.mesh)
    if apart and (outer := crossing.spanning_around()):
        outer.over(manual.mesh)
    if not apart and (spans or not records()):
        results = over_devices(*given)
    else:
        results = recorded(*given, manual.mesh)
    outs, out_tree = flatten.flatten(results)
    places = map(manual.sharding, spread_specs("out_specs", out_specs, out_tree))
    put = lying if over is None else _of_parts
    return out_tree.unflatten(list(map(put, outs, places)))


def _on_devices(
    jitted: Callable[..., Any], manual: _Manual, args: tuple[Any, ...], in_specs: Any
) -> Any:
    """A call outside of every trace, which devices with memory of their own run.

    Each is given its part of what has no place yet.
    """
    leaves, tree = flatten.flatten(args)
    places = map(manual.sharding, spread_specs("in_specs", in_specs, tree))
    _, none = flatten.flatten({})
    rows = zip(leaves, places, argument_paths(jitted, tree, none), strict=True)
    values = [
        value._at(place) if type(value) is Array else value
        for value, place in ((_checked(*row), row[1]) for row in rows)
    ]
    with config.ConfigScope({"disable_jit": False}):
        return jitted(*tree.unflatten(values))


def _checked(argument: Any, sharding: NamedSharding, path: str) -> Value:
    """An argument that can be divided as its spec says."""
    value = as_array(argument, lambda: f"argument {path}")
    check_sharding(sharding, typeof(value).shape, f"the argument {path}")
    return value


def _applied_to_parts(
    trace: SpanningTrace, values: Sequence[Value], params: Params
) -> list[Value]:
    """An equation applied to values over the devices of a mesh, of which it is."""
    given: dict[str, Any] = dict(params)
    closed = given["jaxpr"]
    names, sizes, kinds = zip(*given["mesh"], strict=True)
    assert trace.mesh is not None  # the mesh of what it is applied to
    mesh = Mesh(trace.mesh.devices.reshape(sizes), names, [*map(AxisType, kinds)])
    axes, specs, out_specs = read_params(given)
    manual = _Manual(mesh, tuple(axes.sizes))
    ins, outs = (list(map(manual.sharding, own)) for own in (specs, out_specs))
    parts = list(map(trace.cut, values, ins))
    with in_force(trace.parent):
        results = over_devices(
            lambda *parts: apply(closed, parts),
            manual.axes(axes.checked, process_mesh(mesh)),
            *(parts, specs, [""] * len(parts), out_specs),
        )
    shapes = infer("shard_map", tuple(map(typeof, values)), params)
    return list(map(trace.value, flatten.leaves(results), shapes, outs))


OF_PARTS[:] = [_applied_to_parts]


def _of_parts(part: Value, sharding: NamedSharding) -> Value:
    """The array that the parts of all processes make up."""
    block = process_mesh(sharding.mesh).block(sharding)
    aval, places = typeof(part), range(len(sharding.spec))
    more = {d: sharding.parts(d) // block.parts(d) for d in places}
    shape = tuple(n * more.get(d, 1) for d, n in enumerate(aval.shape))
    return calls.array_of(part, aval.update(shape=shape), sharding)
