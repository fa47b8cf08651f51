"""Constraints on how arrays lie on devices. Serves: sharding.*"""

from __future__ import annotations

from typing import Any

from traceir import rules
from traceir.arrays.array import LIVING, Array
from traceir.arrays.meshes import AxisType
from traceir.arrays.sharding import NamedSharding, check_sharding, spread_shardings
from traceir.lax.checks.operands import as_array, operand
from traceir.pytrees import flatten


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """The tree `x`, whose arrays are to lie on devices as is said.

    The values are the same. A spec may name Auto axes of its mesh alone: how an array
    lies along others is not the compiler's to change. Raises TypeError (sharding.type),
    ValueError (sharding.auto, sharding.rank, sharding.divides, sharding.tree),
    RuntimeError (sharding.mesh).

    >>> import traceir, traceir.numpy as jnp
    >>> from traceir.sharding import Mesh, NamedSharding, P
    >>> rows = NamedSharding(Mesh(traceir.devices(), "x"), P("x"))
    >>> traceir.jit(lambda x: with_sharding_constraint(x * 2, rows))(jnp.arange(3))
    Array([0, 2, 4], dtype=int32)
    """
    leaves, tree = flatten.flatten(x)
    places = spread_shardings("shardings", shardings, tree)
    rows = zip(leaves, places, tree.paths(), strict=True)
    return tree.unflatten([_constrained(*row) for row in rows])


def _constrained(leaf: Any, place: Any, path: flatten.Path) -> Array:
    value = as_array(operand("with_sharding_constraint", leaf))
    check_sharding(place, value.shape, flatten.key_path(path, "x"))
    if isinstance(place, NamedSharding):
        types = dict(zip(place.mesh.axis_names, place.mesh.axis_types, strict=True))
        named = [a for d in range(len(place.spec)) for a in place.spec.axes(d)]
        if any(types[axis] is not AxisType.Auto for axis in named):
            raise rules.error("sharding.auto", got=f"{place.spec!r} and {place.mesh}")
    return value._at(place) if type(value) in LIVING else value
