"""`judgements.toml`: abstract syntax, judgements, inference rules.

Serves: judgement.*, syntax.*, typing.*, running.*, tracing.*, keying.*
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.rules.formulas.language import Formula, parse
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.table_errors import problem
from traceir.rules.row_reader import RowReader
from traceir.rules.rows import Clause

# Functions that the rules may call besides the vocabulary and the productions.
CALLS = (
    *("environment", "extended", "programs", "signed", "joined", "out", "effects"),
    *("meaning", "elements", "related", "steps"),
    *("fresh", "chained", "rows", "part"),
)
# The groups of clauses that a premise may ask for.
GROUPS = ("", "closed", "program", "equation", "row", "result", "end")
# Sections whose rows are rules, with an id and a sentence.
SECTIONS = ("syntax", "judgement", "inference", "theorem")


@dataclass(frozen=True, slots=True)
class Metavariable:
    """A letter of the rules, and what it stands for."""

    name: str
    says: str


@dataclass(frozen=True, slots=True)
class Production:
    """A production of the abstract syntax: the term `name(*parts)` of the kind `of`."""

    id: str
    of: str
    name: str
    parts: tuple[str, ...]
    form: str
    says: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judgement: what it is about, what it gives, and how it is written."""

    id: str
    given: tuple[str, ...]
    gives: tuple[str, ...]
    form: str
    says: str


@dataclass(frozen=True, slots=True)
class Premise:
    """A premise: a group of `clauses` of what `let` names, or a judgement.

    Without either it gives names to terms, by `let` alone.
    The judgement holds `of` some terms and gives the names `gives`; if there is `each`,
    of a variable and a tuple, for every element, and then the names are tuples.
    """

    clauses: str = ""
    let: tuple[tuple[str, Formula], ...] = ()
    judges: str = ""
    of: tuple[Formula, ...] = ()
    gives: tuple[str, ...] = ()
    each: tuple[str, Formula] | None = None


