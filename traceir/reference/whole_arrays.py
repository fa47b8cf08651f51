"""Programs of parts, as programs of whole arrays. Serves: shard_map.value"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Params, programs_in, sort_params
from traceir.ir.params import EqnParams
from traceir.reference.regions import EXPANSIONS


def call_of(program: ClosedJaxpr) -> Params:
    """The params of a call of a program."""
    name = program.jaxpr.debug_name
    return sort_params({"name": name, "jaxpr": program, "keep_unused": False})


def of_whole_arrays(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with calls of what they stand for in place of such equations."""
    if not any(_has_parts(eqn) for eqn in closed.eqns):
        return closed

    def make() -> ClosedJaxpr:
        jaxpr = closed.jaxpr
        eqns = tuple(map(_of_whole_arrays, jaxpr.eqns))
        return replace(closed, jaxpr=replace(jaxpr, eqns=eqns))

    return closed.memo("of whole arrays", make)


def _has_parts(eqn: Eqn) -> bool:
    inner = programs_in(eqn.params)
    return eqn.primitive == "shard_map" or any(
        _has_parts(e) for p in inner for e in p.eqns
    )


def _of_whole_arrays(eqn: Eqn) -> Eqn:
    if eqn.primitive == "shard_map":
        program = EXPANSIONS["shard_map"](eqn.stored())
        eqn = replace(eqn, primitive="jit", params=EqnParams(call_of(program)))
    if not any(_has_parts(e) for p in programs_in(eqn.params) for e in p.eqns):
        return eqn
    params = {name: _mapped(value) for name, value in eqn.stored().items()}
    return replace(eqn, params=EqnParams(sort_params(params)))


def _mapped(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_mapped, value))
    return of_whole_arrays(value) if isinstance(value, ClosedJaxpr) else value
