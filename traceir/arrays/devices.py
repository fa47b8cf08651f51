"""The one device: where arrays live. Serves: device.*"""

from __future__ import annotations

from traceir import rules
from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CpuDevice:
    """The processor that runs everything.

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

    def __str__(self) -> str:
        return f"cpu:{self.id}"


CPU = CpuDevice()


@dataclass(frozen=True, slots=True)
class SingleDeviceSharding:
    """An array that lies whole on one device.

    >>> SingleDeviceSharding()
    SingleDeviceSharding(device=CpuDevice(id=0))
    """

    device: CpuDevice = CPU

    @property
    def device_set(self) -> set[CpuDevice]:
        """The devices that hold a part of the array."""
        return {self.device}


SHARDING = SingleDeviceSharding()


def devices(backend: str | None = None) -> list[CpuDevice]:
    """All devices of a platform, by default of the only one, `"cpu"`.

    Raises RuntimeError (device.platform) for another platform.

    >>> devices()
    [CpuDevice(id=0)]
    """
    if backend not in (None, CPU.platform):
        raise rules.error("device.platform", got=repr(backend))
    return [CPU]


def check_device(device: object) -> None:
    """Raise ValueError (array.device) unless a value is a device or a sharding.

    None leaves the choice to the library, which has one device.

    >>> check_device(CPU), check_device(None)
    (None, None)
    """
    if device is None or isinstance(device, CpuDevice):
        return
    if not hasattr(device, "device_set"):
        raise rules.error("array.device", got=repr(device))


def default_backend() -> str:
    """The platform that runs un-annotated programs.

    >>> default_backend()
    'cpu'
    """
    return CPU.platform


def local_devices(backend: str | None = None) -> list[CpuDevice]:
    """The devices of this process, which are all that there are.

    Raises RuntimeError (device.platform) for another platform.

    >>> local_devices()
    [CpuDevice(id=0)]
    """
    return devices(backend)


def device_count(backend: str | None = None) -> int:
    """The number of devices.

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
    return len(local_devices(backend))
