"""Loops and choices over values of two numbers.

Arrays that lie in memory are given as they lie, and so are stacked results; what is
carried, or comes from a choice, has each number in its own memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Var
from traceir_numba.emitters.kinds import Region
from traceir_numba.emitters.pairs.values import Value
from traceir_numba.emitters.regions import Flow, LoopOp, SwitchOp
from traceir_numba.lowering.pair_types import apart, atoms_of, together


class Rewriter(Protocol):
    """A rewriter of the program that a loop or a choice is in."""

    eqns: list[Eqn]

    def use(self, atom: Atom) -> Atom:
        """An operand of one number."""

    def value_of(self, atom: Atom) -> Value:
        """The value of an operand."""

    def apart(self, atom: Atom) -> Value:
        """The value of an operand, its numbers in variables of their own."""

    def inner(
        self, closed: ClosedJaxpr, given: Sequence[Value], results: Sequence[Value]
    ) -> ClosedJaxpr:
        """A program inside, for operands and results of these forms."""


def region(work: Rewriter, eqn: Eqn, entry: Region) -> list[Value]:
    """Add a loop or a choice over the numbers; gives the values of its results."""
    flow: Flow = entry.read(eqn)
    match flow:
        case SwitchOp(index, branches, xs):
            given = list(map(work.value_of, xs))
            results = [apart(v.aval) for v in eqn.outputs]
            inner = tuple(work.inner(b, given, results) for b in branches)
            made: Flow = SwitchOp(work.use(index), inner, atoms_of(given))
        case LoopOp():
            made, results = _repeat(work, eqn, flow)
    outputs = tuple(v for v in atoms_of(results) if isinstance(v, Var))
    work.eqns.append(entry.rewritten(eqn, made, outputs))
    return results


def _repeat(work: Rewriter, eqn: Eqn, flow: LoopOp) -> tuple[LoopOp, list[Value]]:
    """A loop, and the values of its results."""
    used, tested, rows = (
        [work.value_of(a) for a in atoms]
        for atoms in (flow.consts, flow.test_consts, flow.xs)
    )
    carry = [work.apart(a) for a in flow.carry]
    m = len(carry)
    results = [apart(v.aval) for v in eqn.outputs[:m]]
    results += [together(v.aval) for v in eqn.outputs[m:]]
    inside = [apart(v.aval) for v in eqn.outputs[:m]]
    inside += [together(v.aval) for v in flow.body.jaxpr.outvars[m:]]
    body = work.inner(flow.body, [*used, *carry, *rows], inside)
    test = flow.test
    if test is not None:
        truth: list[Value] = [Var(v.aval) for v in test.jaxpr.outvars]
        test = work.inner(test, [*tested, *carry], truth)
    made = replace(
        flow,
        body=body,
        consts=atoms_of(used),
        carry=atoms_of(carry),
        xs=atoms_of(rows),
        test=test,
        test_consts=atoms_of(tested),
    )
    return made, results
