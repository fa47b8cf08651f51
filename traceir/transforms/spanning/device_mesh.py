"""Jitted functions over a backend's devices, each with memory of its own.

Such a device has one part of a mesh, as a process has; the program of a part is one for
all of them, and the backend runs it on each. Serves: device.*, sharding.value
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from traceir.arrays.array import Array, Placed, place_of
from traceir.arrays.divided import Divided, divided, over_mesh
from traceir.arrays.divided import over_devices as of_devices
from traceir.arrays.meshes import Mesh
from traceir.arrays.process_mesh import MEMORIES, check_devices, is_apart
from traceir.arrays.propagation.programs import mesh_within
from traceir.arrays.sharding import NamedSharding, PartitionSpec, Sharding
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Params
from traceir.ir.structs import struct_of
from traceir.jit.api import jit
from traceir.jit.backends import COMPILING, resolve
from traceir.jit.function import JitFunction
from traceir.jit.hot_path.raw_keys import RAW, as_input
from traceir.tracing.evaluation import SPANNING
from traceir.tracing.trace import Value, bind_all, typeof
from traceir.transforms.spanning import calls, crossing
from traceir.transforms.spanning.calls import Laid, WholeArguments


def start(platform: str) -> None:
    """Have arrays over the devices of a platform handled here, and functions."""
    if platform not in MEMORIES:
        calls.start()
        calls.ON_DEVICES[:] = [over_devices]
        SPANNING[:] = [applied]
        RAW[Divided] = attrgetter("aval", "sharding")
        COMPILING[:] = [crossing.check_here]
        MEMORIES[platform] = put


# -- arrays ---------------------------------------------------------------------------


def put(array: Array, sharding: Sharding) -> Array:
    """An array in the memories of devices; from a mesh to itself the devices copy."""
    if type(array) is Divided:
        before, after = over_mesh(array.sharding), over_mesh(sharding)
        if _devices(before.mesh) == _devices(after.mesh):
            moved: Array = _relaid(array.sharding, sharding)(array)
            return moved
    backend, value = resolve(sharding.platform), array._value
    places = sharding.devices_indices_map(array.shape)
    shape = sharding.shard_shape(array.shape)
    aval = array.aval.update(shape=shape)
    parts = [
        backend.put_on(np.ascontiguousarray(value[index]).reshape(shape), aval, where)
        for where, index in places.items()
    ]
    return divided(parts, array.aval, sharding)


@lru_cache(maxsize=256)
def _relaid(before: Sharding, after: Sharding) -> Any:
    """The function that lays an array out anew."""
    return jit(lambda x: calls.laid(x, over_mesh(after)))


def _devices(mesh: Mesh) -> tuple[Any, ...]:
    return tuple(mesh.devices.flat)


# -- functions ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OverDevices:
    """A function of parts that the devices of a mesh run, as an entry of a cache."""

    seal = None
    writes = True

    program: ClosedJaxpr
    executable: Any
    mesh: Mesh
    captures: Sequence[Any]
    results: dict[str, Any]  # the tree, and the sharding of each leaf

    def on_leaves(self, leaves: Sequence[Any]) -> Any:
        """Call it on the parts of these leaves, and put its results together."""
        devices = _devices(self.mesh)
        pairs = zip([*self.captures, *leaves], self.program.in_avals, strict=True)
        given = [self.parts(leaf, aval) for leaf, aval in pairs]
        rows = [[parts[k] for parts in given] for k in range(len(devices))]
        numbers = [device.id for device in devices]
        outs = zip(*self.executable.run_mesh(numbers, rows), strict=True)
        avals = [
            aval if place is None else place[0]
            for place, aval in zip(
                self.results["places"], self.program.out_avals, strict=True
            )
        ]
        found = map(divided, outs, avals, self.layouts())
        return self.results["tree"].unflatten(list(found))

    def layouts(self) -> list[Sharding]:
        """The layout of each result."""
        whole = NamedSharding(self.mesh, PartitionSpec())
        places = self.results["places"]
        return [of_devices(whole if p is None else p[1]) for p in places]

    def parts(self, leaf: Any, aval: ShapedArray) -> Sequence[Any]:
        """The parts of an argument on all devices; the host's are copied to each."""
        if type(leaf) is Divided:
            parts: Sequence[Any] = place_of(leaf).parts
            return parts
        backend, value = resolve(self.mesh.platform), as_input(leaf, aval)
        return [backend.put_on(value, aval, where) for where in _devices(self.mesh)]


def over_devices(
    function: JitFunction[..., Any], given: WholeArguments, leaves: Sequence[Any]
) -> Any:
    """The function of parts of a function, if it is over a mesh of such devices.

    The mesh is that of an argument, or one that the function names. All arguments lie
    on it, those of the host whole.
    """
    meshes = [p.mesh for p in given.places if p is not None and is_apart(p.mesh)]
    laid = calls.on_parts(function, given)
    mesh = meshes[0] if meshes else _traced(laid, given, leaves)[1]
    if mesh is None or not is_apart(mesh):
        return laid
    _check_host(leaves, mesh)
    whole = NamedSharding(mesh, PartitionSpec())
    places = [whole if place is None else place for place in given.places]
    given = replace(given, places=places, avals=[*map(typeof, leaves)])
    laid = calls.on_parts(function, given)
    traced, _ = _traced(laid, given, leaves)
    closed: ClosedJaxpr = traced.entry.closed
    compiled = resolve(mesh.platform).compile_mesh
    executable = closed.memo(
        ("mesh", mesh.platform), lambda: compiled(closed, closed.jaxpr.debug_name)
    )
    return OverDevices(closed, executable, mesh, traced.entry.captures, laid.results)


def _traced(
    laid: Laid, given: WholeArguments, leaves: Sequence[Any]
) -> tuple[Any, Mesh | None]:
    """The program of a part, and the mesh that it is over."""
    structs = [
        struct_of(aval.update(shape=place.shard_shape(aval.shape)) if place else aval)
        for aval, place in zip(map(typeof, leaves), given.places, strict=True)
    ]
    with config.ConfigScope({"disable_jit": False}):
        traced = laid.function.trace(*structs)
    return traced, laid.results["mesh"] or mesh_within(traced.entry.closed)


def _check_host(leaves: Sequence[Any], mesh: Mesh) -> None:
    """Raise ValueError (sharding.devices) for an argument on other devices than a
    mesh's."""
    for leaf in leaves:
        if type(leaf) in (Placed, Divided):
            lies = over_mesh(leaf.sharding).mesh
            check_devices(mesh, lies, f"{typeof(leaf).str_short()} is")


def applied(primitive: str, values: Sequence[Value], params: Params) -> list[Array]:
    """Apply a primitive to concrete arrays, of which some are over devices."""
    if Divided not in map(type, values):
        return calls.applied(primitive, values, params)
    found: list[Array] = _of_primitive(primitive, params)(*values)
    return found


@lru_cache(maxsize=1024)
def _of_primitive(primitive: str, params: Params) -> Any:
    """The jitted function that a primitive is."""

    def run(*values: Value) -> list[Value]:
        return list(bind_all(primitive, values, params))

    run.__name__ = run.__qualname__ = primitive
    return jit(run)
