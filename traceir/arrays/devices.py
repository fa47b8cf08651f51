"""The devices, where arrays live: groups of a processor's threads, and GPUs.

Groups of threads share the memory of their process, so that an array that is divided
among them is one array in it, of which each device has a part. A GPU has memory of its
own. Serves: device.*
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from traceir import rules
from traceir.base.caches import LIMITS, LIMITS_SET, set_limit
from traceir.base.fast_dataclass import dataclass
from traceir.base.flags import CHECKS
from traceir.ranks.topology import STATE

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CpuDevice:
    """A group of the processor's threads, by its number.

    >>> CpuDevice()
    CpuDevice(id=0)
    >>> print(CpuDevice())
    cpu:0
    """

    id: int = 0

    @property
    def platform(self) -> str:
        """The name that `devices` takes."""
        return "cpu"

    @property
    def device_kind(self) -> str:
        """The kind of the device, which is its platform."""
        return self.platform

    @property
    def process_index(self) -> int:
        """The number of the process whose threads they are."""
        return STATE.topology.process_of(self.id)

    def memory_stats(self) -> None:
        """Nothing: the memory is the process's own, of which the system tells."""

    def __str__(self) -> str:
        return f"cpu:{self.id}"


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """A GPU, by its number; in the simulator a part of the processor that acts as one.

    >>> print(CudaDevice(1, "simulator"))
    cuda:1
    """

    id: int
    name: str

    @property
    def platform(self) -> str:
        """The name that `devices` takes."""
        return "cuda"

    @property
    def device_kind(self) -> str:
        """The name of its model."""
        return self.name

    @property
    def process_index(self) -> int:
        """The number of this process, whose devices they are."""
        return STATE.topology.index

    def memory_stats(self) -> None:
        """Nothing: `traceir_numba.cuda.memory_info` tells of its memory."""

    def __str__(self) -> str:
        return f"cuda:{self.id}"


Device: TypeAlias = CpuDevice | CudaDevice
# The first device of this process.
CPU = CpuDevice()
# The devices of further platforms, of which a backend knows.
PLATFORMS: dict[str, Callable[[], Sequence[Device]]] = {}


def renumber(first: int) -> None:
    """Give the first device of this process its number among those of all processes.

    Whatever lies nowhere else lies on it, also what was made before.
    """
    object.__setattr__(CPU, "id", first)


def own(devices: Iterable[Device]) -> set[Device]:
    """Those of the devices that this process has."""
    if not STATE.several:
        return set(devices)
    return {d for d in devices if d.process_index == STATE.topology.index}


@dataclass(frozen=True, slots=True)
class SingleDeviceSharding:
    """An array that lies whole on one device.

    >>> SingleDeviceSharding()
    SingleDeviceSharding(device=CpuDevice(id=0))
    """

    device: Device = CPU

    @property
    def platform(self) -> str:
        """The platform of the device."""
        return self.device.platform

    @property
    def device_set(self) -> set[Device]:
        """The devices that hold a part of the array."""
        return {self.device}

    @property
    def addressable_devices(self) -> set[Device]:
        """Those of them that this process has."""
        return own(self.device_set)

    @property
    def num_devices(self) -> int:
        """The number of devices that hold a part."""
        return 1

    @property
    def is_fully_replicated(self) -> bool:
        """True: the only device holds the whole array."""
        return True

    @property
    def is_fully_addressable(self) -> bool:
        """True if the device is one of this process."""
        return bool(self.addressable_devices)

    @property
    def memory_kind(self) -> str:
        """The memory of the device, of which there is one kind."""
        return "device"

    def shard_shape(self, global_shape: Sequence[int]) -> Shape:
        """The shape of the part that the device holds: all."""
        return tuple(global_shape)

    def devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> dict[Device, tuple[slice, ...]]:
        """The part of an array of this shape that the device holds."""
        return {self.device: (slice(None),) * len(global_shape)}

    addressable_devices_indices_map = devices_indices_map

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """True if an array of so many dimensions lies in the same way under both."""
        return bool(other.device_set == self.device_set)


SHARDING = SingleDeviceSharding()
_FORCED = re.compile(r"--xla_force_host_platform_device_count=(\d+)")


def count_from_xla_flags(environment: Mapping[str, str]) -> int | None:
    """The number of devices that the variable XLA_FLAGS asks for; None if it does not.

    >>> flags = "--xla_cpu_x=1 --xla_force_host_platform_device_count=4"
    >>> count_from_xla_flags({"XLA_FLAGS": flags})
    4
    """
    found = _FORCED.findall(environment.get("XLA_FLAGS", ""))
    return int(found[-1]) if found and int(found[-1]) else None


