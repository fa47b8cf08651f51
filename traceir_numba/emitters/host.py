"""Primitives that call the host."""

from __future__ import annotations

from traceir.ir.jaxpr import Eqn, ForeignFunction
from traceir_numba.emitters.kinds import HostCallback, register

for _name in ("debug_print", "debug_callback", "pure_callback", "io_callback"):
    register(_name, HostCallback())


def foreign_function(eqn: Eqn) -> ForeignFunction | None:
    """The function of an equation that machine code can call; None without one."""
    found = dict(eqn.params).get("callback")
    return found if isinstance(found, ForeignFunction) else None
