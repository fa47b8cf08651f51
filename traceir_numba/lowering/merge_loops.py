"""Loops that follow one another as one region, which becomes one routine.

Between them there are single numbers alone. In one routine these stay in registers, and
an array that one loop after the other writes is copied once. Calls of functions of
other libraries stand in routines alone, so those outside of loops become part of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from traceir.dtypes import is_key, kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.effects import effects
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    sort_params,
)
from traceir_numba import cost_model
from traceir_numba.emitters.host import entry_of
from traceir_numba.emitters.kinds import (
    Concat,
    Elementwise,
    ForeignCall,
    Gather,
    Region,
    Scatter,
    View,
)

INDEX = ShapedArray((), np.dtype("int32"))


def merge_loops(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same program, with neighbouring loops and choices in one region."""
    jaxpr = closed.jaxpr
    if not _belongs_together(jaxpr.eqns):
        return closed
    last, end = _last_uses(jaxpr), 0
    eqns: list[Eqn] = []
    for group in _groups(jaxpr.eqns):
        end += len(group)
        if not _belongs_together(group):
            eqns += group
        else:
            eqns.append(_merged(group, end, last))
    return ClosedJaxpr(replace(jaxpr, eqns=tuple(eqns)), closed.consts)


def _is_region(eqn: Eqn) -> bool:
    return isinstance(entry_of(eqn), Region)


def _belongs_together(eqns: Sequence[Eqn]) -> bool:
    """True if there are several regions, or calls that stand in regions alone."""
    foreign = any(isinstance(entry_of(eqn), ForeignCall) for eqn in eqns)
    return foreign or sum(map(_is_region, eqns)) > 1


def _is_small(eqn: Eqn) -> bool:
    """True if an equation computes, reads or writes one number, which is no complex
    one and no key: in a region such are two numbers."""
    dtypes = [a.aval.dtype for a in (*eqn.inputs, *eqn.outputs)]
    if any(kind_of(dtype) == "c" or is_key(dtype) for dtype in dtypes):
        return False
    match entry_of(eqn):
        case ForeignCall():
            return True
        case Elementwise() | View() | Gather() | Concat():
            most = cost_model.CONCAT_PARTS
            return all(prod(a.aval.shape) <= most for a in eqn.outputs)
        case Scatter() as entry:
            return prod(entry.updates(eqn).aval.shape) == 1
    return False


def _groups(eqns: Sequence[Eqn]) -> Iterator[list[Eqn]]:
    """Runs of equations that may be in one region, and the others."""
    group: list[Eqn] = []
    for eqn in eqns:
        if _is_region(eqn) or _is_small(eqn):
            group.append(eqn)
            continue
        yield group
        yield [eqn]
        group = []
    yield group


def _last_uses(jaxpr: Jaxpr) -> dict[Atom, int]:
    """The number of the last equation that uses each value; results are used after."""
    last: dict[Atom, int] = {}
    for k, eqn in enumerate(jaxpr.eqns):
        last.update(dict.fromkeys(eqn.inputs, k))
    last.update(dict.fromkeys(jaxpr.outvars, len(jaxpr.eqns)))
    return last


def _merged(group: list[Eqn], end: int, last: dict[Atom, int]) -> Eqn:
    """A choice of one program, which is the group of equations before number `end`."""
    made = {v for eqn in group for v in eqn.outputs}
    read = dict.fromkeys(a for eqn in group for a in eqn.inputs)
    given = [a for a in read if isinstance(a, Var) and a not in made]
    results = [v for eqn in group for v in eqn.outputs if last.get(v, -1) >= end]
    results = results or [v for eqn in group for v in eqn.outputs if eqn.effects][:1]
    own = {v: Var(v.aval) for v in (*given, *made)}
    renamed: dict[Atom, Atom] = dict(own.items())
    eqns = tuple(
        replace(
            eqn,
            inputs=tuple(renamed.get(a, a) for a in eqn.inputs),
            outputs=tuple(own[v] for v in eqn.outputs),
        )
        for eqn in group
    )
    invars = tuple(own[a] for a in given)
    jaxpr = Jaxpr((), invars, eqns, tuple(own[v] for v in results))
    return Eqn(
        "cond",
        (Literal(0, INDEX), *given),
        tuple(results),
        sort_params({"branches": (ClosedJaxpr(jaxpr),)}),
        effects(jaxpr),
        source=group[0].source,
    )
