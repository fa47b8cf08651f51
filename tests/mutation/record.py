"""The mutants that may survive, and the record of a hunt."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation.tables import Enumeration, Mutant, Tables
from recorded import Record

# What tells mutants, in the record's words, besides a case with another verdict.
TELLERS = {
    "the loader": "loader",
    "no answer": "silence",
    "a citation": "citation",
    "the code of an ask": "code",
    "the rule over examples": "code",
    "the way of running": "code",
    # One that is as it was when it was told, before its table was changed elsewhere.
    "an earlier hunt": "earlier",
    # One that no hunt has tried: it counts neither as told nor as open.
    "no hunt": "untried",
}
KINDS = ("case", *dict.fromkeys(TELLERS.values()), "allowed", "surviving")

ROOT = Path(__file__).parents[2]
ALLOWED = ROOT / "spec" / "mutants.toml"
RECORD = Record("mutants.json.xz", ROOT / "spec" / "runs")


@dataclass(frozen=True)
class Allowed:
    """The reasons why mutants survive, by where they are and what they are."""

    reasons: Mapping[tuple[str, str], str]

    def __contains__(self, mutant: Mutant) -> bool:
        return (mutant.where, mutant.what) in self.reasons

    def reason(self, mutant: Mutant) -> str:
        """The reason why this one survives."""
        return self.reasons[mutant.where, mutant.what]


def read_allowed(path: Path = ALLOWED) -> Allowed:
    """The list: each entry has a reason, a place or several, and their mutants."""
    data = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return Allowed(
        {
            (where, mutant): entry["reason"]
            for entry in data.get("allowed", ())
            for where in entry["where"]
            for mutant in entry["mutants"]
        }
    )


def enumeration(tables: Tables) -> Iterator[Mutant]:
    """All mutants of the tables, in order."""
    return Enumeration(tables).mutants()


def digest(mutants: Iterable[Mutant]) -> str:
    """A number that changes with any of the mutants."""
    text = "\n".join(map(str, mutants))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def by_table(mutants: Iterable[Mutant]) -> Mapping[str, list[Mutant]]:
    """The mutants of each table."""
    found: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        found[mutant.table].append(mutant)
    return found


def updated(
    old: Mapping[str, Any], told: Mapping[Mutant, str | None], allowed: Allowed
) -> dict[str, Any]:
    """The record with what a hunt in some tables has found in place of what was."""
    tables, reasons, left = dict(old.get("tables", {})), [], []
    mutants = by_table(told)
    for row in old.get("allowed", ()):
        if row["where"].partition("/")[0] not in mutants:
            reasons.append(row)
    for line in old.get("surviving", ()):
        if line.partition("/")[0] not in mutants:
            left.append(line)
    for table, some in mutants.items():
        by = Counter(_kind(told[m], m in allowed) for m in some)
        counts = {kind: by[kind] for kind in KINDS}
        tables[table] = {"mutants": len(some), **counts, "digest": digest(some)}
        for mutant in some:
            row = {"where": mutant.where, "mutant": mutant.what}
            if told[mutant] is None and mutant in allowed:
                reasons.append({**row, "reason": allowed.reason(mutant)})
            elif told[mutant] is None:
                left.append(str(mutant))
    count = sum(t["mutants"] for t in tables.values())
    untried = sum(t.get("untried", 0) for t in tables.values())
    return {
        "mutants": count,
        "killed": count - untried - len(reasons) - len(left),
        "tables": dict(sorted(tables.items())),
        "allowed": sorted(reasons, key=lambda row: (row["where"], row["mutant"])),
        "surviving": sorted(left),
    }


def _kind(teller: str | None, allowed: bool) -> str:
    """One of `KINDS`: by what a mutant was told."""
    if teller is None:
        return "allowed" if allowed else "surviving"
    return TELLERS.get(teller, "case")


def read_record() -> dict[str, Any]:
    """The record; nothing yet, if there is none."""
    if not RECORD.path.exists():
        return {}
    found: dict[str, Any] = json.loads(RECORD.read_text())
    return found


def write(told: Mapping[Mutant, str | None], allowed: Allowed) -> None:
    """Write what a hunt in some tables has found into the record."""
    text = json.dumps(updated(read_record(), told, allowed), indent=1) + "\n"
    RECORD.write_text(text)
