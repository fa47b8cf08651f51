"""Layouts of arrays over devices: specs, and shardings of them. Serves: sharding.*

A spec says which axes of a mesh divide which dimension of an array. All that is
computed is the same for any of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from traceir import rules
from traceir.arrays.devices import (
    CPU,
    Device,
    SingleDeviceSharding,
    devices,
    own,
    unknown,
)
from traceir.arrays.meshes import AbstractMesh, Mesh, Shape, get_mesh
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import laid_by
from traceir.ir.jaxpr import Literal, Var
from traceir.pytrees import flatten
from traceir.ranks.topology import STATE


class PartitionSpec:
    """The axes of a mesh that divide each dimension: a name, several, or None for none.

    Dimensions beyond the last entry are not divided.

    >>> PartitionSpec("x", None), PartitionSpec(("x", "y"))
    (P('x', None), P(('x', 'y'),))
    """

    __slots__ = ("partitions",)
    UNCONSTRAINED: Any

    def __init__(self, *partitions: Any) -> None:
        single = [
            p[0] if isinstance(p, tuple | list) and len(p) == 1 else p
            for p in partitions
        ]
        self.partitions = tuple(tuple(p) if type(p) is list else p for p in single)

    def axes(self, dimension: int) -> tuple[Any, ...]:
        """The axes that divide a dimension.

        >>> PartitionSpec(None, ("x", "y")).axes(1)
        ('x', 'y')
        """
        if dimension >= len(self.partitions):
            return ()
        entry = self.partitions[dimension]
        if entry is None or entry is PartitionSpec.UNCONSTRAINED:
            return ()
        return entry if isinstance(entry, tuple) else (entry,)

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.partitions)

    def __getitem__(self, place: Any) -> Any:
        return self.partitions[place]

    def __add__(self, other: PartitionSpec | tuple[Any, ...]) -> PartitionSpec:
        return PartitionSpec(*self.partitions, *other)

    def index(self, entry: Any) -> int:
        """The first dimension with an entry; ValueError if there is none."""
        return self.partitions.index(entry)

    def count(self, entry: Any) -> int:
        """The number of dimensions with an entry."""
        return self.partitions.count(entry)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionSpec) and self.partitions == other.partitions

    def __hash__(self) -> int:
        return hash(self.partitions)

    def __repr__(self) -> str:
        return f"P{self.partitions!r}"


class _Unconstrained:
    """The entry of a spec that leaves a dimension to the compiler: the only one."""

    __slots__ = ()

    def __new__(cls) -> _Unconstrained:
        known: _Unconstrained | None = getattr(PartitionSpec, "UNCONSTRAINED", None)
        return object.__new__(cls) if known is None else known

    def __repr__(self) -> str:
        return "UNCONSTRAINED"


PartitionSpec.UNCONSTRAINED = _Unconstrained()
P = PartitionSpec


@dataclass(frozen=True, slots=True, repr=False)
class NamedSharding:
    """An array divided along dimensions as a spec says, over the devices of a mesh.

    Devices along axes that the spec does not name hold equal parts. An abstract mesh
    stands for the one that is set, if it has the same axes. Raises ValueError
    (sharding.axis, sharding.repeated), TypeError (sharding.type).

    >>> from traceir.arrays.meshes import make_mesh
    >>> NamedSharding(make_mesh((1,), ("x",)), P("x")).shard_shape((8, 2))
    (8, 2)
    """

    mesh: Mesh
    spec: PartitionSpec
    memory_kind: str = "device"

    def __post_init__(self) -> None:
        if isinstance(self.mesh, AbstractMesh):
            known = get_mesh()
            if known.abstract_mesh == self.mesh:
                object.__setattr__(self, "mesh", known)
        parts: tuple[tuple[object, type], ...]
        parts = (self.mesh, Mesh), (self.spec, PartitionSpec)
        if not all(isinstance(part, kind) for part, kind in parts):
            got = f"{type(self.mesh).__name__} and {type(self.spec).__name__}"
            raise rules.error("sharding.type", got=got)
        named = [a for d in range(len(self.spec)) for a in self.spec.axes(d)]
        for axis in named:
            if axis not in self.mesh.axis_names:
                got = f"{axis!r} of {self.spec!r}, for {self.mesh}"
                raise rules.error("sharding.axis", got=got)
        if len(set(named)) != len(named):
            raise rules.error("sharding.repeated", got=repr(self.spec))

    def parts(self, dimension: int) -> int:
        """Into how many parts a dimension is divided."""
        sizes = self.mesh.shape
        return prod(sizes[axis] for axis in self.spec.axes(dimension))

    def shard_shape(self, global_shape: Sequence[int]) -> Shape:
        """The shape of the part that one device holds.

        Raises ValueError (sharding.rank, sharding.divides).
        """
        shape = tuple(global_shape)
        self.check(shape)
        return tuple(n // self.parts(d) for d, n in enumerate(shape))

    def check(self, shape: Shape, what: str = "") -> None:
        """Raise ValueError unless an array of this shape can be divided so.

        The rules are sharding.rank and sharding.divides; `what` says which array.
        """
        at = f" for {what}" if what else ""
        if len(self.spec) > len(shape):
            raise rules.error("sharding.rank", got=f"{self.spec!r} of {shape}{at}")
        for dimension, extent in enumerate(shape):
            parts = self.parts(dimension)
            if extent % parts:
                got = f"{shape} in {parts} parts along {dimension}{at}"
                raise rules.error("sharding.divides", got=got)

    @property
    def platform(self) -> str:
        """The platform of the devices."""
        return self.mesh.platform

    @property
    def device_set(self) -> set[Device]:
        """The devices that hold a part of the array."""
        return set(self.mesh.devices.flat)

    @property
    def addressable_devices(self) -> set[Device]:
        """Those of them that this process has."""
        return own(self.device_set)

    @property
    def num_devices(self) -> int:
        """The number of devices that hold a part."""
        return self.mesh.size

    @property
    def is_fully_replicated(self) -> bool:
        """True if every device holds the whole array."""
        return all(self.parts(d) == 1 for d in range(len(self.spec)))

    @property
    def is_fully_addressable(self) -> bool:
        """True if all devices are of this process."""
        return len(self.addressable_devices) == self.num_devices

    def update(self, **fields: Any) -> NamedSharding:
        """The same sharding with another `mesh`, `spec` or `memory_kind`."""
        return replace(self, **fields)

    def devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> dict[Device, tuple[slice, ...]]:
        """The part of an array of this shape that each device holds."""
        part = self.shard_shape(global_shape)
        places = dict(np.ndenumerate(self.mesh.devices))
        return {
            device: tuple(
                self._slice(place, dimension, extent)
                for dimension, extent in enumerate(part)
            )
            for place, device in places.items()
        }

    def addressable_devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> dict[Device, tuple[slice, ...]]:
        """The parts that devices of this process hold."""
        here = self.addressable_devices
        every = self.devices_indices_map(global_shape)
        return {device: index for device, index in every.items() if device in here}

    def _slice(self, place: Shape, dimension: int, extent: int) -> slice:
        if self.parts(dimension) == 1:
            return slice(None)
        number = 0
        for axis in self.spec.axes(dimension):
            at = self.mesh.axis_names.index(axis)
            number = number * self.mesh.axis_sizes[at] + place[at]
        return slice(number * extent, (number + 1) * extent)

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """True if an array of so many dimensions lies in the same way under both."""
        if not isinstance(other, NamedSharding):
            return self.num_devices == 1 and self.device_set == other.device_set
        shape = tuple(self.parts(d) * other.parts(d) for d in range(ndim))
        mine, others = self.devices_indices_map(shape), other.devices_indices_map(shape)
        return mine == others

    def __repr__(self) -> str:
        kind = f"memory_kind={self.memory_kind}"
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec!r}, {kind})"


Sharding: TypeAlias = NamedSharding | SingleDeviceSharding
# How variables of programs are to lie. The text of a program, its key and its code are
# the same with them and without.
CONSTRAINTS: WeakKeyDictionary[Var, Sharding] = WeakKeyDictionary()


def constrain(value: Any, sharding: Sharding | None) -> None:
    """Note how a traced value is to lie; of a value with a tangent its own part.

    The batch of an example is to lie as that; the dimension of the examples is free.
    """
    inner = getattr(value, "primal", getattr(value, "batched", None))
    if inner is not None:
        if isinstance(sharding, NamedSharding):
            sharding = _of_batch(sharding, getattr(value, "dim", None))
        return constrain(inner, sharding)
    atom: Var | Literal | None = getattr(value, "_var", None)
    if sharding is not None and isinstance(atom, Var):
        CONSTRAINTS[atom] = sharding


def _of_batch(sharding: NamedSharding, dim: int | None) -> NamedSharding:
    if dim is None:
        return sharding
    entries = (*sharding.spec.partitions, *[None] * dim)
    spec = PartitionSpec(*entries[:dim], PartitionSpec.UNCONSTRAINED, *entries[dim:])
    return replace(sharding, spec=spec)


def is_sharding(value: object) -> bool:
    """True if a value is a layout of arrays on devices."""
    return isinstance(value, NamedSharding | SingleDeviceSharding)


def check_sharding(sharding: Any, shape: Shape, what: str) -> None:
    """Raise an error unless an array can lie so, on devices that there are.

    None means wherever it is. TypeError (sharding.type), ValueError (sharding.rank,
    sharding.divides, device.known), RuntimeError (sharding.mesh).
    """
    if sharding is None:
        return
    if isinstance(sharding, PartitionSpec):
        raise rules.error("sharding.mesh", got=f"{sharding!r} for {what}")
    if not is_sharding(sharding):
        raise rules.error("sharding.type", got=f"{sharding!r} for {what}")
    if lost := unknown(sharding.device_set):
        count = len(devices(sharding.platform))
        got = f"{', '.join(map(str, lost))} for {what}, with {count} of them"
        raise rules.error("device.known", got=got)
    if not sharding.addressable_devices:
        got = f"{sharding} for {what}, in process {STATE.topology.index}"
        raise rules.error("device.process", got=got)
    if isinstance(sharding, NamedSharding):
        sharding.check(shape, what)


def spread_shardings(what: str, given: Any, tree: flatten.TreeDef) -> list[Any]:
    """The sharding of each leaf of a tree, of which the tree given is a prefix.

    A spec alone is of the mesh that is set. Raises ValueError (sharding.tree).
    """
    mesh = config.current().mesh
    return [
        NamedSharding(mesh, place)
        if mesh is not None and isinstance(place, PartitionSpec)
        else place
        for place in spread_specs(what, given, tree)
    ]


def spread_specs(what: str, given: Any, tree: flatten.TreeDef) -> list[Any]:
    """As `spread_shardings`, and a spec alone stays one."""

    def is_leaf(part: Any) -> bool:
        return part is None or is_sharding(part) or isinstance(part, PartitionSpec)

    try:
        parts = flatten.spread(given, tree, is_leaf)
    except ValueError as error:
        raise rules.error("sharding.tree", got=f"{what}: {error}") from None
    return [part if is_leaf(part) else _of_format(part) for part in parts]


def _of_format(part: Any) -> Any:
    from traceir.arrays.layout import placement  # which few programs need

    return placement(part)


@functools.cache
def _whole(ndim: int) -> NamedSharding:
    """The layout of a whole array, of no axis of any mesh."""
    devices = np.empty((), object)
    devices[()] = CPU
    return NamedSharding(Mesh(devices, ()), PartitionSpec(*[None] * ndim))


laid_by(_whole)
