"""Where arrays are put: on the one device. Serves: device.*, cache.key.*"""

from __future__ import annotations

from typing import Any

from traceir import pytree, rules
from traceir.devices import CPU, SHARDING
from traceir.numpy.creation import asarray


def device_put(x: Any, device: Any = None) -> Any:
    """A tree of numbers and NumPy arrays as one of arrays, on a device.

    There is one device, and it is no part of a type: a call on what was put somewhere
    traces nothing anew. Raises RuntimeError (device.platform) for another device.

    >>> device_put({"a": 1.5})
    {'a': Array(1.5, dtype=float32, weak_type=True)}
    """
    if device is not None and device not in (CPU, SHARDING):
        raise rules.error("device.platform", got=repr(device))
    return pytree.map_(asarray, x)
