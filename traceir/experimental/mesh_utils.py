"""Devices in the order of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.arrays.devices import devices as all_devices

__all__ = ["create_device_mesh"]


def create_device_mesh(
    mesh_shape: Sequence[int], devices: Sequence[Any] | None = None, **_: Any
) -> np.ndarray:
    """The devices, by default all, as an array of a shape, for `Mesh`.

    Raises ValueError where their number is another.

    >>> create_device_mesh((1, 1)).shape
    (1, 1)
    """
    used = all_devices() if devices is None else list(devices)
    if int(np.prod(mesh_shape)) != len(used):
        shape = tuple(mesh_shape)
        raise ValueError(f"a mesh of shape {shape} of {len(used)} devices")
    return np.array(used, dtype=object).reshape(tuple(mesh_shape))
