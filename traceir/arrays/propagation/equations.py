"""Layouts of the results of one operation on arrays. Serves: sharding.value"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from traceir.arrays.array import LAID_OUT, Array
from traceir.arrays.propagation.programs import propagate
from traceir.arrays.sharding import Sharding
from traceir.base.caches import cleared
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Params, Var

Avals = tuple[ShapedArray, ...]


def lying(
    results: Sequence[Array],
    primitive: str,
    values: Sequence[Any],
    avals: Avals,
    params: Params,
) -> list[Array]:
    """The results of a primitive, lying on devices as its operands make them."""
    own = tuple(v.sharding if type(v) in LAID_OUT else None for v in values)
    outs = tuple(array.aval for array in results)
    places = _places(primitive, avals, params, outs, own)
    return [array._at(place) for array, place in zip(results, places, strict=True)]


@lru_cache(1024)
def _places(
    primitive: str,
    avals: Avals,
    params: Params,
    outs: Avals,
    own: tuple[Sharding | None, ...],
) -> Sequence[Sharding | None]:
    inputs, outputs = tuple(map(Var, avals)), tuple(map(Var, outs))
    program = Jaxpr((), inputs, (Eqn(primitive, inputs, outputs, params),), outputs)
    return propagate(ClosedJaxpr(program), own).shardings


cleared(_places.cache_clear)  # its keys may hold functions of users
