"""The types of values of two numbers, and loops and choices over them.

Arrays that lie in memory are given as they lie, and so are stacked results; what is
carried, or comes from a choice, has each number in its own memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    subjaxprs,
)
from traceir_numba.emitters.kinds import Region
from traceir_numba.emitters.pairs.values import Pair, PairedArray, Value, part_of
from traceir_numba.emitters.regions import Flow, LoopOp, SwitchOp


def has_pairs(jaxpr: Jaxpr) -> bool:
    """True if values of two numbers occur in a program."""
    return any(part_of(a.aval.dtype) for a in atoms_in(jaxpr))


def atoms_in(jaxpr: Jaxpr) -> Iterator[Atom]:
    """All variables and literals of a program, those of programs inside included."""
    yield from (*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars)
    for eqn in jaxpr.eqns:
        yield from (*eqn.inputs, *eqn.outputs)
        for inner in subjaxprs(eqn):
            yield from atoms_in(inner.jaxpr)


def is_plain(eqn: Eqn) -> bool:
    """True if there are no values of two numbers in an equation."""
    if any(part_of(a.aval.dtype) for a in (*eqn.inputs, *eqn.outputs)):
        return False
    return not any(has_pairs(inner.jaxpr) for inner in subjaxprs(eqn))


def as_numbers(value: Any) -> np.ndarray:
    """A constant with both numbers along one dimension more."""
    array = np.asarray(value)
    part = part_of(array.dtype)
    if part is None:
        return array
    return np.ascontiguousarray(array).reshape(-1).view(part).reshape(*array.shape, 2)


def as_whole(aval: ShapedArray) -> ShapedArray:
    """The type of a value's numbers beside one another."""
    part = part_of(aval.dtype)
    return aval.update(shape=(*aval.shape, 2), dtype=part)


def parts_of(literal: Literal) -> tuple[Atom, Atom]:
    """The numbers of a constant."""
    aval = literal.aval
    part = part_of(aval.dtype)
    assert part is not None
    numbers = literal.array.reshape(-1).view(part)
    first, second = (Literal(n, ShapedArray((), part)) for n in numbers)
    return first, second


def part_param(value: Any) -> Any:
    """A param with the numbers' dtype for that of values of two."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(part_param, value))
    if isinstance(value, np.dtype):
        return part_of(value) or value
    return value


def atoms_of(values: Sequence[Value]) -> tuple[Atom, ...]:
    """The variables and constants that stand for values."""
    found: list[Atom] = []
    for value in values:
        match value:
            case Pair(first, second):
                found += first, second
            case PairedArray(var):
                found.append(var)
            case _:
                found.append(value)
    return tuple(found)


def apart(aval: ShapedArray) -> Value:
    """New variables for a value, one for each number."""
    part = part_of(aval.dtype)
    if part is None:
        return Var(aval)
    return Pair(*(Var(aval.update(dtype=part)) for _ in range(2)))


def together(aval: ShapedArray) -> Value:
    """A new variable for a value, its numbers beside one another."""
    return PairedArray(Var(as_whole(aval))) if part_of(aval.dtype) else Var(aval)


def same_form(value: Value, var: Var) -> Value:
    """New variables for an input, in the form of its argument."""
    match value:
        case Pair():
            return apart(var.aval)
        case PairedArray():
            return together(var.aval)
    return var


def renamed(jaxpr: Jaxpr) -> tuple[Jaxpr, dict[Var, tuple[Var, str]]]:
    """A program with variables of its own, and whose names they have."""
    fresh: dict[Var, Var] = {}

    def define(variables: Sequence[Var]) -> tuple[Var, ...]:
        fresh.update((v, Var(v.aval)) for v in variables)
        return tuple(fresh[v] for v in variables)

    def use(atom: Atom) -> Atom:
        return fresh.get(atom, atom) if isinstance(atom, Var) else atom

    constvars, invars = define(jaxpr.constvars), define(jaxpr.invars)
    eqns = []
    for eqn in jaxpr.eqns:
        inputs = tuple(map(use, eqn.inputs))
        eqns.append(replace(eqn, inputs=inputs, outputs=define(eqn.outputs)))
    outvars = tuple(map(use, jaxpr.outvars))
    made = Jaxpr(constvars, invars, tuple(eqns), outvars, jaxpr.debug_name)
    return made, {new: (old, "") for old, new in fresh.items()}


# -- control flow ----------------------------------------------------------------------


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
        status=len(atoms_of(carry[m - flow.status :])),
    )
    return made, results
