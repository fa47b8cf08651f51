"""Derivations: judgements made by the inference rules of the tables.

Nothing here knows what a rule is about: a term is matched with patterns, premises are
taken in their order, formulas are walked. Serves: judgement.*, typing.*, running.*
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn

from traceir.base.fast_dataclass import dataclass
from traceir.base.generated_code import define
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Params
from traceir.oracle import abstract_syntax as syntax
from traceir.oracle.abstract_syntax import Term
from traceir.pytrees.typed_equality import typed
from traceir.rules import Clause, Formula, Rules, Scope, default
from traceir.rules.applied import (
    SCOPES,
    demand,
    equation_scope,
    failed_clauses,
    row_scope,
)
from traceir.rules.formulas.describe import describe
from traceir.rules.judgements import InferenceRule, Premise

Values = tuple[Any, ...]
Match = Callable[[Values], dict[str, Any] | None]
TYPED, RUN = "judgement.typed-program", "judgement.run-program"
APPLIED = "judgement.typed-application"


class Stuck(Exception):
    """No rule applies to a judgement, or more than one does."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that may apply: how its patterns match, its premises.

    `last` is the last of these if the rule gives just what that one gives.
    """

    rule: InferenceRule
    match: Match
    first: tuple[Premise, ...]
    last: Premise | None


class Derivation:
    """Derives judgements by the rules of some tables.

    `calls` are functions of the rules' formulas besides those of the tables.

    >>> from traceir.text import parse
    >>> program = parse("{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }")
    >>> Derivation(default()).derive(TYPED, syntax.as_term(program))
    ((ShapedArray(float32[3]),), (ShapedArray(float32[3]),), ())
    """

    def __init__(
        self, rules: Rules, calls: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self.rules = rules
        self.judgements = rules.judgements
        known: dict[str, Any] = {
            name: _constructor(name) for name in self.judgements.syntax
        }
        known |= {"environment": syntax.environment, "extended": syntax.extended}
        known |= {"programs": syntax.programs, "signed": syntax.signed}
        known |= {"joined": syntax.joined, "out": self.out, "effects": self.effects}
        known |= {"meaning": self.meaning, "fresh": syntax.fresh}
        known |= {"chained": syntax.chained, "rows": self.rows, "part": self.part}
        known |= calls or {}
        self.outer = {**rules.constants, **known}
        self.candidates: dict[str, tuple[Candidate, ...]] = {}

    def derive(self, judgement: str, *given: Any) -> Values:
        """The terms that a judgement gives of others.

        Raises the error of the first clause that a premise asks for and that does not
        hold; Stuck where not exactly one rule applies.
        """
        while True:
            candidate, scope = self.only(judgement, given)
            for premise in candidate.first:
                scope = self.premise(premise, scope)
            last = candidate.last
            if last is None:
                return tuple([formula(scope) for formula in candidate.rule.gives])
            # The rule gives what its last premise does, however long the program.
            judgement = last.judges
            given = tuple([formula(scope) for formula in last.of])

    def only(self, judgement: str, given: Values) -> tuple[Candidate, Scope]:
        """The one rule that applies, and what its patterns name."""
        found = list(self.applying(judgement, given))
        if len(found) != 1:
            rules = ", ".join(one.rule.id for one, _ in found) or "no rule"
            raise Stuck(f"{judgement}: {rules} for {_kinds(given)}")
        return found[0]

    def applying(
        self, judgement: str, given: Values
    ) -> Iterator[tuple[Candidate, Scope]]:
        """The rules of a judgement whose patterns match, and whose condition holds."""
        candidates = self.candidates.get(judgement)
        if candidates is None:
            rules = self.judgements.rules.get(judgement, ())
            candidates = self.candidates[judgement] = tuple(map(_candidate, rules))
        for candidate in candidates:
            names = candidate.match(given)
            if names is not None:
                scope = Scope(names, outer=self.outer)
                when = candidate.rule.when
                if when is None or when(scope):
                    yield candidate, scope

    def premise(self, premise: Premise, scope: Scope) -> Scope:
        """The names that are known after a premise, which holds."""
        if premise.clauses:
            self.demand(premise, scope)
            return scope
        if premise.let:
            return Scope({name: f(scope) for name, f in premise.let}, outer=scope)
        if premise.each is None:
            terms = (formula(scope) for formula in premise.of)
            found = self.derive(premise.judges, *terms)
            return Scope(dict(zip(premise.gives, found, strict=True)), outer=scope)
        name, over = premise.each
        rows = []
        for item in over(scope):
            inner = Scope({name: item}, outer=scope)
            rows.append(
                self.derive(premise.judges, *(formula(inner) for formula in premise.of))
            )
        columns = tuple(zip(*rows)) or ((),) * len(premise.gives)
        return Scope(dict(zip(premise.gives, columns, strict=True)), outer=scope)

    # Clauses --------------------------------------------------------------------------

    def demand(self, premise: Premise, scope: Scope) -> None:
        """Raise the error of the first clause of a group that does not hold."""
        names = {name: formula(scope) for name, formula in premise.let}
        clauses, around = self.group(premise.clauses, names)
        for clause in failed_clauses(clauses, around):
            self.fail(clause, around)

    def group(
        self, group: str, names: Mapping[str, Any]
    ) -> tuple[Sequence[Clause], Scope]:
        """The clauses of a group, and what their formulas speak of."""
        if group == "row":
            row = self.rules.prims[names["name"]]
            operands, params = names["operands"], names["params"]
            return row.clauses, row_scope(row, operands, params, self.rules)
        clauses = [c for c in self.rules.program if c.at == group]
        if group != "equation":
            return clauses, Scope(names, outer=self.rules.constants)
        around = {name: names[name] for name in SCOPES[group] if name in names}
        name, operands, params = names["name"], names["operands"], names["params"]
        return clauses, equation_scope(name, operands, params, self.rules, around)

    def fail(self, clause: Clause, scope: Scope) -> NoReturn:
        """Raise the error of a clause."""
        raise self.rules.error(clause.id, describe(demand(clause), scope), where="")

    # What rows say --------------------------------------------------------------------

    def out(self, primitive: str, params: Params, types: Values) -> Values:
        """The types of a primitive's results, by the column `out` of its row."""
        row = self.rules.prims[primitive]
        scope = row_scope(row, types, params, self.rules)
        if isinstance(row.out, Formula):
            return tuple(row.out(scope))
        assert row.out is not None
        return tuple(
            ShapedArray(o.shape(scope), o.dtype(scope), o.weak_type(scope))
            for o in row.out
        )

    def effects(self, primitive: str) -> Values:
        """The effects of a primitive's own."""
        return tuple(sorted(self.rules.prims[primitive].effects))

    def meaning(self, primitive: str) -> str:
        """The column that says what the results are."""
        row = self.rules.prims[primitive]
        return "steps" if row.steps else "post" if row.post else "value"

    def rows(self) -> tuple[Term, ...]:
        """The rows of the cache key, in their order, each with what it is asked of."""
        return tuple(("row", row.id, row.per) for row in self.rules.keys)

    def part(self, name: str, value: Any) -> Any:
        """The part of a key by the formula of a row: of a call, a leaf or a static."""
        row = next(row for row in self.rules.keys if row.id == name)
        names = {"call": value, "v": value, "typed": typed}
        return row.part(Scope(names, outer=self.rules.constants))


