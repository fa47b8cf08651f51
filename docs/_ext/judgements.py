"""Judgements on their page: productions, forms, and inference rules."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from docutils import nodes

from _ext.mathematics.markup import Leaf, Line, Math
from _ext.mathematics.typeset import COLON, typeset
from _ext.pieces import box, code, line, link, mathematics, sentence, table, text
from tests.recorded import Record
from traceir.rules import Clause, Rules
from traceir.rules.judgements import (
    InferenceRule,
    Judgement,
    Judgements,
    Premise,
    Production,
)

# Words of forms that are set as words.
WORDS = frozenset({"let", "in"})


def judgement_fields(rules: Rules, id: str) -> list[nodes.Node]:
    """The parts of a row of `judgements.toml` beside its sentence."""
    known = rules.judgements
    for production in known.syntax.values():
        if production.id == id:
            return [
                box("inference", box("conclusion", line_of(_production(production))))
            ]
    if id in known.judgements:
        return [
            box("inference", box("conclusion", line_of(_form(known.judgements[id]))))
        ]
    for rule in known.all_rules():
        if rule.id == id:
            return [_rule(rules, rule)]
    theorem = known.theorems[id]
    parts: list[nodes.Node] = [
        line("accuracy", text("Tried on: "), *sentence(theorem.tried)),
        line("accuracy", text("A miniature that fails: "), *sentence(theorem.breaks)),
    ]
    if id in (found := tried()):
        small, drawn = found[id]["small"], found[id].get("drawn", 0)
        count = f"{small:,} small programs and {drawn:,} drawn ones were tried."
        parts.append(line("accuracy", text(count)))
    return parts


@cache
def tried() -> Mapping[str, Any]:
    """The record of trials, by theorem."""
    record = Record("theorems.json")
    found: dict[str, Any] = json.loads(record.read_text() or "{}")
    return found


def letters(rules: Rules) -> nodes.Node:
    """The table of metavariables."""
    found = rules.judgements.metavariables
    rows: list[list[list[nodes.Node]]] = [
        [[code(one.name)], sentence(one.says)] for one in found
    ]
    return table(["letter", "stands for"], rows, "machine-terms")


def line_of(math: Math) -> nodes.Node:
    """Mathematics in a line of its own."""
    return box("equation", mathematics(math))


def _production(production: Production) -> Math:
    parts = {part: Leaf("name", part) for part in production.parts}
    left = Leaf("name", production.of), Leaf("operator", "::=")
    return Line((*left, _written(production.form, parts)))


def _form(judgement: Judgement) -> Math:
    names = (*judgement.given, *judgement.gives)
    return _written(judgement.form, {name: Leaf("name", name) for name in names})


def _written(form: str, parts: Mapping[str, Math]) -> Math:
    """A form with its parts in their places."""
    return Line(tuple(parts.get(word) or _sign(word) for word in form.split()))


def _sign(word: str) -> Math:
    return Leaf("word" if word in WORDS else "operator", word)


def _rule(rules: Rules, rule: InferenceRule) -> nodes.Node:
    known = rules.judgements
    premises = list(_premises(rules, rule))
    over = [box("premises", *premises)] if premises else []
    given = [_term(known, pattern.node) for pattern in rule.of]
    gives = [_term(known, formula.node) for formula in rule.gives]
    under = line_of(_judged(known.judgements[rule.concludes], (*given, *gives)))
    where = [
        line_of(Line((Leaf("name", name), Leaf("operator", "="), typeset(formula))))
        for premise in rule.premises
        for name, formula in premise.let
        if formula.text != name
    ]
    parts = [*over, box("conclusion", under)]
    if where:
        parts.append(box("where", line("word", text("where")), *where))
    return box("inference", *parts)


def _premises(rules: Rules, rule: InferenceRule) -> Iterator[nodes.Node]:
    if rule.when is not None:
        yield box("premise", line_of(typeset(rule.when)))
    for premise in rule.premises:
        if premise.clauses:
            yield from _clauses(rules, premise)
        elif premise.judges:  # one of names alone stands below the line
            yield box("premise", line_of(_judgement(rules.judgements, premise)))


def _clauses(rules: Rules, premise: Premise) -> Iterator[nodes.Node]:
    """A link to each clause; those of a primitive's row are different ones."""
    if premise.clauses == "row":
        yield box(
            "premise", line("word", text("the clauses of the row of "), code("q"))
        )
        return
    found: Iterable[Clause] = (c for c in rules.program if c.at == premise.clauses)
    for clause in found:
        yield box("premise", line("label", link("rule", clause.id)))


def _judgement(known: Judgements, premise: Premise) -> Math:
    given = [_term(known, formula.node) for formula in premise.of]
    gives: list[Math] = [Leaf("name", name) for name in premise.gives]
    shown = _judged(known.judgements[premise.judges], (*given, *gives))
    if premise.each is None:
        return shown
    name, over = premise.each
    every = Leaf("operator", "∀"), Leaf("name", name), Leaf("operator", "∈")
    return Line((*every, _term(known, over.node), COLON, shown))


def _judged(judgement: Judgement, terms: tuple[Math, ...]) -> Math:
    names = (*judgement.given, *judgement.gives)
    return _written(judgement.form, dict(zip(names, terms, strict=True)))


def _term(known: Judgements, node: ast.expr) -> Math:
    """A formula, in which a term is written as its production is."""
    match node:
        case ast.Call(ast.Name(name), parts) if name in known.syntax:
            production = known.syntax[name]
            terms = [_term(known, part) for part in parts]
            inner = _written(production.form, dict(zip(production.parts, terms)))
            return Line((Leaf("operator", "⟨"), inner, Leaf("operator", "⟩")))
    return typeset(node)
