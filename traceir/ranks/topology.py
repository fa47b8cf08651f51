"""The processes, and the devices that each of them has. Serves: device.process"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Topology:
    """The number of devices of each process, and the number of this one.

    Devices are numbered through: first those of process 0. Without counts there is one
    process, with all the devices there are.

    >>> two = Topology(1, (2, 3))
    >>> two.process_of(2), two.process_of(1), list(two.devices_of(1))
    (1, 0, [2, 3, 4])
    """

    index: int = 0
    counts: tuple[int, ...] = ()

    @property
    def processes(self) -> int:
        """The number of processes."""
        return max(len(self.counts), 1)

    @property
    def devices(self) -> int:
        """The number of devices of all processes together."""
        return sum(self.counts)

    def process_of(self, device: int) -> int:
        """The process that has a device, by its number."""
        ends = accumulate(self.counts)
        return next((k for k, end in enumerate(ends) if device < end), 0)

    def devices_of(self, process: int) -> range:
        """The numbers of a process's devices."""
        start = sum(self.counts[:process])
        return range(start, start + self.counts[process])


class _ProcessState:
    """The processes now: one alone, until `traceir.distributed` has begun."""

    __slots__ = ("topology", "transport", "several")

    def __init__(self) -> None:
        self.put(Topology())

    def put(self, topology: Topology, transport: Any = None) -> None:
        """Put other processes in place, and the way to them."""
        self.topology = topology
        self.transport = transport
        self.several = topology.processes > 1


STATE = _ProcessState()
