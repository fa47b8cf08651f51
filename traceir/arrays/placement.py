"""The place of an array's elements: its layout, and its shards. Serves: device.*"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from traceir.arrays.devices import SHARDING, Device, SingleDeviceSharding
from traceir.arrays.sharding import Sharding
from traceir.arrays.shards import Shard, shards_of
from traceir.ir.avals import ShapedArray
from traceir.ranks.topology import STATE

if TYPE_CHECKING:
    from traceir.arrays.layout import Format

# Where arrays lie that were put somewhere, by identity: few are, and a place in each
# array would cost every operation.
PLACED: dict[int, tuple[weakref.ref[Any], Sharding]] = {}


def put_down(array: Any, sharding: Sharding) -> None:
    """Note for as long as an array lives how it lies."""
    key = id(array)
    PLACED[key] = weakref.ref(array, lambda _: PLACED.pop(key, None)), sharding


class PlacedElements:
    """The methods of an array that are about where its elements lie."""

    __slots__ = ()
    _value: np.ndarray
    aval: ShapedArray

    @property
    def device(self) -> Device | Sharding:
        """The device that holds the array; of several its sharding."""
        place = self.sharding
        return place.device if isinstance(place, SingleDeviceSharding) else place

    @property
    def sharding(self) -> Sharding:
        """The layout of the array on devices: whole on one, unless it was put
        elsewhere.
        """
        found = PLACED.get(id(self))
        return SHARDING if found is None else found[1]

    @property
    def format(self) -> Format:
        """The order of the elements in memory, rows first, and the layout on devices.

        >>> import traceir.numpy as jnp
        >>> jnp.ones((2, 3)).format.layout
        DeviceLayout(major_to_minor=(0, 1))
        """
        from traceir.arrays.layout import format_of  # which few programs need

        return format_of(self.aval, self.sharding)

    def devices(self) -> set[Device]:
        """The devices that hold the array.

        >>> import traceir.numpy as jnp
        >>> jnp.arange(5).devices()
        {CpuDevice(id=0)}
        """
        return self.sharding.device_set

    @property
    def is_fully_replicated(self) -> bool:
        """True if each of its devices holds the whole array."""
        return self.sharding.is_fully_replicated

    @property
    def is_fully_addressable(self) -> bool:
        """True if all its devices are of this process."""
        return self.sharding.is_fully_addressable

    @property
    def addressable_shards(self) -> list[Shard]:
        """The part that each device of this process holds.

        >>> import traceir.numpy as jnp
        >>> [shard.device for shard in jnp.arange(5).addressable_shards]
        [CpuDevice(id=0)]
        """
        shards = self.global_shards
        if not STATE.several:
            return shards
        here = self.sharding.addressable_devices
        return [shard for shard in shards if shard.device in here]

    @property
    def global_shards(self) -> list[Shard]:
        """The part that each device holds; those of other processes have no data."""
        return shards_of(self.sharding, self.aval.shape, self._part)

    def addressable_data(self, index: int) -> Any:
        """The elements of a shard, by its number."""
        shard = self.addressable_shards[index]
        return self._part(shard.index, shard.device)

    def _part(self, index: tuple[slice, ...], device: Device) -> Any:
        """The elements that a device holds: each of the two classes of placed arrays
        says it."""
        raise NotImplementedError
