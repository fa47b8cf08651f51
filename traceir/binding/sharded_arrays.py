"""Arrays made of parts that devices hold. Serves: sharding.shards, sharding.explicit"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays import process_mesh
from traceir.arrays.array import LIVING, Array, spread
from traceir.arrays.devices import Device
from traceir.arrays.meshes import Shape
from traceir.arrays.sharding import (
    Sharding,
    check_sharding,
    spread_shardings,
)
from traceir.arrays.shards import Index
from traceir.binding.device_put import device_put
from traceir.ir.avals import ShapedArray
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

    Devices that hold the same elements have one call, and those of other processes
    none. Raises ValueError
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
    devices = sharding.addressable_devices_indices_map(whole)
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

    Of one over several processes they are those of this process.

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
    here = sharding.addressable_devices
    if parts.keys() != here or len(parts) != len(arrays):
        listed = ", ".join(str(array.device) for array in arrays)
        wanted = ", ".join(sorted(map(str, here)))
        raise rules.error("sharding.shards", got=f"parts on {listed} for {wanted}")
    return _assembled(whole, sharding, parts, dtype)


def _assembled(
    shape: Shape, sharding: Sharding, parts: dict[Any, Array], dtype: Any
) -> Array:
    indices: dict[Device, Index] = sharding.addressable_devices_indices_map(shape)
    there = process_mesh.part_indices(sharding, shape)
    aval = next(iter(parts.values())).aval.update(shape=shape)
    wanted = aval.dtype if dtype is None else np.dtype(dtype)
    value = np.empty(process_mesh.part_shape(sharding, shape), aval.dtype)
    extent = sharding.shard_shape(shape)
    filled: dict[str, Device] = {}
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
        value[there[device]] = part._value
    return of_part(value, aval, sharding)


def of_part(part: np.ndarray, aval: ShapedArray, sharding: Sharding) -> Array:
    """The array that lies so, of the fresh elements that this process has of it."""
    if process_mesh.is_spanning(sharding):
        return spread(part, aval, sharding)
    return Array._wrap(part, aval)._at(sharding)


def make_array_from_process_local_data(
    sharding: Sharding, local_data: Any, global_shape: Any = None
) -> Any:
    """A tree of arrays on devices, of the elements that this process has.

    These are the ones that its devices are to hold. A dimension of `global_shape` says
    how long it is in all, by default as much longer as there are processes along it; if
    that is as long as the data, these have all of it and each process takes its part.
    Raises ValueError (sharding.shards) for other extents, and what `device_put` raises.

    >>> import numpy as np
    >>> from traceir.sharding import NamedSharding, P, make_mesh
    >>> rows = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> make_array_from_process_local_data(rows, np.arange(3, dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    shapes = global_shape
    if shapes is None or all(isinstance(n, int | None) for n in shapes):
        return flatten.map_(lambda x: _of_local(sharding, x, shapes), local_data)
    leaves, tree = flatten.flatten(local_data)
    given = tree.flatten_up_to(shapes)
    pairs = zip(leaves, given, strict=True)
    return tree.unflatten([_of_local(sharding, x, shape) for x, shape in pairs])


def _of_local(sharding: Sharding, data: Any, shape: Sequence[int | None] | None) -> Any:
    value = asarray(data)
    more = process_mesh.processes_along(sharding, value.ndim)
    own = value.shape
    given = (None,) * value.ndim if shape is None else tuple(shape)
    if len(given) != value.ndim:
        raise rules.error("sharding.shards", got=f"data of {own} for {given}")
    pairs = list(zip(own, given, more, strict=True))
    whole = tuple(n * k if m is None else m for n, m, k in pairs)
    check_sharding(sharding, whole, "the array")
    wanted = process_mesh.part_shape(sharding, whole)
    cut = []
    for n, m, part in zip(own, whole, wanted, strict=True):
        if n not in (part, m):
            parts = f"all of it, for {whole}" if wanted == whole else f"for {wanted}"
            got = f"data of {own}, {parts}"
            raise rules.error("sharding.shards", got=got)
        cut.append(n != part)
    if not process_mesh.is_spanning(sharding):
        return value._at(sharding)
    full = value._value
    for d, whole_of in enumerate(cut):
        if whole_of:  # the data have all of this dimension, and this process its part
            full = _cut(full, sharding, whole, d)
    return spread(np.array(full, order="C"), value.aval.update(shape=whole), sharding)


def _cut(value: np.ndarray, sharding: Any, whole: Shape, d: int) -> np.ndarray:
    """The elements of this process along a dimension, of data that have all."""
    there = sharding.addressable_devices_indices_map(whole)
    here = process_mesh.part_indices(sharding, whole)
    shape = list(value.shape)
    shape[d] = process_mesh.part_shape(sharding, whole)[d]
    found = np.empty(shape, value.dtype)
    before = (slice(None),) * d
    for device, index in here.items():
        found[(*before, index[d])] = value[(*before, there[device][d])]
    return found


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
