"""All faults of a program that is rejected, not its first one alone.

A case says which clause comes first. What a clause `needs` shows in the others: which
are asked, too, and which of them are asked what they have no value on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from traceir.conform import Case
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Literal, subjaxprs
from traceir.ir.typecheck import results, variables
from traceir.rules import Clause, Rules, Scope
from traceir.rules.applied import NOWHERE, demand, equation_scope, row_scope

Names = Mapping[str, Any]


def faults(case: Case, rules: Rules) -> frozenset[str]:
    """All clauses that the program of a case violates, or is asked in vain."""
    try:
        program = case.program(rules)
    except Exception as error:  # text that cannot be read has the fault of its error
        return frozenset({str(getattr(error, "rule", error))})
    return frozenset(_of_program(program, rules))


def equations(closed: ClosedJaxpr) -> Iterator[Eqn]:
    """The equations of a program and of those within."""
    for eqn in closed.eqns:
        yield eqn
        for inner in subjaxprs(eqn):
            yield from equations(inner)


def _of_program(closed: ClosedJaxpr, rules: Rules) -> Iterator[str]:
    jaxpr = closed.jaxpr

    def at(place: str, **names: Any) -> Iterator[str]:
        clauses = [c for c in rules.program if c.at == place]
        yield from _asked(clauses, Scope(names, outer=rules.constants))

    constants = tuple(v.aval for v in jaxpr.constvars)
    yield from at("closed", constants=constants, values=closed.consts)
    inputs = (*jaxpr.constvars, *jaxpr.invars)
    yield from at("program", inputs=inputs)
    bound = set(inputs)
    for eqn in jaxpr.eqns:
        literals = tuple(a.aval for a in eqn.inputs if isinstance(a, Literal))
        around = {
            "read": variables(eqn.inputs),
            "written": eqn.outputs,
            "bound": bound,
            "literals": literals,
        }
        yield from _of_equation(eqn, rules, around)
        for inner in subjaxprs(eqn):
            yield from _of_program(inner, rules)
        inferred = _inferred(eqn, rules)
        if inferred is not None:
            written = tuple(v.aval for v in eqn.outputs)
            yield from at(
                "result",
                results=written,
                inferred=inferred,
                named=tuple(eqn.effects),
                does=tuple(effects_of(eqn.primitive, eqn.params)),
            )
        bound.update(eqn.outputs)
    yield from at("end", outputs=variables(jaxpr.outvars), bound=bound)


def _of_equation(eqn: Eqn, rules: Rules, around: Names) -> Iterator[str]:
    avals = tuple(a.aval for a in eqn.inputs)
    scope = equation_scope(eqn.primitive, avals, eqn.params, rules, around)
    clauses = [c for c in rules.program if c.at == "equation"]
    wrong = list(_asked(clauses, scope))
    yield from wrong
    row = rules.prims.get(eqn.primitive)
    # An equation that is not formed as its row says means nothing to the row.
    if row is not None and not {w.partition(" ")[0] for w in wrong} & _FORM:
        yield from _asked(row.clauses, row_scope(row, avals, eqn.params, rules))


_FORM = {"program.arity", "program.params", "program.domain"}


def _inferred(eqn: Eqn, rules: Rules) -> Sequence[Any] | None:
    avals = tuple(a.aval for a in eqn.inputs)
    row = rules.prims.get(eqn.primitive)
    if row is None or list(_of_equation(eqn, rules, NOWHERE)):
        return None
    try:
        return results(row, row_scope(row, avals, eqn.params, rules))
    except Exception:
        return None


def _asked(clauses: Sequence[Clause], scope: Scope) -> Iterator[str]:
    """The clauses that are false, and those that have no value where they are asked."""
    held: set[str] = set()
    known = {clause.id for clause in clauses}
    for clause in clauses:
        if not held.issuperset(known.intersection(clause.needs)):
            continue
        try:
            holds = demand(clause)(scope)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            yield f"{clause.id} has no value"
            continue
        if holds:
            held.add(clause.id)
        else:
            yield clause.id
