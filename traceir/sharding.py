"""Layouts of arrays over devices, named as in `jax.sharding`.

Serves: mesh.*, sharding.*

>>> NamedSharding(make_mesh((1,), ("x",)), P("x")).shard_shape((8, 2))
(8, 2)
"""

from traceir.arrays.devices import SingleDeviceSharding
from traceir.arrays.sharding import (
    AxisType,
    Mesh,
    NamedSharding,
    P,
    PartitionSpec,
    Sharding,
    make_mesh,
)
from traceir.arrays.sharding import _Unconstrained as _Unconstrained  # of pickles

__all__ = [
    "AxisType",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "make_mesh",
]
