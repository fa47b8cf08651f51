"""Layouts of arrays over devices: meshes, specs, shardings. Serves: mesh.*, sharding.*

A mesh is an array of devices whose dimensions have names; a spec says which of them
divide which dimension of an array. All that is computed is the same for any of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from math import prod
from operator import index
from typing import Any, TypeAlias

import numpy as np

from traceir import rules
from traceir.arrays.devices import CpuDevice, SingleDeviceSharding, devices
from traceir.base.fast_dataclass import dataclass
from traceir.pytrees import flatten

Shape: TypeAlias = tuple[int, ...]


class AxisType(Enum):
    """The authority that decides layouts along an axis of a mesh.

    `Auto`: the compiler, which takes constraints; `Explicit`: the types of the
    operands; `Manual`: the function itself, which sees one part.

    >>> make_mesh((1,), ("x",), axis_types=(AxisType.Auto,)).axis_types
    (Auto,)
    """

    Auto = "Auto"
    Explicit = "Explicit"
    Manual = "Manual"

    def __repr__(self) -> str:
        return self.value


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


class Mesh:
    """Devices in an array whose dimensions have names.

    `devices` is an array, or a sequence, of devices, with a name for each dimension;
    `axis_types` are Auto unless given. Raises ValueError (mesh.names).

    >>> Mesh(np.array(devices()), ("x",))
    Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))
    """

    __slots__ = ("devices", "axis_names", "axis_types", "_key")

    def __init__(
        self,
        devices: Any,
        axis_names: str | Sequence[str],
        axis_types: Sequence[AxisType] | None = None,
    ) -> None:
        self.devices = np.array(devices, dtype=object)
        self.devices.setflags(write=False)
        self.axis_names = _names(axis_names)
        _check_names(self.devices.shape, self.axis_names)
        given = (AxisType.Auto,) * self.devices.ndim
        self.axis_types = given if axis_types is None else tuple(axis_types)
        if len(self.axis_types) != len(self.axis_names):
            got = f"{len(self.axis_types)} types for the axes {self.axis_names}"
            raise rules.error("mesh.names", got=got)
        ids = tuple(self.devices.flat)
        self._key = ids, self.devices.shape, self.axis_names, self.axis_types

    @property
    def axis_sizes(self) -> Shape:
        """The extents of the array of devices."""
        return self.devices.shape

    @property
    def shape(self) -> OrderedDict[str, int]:
        """The size of each axis by its name."""
        return OrderedDict(self.shape_tuple)

    @property
    def shape_tuple(self) -> tuple[tuple[str, int], ...]:
        """Pairs of the name and the size of each axis."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """The number of devices."""
        return self.devices.size

    @property
    def empty(self) -> bool:
        """True if there is no device."""
        return not self.devices.size

    @property
    def device_ids(self) -> np.ndarray:
        """The numbers of the devices."""
        ids = [device.id for device in self.devices.flat]
        return np.array(ids, dtype=int).reshape(self.devices.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        types = f"axis_types={self.axis_types!r}"
        return (
            f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, {types})"
        )

    def __str__(self) -> str:
        sizes = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)
        return f"Mesh({sizes}, axis_types={self.axis_types!r})"


def _names(axis_names: str | Iterable[str]) -> tuple[str, ...]:
    return (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)


def _check_names(shape: Shape, names: tuple[str, ...]) -> None:
    if len(shape) != len(names) or len(set(names)) != len(names):
        raise rules.error("mesh.names", got=f"{names} for devices of shape {shape}")


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: str | Sequence[str],
    axis_types: Sequence[AxisType] | None = None,
    *,
    devices: Sequence[CpuDevice] | None = None,
) -> Mesh:
    """A mesh of these sizes, from the first of the devices; its axes are Explicit.

    Raises ValueError (mesh.size, mesh.names).

    >>> make_mesh((1,), ("x",))
    Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Explicit,))
    """
    shape, names = tuple(map(index, axis_shapes)), _names(axis_names)
    given = list(_devices() if devices is None else devices)
    if any(n < 1 for n in shape) or prod(shape) > len(given):
        raise rules.error("mesh.size", got=f"{shape} of {len(given)} devices")
    _check_names(shape, names)
    types = (AxisType.Explicit,) * len(shape) if axis_types is None else axis_types
    array = np.empty(prod(shape), dtype=object)
    array[:] = given[: prod(shape)]
    return Mesh(array.reshape(shape), names, types)


_devices = devices


@dataclass(frozen=True, slots=True, repr=False)
class NamedSharding:
    """An array divided along dimensions as a spec says, over the devices of a mesh.

    Raises ValueError (sharding.axis, sharding.repeated), TypeError (sharding.type).

    >>> NamedSharding(make_mesh((1,), ("x",)), P("x")).shard_shape((8, 2))
    (8, 2)
    """

    mesh: Mesh
    spec: PartitionSpec
    memory_kind: str = "device"

    def __post_init__(self) -> None:
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
    def device_set(self) -> set[CpuDevice]:
        """The devices that hold a part of the array."""
        return set(self.mesh.devices.flat)

    @property
    def num_devices(self) -> int:
        """The number of devices that hold a part."""
        return len(self.device_set)

    @property
    def is_fully_replicated(self) -> bool:
        """True if every device holds the whole array."""
        return all(self.parts(d) == 1 for d in range(len(self.spec)))

    def devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> dict[CpuDevice, tuple[slice, ...]]:
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
        shape = tuple(
            self.parts(d) * other.parts(d) for d in range(ndim)
        )  # which both divide
        mine, others = self.devices_indices_map(shape), other.devices_indices_map(shape)
        return mine == others

    def __repr__(self) -> str:
        kind = f"memory_kind={self.memory_kind}"
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec!r}, {kind})"


Sharding: TypeAlias = NamedSharding | SingleDeviceSharding


def is_sharding(value: object) -> bool:
    """True if a value is a layout of arrays on devices."""
    return isinstance(value, NamedSharding | SingleDeviceSharding)


def check_sharding(sharding: Any, shape: Shape, what: str) -> None:
    """Raise an error unless an array can lie so, on devices that there are.

    None means wherever it is. TypeError (sharding.type), ValueError (sharding.rank,
    sharding.divides), RuntimeError (sharding.mesh, device.platform).
    """
    if sharding is None:
        return
    if isinstance(sharding, PartitionSpec):
        raise rules.error("sharding.mesh", got=f"{sharding!r} for {what}")
    if not is_sharding(sharding):
        raise rules.error("sharding.type", got=f"{sharding!r} for {what}")
    if unknown := sharding.device_set - set(devices()):
        raise rules.error("device.platform", got=", ".join(map(str, unknown)))
    if isinstance(sharding, NamedSharding):
        sharding.check(shape, what)


def spread_shardings(what: str, given: Any, tree: flatten.TreeDef) -> list[Any]:
    """The sharding of each leaf of a tree, of which the tree given is a prefix.

    Raises ValueError (sharding.tree).
    """

    def is_leaf(part: Any) -> bool:
        return part is None or is_sharding(part) or isinstance(part, PartitionSpec)

    try:
        return flatten.spread(given, tree, is_leaf)
    except ValueError as error:
        raise rules.error("sharding.tree", got=f"{what}: {error}") from None
