"""The inference rules: read, derived, and shown as mathematics. Serves: judgements.toml

Cites judgement.* syntax.* typing.* running.*
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from _ext.mathematics.markup import latex
from _ext.mathematics.typeset import typeset
from latex_reader import read

from traceir.errors import RuleTableError, TraceirError
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.oracle.abstract_syntax import as_host_function, as_term, environment
from traceir.oracle.derivations import TYPED, Derivation, Stuck, type_program
from traceir.rules import Formula, Rules, default, load, parse
from traceir.text import parse as program

Row = dict[str, Any]


def formulas() -> Iterator[Formula]:
    """The formulas of all inference rules."""
    for rule in default().judgements.all_rules():
        yield from (*rule.of, *rule.gives)
        if rule.when is not None:
            yield rule.when
        for premise in rule.premises:
            yield from (*premise.of, *(formula for _, formula in premise.let))
            if premise.each is not None:
                yield premise.each[1]


def test_formulas_of_the_rules_read_back() -> None:
    productions = default().judgements.syntax
    for formula in formulas():
        if not formula.calls.intersection(productions):  # which are shown as terms
            again = parse(read(latex(typeset(formula))))
            assert ast.dump(again.node) == ast.dump(formula.node), formula


def test_every_judgement_has_a_rule() -> None:
    assert all(default().judgements.rules.values())


# Letters for others of a kind that has a letter, and `n` for how many there are.
BESIDES = frozenset("kwnΔσψ")


def test_every_letter_stands_for_something() -> None:
    known = default().judgements
    used = {part for one in known.syntax.values() for part in one.parts}
    for judgement in known.judgements.values():
        used |= {*judgement.given, *judgement.gives}
    letters = {name[0] for name in used if name[1:] in ("", "s")}
    assert letters - BESIDES == {letter.name for letter in known.metavariables}


def test_a_function_of_the_host_is_made_of_productions() -> None:
    productions = default().judgements.syntax
    one = program("{ lambda a:f32[] ; b:f32[]. let c:f32[] = mul a 2.0:f32[] in (c,) }")
    constant = ClosedJaxpr(one.jaxpr, (np.float32(3.0),))
    _, (captured,), _, body = whole = as_host_function(constant)
    used = {f"syntax.{t[0]}": len(t) - 1 for t in (whole, body, body[-1], *body[3])}
    used["syntax.captured"] = len(captured) - 1
    assert len(used) == 6
    of_rows = {one.id: len(one.parts) for one in productions.values()}
    assert {rule: of_rows[rule] for rule in used} == used


def table(change: Callable[[Any], None]) -> dict[str, Any]:
    """The tables with the judgements changed."""
    tables = dict(default().tables)
    tables["judgements"] = copy.deepcopy(dict(tables["judgements"]))
    change(tables["judgements"])
    return tables


def row(judgements: Any, rule: str) -> Row:
    """The row of an inference rule."""
    found: Row = next(r for r in judgements["inference"] if r["id"] == rule)
    return found


BAD: dict[str, tuple[Callable[[Any], None], str, str]] = {
    "a judgement that there is none of": (
        lambda t: row(t, "typing.let").update(concludes="judgement.colour"),
        "table.row",
        "judgement.colour",
    ),
    "a term too few": (
        lambda t: row(t, "typing.literal").update(of=["literal(k, τ)"]),
        "table.key",
        "1 terms and 1 results",
    ),
    "a name that no pattern has": (
        lambda t: row(t, "typing.literal").update(gives=["σ"]),
        "table.name",
        "typing.literal: gives",
    ),
    "a pattern of an unknown production": (
        lambda t: row(t, "typing.literal").update(of=["Γ", "numeral(k, τ)"]),
        "table.formula",
        "numeral(k, τ)",
    ),
    "a name that a later premise gives": (
        lambda t: row(t, "typing.let")["premise"].reverse(),
        "table.name",
        "Δ",
    ),
    "an unknown group of clauses": (
        lambda t: row(t, "typing.results")["premise"][0].update(clauses="middle"),
        "table.key",
        "middle",
    ),
    "a pattern of another kind": (
        lambda t: row(t, "typing.results").update(of=["Γ", "φ", "variable(us, τ)"]),
        "table.formula",
        "a pattern of b",
    ),
    "a production of no letter": (
        lambda t: t["syntax"][0].update(of="Q"),
        "table.key",
        "Q",
    ),
    "a production that makes no term": (
        lambda t: t["syntax"][0].update({"is": "program"}),
        "table.formula",
        "program",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_malformed_rule_is_refused(what: str) -> None:
    change, rule, words = BAD[what]
    with pytest.raises(RuleTableError) as caught:
        load(table(change), like=default())
    assert caught.value.rule == rule and words in str(caught.value)


def changed(change: Callable[[Any], None]) -> Rules:
    """The rules with the judgements changed."""
    return load(table(change), like=default())


ADD = "{ lambda ; a:f32[2] b:f32[]. let c:f32[2] = add a b; d:f32[] = neg b in (c, d) }"


def test_types_follow_the_rules() -> None:
    closed = program(ADD)
    shorts = [aval.str_short() for aval in type_program(closed)]
    assert shorts == ["f32[2]", "f32[]"]
    rules = changed(
        lambda t: row(t, "typing.application").update(gives=["σs[:1]", "()"])
    )
    wrong = closed.jaxpr.eqns[0].outputs[0].aval
    assert type_program(program(ADD), rules)[0] is wrong
    text = ADD.replace(
        "c:f32[2] = add a b", "c:f32[] = reduce_sum[axes=(0,) out_sharding=None] a"
    )
    assert type_program(program(text))[0].shape == ()
    with pytest.raises(TraceirError, match=r"program\.result-type"):
        type_program(program(text), rules)


def test_a_term_without_a_rule_is_stuck() -> None:
    less = default().judgements.rules["judgement.typed-operand"][:1]
    assert [rule.id for rule in less] == ["typing.variable"]
    derivation = Derivation(default())
    given = environment((), ()), ("number", 2)
    with pytest.raises(Stuck, match="no rule for Environment, number"):
        derivation.derive("judgement.typed-operand", *given)


def test_a_long_program_is_derived_without_recursion() -> None:
    lines = [f"b{n + 1}:f32[] = neg b{n}" for n in range(1200)]
    text = f"{{ lambda ; b0:f32[]. let {'; '.join(lines)} in (b1200,) }}"
    assert type_program(program(text)) == (program(text).in_avals)


def test_a_program_within_is_known_by_its_types_alone() -> None:
    inner = "{ lambda ; a:f32[]. let b:f32[] = add a c in (b,) }"
    text = f"{{ lambda ; a:f32[]. let b:f32[] = jit[name=f jaxpr={inner}] a in (b,) }}"
    with pytest.raises(TraceirError):
        type_program(program(text))


def test_a_derivation_knows_no_more_than_the_rules() -> None:
    """Without rules there are no types."""
    rules = changed(lambda t: t["inference"].clear())
    closed: ClosedJaxpr = program(ADD)
    with pytest.raises(Stuck):
        Derivation(rules).derive(TYPED, as_term(closed))
