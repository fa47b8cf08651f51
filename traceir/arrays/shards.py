"""Shards: the parts of an array, each on the device that holds it. Serves: device.*"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from traceir.arrays.devices import Device
from traceir.arrays.sharding import Sharding
from traceir.base.fast_dataclass import dataclass

Index = tuple[slice, ...]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Shard:
    """The part of an array that one device holds.

    `index` says which elements these are, `replica_id` counts the devices before this
    one that hold the same, and `data` is the part as an array on that device.

    >>> import traceir, traceir.numpy as jnp
    >>> jnp.arange(3).addressable_shards
    [Shard(device=CpuDevice(id=0), index=(slice(None, None, None),), replica_id=0,
           data=[0 1 2])]
    """

    device: Device
    index: Index
    replica_id: int
    _part: Callable[[Index, Device], Any]

    @property
    def data(self) -> Any:
        """The elements."""
        return self._part(self.index, self.device)

    def __repr__(self) -> str:
        at = f"device={self.device!r}, index={self.index}"
        return f"Shard({at}, replica_id={self.replica_id}, data={self.data})"


def shards_of(
    sharding: Sharding,
    shape: Sequence[int],
    part: Callable[[Index, Device], Any],
) -> list[Shard]:
    """The shards of an array of this shape; `part` gives the elements of each."""
    before: Counter[tuple[tuple[int | None, int | None], ...]] = Counter()
    found = []
    for device, index in sharding.devices_indices_map(shape).items():
        key = tuple((s.start, s.stop) for s in index)  # slices have no hash
        found.append(Shard(device, index, before[key], part))
        before[key] += 1
    return found
