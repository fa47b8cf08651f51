"""`device_put` and its like: arrays placed on devices. Serves: device.*, cache.key.*"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import LIVING
from traceir.arrays.array_interface import Methods
from traceir.arrays.devices import CpuDevice, CudaDevice, SingleDeviceSharding
from traceir.arrays.sharding import (
    PartitionSpec,
    check_sharding,
    is_sharding,
    spread_shardings,
)
from traceir.numpy.arrays.creation import asarray
from traceir.pytrees import flatten
from traceir.tracing.trace import Tracer


def device_put(x: Any, device: Any = None) -> Any:
    """A tree of numbers and NumPy arrays as one of arrays, on a device.

    `device` is a device, a sharding, or a tree of these that is a prefix of `x`. The
    layout of an array over devices is no part of its type: a call on what was put
    somewhere traces nothing anew. Raises RuntimeError (device.platform, sharding.mesh)
    for what is no device or a spec without a mesh, ValueError (device.known,
    sharding.tree, sharding.rank, sharding.divides).

    >>> device_put({"a": 1.5})
    {'a': Array(1.5, dtype=float32, weak_type=True)}
    >>> from traceir.sharding import NamedSharding, P, make_mesh
    >>> device_put([1.0, 2.0], NamedSharding(make_mesh((1,), ("x",)), P()))[0].sharding
    NamedSharding(mesh=Mesh('x': 1, axis_types=(Explicit,)), spec=P(),
                  memory_kind=device)
    """
    leaves, tree = flatten.flatten(x)
    places = _places(device, tree)
    rows = zip(leaves, places, tree.paths(), strict=True)
    return tree.unflatten([_put(*row) for row in rows])


def device_get(x: Any) -> Any:
    """A tree with its arrays as NumPy arrays, which must not be written to.

    Other values stay as they are, and so do traced ones. Arrays of a backend's device
    are copied from there.

    >>> import traceir.numpy as jnp
    >>> device_get({"a": jnp.arange(2), "b": 3})
    {'a': array([0, 1], dtype=int32), 'b': 3}
    """
    return flatten.map_(lambda v: np.asarray(v) if _is_array(v) else v, x)


def block_until_ready(x: Any) -> Any:
    """A tree, once all its arrays have been computed.

    On the processor they always have been; a backend's device may still be at it.

    >>> import traceir.numpy as jnp
    >>> block_until_ready([jnp.arange(2), "done"])
    [Array([0, 1], dtype=int32), 'done']
    """
    return flatten.map_(lambda v: v.block_until_ready() if _is_array(v) else v, x)


def _is_array(value: Any) -> bool:
    """True if a value is an array, here or on a backend's device, and no tracer."""
    return isinstance(value, Methods) and not isinstance(value, Tracer)


def _places(device: Any, tree: flatten.TreeDef) -> list[Any]:
    if device is None or isinstance(device, CpuDevice | CudaDevice):
        return [device] * tree.num_leaves
    return spread_shardings("device", device, tree)


def _put(leaf: Any, place: Any, path: flatten.Path) -> Any:
    value = asarray(leaf)
    if place is None:
        return value
    if not is_sharding(place) and not isinstance(place, PartitionSpec):
        if not isinstance(place, CpuDevice | CudaDevice):
            raise rules.error("device.platform", got=repr(place))
        place = SingleDeviceSharding(place)
    check_sharding(place, value.shape, flatten.key_path(path, "x"))
    return value._at(place) if type(value) in LIVING else value
