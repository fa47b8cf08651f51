"""The record of the mutants is about the tables as they are; few of them are open."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from mutation.__main__ import asked
from mutation.record import (
    KINDS,
    Allowed,
    by_table,
    digest,
    enumeration,
    read_allowed,
    read_record,
    updated,
)
from mutation.tables import Mutant

from traceir.rules import default

MOST_ALLOWED = 0.02
# Mutants that no case tells yet, by table; a number here may only become smaller.
OPEN = {
    "algebra": 315,
    "cache": 3,
    "collectives": 18,
    "effects": 19,
    "errors": 9,
    "indexing": 453,
    "levels": 1,
    "ordering": 5,
    "primitives": 18,
    "regions": 3,
    "windows": 288,
}
# Mutants that no hunt has tried yet, by table; here, too, a number may only fall.
UNTRIED = {
    "accuracy": 17,
    "algebra": 4668,
    "cache": 98,
    "collectives": 4,
    "complex": 203,
    "effects": 1,
    "errors": 115,
    "fft": 557,
    "indexing": 79,
    "lattice": 159,
    "machine": 5,
    "ordering": 67,
    "primitives": 574,
    "random": 1112,
    "regions": 18,
    "special": 602,
    "staged": 4,
    "windows": 729,
}


@cache
def mutants() -> list[Mutant]:
    """Every mutant of the tables."""
    return list(enumeration(default().tables))


def test_every_table_has_been_hunted_as_it_is() -> None:
    kept = {t: row["digest"] for t, row in read_record()["tables"].items()}
    now = {t: digest(some) for t, some in by_table(mutants()).items()}
    stale = [t for t in now.keys() | kept.keys() if kept.get(t) != now.get(t)]
    assert not stale, f"run `make mutants ARGS='{' '.join(sorted(stale))}'`"


def test_no_other_mutant_survives_without_a_reason() -> None:
    record = read_record()
    left = {t: row["surviving"] for t, row in record["tables"].items()}
    assert {t: n for t, n in left.items() if n} == OPEN
    assert len(record["surviving"]) == sum(left.values())
    untried = {t: row["untried"] for t, row in record["tables"].items()}
    assert {t: n for t, n in untried.items() if n} == UNTRIED
    told = record["killed"] + len(record["allowed"]) + len(record["surviving"])
    assert record["mutants"] == told + sum(untried.values())
    assert len(record["allowed"]) < MOST_ALLOWED * record["mutants"]


def test_the_counts_of_a_table_add_up() -> None:
    record = read_record()
    for row in record["tables"].values():
        assert row["mutants"] == sum(row[kind] for kind in KINDS)
    assert record["mutants"] == sum(t["mutants"] for t in record["tables"].values())


def test_nothing_is_allowed_in_vain() -> None:
    kept = {(row["where"], row["mutant"]): row["reason"] for row in _allowed()}
    assert kept == dict(read_allowed().reasons)
    assert kept.keys() <= {(m.where, m.what) for m in mutants()}


def test_a_hunt_in_one_table_leaves_the_others_as_they_were() -> None:
    first, second = _mutant("program/a"), _mutant("program/b")
    other = _mutant("errors/c")
    allowed = Allowed({("program/b", "not"): "Equal.", ("errors/c", "not"): "Equal."})
    old = updated({}, {first: "a/case", second: None, other: None}, allowed)
    assert [row["where"] for row in old["allowed"]] == ["errors/c", "program/b"]
    assert (old["mutants"], old["killed"], old["surviving"]) == (3, 1, [])
    new = updated(old, {first: None, second: "the loader"}, allowed)
    assert new["surviving"] == ["program/a: not"]
    assert new["allowed"] == [
        row for row in old["allowed"] if row["where"] == "errors/c"
    ]
    assert new["tables"]["errors"] == old["tables"]["errors"]
    counts = new["tables"]["program"]
    assert (counts["case"], counts["loader"], counts["surviving"]) == (0, 1, 1)


@pytest.mark.parametrize("change", ["what", "where"])
def test_another_mutant_is_another_digest(change: str) -> None:
    was = _mutant("program/a")
    now = Mutant(**{**vars(was), change: "other"})
    assert digest([was]) != digest([now])


def _mutant(where: str) -> Mutant:
    return Mutant(where, "not", "row", (where,), None, "value")


def _allowed() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_record()["allowed"]
    return found


def test_the_hunt_refuses_what_is_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(["windows"], {"windows": {}}) == ["windows"]
    for word in ("windos", "--all"):
        with pytest.raises(SystemExit):
            asked([word], {"windows": {}})
        assert word in capsys.readouterr().err
