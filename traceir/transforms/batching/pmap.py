"""`pmap`: one example to each device. Serves: pmap.*

The value is that of `vmap` with a named axis, whatever the number of devices is: it
bounds how many examples there may be.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

import numpy as np

from traceir import rules
from traceir.arrays.devices import Device, own
from traceir.arrays.devices import devices as all_devices
from traceir.arrays.meshes import Mesh
from traceir.arrays.process_mesh import is_apart
from traceir.arrays.sharding import NamedSharding, P
from traceir.base.tracebacks import wraps
from traceir.jit.api import jit
from traceir.pytrees import flatten
from traceir.ranks.groups import RankAxis
from traceir.tracing.trace import Value, current_trace, in_force, typeof
from traceir.transforms.batching.axis_specs import (
    MappedLeaf,
    check_axes,
    common_size,
    mapped_leaves,
    spread,
)
from traceir.transforms.batching.vmap import apply_batched
from traceir.transforms.rules.axes import first
from traceir.transforms.rules.registry import BatchAxis
from traceir.transforms.spanning import crossing
from traceir.transforms.spanning.trace import SpanningTrace

Args = ParamSpec("Args")
R = TypeVar("R")


def pmap(
    fun: Callable[Args, R],
    axis_name: Hashable = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Callable[Args, R]:
    """A function that applies `fun` to each example on a device of its own.

    Axes are given as for `vmap`; arguments in `static_broadcasted_argnums` are Python
    values that all examples share. The function is compiled as by `jit`, so no value
    in it is known to Python. `devices` are all devices of the platform `backend`, by
    default; the mapped axis must not be larger than their number. A result with None
    in `out_axes` is taken from the first device. Arrays in `donate_argnums` are not
    used after the call, and their memory may be its own, as for `jit`.

    Where devices are of several processes, each passes the examples of its own and gets
    their results; collectives are over the examples of all.

    Raises TypeError (jit.callable, vmap.axes-type), ValueError (pmap.size,
    pmap.devices, vmap.sizes, vmap.rank, vmap.none, vmap.in-axes, vmap.out-axes).

    >>> import traceir, traceir.numpy as jnp
    >>> share = lambda x: x / traceir.lax.psum(x, "i")
    >>> traceir.pmap(share, axis_name="i")(jnp.array([[4.0, 2.0]]))
    Array([[1., 1.]], dtype=float32)
    """
    if not callable(fun):
        raise rules.error("jit.callable", got=repr(fun))
    in_axes = tuple(in_axes) if type(in_axes) is list else in_axes
    check_axes("in_axes", in_axes, top=True)
    check_axes("out_axes", out_axes)
    if not (all_devices(backend) if devices is None else devices):
        raise rules.error("pmap.devices", got="no devices")
    given = static_broadcasted_argnums
    static = (given,) if isinstance(given, int) else tuple(given)

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        places = {n % len(args) for n in static if -len(args) <= n < len(args)}
        axes = _without_static(in_axes, len(args), places)
        leaves, tree = mapped_leaves(fun, axes, args, kwargs)
        # As many as there are now: they may be asked for after this function is made.
        every = all_devices(backend) if devices is None else list(devices)
        most, size = len(own(every)), common_size(leaves, axis_size)
        axis = BatchAxis(axis_name, size, False, _processes(axis_name, every))
        if axis.size > most:
            got = f"{axis.size} examples for {most} devices"
            raise rules.error("pmap.size", got=got)
        call = fun, axis, leaves, tree, out_axes
        if (own_mesh := _mesh_of(every[:size])) and crossing.in_parts():
            trace = current_trace()
            if isinstance(trace, SpanningTrace):
                return _on_devices(trace, own_mesh, *call)
        return apply_batched(*call, True)

    compiled: Callable[..., Any] = jit(
        mapped, static_argnums=static or None, donate_argnums=donate_argnums
    )
    return compiled


def _mesh_of(devices: Sequence[Device]) -> Mesh | None:
    """The mesh of devices in a row that each have memory of their own."""
    row = Mesh(np.array(devices, object), ("pmap",))
    if not is_apart(row):
        return None
    if outer := crossing.spanning_around():
        outer.over(row)
    return row


def _on_devices(
    trace: SpanningTrace,
    mesh: Mesh,
    fun: Callable[..., Any],
    axis: BatchAxis,
    leaves: Sequence[MappedLeaf],
    tree: flatten.TreeDef,
    out_axes: Any,
) -> Any:
    """The same, of which each device has its own example."""

    def sharding(dim: int | None) -> NamedSharding:
        return NamedSharding(mesh, P() if dim is None else P(*[None] * dim, "pmap"))

    def asked(dim: int | None) -> int:
        return 0 if dim is None else dim

    own = [
        replace(leaf, value=trace.cut(leaf.value, sharding(leaf.dim)))
        for leaf in leaves
    ]
    ranks = RankAxis(axis.name, (tuple(range(axis.size)),))
    one = replace(axis, size=1, ranks=ranks)
    every = flatten.map_(asked, out_axes, is_leaf=lambda tree: tree is None)
    with in_force(trace.parent):
        results = apply_batched(fun, one, own, tree, every, True)
    outs, out_tree = flatten.flatten(results)
    targets = spread("out_axes", out_axes, out_tree)
    rows = zip(outs, targets, strict=True)

    def whole(part: Value, dim: int | None) -> Value:
        """A result of all examples; of one that is asked for once the first's."""
        aval, at = typeof(part), asked(dim) % typeof(part).ndim
        shape = (*aval.shape[:at], axis.size, *aval.shape[at + 1 :])
        found = trace.value(part, aval.update(shape=shape), sharding(at))
        return first(found, 0) if dim is None else found

    return out_tree.unflatten([whole(*row) for row in rows])


def _processes(name: Hashable, devices: Iterable[Device]) -> RankAxis | None:
    """The processes that have the devices, each with as many examples as this one."""
    have = tuple(sorted({device.process_index for device in devices}))
    return RankAxis(name, (have,)) if len(have) > 1 else None


def _without_static(in_axes: Any, count: int, static: set[int]) -> Any:
    """The axes of the arguments, None for those that are no arrays."""
    if not static:
        return in_axes
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * count
    return tuple(None if k in static else axis for k, axis in enumerate(axes))