def type_program(
    program: ClosedJaxpr, rules: Rules | None = None
) -> tuple[ShapedArray, ...]:
    """The types of a program's results, by the inference rules alone.

    Raises the error of a clause that does not hold.

    >>> from traceir.text import parse
    >>> text = "{ lambda ; a:f32[2]. let b:f32[] = reduce_sum[axes=(0,)] a in (b,) }"
    >>> type_program(parse(text))
    (ShapedArray(float32[]),)
    """
    _, found, _ = Derivation(rules or default()).derive(TYPED, syntax.as_term(program))
    return tuple(found)


def applied_types(
    primitive: str, params: Params, operands: Sequence[Any], rules: Rules
) -> tuple[ShapedArray, ...]:
    """The types of an application's results, by the inference rules alone.

    Raises the error of a clause that does not hold.

    >>> from traceir.ir.jaxpr import Var
    >>> x = Var(ShapedArray((2,), "float32"))
    >>> applied_types("neg", (), [x], default())
    (ShapedArray(float32[2]),)
    """
    types = tuple(x.aval for x in operands)
    found, *_ = Derivation(rules).derive(APPLIED, primitive, params, types)
    return tuple(found)


@lru_cache(maxsize=1024)
def matcher(patterns: tuple[str, ...]) -> Match:
    """The function that finds the terms of names in patterns; None if one is another.

    >>> match = matcher(("let(e, results(us))",))
    >>> match((("let", 1, ("results", 2)),))
    {'e': 1, 'us': 2}
    >>> match((("let", 1, ("let", 2, 3)),)) is None
    True
    """
    tests: list[str] = [f"len(t) == {len(patterns)}"]
    names: dict[str, str] = {}
    for k, pattern in enumerate(patterns):
        _match(ast.parse(pattern, mode="eval").body, f"t[{k}]", tests, names)
    found = ", ".join(f"{name!r}: {place}" for name, place in names.items())
    line = f"    return {{{found}}} if {' and '.join(tests)} else None"
    return define("match", ["def match(t):", line], {}, "pattern")


def _match(
    pattern: ast.expr, place: str, tests: list[str], names: dict[str, str]
) -> None:
    """Add the tests of a pattern, and the places of its names."""
    match pattern:
        case ast.Name(name):
            names[name] = place
        case ast.Constant(value):
            tests.append(f"{place} == {value!r}")
        case ast.Call(ast.Name(kind), parts):
            tests.append(f"isinstance({place}, tuple) and {place}[:1] == ({kind!r},)")
            tests.append(f"len({place}) == {len(parts) + 1}")
            for k, part in enumerate(parts, 1):
                _match(part, f"{place}[{k}]", tests, names)


def _candidate(rule: InferenceRule) -> Candidate:
    match = matcher(tuple(pattern.text for pattern in rule.of))
    *first, last = rule.premises or (None,)
    if last is not None and _is_last_call(rule, last):
        return Candidate(rule, match, tuple(first), last)
    return Candidate(rule, match, rule.premises, None)


def _constructor(name: str) -> Callable[..., Term]:
    return lambda *parts: (name, *parts)


def _is_last_call(rule: InferenceRule, last: Premise) -> bool:
    """True if a rule gives just what its last premise gives."""
    if not last.judges or last.each is not None:
        return False
    return tuple(formula.text for formula in rule.gives) == last.gives


def _kinds(given: Values) -> str:
    kinds = (t[0] if isinstance(t, tuple) and t else type(t).__name__ for t in given)
    return ", ".join(map(str, kinds))
