"""Layouts of arrays over devices, named as in `jax.sharding`.

Serves: mesh.*, sharding.*

>>> NamedSharding(make_mesh((1,), ("x",)), P("x")).shard_shape((8, 2))
(8, 2)
"""

from traceir.arrays.devices import Device, SingleDeviceSharding
from traceir.arrays.meshes import (
    AbstractMesh,
    AxisType,
    Mesh,
    get_abstract_mesh,
    get_mesh,
    make_mesh,
    set_mesh,
)
from traceir.arrays.sharding import NamedSharding, P, PartitionSpec, Sharding
from traceir.arrays.sharding import _Unconstrained as _Unconstrained  # of pickles
from traceir.base import lazy_exports

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
    "get_mesh",
    "make_mesh",
    "make_single_device_sharding",
    "set_mesh",
]


def make_single_device_sharding(
    device: Device, *, memory_kind: str | None = None
) -> SingleDeviceSharding:
    """The layout of an array that is whole on one device.

    >>> import traceir
    >>> make_single_device_sharding(traceir.devices()[0])
    SingleDeviceSharding(device=CpuDevice(id=0))
    """
    return SingleDeviceSharding(device)


# What few programs ask for is imported when they do.
_LATER = {"reshard": "traceir.binding.sharded_arrays"}


def __getattr__(name: str) -> object:
    if name in _LATER:
        return lazy_exports.load(globals(), _LATER[name], name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
