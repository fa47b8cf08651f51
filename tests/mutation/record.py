"""The mutants that may survive, and the record of a hunt."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation.tables import Enumeration, Mutant, Tables

ROOT = Path(__file__).parents[2]
ALLOWED = ROOT / "spec" / "mutants.toml"
RECORD = ROOT / "spec" / "runs" / "mutants.json"


@dataclass(frozen=True)
class Allowed:
    """Why mutants survive, by where they are and what they are."""

    reasons: Mapping[tuple[str, str], str]

    def __contains__(self, mutant: Mutant) -> bool:
        return (mutant.where, mutant.what) in self.reasons

    def reason(self, mutant: Mutant) -> str:
        """Why this one survives."""
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
    """A number that changes with any mutant of the tables."""
    text = "\n".join(map(str, mutants))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def record(
    mutants: Sequence[Mutant], survivors: Sequence[Mutant], allowed: Allowed
) -> dict[str, Any]:
    """What is written down of a hunt."""
    lived = set(map(str, survivors))
    tables = Counter(m.table for m in mutants)
    dead = Counter(m.table for m in mutants if str(m) not in lived)
    return {
        "mutants": len(mutants),
        "killed": len(mutants) - len(survivors),
        "digest": digest(mutants),
        "tables": {
            t: {"mutants": n, "killed": dead[t]} for t, n in sorted(tables.items())
        },
        "allowed": [
            {"where": m.where, "mutant": m.what, "reason": allowed.reason(m)}
            for m in survivors
            if m in allowed
        ],
        "surviving": [str(m) for m in survivors if m not in allowed],
    }


def write(
    mutants: Sequence[Mutant], survivors: Sequence[Mutant], allowed: Allowed
) -> None:
    """Write the record of a whole hunt."""
    text = json.dumps(record(mutants, survivors, allowed), indent=1) + "\n"
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(text, encoding="utf-8")
