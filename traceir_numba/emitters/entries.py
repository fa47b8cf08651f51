"""The entries of equations: those of their primitives, or special ones."""

from __future__ import annotations

from traceir.ir.jaxpr import Eqn
from traceir_numba.emitters.host import foreign_function
from traceir_numba.emitters.kinds import (
    EMITTERS,
    EmitterKind,
    ForeignCall,
    HostCallback,
    ReferenceCall,
)
from traceir_numba.emitters.pairs.values import is_reference_call


def entry_of(eqn: Eqn) -> EmitterKind | None:
    """The emitter's entry of an equation, if its primitive has one."""
    if is_reference_call(eqn):
        return ReferenceCall()
    entry = EMITTERS.get(eqn.primitive)
    foreign = isinstance(entry, HostCallback) and foreign_function(eqn) is not None
    return ForeignCall() if foreign else entry
