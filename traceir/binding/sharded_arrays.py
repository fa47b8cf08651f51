"""Arrays made of parts that devices hold. Serves: sharding.shards, sharding.explicit"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import LIVING, Array
from traceir.arrays.devices import CpuDevice
from traceir.arrays.meshes import Shape
from traceir.arrays.sharding import (
    Sharding,
    check_sharding,
    spread_shardings,
)
from traceir.arrays.shards import Index
from traceir.binding.device_put import device_put
from traceir.lax.structural.sharding_constraints import check_explicit
from traceir.numpy.arrays.creation import asarray
from traceir.pytrees import flatten


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Sharding,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> Array:
    """The array whose shards `data_callback` gives, called with the index of each.

    Devices that hold the same elements have one call. Raises ValueError
    (sharding.shards, sharding.rank, sharding.divides, device.known).

    >>> import numpy as np
    >>> from traceir.sharding import NamedSharding, P, make_mesh
    >>> rows = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> make_array_from_callback((3,), rows, np.arange(6, 9, dtype="int32").__getitem__)
    Array([6, 7, 8], dtype=int32)
    """
    whole = tuple(shape)
    check_sharding(sharding, whole, "the array")
    parts: dict[str, Array] = {}
    devices = sharding.devices_indices_map(whole)
    for index in devices.values():
        if str(index) not in parts:
            parts[str(index)] = asarray(data_callback(index))
    listed = {device: parts[str(index)] for device, index in devices.items()}
    return _assembled(whole, sharding, listed, dtype)


def make_array_from_single_device_arrays(
    shape: Sequence[int],
    sharding: Sharding,
    arrays: Sequence[Array],
    *,
    dtype: Any = None,
) -> Array:
    """The array whose shards are `arrays`, each on a device of the sharding.

    Raises ValueError (sharding.shards, sharding.rank, sharding.divides, device.known).

    >>> import traceir
    >>> x = traceir.numpy.arange(3)
    >>> make_array_from_single_device_arrays((3,), x.sharding, [x])
    Array([0, 1, 2], dtype=int32)
    """
    whole = tuple(shape)
    check_sharding(sharding, whole, "the array")
    if any(type(array) not in LIVING for array in arrays):
        kinds = ", ".join({type(array).__name__ for array in arrays})
        raise rules.error("sharding.shards", got=f"parts of type {kinds}")
    parts = {array.device: array for array in arrays}
    if parts.keys() != sharding.device_set or len(parts) != len(arrays):
        listed = ", ".join(str(array.device) for array in arrays)
        wanted = ", ".join(sorted(map(str, sharding.device_set)))
        raise rules.error("sharding.shards", got=f"parts on {listed} for {wanted}")
    return _assembled(whole, sharding, parts, dtype)


def _assembled(
    shape: Shape, sharding: Sharding, parts: dict[Any, Array], dtype: Any
) -> Array:
    indices: dict[CpuDevice, Index] = sharding.devices_indices_map(shape)
    aval = next(iter(parts.values())).aval.update(shape=shape)
    wanted = aval.dtype if dtype is None else np.dtype(dtype)
    value = np.empty(shape, aval.dtype)
    extent = sharding.shard_shape(shape)
    filled: dict[str, CpuDevice] = {}
    for device, index in indices.items():
        part = parts[device]
        if part.shape != extent or part.dtype != wanted:
            got = f"{part.aval.str_short()} on {device} for {wanted.name}{extent}"
            raise rules.error("sharding.shards", got=got)
        first = filled.setdefault(str(index), device)
        other = parts[first]
        if part is not other and part._value.tobytes() != other._value.tobytes():
            got = f"other elements on {device} than on {first}"
            raise rules.error("sharding.shards", got=got)
        value[index] = part._value
    return Array._wrap(value, aval)._at(sharding)


def reshard(xs: Any, out_shardings: Any) -> Any:
    """The tree `xs`, its arrays laid out along Explicit axes of a mesh.

    Raises ValueError (sharding.explicit, sharding.tree, sharding.rank,
    sharding.divides, device.known), RuntimeError (sharding.mesh).

    >>> import traceir
    >>> from traceir.sharding import NamedSharding, P, make_mesh
    >>> rows = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> reshard(traceir.numpy.arange(3), rows).sharding.spec
    P('x',)
    """
    _, tree = flatten.flatten(xs)
    for place in spread_shardings("out_shardings", out_shardings, tree):
        check_explicit(place, "reshard")
    return device_put(xs, out_shardings)
