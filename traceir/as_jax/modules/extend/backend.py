"""The platforms that are there."""

from __future__ import annotations

from typing import Any

from traceir.arrays.devices import default_backend, devices

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


# The platforms that have begun: all, from the start.
BEGUN = {"cpu": CpuPlatform("cpu")}
