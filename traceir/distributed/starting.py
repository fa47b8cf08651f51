"""The processes found, their devices counted, and left again.

Serves: process.start, process.number
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from traceir import rules
from traceir.arrays import devices
from traceir.arrays.process_mesh import process_mesh
from traceir.base.caches import clear_all
from traceir.ranks.topology import STATE, Topology
from traceir.ranks.transport import APART, LOOKS, Transport
from traceir.transforms.spanning import ahead

# Seconds for which a process is waited for in a collective, unless it is said.
PATIENCE = 1800.0


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: float = 300,
    heartbeat_timeout_seconds: float = 100,
    shutdown_timeout_seconds: float = 300,
    coordinator_bind_address: str | None = None,
    slice_index: int | None = None,
    partition_index: int | None = None,
    *,
    collective_timeout_seconds: float = PATIENCE,
) -> None:
    """Find the processes that MPI has started, before anything is computed.

    Each has as many devices as `num_cpu_devices` says, or those of them that
    `local_device_ids` numbers. From then on `devices()` has those of all processes.

    MPI knows how many processes there are and which one this is: `num_processes` and
    `process_id` are compared with that. It also connects them, and its launcher notices
    a process that has died, so that addresses, the way of detection, slices and the
    heartbeat's timeout have nothing to do. A process that does not come to a collective
    is waited for `collective_timeout_seconds`; then the run ends. An exception that
    nobody catches ends all processes.

    Raises RuntimeError (process.start) without mpi4py and when it is called again,
    ValueError (process.number) for processes and devices that there are not.

    >>> try:  # in a program for `mpirun -n 2`, without numbers
    ...     initialize(num_processes=2, process_id=2)
    ... except ValueError as error:
    ...     print(error)
    What `distributed.initialize` is told of processes and of devices there is: the...
      got: process_id=2 and num_processes=2
      ...
    """
    if is_initialized():
        raise rules.error("process.start", got="a second call")
    if process_id is not None and not 0 <= process_id < (num_processes or 1 << 31):
        got = f"process_id={process_id} and num_processes={num_processes}"
        raise rules.error("process.number", got=got)
    mpi = _mpi()
    world = mpi.COMM_WORLD
    found = world.Get_size(), world.Get_rank()
    for given, own, name in zip(
        (num_processes, process_id), found, ("num_processes", "process_id")
    ):
        if given is not None and given != own:
            got = f"{name}={given}, where MPI says {own}"
            raise rules.error("process.number", got=got)
    way = Transport(mpi, initialization_timeout)
    own_count = _count(local_device_ids)
    counts = way.wait("distributed.initialize", way.control.allgather, own_count)
    way.seconds = collective_timeout_seconds
    _begin(Topology(found[1], tuple(counts)), way, shutdown_timeout_seconds)


def is_initialized() -> bool:
    """True between `initialize` and `shutdown`.

    >>> is_initialized()
    False
    """
    return STATE.transport is not None


def shutdown() -> None:
    """Leave the other processes, once all of them do; nothing if there are none.

    >>> shutdown()
    """
    way = STATE.transport
    if way is None:
        return
    way.seconds = _STARTED["patience"]
    way.wait("distributed.shutdown", way.control.Barrier)
    way.close()
    sys.excepthook = _STARTED["hook"]
    _put(Topology(), None)
    ahead.stop()


def _mpi() -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        got = f"{type(error).__name__}: {error}"
        raise rules.error("process.start", got=got) from None
    return MPI


def _count(given: int | Sequence[int] | None) -> int:
    """The number of devices of this process."""
    if given is None:
        return devices.local_device_count()
    ids = {given} if isinstance(given, int) else set(given)
    known = range(devices.local_device_count())
    if not ids or not ids <= set(known):
        got = f"local_device_ids={given!r} of {len(known)} devices"
        raise rules.error("process.number", got=got)
    return len(ids)


# What was there before, and how long `shutdown` waits.
_STARTED: dict[str, Any] = {}


def _begin(topology: Topology, way: Transport, patience: float) -> None:
    _STARTED.update(hook=sys.excepthook, patience=patience)
    sys.excepthook = _end_all
    _put(topology, way)
    if STATE.several:
        ahead.start()


def _put(topology: Topology, way: Transport | None) -> None:
    clear_all()
    process_mesh.cache_clear()
    STATE.put(topology, way)
    own = topology.devices_of(topology.index) if topology.counts else range(1)
    devices.renumber(own[0])


def _end_all(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show an exception that nobody has caught, and end all processes.

    One that several processes raise at once is shown by the first of them.
    """
    way: Transport | None = STATE.transport
    if way is not None:
        time.sleep(APART * min(way.rank, LOOKS))
    _STARTED["hook"](kind, error, trace)
    if way is not None:
        way.abort()
