"""Tests that rows drive the reference: an altered one changes what it does in a case.

A case's behaviour is all that is seen of it from outside: events, results, probes, and
of each refusal its class and its text. `python -m mutation.driven levels effects` tells
which alterations change none. With `--few`, of the alterations of each thing that a row
says the first is tried, in one of three of these things: others for other tables, cases
or another engine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from random import Random
from typing import Any

from mutation.hunt import LOADER
from mutation.installed import Desk, in_child, install, lenient
from mutation.record import NO_ANSWER, case_digest, digest_of, engine_digest
from mutation.tables import Enumeration, Mutant, Tables, of_an_exception
from mutation.waiting import leave_when_idle

from traceir import rules
from traceir.conform import Case, judge, load_cases
from traceir.conform.systems.implementations import Reference
from traceir.conform.systems.jitted import Jitted
from traceir.conform.systems.systems import TraceirSystem
from traceir.rules import load
from traceir.rules.load import read_tables, spec_path

Behaviour = tuple[str, ...]


@dataclass
class Listening(TraceirSystem):
    """The reference; it notes what errors say."""

    said: list[str] = field(default_factory=list)

    def rule(self, error: Exception) -> str | None:
        """The rule that the error carries."""
        self.said.append(f"{type(error).__name__}: {error}")
        return super().rule(error)


def behaviour(case: Case) -> Behaviour:
    """The behaviour of the reference in a case, as texts."""
    if case.session is None:
        verdict = judge(Reference(rules.default()), case, rules.default())
        return verdict.kind, verdict.why
    system = Listening("reference")
    try:
        outcomes = Jitted(case.session, system).run()
    except Exception as error:
        return "fails", type(error).__name__, *system.said
    return *map(str, outcomes), *system.said


@dataclass
class Driven:
    """Cases, and what the reference does in each by the tables as they are."""

    tables: Tables
    cases: Sequence[Case]
    known: dict[str, Behaviour] = field(default_factory=dict)
    base: rules.Rules = field(default_factory=rules.default)
    desk: Desk = field(default_factory=Desk)

    def prepare(self) -> None:
        """Run every case by the tables as they are."""

        def found() -> Any:
            install(load(self.tables))
            return {c.name: behaviour(c) for c in self.cases}, [*sys.modules]

        self.known, modules = in_child(found, patient=True)
        for module in modules:
            with suppress(ImportError):
                import_module(module)
        # A child reads the rows alone that differ, and knows what it has to forget.
        self.base = load(self.tables)
        install(self.base)

    def teller(self, mutant: Mutant) -> str | None:
        """The case in which the reference does something else by altered tables."""
        cases = sorted(self.cases, key=lambda case: mutant.row not in case.cites)

        def found() -> Any:
            leave_when_idle()
            changed = lenient(mutant.tables(self.tables), mutant.table, self.base)
            if changed is None:
                return LOADER
            install(changed)
            for n, case in enumerate(cases):
                self.desk.take(n)
                if behaviour(case) != self.known[case.name]:
                    return case.name
            return ""

        answer: str | None = in_child(found)
        return NO_ANSWER if answer is None else answer or None


def texts(tables: Tables, stems: Sequence[str]) -> Iterator[Mutant]:
    """Other sentences, hints and classes of exceptions, in each row that has them."""
    for stem in stems:
        for section, rows in tables[stem].items():
            for n, row in enumerate(rows if isinstance(rows, list) else ()):
                yield from _of_row(row, (stem, section, n))


def _of_row(row: Mapping[str, Any], at: tuple[str | int, ...]) -> Iterator[Mutant]:
    others = {"says": "Other words.", "hint": "another hint", "class": "RuntimeError"}
    for key, other in others.items():
        if key in row:
            where = f"{at[0]}/{at[1]}/{row['id']}/{key}"
            yield Mutant(where, other, row["id"], (*at, key), other, "value")


def one_of_each(mutants: Iterable[Mutant]) -> Iterator[Mutant]:
    """The first mutant of each thing that a row says, but for its absence."""
    seen: set[str] = set()
    for mutant in mutants:
        if mutant.kind != "delete" and mutant.where not in seen:
            seen.add(mutant.where)
            yield mutant


def is_read_alone(mutant: Mutant) -> bool:
    """True for a row that is a sentence, or for the sentence of one that nothing
    raises: it has no exception, and says no condition that may fail.
    """
    stem, section, name, *key = mutant.where.split("/")
    if section == "fact" or key != ["says"]:
        return section == "fact"
    rows = read_tables(spec_path() / "rules")[stem].get(section, [])
    found = [row for row in rows if isinstance(row, dict) and row["id"] == name]
    return all("class" not in row for row in found)


def third(mutants: Iterable[Mutant], cases: Sequence[Case]) -> list[Mutant]:
    """One of three of some mutants, by the digest of all that tells them."""
    parts = [*map(str, found := list(mutants)), *map(case_digest, cases)]
    seed = digest_of([*parts, engine_digest()])
    return Random(seed).sample(found, len(found) // 3)


def untold(stems: Sequence[str], few: bool) -> Iterator[str]:
    """The mutants of some tables by which the reference does all as it did.

    Classes of exceptions are altered in rows that it raises, by `texts`: that of a
    primitive's clause is for implementations that name no rules.
    """
    tables = read_tables(spec_path() / "rules")
    cases = [c for c in load_cases() if speaks_of(c)]
    driven = Driven(tables, cases)
    driven.prepare()
    found = (m for m in Enumeration(tables).mutants(stems) if not of_an_exception(m))
    every = [*(one_of_each(found) if few else found), *texts(tables, stems)]
    every = [mutant for mutant in every if not is_read_alone(mutant)]
    if few:
        every = third(every, cases)
    return (str(mutant) for mutant in every if driven.teller(mutant) is None)


def speaks_of(case: Case) -> bool:
    """True for the cases of the levels, and of what the host does."""
    family = case.name.partition("/")[0]
    host = ("debug", "debug_print", "debug_callback", "pure_callback", "io_callback")
    return not case.plain and family in ("level", "effect", "callback", *host)


if __name__ == "__main__":
    given = [name for name in sys.argv[1:] if name != "--few"]
    print(*untold(given, len(given) < len(sys.argv) - 1), sep="\n")
