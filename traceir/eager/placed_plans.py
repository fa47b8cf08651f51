"""Plans whose results lie on devices as their operands make them.

Serves: sharding.value
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir.arrays.array import LIVING, Array, Placed
from traceir.arrays.propagation.programs import propagate
from traceir.arrays.sharding import Sharding
from traceir.base.config import local
from traceir.eager.plan_codegen import Plan
from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.pytrees import flatten
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, living, typeof


def placing(
    plan: Plan, call: Callable[[list[Tracer]], Any], operands: Sequence[Any]
) -> Plan:
    """The plan, for operands that lie as these do."""
    places = _places(call, operands)

    def placed(*values: Any) -> Any:
        leaves, tree = flatten.flatten(plan(*values))
        pairs = zip(leaves, places, strict=True)
        return tree.unflatten([v._at(p) if type(v) in LIVING else v for v, p in pairs])

    return placed


def part_of(function: Callable[[Any, Any], Any], x: Placed, index: Any) -> Any:
    """The part of an array that a function reads, lying as the array makes it."""
    found = function(x, index)
    if local.outside is None or type(found) is not Array:
        return found
    try:
        (place,) = _places(lambda xs: function(xs[0], index), [x])
    except TraceirError:  # the index has values that decide a shape
        return found
    return found._at(place)


def _places(
    call: Callable[[list[Tracer]], Any], operands: Sequence[Any]
) -> tuple[Sharding | None, ...]:
    """The layouts of a call's results; what is computed of no operand, as by
    `zeros_like`, lies as an operand of its shape.
    """
    trace = StagingTrace("", "jit")
    with living(trace):
        tracers: list[Tracer] = [trace.input(typeof(v), "") for v in operands]
        jaxpr = trace.close(flatten.leaves(call(tracers)))
    constants = tuple(array for _, array, _ in trace.constants.values())
    own = [v.sharding if type(v) is Placed else None for v in operands]
    places = propagate(ClosedJaxpr(jaxpr, constants), own).shardings
    if any(places):
        return places
    lying = {v.aval.shape: s for v, s in zip(jaxpr.invars, own, strict=True)}
    return tuple(lying.get(v.aval.shape) for v in jaxpr.outvars)
