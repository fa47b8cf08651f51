"""Loop-invariant code motion, out of loops and choices."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Protocol

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir_numba import cost_model
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import (
    Concat,
    Elementwise,
    Gather,
    Matmul,
    PrefixScan,
    Reduce,
    ReferenceCall,
    Region,
    Scatter,
    View,
)
from traceir_numba.emitters.regions import Atoms, Flow, LoopOp, SwitchOp
from traceir_numba.lowering.dce import status_left

Given = dict[int, Atom]  # inputs by number that are known inside a program


class EnclosingProgram(Protocol):
    """The program around, while it is simplified."""

    def inner(self, closed: ClosedJaxpr, given: Given, fixed: int) -> ClosedJaxpr:
        """Simplify a program of which the first `fixed` inputs never change."""

    def constant(self, var: Var, value: np.ndarray) -> Var:
        """A constant of the program around."""

    def apply(self, eqn: Eqn, inputs: Atoms) -> Atoms:
        """Apply an equation to other operands; gives its results."""


@dataclass(frozen=True, slots=True)
class HoistedOp:
    """A flow, the results it still computes by number, and those that are known."""

    flow: Flow
    left: tuple[int, ...]
    known: Mapping[int, Atom]


def hoist_invariants(flow: Flow, caller: EnclosingProgram) -> HoistedOp:
    """The flow with its programs simplified and opened."""
    match flow:
        case LoopOp():
            return _hoist_from_loop(flow, caller)
        case SwitchOp():
            return _hoist_from_switch(flow, caller)


def _program(
    jaxpr: Jaxpr, invars: Sequence[Var], outvars: Sequence[Atom] | None = None
) -> ClosedJaxpr:
    """The program with other inputs, and perhaps other outputs."""
    outvars = jaxpr.outvars if outvars is None else outvars
    return ClosedJaxpr(
        Jaxpr((), tuple(invars), jaxpr.eqns, tuple(outvars), jaxpr.debug_name)
    )


def _canonicalized_body(
    closed: ClosedJaxpr, operands: Atoms, fixed: int, caller: EnclosingProgram
) -> tuple[ClosedJaxpr, Atoms]:
    """The program simplified, its constants among the first operands that never change.

    Scalars that are written in the caller's program are written in this one.
    """
    first: dict[Atom, Var] = {}
    given: Given = {}
    for k, atom in enumerate(operands[:fixed]):
        var = closed.jaxpr.invars[k]
        if isinstance(atom, Literal):
            given[k] = atom
        elif first.setdefault(atom, var) is not var:
            given[k] = first[atom]
    made = caller.inner(closed, given, fixed)
    jaxpr = made.jaxpr
    consts = [
        caller.constant(v, np.asarray(c))
        for v, c in zip(jaxpr.constvars, made.consts, strict=True)
    ]
    invars = (*jaxpr.invars[:fixed], *jaxpr.constvars, *jaxpr.invars[fixed:])
    return _program(jaxpr, invars), (*operands[:fixed], *consts, *operands[fixed:])


def _hoist_from_loop(flow: LoopOp, caller: EnclosingProgram) -> HoistedOp:
    """The loop in which carries that never change are constants."""
    left = list(range(len(flow.body.jaxpr.outvars)))
    known: dict[int, Atom] = {}
    while True:
        flow = _canonicalized(flow, caller)
        start = len(flow.consts)
        carried = flow.body.jaxpr.invars[start : start + len(flow.carry)]
        fixed = [
            k
            for k, (var, out) in enumerate(zip(carried, flow.body.jaxpr.outvars))
            if out is var or (isinstance(out, Literal) and out == flow.carry[k])
        ]
        if not fixed:
            break
        known |= {left[k]: flow.carry[k] for k in fixed}
        left = [n for k, n in enumerate(left) if k not in fixed]
        flow = _carry_to_consts(flow, fixed)
    return HoistedOp(_hoisted(flow, caller), tuple(left), known)


def _canonicalized(flow: LoopOp, caller: EnclosingProgram) -> LoopOp:
    """The loop with its body and its test simplified."""
    rest = flow.carry + flow.xs
    fixed = len(flow.consts)
    body, operands = _canonicalized_body(flow.body, flow.consts + rest, fixed, caller)
    flow = replace(flow, body=body, consts=operands[: len(operands) - len(rest)])
    if flow.test is None:
        return flow
    both = flow.test_consts + flow.carry
    test, operands = _canonicalized_body(flow.test, both, len(flow.test_consts), caller)
    tested = operands[: len(operands) - len(flow.carry)]
    return replace(flow, test=test, test_consts=tested)


def _carry_to_consts(flow: LoopOp, fixed: Collection[int]) -> LoopOp:
    """The loop with some parts of its carry as values that it only uses."""
    n, m = len(flow.consts), len(flow.carry)
    moved = tuple(flow.carry[k] for k in fixed)

    def inputs(jaxpr: Jaxpr, start: int) -> list[Var]:
        carry = jaxpr.invars[start : start + m]
        kept = [v for k, v in enumerate(carry) if k not in fixed]
        rest = jaxpr.invars[start + m :]
        return [*jaxpr.invars[:start], *(carry[k] for k in fixed), *kept, *rest]

    jaxpr = flow.body.jaxpr
    outvars = [a for k, a in enumerate(jaxpr.outvars) if k not in fixed]
    test = flow.test
    if test is not None:
        test = _program(test.jaxpr, inputs(test.jaxpr, len(flow.test_consts)))
    return replace(
        flow,
        body=_program(jaxpr, inputs(jaxpr, n), outvars),
        consts=flow.consts + moved,
        carry=tuple(a for k, a in enumerate(flow.carry) if k not in fixed),
        test=test,
        test_consts=flow.test_consts + moved if test is not None else (),
        status=status_left(flow, [k not in fixed for k in range(m)]),
    )


def _hoisted(flow: LoopOp, caller: EnclosingProgram) -> LoopOp:
    """The loop, less expensive equations that give the same in each of its runs.

    Without a turn nothing is computed, neither in it nor before it.
    """
    if flow.test is None and not flow.length:
        return flow
    jaxpr, n = flow.body.jaxpr, len(flow.consts)
    outside = _expensive(jaxpr, set(jaxpr.invars[:n]))
    if not outside:
        return flow
    env: dict[Var, Atom] = dict(zip(jaxpr.invars[:n], flow.consts, strict=True))
    for eqn in outside:
        inputs = tuple(env[a] if isinstance(a, Var) else a for a in eqn.inputs)
        env.update(zip(eqn.outputs, caller.apply(eqn, inputs), strict=True))
    gone = set(map(id, outside))
    eqns = tuple(e for e in jaxpr.eqns if id(e) not in gone)
    made = tuple(v for eqn in outside for v in eqn.outputs)
    invars = (*jaxpr.invars[:n], *made, *jaxpr.invars[n:])
    body = ClosedJaxpr(Jaxpr((), invars, eqns, jaxpr.outvars, jaxpr.debug_name))
    used = (*flow.consts, *(env[v] for v in made))
    return replace(flow, body=body, consts=used)


def _expensive(jaxpr: Jaxpr, fixed: set[Var]) -> list[Eqn]:
    """The expensive equations of values that are fixed, and those that they need."""
    candidates = []
    for eqn in jaxpr.eqns:
        free = all(isinstance(a, Literal) or a in fixed for a in eqn.inputs)
        if free and eqn.inputs and not eqn.effects:
            fixed.update(eqn.outputs)
            candidates.append(eqn)
    needed: set[Atom] = set()
    found = []
    for eqn in reversed(candidates):
        if _is_expensive(eqn) or not needed.isdisjoint(eqn.outputs):
            needed.update(eqn.inputs)
            found.append(eqn)
    return found[::-1]


def _is_expensive(eqn: Eqn) -> bool:
    """True if an equation is worth memory of its own before a loop."""
    match EMITTERS[eqn.primitive]:
        case Elementwise():
            return cost_model.operation_cost(eqn.primitive) > cost_model.HOISTED_COST
        case Gather():
            return prod(eqn.outputs[0].aval.shape) > 1
        case Concat():
            return prod(eqn.outputs[0].aval.shape) > cost_model.CONCAT_PARTS
        case Reduce() | PrefixScan() | Scatter():
            return True
        case Matmul() | ReferenceCall() | Region():
            return True
        case View(reorders=reorders):
            return reorders
    return False


def _hoist_from_switch(flow: SwitchOp, caller: EnclosingProgram) -> HoistedOp:
    """The choice with the branches' constants among the operands of all."""
    opened = [
        _canonicalized_body(b, flow.xs, len(flow.xs), caller) for b in flow.branches
    ]
    extra = [operands[len(flow.xs) :] for _, operands in opened]
    branches = []
    for number, (branch, _) in enumerate(opened):
        own = branch.jaxpr.invars[len(flow.xs) :]
        columns = [
            own if k == number else tuple(Var(a.aval) for a in atoms)
            for k, atoms in enumerate(extra)
        ]
        invars = branch.jaxpr.invars[: len(flow.xs)]
        branches.append(
            _program(branch.jaxpr, (*invars, *(v for c in columns for v in c)))
        )
    xs = (*flow.xs, *(a for atoms in extra for a in atoms))
    # What comes after an exit needs its results, so as to come after it.
    known = {} if flow.exits else _passed(branches, xs)
    left = tuple(k for k in range(len(branches[0].jaxpr.outvars)) if k not in known)
    kept = []
    for branch in branches:
        outvars = [branch.jaxpr.outvars[k] for k in left]
        kept.append(_program(branch.jaxpr, branch.jaxpr.invars, outvars))
    return HoistedOp(replace(flow, branches=tuple(kept), xs=xs), left, known)


def _passed(branches: Sequence[ClosedJaxpr], xs: Atoms) -> dict[int, Atom]:
    """The results of a choice, by number, that are one operand or literal on all
    sides."""
    found: dict[int, Atom] = {}
    given = [dict(zip(b.jaxpr.invars, xs, strict=True)) for b in branches]
    for k in range(len(branches[0].jaxpr.outvars)):
        ends: list[Atom | None] = []
        for own, branch in zip(given, branches, strict=True):
            end = branch.jaxpr.outvars[k]
            ends.append(own.get(end) if isinstance(end, Var) else end)
        first = ends[0]
        if first is not None and all(e is first or e == first for e in ends):
            found[k] = first
    return found
