"""The record of the mutants is about the tables as they are; few of them are open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from mutation.__main__ import asked, state_of
from mutation.record import (
    KINDS,
    Allowed,
    Entry,
    Hunted,
    State,
    Told,
    enumeration,
    identity,
    read_allowed,
    read_record,
)
from mutation.tables import Mutant, of_an_exception
from own_process import output_of

from traceir.rules import default

MOST_ALLOWED = 0.02
# Mutants that no hunt has tried as they are, or that nothing tells yet, by table; a
# number here may only become smaller.
UNSETTLED: Mapping[str, int] = {}


@cache
def mutants() -> list[Mutant]:
    """Every mutant of the tables."""
    return list(enumeration(default().tables))


@cache
def hunted() -> Hunted:
    """The entries of the record."""
    return Hunted.read()


def unsettled() -> Counter[str]:
    """The mutants of each table of which nothing is known, or that nothing tells."""
    state, allowed = state_of(dict(default().tables)), read_allowed()
    found: Counter[str] = Counter()
    for mutant in mutants():
        entry = hunted().of(mutant)
        known = entry is not None and not state.changed(mutant, entry)
        told = entry is not None and (bool(entry.killer) or mutant in allowed)
        found[mutant.table] += not (known and told)
    return found


def test_few_mutants_are_unsettled() -> None:
    more = {t: n for t, n in unsettled().items() if n > UNSETTLED.get(t, 0)}
    assert not more, f"run `make mutants ARGS='{' '.join(more)}'`"


def test_few_mutants_are_allowed() -> None:
    record = read_record()
    assert len(record["allowed"]) < MOST_ALLOWED * record["mutants"]


def test_the_counts_of_a_table_add_up() -> None:
    record = read_record()
    for row in record["tables"].values():
        assert row["mutants"] == sum(row[kind] for kind in (*KINDS, "untried"))
    assert record["mutants"] == sum(t["mutants"] for t in record["tables"].values())


def test_ids_tell_mutants_apart() -> None:
    assert len({identity(m) for m in mutants()}) == len({*map(str, mutants())})


def test_nothing_is_allowed_in_vain() -> None:
    told = {(m.where, m.what): hunted().of(m) for m in mutants()}
    for place in read_allowed().reasons:
        assert place in told, "no such mutant"
        entry = told[place]
        assert entry is None or not entry.killer, f"{place} is told by {entry.killer}"


def test_a_sample_of_the_record_is_confirmed() -> None:
    # In a process of its own, which has other tables in place of the specification's.
    said = output_of("mutation", "check", "--seconds", "5")
    assert not said.startswith("0 "), said


def test_an_entry_is_stale_when_what_it_rests_on_has_changed() -> None:
    mutant = _mutant("program/clause/a")
    tables = {"program": {"clause": {"a": {"holds": "x"}}}}
    now = State(tables, {"a/case": "1", "b/case": "2"}, "engine")
    told = now.entry(mutant, Told("a/case", "oracle"))
    open_ = now.entry(mutant, None)
    assert not now.stale(mutant, told) and not now.stale(mutant, open_)
    for cases, engine, stale in (
        ({"a/case": "1", "b/case": "3"}, "engine", (False, True)),
        ({"a/case": "4", "b/case": "2"}, "engine", (True, True)),
        ({"b/case": "2"}, "engine", (True, True)),
        (now.cases, "another", (True, True)),
    ):
        then = State(tables, cases, engine)
        assert (then.stale(mutant, told), then.stale(mutant, open_)) == stale
    row = {"program": {"clause": {"a": {"holds": "y"}}}}
    assert State(row, now.cases, "engine").changed(mutant, told)
    assert now.stale(mutant, None)


def test_counts_follow_from_entries() -> None:
    first, second, third = map(_mutant, ("program/a", "program/b", "errors/c"))
    found = Hunted()
    found.add(first, Entry("a/case", "oracle", "", "", ""), 1.0)
    found.add(second, Entry("", "", "", "", ""), 1.0)
    allowed = Allowed({("program/b", "not"): "Equal."})
    summary = found.summary([first, second, third], allowed)
    assert (summary["killed"], summary["surviving"]) == (1, [])
    assert summary["tables"]["program"]["allowed"] == 1
    assert summary["tables"]["errors"]["untried"] == 1
    assert found.summary([second], Allowed({}))["surviving"] == ["program/b: not"]


def test_every_row_that_is_raised_has_a_mutant_of_its_class() -> None:
    rows = {m.path[:-1] for m in mutants() if of_an_exception(m)}
    tables = default().tables
    for stem, table in tables.items():
        for n in range(len(table.get("clause", ()))):
            assert (stem, "clause", n) in rows
        for section in ("prim", "class"):
            for name, row in table.get(section, {}).items():
                for n in range(len(row.get("clause", ()))):
                    assert (stem, section, name, "clause", n) in rows


def _mutant(where: str) -> Mutant:
    path = tuple(where.split("/"))
    return Mutant(where, "not", "row", path, None, "value")


def test_the_hunt_refuses_what_is_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    tables: dict[str, Any] = {"windows": {}}
    assert asked(["windows", "sets"], tables).words == ["windows", "sets"]
    for word in ("windos", "--all"):
        with pytest.raises(SystemExit):
            asked([word], tables)
        assert word in capsys.readouterr().err
