"""A mesh over several memories: the block that each process, or GPU, has.

An array that is divided over such a mesh is, in each process, one array that is divided
over its own block; each GPU has a block of one device. Serves: process.mesh
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.devices import Device
from traceir.arrays.meshes import Mesh, Shape
from traceir.arrays.sharding import NamedSharding
from traceir.base.fast_dataclass import dataclass
from traceir.ranks.groups import RankAxis
from traceir.ranks.topology import STATE

Index = tuple[slice, ...]
# Puts an array in the memories of a platform's devices: of those that have their own.
MEMORIES: dict[str, Callable[[Any, Any], Any]] = {}


@dataclass(frozen=True, slots=True)
class ProcessMesh:
    """The devices of this process as a mesh of their own, and for each axis the
    processes along it; None where all of it is in each process.
    """

    own: Mesh
    ranks: tuple[RankAxis | None, ...]

    def along(self, name: Hashable) -> RankAxis | None:
        """The processes along an axis."""
        return self.ranks[self.own.axis_names.index(name)]

    def block(self, sharding: NamedSharding) -> NamedSharding:
        """The layout of this process's part of an array over its own devices."""
        return NamedSharding(self.own, sharding.spec)

    def shape(self, sharding: NamedSharding, whole: Sequence[int]) -> Shape:
        """The shape of this process's part of an array."""
        parts = sharding.shard_shape(whole)
        block = self.block(sharding)
        return tuple(n * block.parts(d) for d, n in enumerate(parts))


def crosses(sharding: Any) -> bool:
    """True if an array that lies so has parts in other processes, or on GPUs."""
    return is_on_devices(sharding) or _in_others(sharding)


def _in_others(sharding: Any) -> bool:
    return STATE.several and not sharding.is_fully_addressable


def is_spanning(sharding: Any) -> bool:
    """True if the elements are not all in this process."""
    return _in_others(sharding) and not sharding.is_fully_replicated


def is_on_devices(sharding: Any) -> bool:
    """True if an array that lies so is on devices with memory of their own."""
    return sharding.platform in MEMORIES


def is_apart(mesh: Mesh) -> bool:
    """True of a mesh of devices with memory of their own."""
    return mesh.platform in MEMORIES


@functools.lru_cache(maxsize=256)
def process_mesh(mesh: Mesh) -> ProcessMesh:
    """The block of a mesh that this process has, and the processes along its axes.

    Of a mesh of GPUs each has a block, and is numbered by its place. Raises ValueError
    (process.mesh) unless each process has a block of one shape.
    """
    if is_apart(mesh):
        return _block_of_one(mesh)
    topology = STATE.topology
    owners = np.vectorize(lambda d: d.process_index, otypes=[int])(mesh.devices)
    starts: dict[int, Shape] = {}
    block: Shape = ()
    for process in range(topology.processes):
        where = np.argwhere(owners == process)
        if not len(where):
            raise _refused(mesh, f"no device of process {process}")
        low, high = where.min(0), where.max(0) + 1
        extents = tuple(int(n) for n in high - low)
        if len(where) != prod(extents) or (block and extents != block):
            raise _refused(mesh, f"other places of process {process}")
        block, starts[process] = extents, tuple(int(n) for n in low)
    if any(low % n for start in starts.values() for low, n in zip(start, block)):
        raise _refused(mesh, "blocks that stand askew")
    here = starts[topology.index]
    part: np.ndarray = mesh.devices[
        tuple(slice(low, low + n) for low, n in zip(here, block))
    ]
    places = {tuple(a // n for a, n in zip(s, block)): p for p, s in starts.items()}
    ranks = [_along(mesh, axis, block, places) for axis in range(len(block))]
    return ProcessMesh(Mesh(part, mesh.axis_names, mesh.axis_types), tuple(ranks))


def _block_of_one(mesh: Mesh) -> ProcessMesh:
    """The block of the first device, and all devices along the axes by their places."""
    shape = mesh.devices.shape
    places = {place: k for k, place in enumerate(np.ndindex(*shape))}
    block = (1,) * len(shape)
    ranks = [_along(mesh, axis, block, places) for axis in range(len(shape))]
    first = mesh.devices[tuple(slice(0, 1) for _ in shape)]
    return ProcessMesh(Mesh(first, mesh.axis_names, mesh.axis_types), tuple(ranks))


def _along(
    mesh: Mesh, axis: int, block: Shape, places: dict[Shape, int]
) -> RankAxis | None:
    """The processes along an axis of a mesh, for each place along the others."""
    count = mesh.axis_sizes[axis] // block[axis]
    if count == 1:
        return None
    groups: dict[Shape, list[int]] = {}
    for place in sorted(places):
        rest = place[:axis] + place[axis + 1 :]
        groups.setdefault(rest, []).append(places[place])
    return RankAxis(mesh.axis_names[axis], tuple(map(tuple, groups.values())))


def _refused(mesh: Mesh, why: str) -> Exception:
    return rules.error("process.mesh", got=f"{mesh} with {why}")


def check_devices(mesh: Mesh, other: Mesh, what: str) -> None:
    """Raise ValueError (sharding.devices) unless two meshes are of the same devices.

    Devices that share their memory may differ.
    """
    own, others = tuple(mesh.devices.flat), tuple(other.devices.flat)
    if own != others and not MEMORIES.keys().isdisjoint(
        {mesh.platform, other.platform}
    ):
        got = (
            f"{what} on {', '.join(map(str, others))}, with {', '.join(map(str, own))}"
        )
        raise rules.error("sharding.devices", got=got)


def part_shape(sharding: Any, whole: Shape) -> Shape:
    """The shape of this process's part of an array; all of it but over processes."""
    if not is_spanning(sharding):
        return whole
    return process_mesh(sharding.mesh).shape(sharding, whole)


def part_indices(sharding: Any, whole: Shape) -> dict[Device, Index]:
    """Of each device of this process, where its shard lies in this process's part."""
    if not is_spanning(sharding):
        found: dict[Device, Index] = sharding.addressable_devices_indices_map(whole)
        return found
    mesh = process_mesh(sharding.mesh)
    return mesh.block(sharding).devices_indices_map(mesh.shape(sharding, whole))


def part_of(value: np.ndarray, sharding: Any) -> np.ndarray:
    """This process's part of an array that all processes have, in memory of its own."""
    found = np.empty(part_shape(sharding, value.shape), value.dtype)
    there = sharding.addressable_devices_indices_map(value.shape)
    for device, here in part_indices(sharding, value.shape).items():
        found[here] = value[there[device]]
    return found


def processes_along(sharding: Any, ndim: int) -> Shape:
    """The number of processes that divide each dimension of an array that lies so."""
    if not is_spanning(sharding):
        return (1,) * ndim
    mesh = process_mesh(sharding.mesh)
    ranks = [[mesh.along(axis) for axis in sharding.spec.axes(d)] for d in range(ndim)]
    return tuple(prod(r.size for r in along if r) for along in ranks)
