"""Layouts over devices, of arrays and of results.

Serves: sharding.*
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from traceir import rules
from traceir.arrays import laying
from traceir.arrays.meshes import AxisType
from traceir.arrays.sharding import (
    NamedSharding,
    PartitionSpec,
    check_sharding,
    spread_shardings,
)
from traceir.base import config
from traceir.lax.checks.operands import as_array, operand
from traceir.pytrees import flatten

F = TypeVar("F", bound=Callable[..., Any])
OutSharding: TypeAlias = NamedSharding | PartitionSpec | None
_BY_PLACE = "out_sharding"


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


def _constrained(leaf: Any, place: Any, path: flatten.Path) -> Any:
    value = as_array(operand("with_sharding_constraint", leaf))
    check_sharding(place, value.shape, flatten.key_path(path, "x"))
    if isinstance(place, NamedSharding):
        types = dict(zip(place.mesh.axis_names, place.mesh.axis_types, strict=True))
        named = [a for d in range(len(place.spec)) for a in place.spec.axes(d)]
        if any(types[axis] is not AxisType.Auto for axis in named):
            raise rules.error("sharding.auto", got=f"{place.spec!r} and {place.mesh}")
    return laying.lying(value, place)


# -- results --------------------------------------------------------------------------


def takes_out_sharding(function: F) -> F:
    """The function, whose parameter `out_sharding` says how its result lies.

    The function itself has the parameter for those who read its signature, and makes
    nothing of it (sharding.out).

    >>> from traceir.sharding import NamedSharding, P, make_mesh
    >>> @takes_out_sharding
    ... def doubled(x, *, out_sharding=None):
    ...     return x + x
    >>> import traceir.numpy as jnp
    >>> rows = NamedSharding(make_mesh((1,), ("x",)), P("x"))
    >>> doubled(jnp.arange(3), out_sharding=rows).sharding.spec
    P('x',)
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    place = names.index(_BY_PLACE) if _BY_PLACE in names else None

    @functools.wraps(function)
    def call(*args: Any, out_sharding: OutSharding = None, **kwargs: Any) -> Any:
        if place is not None and len(args) > place:
            args, out_sharding = args[:place] + args[place + 1 :], args[place]
        found = function(*args, **kwargs)
        if out_sharding is None:
            return found
        return laid_out(found, out_sharding, function.__name__)

    return call  # type: ignore[return-value]  # `wraps` forgets the type


def laid_out(value: Any, place: Any, name: str) -> Any:
    """The array as a function's `out_sharding` says that it is to lie.

    Raises TypeError (sharding.out), ValueError (sharding.explicit, sharding.rank,
    sharding.divides, device.known), RuntimeError (sharding.mesh).
    """
    if not isinstance(place, NamedSharding | PartitionSpec):
        raise rules.error("sharding.out", got=f"{place!r} for {name}")
    mesh = config.current().mesh
    if mesh is not None and isinstance(place, PartitionSpec):
        place = NamedSharding(mesh, place)
    check_explicit(place, name)
    return lying(value, place, name)


def lying(value: Any, place: Any, name: str) -> Any:
    """The array on devices as a sharding says, whichever it is.

    Raises TypeError (sharding.type), ValueError (sharding.rank, sharding.divides,
    device.known), RuntimeError (sharding.mesh).
    """
    check_sharding(place, value.shape, f"the result of {name}")
    return laying.lying(value, place)


def check_explicit(place: Any, name: str) -> None:
    """Raise ValueError (sharding.explicit) for a spec of axes of other types.

    >>> from traceir.sharding import Mesh, NamedSharding, P
    >>> import traceir
    >>> try:
    ...     check_explicit(NamedSharding(Mesh(traceir.devices(), "x"), P("x")), "zeros")
    ... except ValueError as error:
    ...     print(error)
    The spec that is passed to reshard, or as an `out_sharding`, can only refer to...
      got: P('x',) and Mesh('x': 1, axis_types=(Auto,)) for zeros
      ...
    """
    if not isinstance(place, NamedSharding):
        return
    types = dict(zip(place.mesh.axis_names, place.mesh.axis_types, strict=True))
    named = [a for d in range(len(place.spec)) for a in place.spec.axes(d)]
    if any(types[axis] is not AxisType.Explicit for axis in named):
        got = f"{place.spec!r} and {place.mesh} for {name}"
        raise rules.error("sharding.explicit", got=got)
