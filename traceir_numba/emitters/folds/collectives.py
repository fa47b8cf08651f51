"""Collectives: reductions over the dimensions of mapped axes."""

from __future__ import annotations

from collections.abc import Callable

from traceir import rules
from traceir.ir.jaxpr import ClosedJaxpr, Eqn
from traceir_numba.emitters.decompositions import DecompositionBuilder
from traceir_numba.emitters.kinds import Decomposition, register


def fold(primitive: str) -> Callable[[Eqn], ClosedJaxpr]:
    """The rewriting of a fold: NameError (axis.unbound) over a name."""

    def program(eqn: Eqn) -> ClosedJaxpr:
        axes = eqn.param("axes")
        if names := [a for a in axes if not isinstance(a, int)]:
            raise _unbound(eqn, names)
        build = DecompositionBuilder(eqn)
        return build.finish(build.bind(primitive, *build.operands, axes=axes))

    return program


def named(eqn: Eqn) -> ClosedJaxpr:
    """Raise NameError (axis.unbound): there is nothing to run."""
    params = dict(eqn.params)
    name = params.get("axis_name", params.get("axes"))
    raise _unbound(eqn, list(name) if isinstance(name, tuple) else [name])


def _unbound(eqn: Eqn, names: list[object]) -> Exception:
    listed = ", ".join(map(str, names))
    where = str(eqn.source) if eqn.source else ""
    return rules.error("axis.unbound", got=f"{listed} of {eqn.primitive}", where=where)


register("psum", Decomposition(fold("reduce_sum")))
register("pmax", Decomposition(fold("reduce_max")))
register("pmin", Decomposition(fold("reduce_min")))
for _primitive in (
    "all_gather",
    "reduce_scatter",
    "ppermute",
    "all_to_all",
    "axis_index",
    "pvary",
    "psum_invariant",
):
    register(_primitive, Decomposition(named))
