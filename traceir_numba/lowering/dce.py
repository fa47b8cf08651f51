"""Dead-code elimination, within control flow too."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import TypeVar

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var, sort_params
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import ReferenceCall, Region
from traceir_numba.emitters.regions import Flow, LoopOp, SwitchOp

T = TypeVar("T")


def dce_eqns(
    eqns: Sequence[Eqn], outvars: Sequence[Atom]
) -> tuple[list[Eqn], set[Var]]:
    """The equations that the results need, and all variables in use.

    Control flow keeps the parts that are needed. Equations with effects are always
    needed, with one result at least: steps are for values.
    """
    used = {a for a in outvars if isinstance(a, Var)}
    kept = []
    for eqn in reversed(eqns):
        if eqn.effects and used.isdisjoint(eqn.outputs):
            used.add(min(eqn.outputs, key=lambda v: prod(v.aval.shape)))
        if not used.isdisjoint(eqn.outputs):
            eqn = _pruned_eqn(eqn, used)
            kept.append(eqn)
            used.update(a for a in eqn.inputs if isinstance(a, Var))
    return kept[::-1], used


def _pruned_eqn(eqn: Eqn, used: Collection[Var]) -> Eqn:
    """Control flow without dead results, operands and equations; a library's function
    that is told which results are read."""
    entry = EMITTERS[eqn.primitive]
    wanted = [v in used for v in eqn.outputs]
    if isinstance(entry, ReferenceCall) and entry.selects and not all(wanted):
        params = {**dict(eqn.params), "read": tuple(wanted)}
        return replace(eqn, params=sort_params(params))
    if not isinstance(entry, Region):
        return eqn
    flow: Flow = entry.read(eqn)
    match flow:
        case LoopOp():
            flow, kept = _dce_loop(flow, wanted)
        case SwitchOp():
            flow, kept = _dce_switch(flow, wanted), wanted
    return entry.rewritten(eqn, flow, _only(eqn.outputs, kept))


def _only(items: Sequence[T], kept: Sequence[bool]) -> tuple[T, ...]:
    return tuple(x for x, keep in zip(items, kept, strict=True) if keep)


def _pruned(
    jaxpr: Jaxpr, inputs: Sequence[bool], outputs: Sequence[bool], eqns: Sequence[Eqn]
) -> ClosedJaxpr:
    invars, outvars = _only(jaxpr.invars, inputs), _only(jaxpr.outvars, outputs)
    return ClosedJaxpr(Jaxpr((), invars, tuple(eqns), outvars, jaxpr.debug_name))


def _dce_loop(flow: LoopOp, wanted: list[bool]) -> tuple[LoopOp, list[bool]]:
    """The loop without carries that no wanted result needs, and the new mask."""
    jaxpr, n, m = flow.body.jaxpr, len(flow.consts), len(flow.carry)
    carried = jaxpr.invars[n : n + m]
    wanted = wanted[:]
    in_test = [False] * (len(flow.test_consts) + m)
    test = flow.test
    if test is not None:
        tests, reads = dce_eqns(test.jaxpr.eqns, test.jaxpr.outvars)
        in_test = [v in reads for v in test.jaxpr.invars]
        for k, read in enumerate(in_test[len(flow.test_consts) :]):
            wanted[k] = wanted[k] or read
    while True:  # what is carried is needed where a needed result reads it
        eqns, reads = dce_eqns(jaxpr.eqns, _only(jaxpr.outvars, wanted))
        more = [k for k, v in enumerate(carried) if v in reads and not wanted[k]]
        if not more:
            break
        for k in more:
            wanted[k] = True
    inputs = [v in reads for v in jaxpr.invars]
    inputs[n : n + m] = wanted[:m]
    if test is not None:
        in_test[len(flow.test_consts) :] = wanted[:m]
        test = _pruned(test.jaxpr, in_test, [True], tests)
    flow = replace(
        flow,
        body=_pruned(jaxpr, inputs, wanted, eqns),
        consts=_only(flow.consts, inputs[:n]),
        carry=_only(flow.carry, wanted[:m]),
        xs=_only(flow.xs, inputs[n + m :]),
        test=test,
        test_consts=_only(flow.test_consts, in_test[: len(flow.test_consts)]),
        status=status_left(flow, wanted),
    )
    return flow, wanted


def status_left(flow: LoopOp, kept: Sequence[bool]) -> int:
    """The number of the carry's last values that are a status where some are kept, 0 if
    its number, the last one, is not."""
    count = len(flow.carry)
    last = kept[count - flow.status : count]
    return sum(last) if last and last[-1] else 0


def _dce_switch(flow: SwitchOp, wanted: list[bool]) -> SwitchOp:
    """The choice without dead results and operands."""
    found = [
        (b.jaxpr, *dce_eqns(b.jaxpr.eqns, _only(b.jaxpr.outvars, wanted)))
        for b in flow.branches
    ]
    inputs = [
        any(jaxpr.invars[k] in reads for jaxpr, _, reads in found)
        for k in range(len(flow.xs))
    ]
    return SwitchOp(
        flow.index,
        tuple(_pruned(jaxpr, inputs, wanted, eqns) for jaxpr, eqns, _ in found),
        _only(flow.xs, inputs),
        tuple(part for part, keep in zip(flow.exits, wanted) if keep),
    )
