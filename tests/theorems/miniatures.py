"""Wrong miniatures: for each theorem one in which a small part is wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from fewer_rows import without

import traceir
from theorems.trials import Subject
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import Rules, default, load
from traceir.transforms.control.partial_eval import PartialEval, partial_eval_program

Row = dict[str, Any]


def altered(rule: str, change: Callable[[list[Row], Row], None]) -> Rules:
    """The rules with one inference rule changed, among the others."""
    tables = dict(default().tables)
    tables["judgements"] = copy.deepcopy(dict(tables["judgements"]))
    rows = tables["judgements"]["inference"]
    change(rows, next(row for row in rows if row["id"] == rule))
    return load(tables, like=default())


@cache
def two_rules_for_variables() -> Subject:
    """A variable may also have the type that is written where it is read."""

    def change(rows: list[Row], row: Row) -> None:
        rows.append({**row, "id": "typing.variable-as-written", "gives": ["τ"]})

    return Subject(altered("typing.variable", change))


@cache
def no_clauses_of_rows() -> Subject:
    """An application is typed though a clause of the row does not hold."""

    def change(rows: list[Row], row: Row) -> None:
        row["premise"] = [p for p in row["premise"] if "clauses" not in p]

    return Subject(altered("typing.application", change))


def types_as_written() -> Subject:
    """The checker believes what is written."""
    return Subject(check=lambda program: program.out_avals)


def with_row(primitive: str, **columns: Any) -> Rules:
    """The rules with columns of one primitive's row changed."""
    tables = dict(default().tables)
    table = dict(tables["primitives"])
    table["prim"] = {**table["prim"]}
    table["prim"][primitive] = {**table["prim"][primitive], **columns}
    return load({**tables, "primitives": table}, like=default())


@cache
def a_wrong_template() -> Subject:
    """The derivative of a product by its second factor is that by its first."""
    return Subject(with_row("mul", jvp={"x": "mul t y", "y": "mul y t"}))


@cache
def a_wrong_batch() -> Subject:
    """A batch of reversals reverses the examples."""
    batch = {"rule": "anywhere", "params": {"dimensions": "dimensions"}}
    return Subject(with_row("rev", batch=batch))


@cache
def a_wrong_transpose() -> Subject:
    """A cotangent goes through a product as it is."""
    return Subject(with_row("mul", transpose={"x": "mul ct y", "y": "mul ct ct"}))


def residuals_in_another_order() -> Subject:
    """The known part gives its residuals in the order in which nobody takes them."""

    def split(program: ClosedJaxpr, later: Sequence[bool]) -> PartialEval:
        halves = partial_eval_program(program, later)
        count = len(halves.moved) - sum(halves.moved)
        outs = halves.known.jaxpr.outvars
        mixed = (*outs[:count], *reversed(outs[count:]))
        known = replace(halves.known.jaxpr, outvars=mixed)
        return replace(halves, known=ClosedJaxpr(known, halves.known.consts))

    return Subject(split=split)


def tangents_of_size_one() -> Subject:
    """Tangents are divided by the largest of them, over all examples or of one."""

    def jvp(function: Any, xs: Sequence[Any], ts: Sequence[Any]) -> Any:
        largest = [abs(t).max() + 1 for t in map(traceir.numpy.asarray, ts)]
        return traceir.jvp(function, xs, [t / m for t, m in zip(ts, largest)])

    return Subject(jvp=jvp)


def sums_in_place_of_differences() -> Subject:
    """A pass makes a sum of what was a difference."""

    def rewrite(program: ClosedJaxpr) -> ClosedJaxpr:
        eqns = tuple(
            replace(eqn, primitive="add") if eqn.primitive == "sub" else eqn
            for eqn in program.eqns
        )
        return ClosedJaxpr(replace(program.jaxpr, eqns=eqns), program.consts)

    return Subject(passes=(("rewritten", rewrite),))


@cache
def the_first_equation_is_lost() -> Subject:
    """A function that returns leaves its first equation out."""

    def change(rows: list[Row], row: Row) -> None:
        row["gives"] = ["chained(es[1:], us)"]

    return Subject(altered("tracing.give", change))


@cache
def no_weakness_in_keys() -> Subject:
    """Arguments of weak and of strong types share a trace."""
    return Subject(without("cache.key.weak_type"))


MINIATURES: dict[str, Callable[[], Subject]] = {
    "theorem.determinism": two_rules_for_variables,
    "theorem.checker": types_as_written,
    "theorem.soundness": no_clauses_of_rows,
    "theorem.trace": the_first_equation_is_lost,
    "theorem.keys": no_weakness_in_keys,
    "theorem.jvp": a_wrong_template,
    "theorem.vmap": a_wrong_batch,
    "theorem.transpose": a_wrong_transpose,
    "theorem.partial-evaluation": residuals_in_another_order,
    "theorem.composition": tangents_of_size_one,
    "theorem.passes": sums_in_place_of_differences,
}
