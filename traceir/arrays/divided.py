"""Arrays in the memories of a backend's devices, a part in each. Serves: device.*"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.arrays.array import (
    APART,
    LAID_OUT,
    LIVING,
    UNREAD,
    Array,
    far,
    place_of,
)
from traceir.arrays.devices import Device, SingleDeviceSharding
from traceir.arrays.meshes import Mesh
from traceir.arrays.placement import put_down
from traceir.arrays.process_mesh import MEMORIES
from traceir.arrays.sharding import NamedSharding, PartitionSpec, Sharding
from traceir.ir.avals import ShapedArray


class DividedMemory:
    """The part of an array on each device of its sharding, in their order.

    A part is an array of the backend, with `on_host` and `block_until_ready`; the whole
    is put together in the host's memory when it is first read there.
    """

    __slots__ = ("parts", "_whole")

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)
        self._whole: np.ndarray | None = None

    def whole(self, shape: Sequence[int], sharding: Sharding) -> np.ndarray:
        """All elements, in the host's memory."""
        if self._whole is None:
            found: np.ndarray | None = None
            known: set[Any] = set()
            indices = sharding.devices_indices_map(shape).values()
            for index, part in zip(indices, self.parts, strict=True):
                place = tuple((s.start, s.stop) for s in index)
                if place in known:  # a device before it has the same elements
                    continue
                known.add(place)
                own = part.on_host()
                found = np.empty(shape, own.dtype) if found is None else found
                found[index] = own
            assert found is not None
            found.setflags(write=False)
            self._whole = found
        return self._whole


class Divided(Array):
    """An array in the memories of devices, each of which has its own.

    Operations take and give such arrays, and run on the devices; what reads elements on
    the host is given a copy.
    """

    __slots__ = ()

    @property
    def _value(self) -> np.ndarray:  # type: ignore[override]  # read alone
        memory: DividedMemory = place_of(self)
        return memory.whole(self.shape, self.sharding)

    def _at(self, sharding: Sharding | None) -> Array:
        if sharding is None or sharding == self.sharding:
            return self
        if sharding.platform in MEMORIES:
            there: Array = MEMORIES[sharding.platform](self, sharding)
            return there
        return Array._wrap(self._value, self.aval)._at(sharding)

    def _part(self, index: tuple[slice, ...], device: Device) -> Any:
        places = list(self.sharding.devices_indices_map(self.shape))
        part = place_of(self).parts[places.index(device)]
        aval = self.aval.update(shape=self.sharding.shard_shape(self.shape))
        return divided([part], aval, SingleDeviceSharding(device))

    def block_until_ready(self) -> Array:
        """The array itself, once all devices have computed their parts."""
        for part in place_of(self).parts:
            part.block_until_ready()
        return self

    def copy(self) -> Any:
        """The array itself: nobody writes to its memory."""
        return self


def divided(parts: Sequence[Any], aval: ShapedArray, sharding: Sharding) -> Array:
    """The array of which each device of a sharding has a part."""
    made = far(DividedMemory(parts), aval)
    put_down(made, sharding)
    made.__class__ = Divided
    return made


def over_mesh(sharding: Sharding) -> NamedSharding:
    """A sharding over a mesh; one device is a mesh without axes."""
    if isinstance(sharding, NamedSharding):
        return sharding
    only = np.empty((), object)
    only[()] = sharding.device
    return NamedSharding(Mesh(only, ()), PartitionSpec())


def over_devices(sharding: NamedSharding) -> Sharding:
    """The inverse: over a mesh without axes it is that of its device."""
    if sharding.mesh.axis_names:
        return sharding
    return SingleDeviceSharding(sharding.mesh.devices.item())


for _kinds in (LIVING, APART, UNREAD, LAID_OUT):
    _kinds.add(Divided)
Divided.__name__ = Divided.__qualname__ = "Array"
