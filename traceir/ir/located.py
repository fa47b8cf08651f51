"""Programs whose equations stand at lines of the caller."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from operator import is_

from traceir.base.source_info import Source
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, programs_in


def located(closed: ClosedJaxpr, call: Source | None = None) -> ClosedJaxpr:
    """The program whose equations all stand at a line: at their own, or at the call's.

    A program that is kept for several callers, as that of a composite is, has no line
    of any of them; its equations stand where the equation does that it is a param of.
    """
    eqns = tuple([_located_eqn(eqn, call) for eqn in closed.eqns])
    if all(map(is_, eqns, closed.eqns)):
        return closed
    return ClosedJaxpr(replace(closed.jaxpr, eqns=eqns), closed.consts, closed.backend)


def _located_eqn(eqn: Eqn, call: Source | None) -> Eqn:
    source, params = eqn.source or call, eqn.params
    if source is not None and any(programs_in(params)):
        made = [(name, _located_param(v, source)) for name, v in params]
        params = type(eqn.params)(made)
        if all(a[1] is b[1] for a, b in zip(params, eqn.params)):
            params = eqn.params
    if source is eqn.source and params is eqn.params:
        return eqn
    return replace(eqn, params=params, source=source)


def _located_param(value: Hashable, source: Source) -> Hashable:
    if isinstance(value, ClosedJaxpr):
        return located(value, source)
    if not isinstance(value, tuple):
        return value
    found = tuple([_located_param(one, source) for one in value])
    return value if all(map(is_, found, value)) else found
