"""The platforms that are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traceir.arrays.devices import default_backend, devices
from traceir.base.caches import LIMITS_SET

__all__ = ["CpuPlatform", "backends", "get_backend"]


class CpuPlatform:
    """A platform: its name, and its devices."""

    def __init__(self, platform: str) -> None:
        self.platform = platform

    def devices(self) -> list[Any]:
        """The devices."""
        return list(devices(self.platform))

    def device_count(self) -> int:
        """The number of devices."""
        return len(self.devices())


def get_backend(platform: str | None = None) -> CpuPlatform:
    """A platform by its name, or the one that arrays lie on.

    >>> get_backend().platform
    'cpu'
    """
    found = CpuPlatform(platform or default_backend())
    found.devices()
    return found


def backends() -> dict[str, CpuPlatform]:
    """The platforms by their names.

    >>> list(backends())
    ['cpu']
    """
    return {default_backend(): get_backend()}


class Begun(Mapping[str, CpuPlatform]):
    """The platforms whose number of devices nobody can ask for any more."""

    def __iter__(self) -> Iterator[str]:
        return iter(["cpu"][: len(self)])

    def __len__(self) -> int:
        return int("num_cpu_devices" in LIMITS_SET)

    def __getitem__(self, name: str) -> CpuPlatform:
        if not self or name != "cpu":
            raise KeyError(name)
        return CpuPlatform(name)


BEGUN = Begun()
