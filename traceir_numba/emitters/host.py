"""Primitives that call the host, and the entries of equations.

An equation's entry is that of its primitive, or of what is special in the equation.
"""

from __future__ import annotations

from traceir.ir.jaxpr import Eqn, ForeignFunction
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


def entry_of(eqn: Eqn) -> EmitterKind | None:
    """The emitter's entry of an equation, if its primitive has one."""
    if is_reference_call(eqn):
        return ReferenceCall()
    entry = EMITTERS.get(eqn.primitive)
    foreign = isinstance(entry, HostCallback) and foreign_function(eqn) is not None
    return ForeignCall() if foreign else entry
