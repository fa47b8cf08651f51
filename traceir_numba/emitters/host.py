"""Primitives that call the host, and the entries of equations.

An equation's entry is that of its primitive, or of what is special in the equation.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    ClosedJaxpr,
    Eqn,
    ForeignFunction,
    Jaxpr,
    Var,
    sort_params,
)
from traceir.ranks.groups import axes_of
from traceir.ranks.topology import STATE
from traceir_numba.emitters.kinds import (
    EMITTERS,
    EmitterKind,
    ForeignCall,
    HostCallback,
    ReferenceCall,
    register,
)
from traceir_numba.emitters.pairs.values import is_reference_call

for _name in ("debug_print", "debug_callback", "pure_callback", "io_callback"):
    register(_name, HostCallback())


def foreign_function(eqn: Eqn) -> ForeignFunction | None:
    """The function of an equation that machine code can call; None without one."""
    found = dict(eqn.params).get("callback")
    return found if isinstance(found, ForeignFunction) else None


def one_by_one(eqn: Eqn) -> ClosedJaxpr | None:
    """The program of a foreign call that gives an array: a loop of calls that give a
    number each. None for a call that gives one number."""
    before, after = eqn.inputs[0].aval, eqn.outputs[1].aval
    if not after.shape:
        return None
    number, count = ShapedArray((), after.dtype), prod(after.shape)
    given = tuple(Var(a.aval) for a in eqn.inputs)
    params = {**dict(eqn.params), "result_avals": (before, number)}
    own = tuple(Var(v.aval) for v in given)
    outputs = Var(before), Var(number)
    call = replace(eqn, inputs=own, outputs=outputs, params=sort_params(params))
    # The order is the carry, whatever else is given is a constant.
    body = Jaxpr((), (*own[1:], own[0]), (call,), outputs)
    last, rows = Var(before), Var(ShapedArray((count,), after.dtype))
    turns = {
        "jaxpr": ClosedJaxpr(body),
        "length": count,
        "linear": (False,) * len(own),
        "num_carry": 1,
        "num_consts": len(own) - 1,
        "reverse": False,
        "unroll": 1,
        "_split_transpose": False,
    }
    inputs, full = (*given[1:], given[0]), sort_params(turns)
    eqns = [Eqn("scan", inputs, (last, rows), full, eqn.effects, eqn.source)]
    shaped = {"dimensions": None, "new_sizes": after.shape, "sharding": None}
    out = Var(after)
    eqns.append(Eqn("reshape", (rows,), (out,), sort_params(shaped)))
    return ClosedJaxpr(Jaxpr((), given, tuple(eqns), (last, out)))


def entry_of(eqn: Eqn) -> EmitterKind | None:
    """The emitter's entry of an equation, if its primitive has one."""
    if is_reference_call(eqn):
        return ReferenceCall()
    if STATE.several and any(axes_of(eqn)):
        return HostCallback()  # among processes
    entry = EMITTERS.get(eqn.primitive)
    foreign = isinstance(entry, HostCallback) and foreign_function(eqn) is not None
    return ForeignCall() if foreign else entry