@dataclass(frozen=True, slots=True)
class InferenceRule:
    """A rule: if the patterns match and the premises hold, the judgement gives this."""

    id: str
    concludes: str
    of: tuple[Formula, ...]
    when: Formula | None
    premises: tuple[Premise, ...]
    gives: tuple[Formula, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Theorem:
    """A theorem in words, on what it is `tried`, and what `breaks` it."""

    id: str
    says: str
    tried: str
    breaks: str


@dataclass(frozen=True, slots=True)
class Judgements:
    """The abstract syntax, the judgements, and the rules of each of them."""

    metavariables: tuple[Metavariable, ...]
    syntax: Mapping[str, Production]
    judgements: Mapping[str, Judgement]
    rules: Mapping[str, tuple[InferenceRule, ...]]
    theorems: Mapping[str, Theorem]

    def all_rules(self) -> Iterator[InferenceRule]:
        """The rules of all judgements."""
        for found in self.rules.values():
            yield from found


def plain_row(row: RowReader) -> Clause:
    """The clause that every row is: an id and a sentence."""
    return Clause(row.text("id"), row.says())


def heads(table: Mapping[str, Any]) -> Iterator[Clause]:
    """The ids and sentences of rows that were checked before."""
    for section in SECTIONS:
        for row in table.get(section, ()):
            yield Clause(row["id"], row["says"])


def read_judgements(
    table: RowReader, plain: Callable[[RowReader], Clause]
) -> Judgements:
    """The judgements of `judgements.toml`; `plain` takes the id and the sentence."""
    letters = tuple(
        Metavariable(row.text("name"), row.says()) for row in table.rows("metavariable")
    )
    kinds = {letter.name for letter in letters}
    syntax = {
        found.name: found
        for found in (_production(row, plain, kinds) for row in table.rows("syntax"))
    }
    judgements = {
        found.id: found
        for found in (_judgement(row, plain) for row in table.rows("judgement"))
    }
    reader = _InferenceReader(syntax, judgements, plain)
    rules = [reader.rule(row) for row in table.rows("inference")]
    theorems = {
        found.id: found
        for found in (_theorem(row, plain) for row in table.rows("theorem"))
    }
    table.done()
    by_judgement = {
        name: tuple(rule for rule in rules if rule.concludes == name)
        for name in judgements
    }
    return Judgements(letters, syntax, judgements, by_judgement, theorems)


def _production(
    row: RowReader, plain: Callable[[RowReader], Clause], kinds: Collection[str]
) -> Production:
    clause, written = plain(row), row.text("is")
    match parse(written).node:
        case ast.Call(ast.Name(name), arguments):
            parts = tuple(a.id for a in arguments if isinstance(a, ast.Name))
            of, form = row.one_of("of", kinds), row.text("form")
            _check_form(row, form, parts, sorted)
            return Production(clause.id, of, name, parts, form, clause.says)
    raise problem("table.formula", f"{row.where}: is", written)


def _judgement(row: RowReader, plain: Callable[[RowReader], Clause]) -> Judgement:
    clause = plain(row)
    given, gives = row.texts("given", ...), row.texts("gives", ...)
    form = row.text("form")
    _check_form(row, form, given + gives)
    return Judgement(clause.id, given, gives, form, clause.says)


def _check_form(
    row: RowReader, form: str, names: Sequence[str], order: Any = list
) -> None:
    """Refuses a form that has not each of some names once, in order if that counts."""
    if order(word for word in form.split() if word in names) != order(names):
        raise problem("table.form", f"{row.where}: form", f"{form} of {names}")


def _theorem(row: RowReader, plain: Callable[[RowReader], Clause]) -> Theorem:
    clause = plain(row)
    return Theorem(clause.id, clause.says, row.text("tried"), row.text("breaks"))


class _InferenceReader:
    """Reads inference rules: each name of a formula is one that is known by then."""

    def __init__(
        self,
        syntax: Mapping[str, Production],
        judgements: Mapping[str, Judgement],
        plain: Callable[[RowReader], Clause],
    ) -> None:
        self.syntax = syntax
        self.judgements = judgements
        self.plain = plain

    def names(self, known: Iterable[str]) -> FormulaNames:
        """The names that are known, and what may be called."""
        return FormulaNames(known, (*CALLS, *self.syntax))

    def rule(self, row: RowReader) -> InferenceRule:
        """A rule, the numbers of whose terms are those of its judgement."""
        clause, concludes = self.plain(row), row.text("concludes")
        patterns = tuple(map(parse, row.texts("of", ...)))
        known = {name for pattern in patterns for name in pattern.names}
        when = row.maybe("when", self.names(known))
        premises = []
        for part in row.rows("premise"):
            premises.append(self.premise(part, known))
            known.update(premises[-1].gives)
            if not premises[-1].clauses:
                known.update(name for name, _ in premises[-1].let)
        gives = self.formulas(row, "gives", known)
        kinds = self.fits(row, concludes, patterns, gives).given
        for pattern, kind in zip(patterns, kinds):
            self.check(pattern, pattern.node, kind, row.where)
        return InferenceRule(
            clause.id, concludes, patterns, when, tuple(premises), gives, clause.says
        )

    def premise(self, row: RowReader, known: set[str]) -> Premise:
        """A group of clauses, or a judgement."""
        if not row.has("judges"):
            group, names = row.one_of("clauses", GROUPS, ""), self.names(known)
            let = row.get("let", Mapping)
            found = tuple(
                (name, names.formula(text, f"{row.where}: let"))
                for name, text in let.items()
            )
            return Premise(clauses=group, let=found)
        judges, each = row.text("judges"), None
        if row.has("each"):
            name, _, over = row.text("each").partition(" in ")
            each = name, self.names(known).formula(over, f"{row.where}: each")
            known = known | {name}
        of, gives = self.formulas(row, "of", known), row.texts("gives", ...)
        self.fits(row, judges, of, gives)
        return Premise(judges=judges, of=of, gives=gives, each=each)

    def formulas(
        self, row: RowReader, key: str, known: set[str]
    ) -> tuple[Formula, ...]:
        """A list of formulas over the names that are known."""
        names = self.names(known)
        return tuple(
            names.formula(t, f"{row.where}: {key}") for t in row.texts(key, ...)
        )

    def fits(self, row: RowReader, judges: str, of: Any, gives: Any) -> Judgement:
        """The judgement; refuses one that there is not, or one of other terms."""
        found = self.judgements.get(judges)
        if found is None:
            raise problem("table.row", row.where, judges, "a judgement")
        if (len(of), len(gives)) != (len(found.given), len(found.gives)):
            got = f"{len(of)} terms and {len(gives)} results for `{found.form}`"
            raise problem("table.key", row.where, got)
        return found

    def check(self, pattern: Formula, node: ast.expr, kind: str, where: str) -> None:
        """Refuses a pattern that is no name, text, or term of its kind and patterns."""
        match node:
            case ast.Name() | ast.Constant():
                return
            case ast.Call(ast.Name(name), parts) if name in self.syntax:
                found = self.syntax[name]
                if (len(parts), kind) == (len(found.parts), found.of):
                    for part, inner in zip(parts, found.parts):
                        self.check(pattern, part, inner, where)
                    return
        raise problem(
            "table.formula", f"{where}: of", pattern.text, f"a pattern of {kind}"
        )
