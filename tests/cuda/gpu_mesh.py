"""Programs over meshes of simulated GPUs, with names that programs take from `jax`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import traceir


class OnGpus:
    """The library for programs that take the devices that there are: GPUs."""

    def __getattr__(self, name: str) -> Any:
        return getattr(traceir, name)

    def devices(self) -> list[Any]:
        """The GPUs."""
        return traceir.devices("cuda")

    local_devices = devices

    def device_count(self) -> int:
        """The number of GPUs."""
        return len(self.devices())

    local_device_count = device_count

    def make_mesh(self, *args: Any, **kwargs: Any) -> Any:
        """A mesh of GPUs."""
        return traceir.make_mesh(*args, devices=self.devices(), **kwargs)

    def pmap(self, *args: Any, **kwargs: Any) -> Any:
        """A map over GPUs."""
        return traceir.pmap(*args, devices=self.devices(), **kwargs)


@contextmanager
def so_many(count: int) -> Iterator[None]:
    """Inside the `with`, there are so many devices of the host, and so many GPUs."""
    before = traceir.config.num_cpu_devices, traceir.config.num_cuda_devices
    traceir.config.update("num_cpu_devices", count)
    traceir.config.update("num_cuda_devices", count)
    try:
        yield
    finally:
        traceir.config.update("num_cpu_devices", before[0])
        traceir.config.update("num_cuda_devices", before[1])