def _number() -> int:
    """The number of devices; XLA_FLAGS count while nothing else has set it."""
    if "num_cpu_devices" not in LIMITS_SET:
        count = count_from_xla_flags(os.environ)
        if count is not None and count != LIMITS["num_cpu_devices"]:
            import logging  # not on the way of an import

            set_limit("num_cpu_devices", count)
            logging.getLogger("traceir").warning(
                "XLA_FLAGS asks for %d devices, which there are from now on; say so by "
                'traceir.config.update("num_cpu_devices", %d), or with the variable '
                "TRACEIR_NUM_CPU_DEVICES [device.count]",
                *(count, count),
            )
    return LIMITS["num_cpu_devices"]


def devices(backend: str | None = None) -> list[Device]:
    """All devices of a platform, `"cpu"` by default, or `"cuda"`.

    A process has as many of the processor as `config.update("num_cpu_devices", n)` asks
    for, by default one (device.count), and those of CUDA that there are, in the
    simulator as many as `num_cuda_devices` says (device.simulated). Raises RuntimeError
    (device.platform) for another platform, (backend.device) without such a device.

    >>> devices()
    [CpuDevice(id=0)]
    """
    if backend in PLATFORMS:
        return [*PLATFORMS[backend]()]
    if backend not in (None, CPU.platform):
        raise rules.error("device.platform", got=repr(backend))
    return [*map(_device, range(STATE.topology.devices or _number()))]


def _device(number: int) -> CpuDevice:
    return CPU if number == CPU.id else CpuDevice(number)


def unknown(asked: Iterable[Device]) -> list[Device]:
    """Those of the devices that there are not, in the order of their numbers.

    >>> unknown([CPU, CpuDevice(9)])
    [CpuDevice(id=9)]
    """
    wanted = set(asked)
    for platform in {device.platform for device in wanted}:
        wanted -= set(devices(platform))
    return sorted(wanted, key=lambda device: (device.platform, device.id))


def check_platforms(names: str | None) -> None:
    """Raise RuntimeError (device.platform) unless a platform of a list is there.

    The list is what JAX's flags `jax_platforms` and `jax_platform_name` have; without
    names the choice is the library's.

    >>> check_platforms("cuda,cpu"), check_platforms("")
    (None, None)
    """
    if names and CPU.platform not in names.split(","):
        raise rules.error("device.platform", got=repr(names))


def check_default(device: object) -> None:
    """Raise unless results lie on a device anyway: on the first (device.known).

    RuntimeError (device.platform) for the name of another platform.

    >>> check_default(CPU), check_default("cpu"), check_default(None)
    (None, None, None)
    """
    if isinstance(device, str):
        check_platforms(device)
    elif device is not None and device != devices()[0]:
        hint = "place arrays there by `device_put`, or by a sharding"
        raise rules.error("device.known", got=f"{device!r} as the default", hint=hint)


CHECKS["platforms"] = CHECKS["platform_name"] = check_platforms
CHECKS["default_device"] = check_default


def check_device(device: object) -> None:
    """Raise ValueError (array.device) unless a value is a device or a sharding.

    None leaves the choice to the library.

    >>> check_device(CPU), check_device(None)
    (None, None)
    """
    if device is None or isinstance(device, CpuDevice | CudaDevice):
        return
    if not hasattr(device, "device_set"):
        raise rules.error("array.device", got=repr(device))


def default_backend() -> str:
    """The platform that runs un-annotated programs.

    >>> default_backend()
    'cpu'
    """
    return CPU.platform


def local_devices(
    process_index: int | None = None,
    backend: str | None = None,
    host_id: int | None = None,
) -> list[Device]:
    """The devices of a process, by default of this one.

    Raises RuntimeError (device.platform) for another platform, ValueError
    (device.process) for a process that there is not, by either of its names.

    >>> local_devices()
    [CpuDevice(id=0)]
    """
    topology = STATE.topology
    wanted = topology.index
    for number in (process_index, host_id):
        if number is not None and number not in range(topology.processes):
            got = f"{number!r} of {topology.processes}"
            raise rules.error("device.process", got=got)
        wanted = wanted if number is None else number
    return [d for d in devices(backend) if d.process_index == wanted]


def device_count(backend: str | None = None) -> int:
    """The number of devices of all processes.

    Raises RuntimeError (device.platform) for another platform.

    >>> device_count()
    1
    """
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """The number of devices of this process.

    Raises RuntimeError (device.platform) for another platform.

    >>> local_device_count()
    1
    """
    return len(local_devices(backend=backend))
