"""Plans whose results lie on devices as their operands make them.

Serves: sharding.value
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir.arrays.array import LIVING, Placed
from traceir.arrays.propagation.programs import propagate
from traceir.eager.plan_codegen import Plan
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.pytrees import flatten
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, living, typeof


def placing(
    plan: Plan, call: Callable[[list[Tracer]], Any], operands: Sequence[Any]
) -> Plan:
    """The plan, for operands that lie as these do."""
    trace = StagingTrace("", "jit")
    with living(trace):
        tracers: list[Tracer] = [trace.input(typeof(v), "") for v in operands]
        jaxpr = trace.close(flatten.leaves(call(tracers)))
    constants = [array for _, array, _ in trace.constants.values()]
    own = [v.sharding if type(v) is Placed else None for v in operands]
    places = propagate(ClosedJaxpr(jaxpr, tuple(constants)), own).shardings

    def placed(*values: Any) -> Any:
        found = plan(*values)
        leaves, tree = flatten.flatten(found)
        pairs = zip(leaves, places, strict=True)
        return tree.unflatten([v._at(p) if type(v) in LIVING else v for v, p in pairs])

    return placed
