"""Programs with no reference to this process's functions. Serves: export.whole"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from traceir import rules
from traceir.base import source_info
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, HostFunction
from traceir.ir.located import located


def portable(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with the names of functions of the host in place of the functions.

    Raises TypeError (export.whole) for an equation that calls one when it is run.
    """
    return closed.memo("portable", lambda: _portable(located(closed)))


def _portable(closed: ClosedJaxpr) -> ClosedJaxpr:
    eqns = tuple(map(_equation, closed.eqns))
    return ClosedJaxpr(replace(closed.jaxpr, eqns=eqns), closed.consts)


def _equation(eqn: Eqn) -> Eqn:
    row = rules.default().prims.get(eqn.primitive)
    if row is not None and row.host:
        where = source_info.user_frame_summary(eqn.source) if eqn.source else None
        got = f"the equation `{eqn.primitive}`, which calls the host"
        raise rules.error("export.whole", got=got, where=where)
    params = tuple((name, _param(value)) for name, value in eqn.params)
    return replace(eqn, params=params)


def _param(value: Hashable) -> Hashable:
    if type(value) is tuple:
        return tuple(map(_param, value))
    if isinstance(value, ClosedJaxpr):
        return portable(value)
    return HostFunction(value.name) if isinstance(value, HostFunction) else value
