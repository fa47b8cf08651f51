"""Clauses applied to operands: which ones fail.

Serves: program.*, and the clauses of every primitive
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from traceir.rules.formulas.domains import DOMAINS
from traceir.rules.formulas.language import Formula
from traceir.rules.formulas.scope import Scope
from traceir.rules.rows import Clause, Prim

if TYPE_CHECKING:
    from traceir.rules.rules import Rules  # which the loader makes

Params = tuple[tuple[str, Any], ...]
# Where a clause of `program.toml` applies, and what its formula can speak of there.
SCOPES: Mapping[str, tuple[str, ...]] = {
    "equation": (
        *("name", "primitives", "operands", "given", "read", "written", "bound"),
        *("literals", "arity", "variadic", "declared", "misfits"),
    ),
    "result": ("results", "inferred", "named", "does"),
    "program": ("inputs",),
    "end": ("outputs", "bound"),
    "closed": ("constants", "values"),
}
# What a clause about one equation reads of the program around it, outside of any.
NOWHERE: Mapping[str, Any] = {"read": (), "written": (), "bound": (), "literals": ()}


def failures(
    primitive: str,
    avals: Sequence[Any],
    params: Params,
    rules: Rules,
    around: Mapping[str, Any] = NOWHERE,
) -> Iterator[tuple[Clause, Scope]]:
    """The failed clauses in order, with the values of their names."""
    scope = equation_scope(primitive, avals, params, rules, around)
    clauses = [c for c in rules.program if c.at == "equation"]
    failed = False
    for clause in failed_clauses(clauses, scope):
        failed = True
        yield clause, scope
    row = rules.prims.get(primitive)
    if failed or row is None:
        return
    scope = row_scope(row, avals, params, rules)
    for clause in failed_clauses(row.clauses, scope):
        yield clause, scope


def failed_clauses(clauses: Sequence[Clause], scope: Scope) -> Iterator[Clause]:
    """The clauses that are false, those left out whose needs are not met.

    A formula that has no value on what some other clause refuses is left out, too;
    where no clause refuses it, its error is the table's and is raised.
    """
    held: set[str] = set()
    known = {clause.id for clause in clauses}
    trouble: Exception | None = None
    refused = False
    for clause in clauses:
        if not held.issuperset(known.intersection(clause.needs)):
            continue
        try:
            holds = demand(clause)(scope)
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            trouble = error
            continue
        if holds:
            held.add(clause.id)
        else:
            refused = True
            yield clause
    if trouble is not None and not refused:
        raise trouble


def demand(clause: Clause) -> Formula:
    """The formula of a clause of a primitive or a program."""
    assert clause.holds is not None  # the loader demands it of these clauses
    return clause.holds


def equation_scope(
    primitive: str,
    avals: Sequence[Any],
    params: Params,
    rules: Rules,
    around: Mapping[str, Any],
) -> Scope:
    """The names of the clauses of `program.toml` about one equation."""

    def row() -> Prim:
        return rules.prims[primitive]

    return Scope(
        {
            "name": primitive,
            "primitives": rules.prims,
            "operands": avals,
            "given": tuple(name for name, _ in params),
            **around,
        },
        {
            "arity": lambda _: row().arity,
            "variadic": lambda _: row().variadic,
            "declared": lambda _: tuple(p.name for p in row().params),
            "misfits": lambda _: misfits(row(), dict(params)),
        },
        rules.constants,
    )


def misfits(row: Prim, params: Mapping[str, Any]) -> tuple[str, ...]:
    """The params outside their domains, as `axes=0.5, not axes`."""
    return tuple(
        f"{p.name}={params[p.name]!r}, not {p.domain}"
        for p in row.params
        if not DOMAINS[p.domain](params[p.name])
    )


def row_scope(row: Prim, avals: Sequence[Any], params: Params, rules: Rules) -> Scope:
    """The names of a row's formulas: operands, params, lets, dtypes."""
    operands: dict[str, Any] = dict(zip(row.inputs, avals))
    if row.variadic:
        operands[row.inputs[-1]] = avals[row.arity :]
    return Scope({**operands, **dict(params)}, row.let, rules.constants)
