"""The record of the hunts: what tells each mutant, and what may survive.

An entry is stale when what it rests on has changed: the mutant's row, the text of the
case that told it, or the engine, which reads tables and judges; one of a mutant that no
case tells, when any case has changed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from mutation import functions
from mutation.tables import Enumeration, Mutant, Tables, of_an_exception
from recorded import Record

from traceir.conform import Case

# What tells mutants, in the record's words, besides a case with another verdict.
TELLERS = {
    "the loader": "loader",
    "a citation": "citation",
    "the code of an ask": "code",
    "the rule over examples": "code",
    "the members of sets": "code",
    "the way of running": "code",
    "what is derived": "code",
}
# Of these the modules of examples that an entry has in place of a case.
EXAMPLES = {"the members of sets": ("members.py", "one_answer.py")}
KINDS = ("case", "silence", *dict.fromkeys(TELLERS.values()), "allowed", "surviving")
NO_ANSWER = "no answer"

ROOT = Path(__file__).parents[2]
ALLOWED = ROOT / "spec" / "mutants.toml"
RECORD = Record("mutants.json.xz", ROOT / "spec" / "runs")
# The modules that read tables and judge, and those by which a mutant is tried.
ENGINE = (
    *("traceir/rules/**/*.py", "traceir/oracle/*.py", "traceir/exact/*.py"),
    *("traceir/conform/casefiles/*.py", "traceir/conform/judging/*.py"),
    "traceir/conform/systems/*.py",
    *(f"tests/mutation/{name}.py" for name in ("installed", "verdicts")),
    *(f"tests/mutation/{name}.py" for name in ("edges", "faults", "functions")),
    *(f"tests/mutation/{name}.py" for name in ("asks", "examples", "transform_uses")),
    "tests/mutation/derived.py",
)


@dataclass(frozen=True)
class Told:
    """The teller of a mutant: a case and one of its judges, or something else."""

    killer: str
    by: str = ""


@dataclass(frozen=True)
class Entry:
    """The finding of a hunt about a mutant, and digests of all that it rests on.

    `killer` is empty for one that nothing tells, and `case` then stands for all cases.
    """

    killer: str
    by: str
    case: str
    row: str
    engine: str


@dataclass(frozen=True)
class State:
    """The tables, the cases and the engine as they are."""

    tables: Tables
    # Digests of the texts of cases, by their names.
    cases: Mapping[str, str]
    engine: str

    def entry(self, mutant: Mutant, told: Told | None) -> Entry:
        """The entry of what was found now."""
        killer, by = (told.killer, told.by) if told else ("", "")
        return Entry(killer, by, self.of_case(killer), self.row(mutant), self.engine)

    def of_case(self, killer: str) -> str:
        """The digest of a case, of examples, of all cases, or of nothing.

        The last is for what is none of these.
        """
        if not killer:
            return self.all_cases
        if killer in EXAMPLES:
            files = [Path(__file__).with_name(name) for name in EXAMPLES[killer]]
            return digest_of(_code(file.read_text(encoding="utf-8")) for file in files)
        return self.cases.get(killer, "")

    @property
    def all_cases(self) -> str:
        """The digest of all cases."""
        return digest_of(f"{n} {d}" for n, d in sorted(self.cases.items()))

    def row(self, mutant: Mutant) -> str:
        """The digest of a mutant's row and of the classes above it."""
        if mutant.kind == functions.KIND:
            return digest_of([functions.digest_text(mutant)])
        return _row_digest(self.tables, mutant.path[:3])

    def changed(self, mutant: Mutant, entry: Entry | None) -> bool:
        """True if the row or the case that an entry rests on is another one."""
        if entry is None or entry.row != self.row(mutant):
            return True
        return bool(entry.killer) and entry.case != self.of_case(entry.killer)

    def stale(self, mutant: Mutant, entry: Entry | None) -> bool:
        """True if a hunt is to try the mutant again."""
        if self.changed(mutant, entry):
            return True
        assert entry is not None
        return entry.engine != self.engine or entry.case != self.of_case(entry.killer)

    def unknown(self, mutant: Mutant, entry: Entry | None) -> bool:
        """True if nothing is known of a mutant, or nothing has told it yet."""
        told = entry is not None and bool(entry.killer)
        return self.changed(mutant, entry) or (not told and self.stale(mutant, entry))


_rows: dict[tuple[int, Any], str] = {}


def _row_digest(tables: Tables, path: tuple[Any, ...]) -> str:
    key = id(tables), path
    if key not in _rows:
        node: Any = tables
        for step in path:
            node = node[step]
        parts = [node]
        while isinstance(node, Mapping) and path[1] in ("prim", "class"):
            node = tables[path[0]].get("class", {}).get(node.get("class"))
            parts.append(node)
        _rows[key] = digest_of([json.dumps(parts, sort_keys=True)])
    return _rows[key]


@cache
def engine_digest() -> str:
    """A number that changes with the code of the engine, not with its comments."""
    files = sorted(f for pattern in ENGINE for f in ROOT.glob(pattern))
    return digest_of(_code(file.read_text(encoding="utf-8")) for file in files)


def _code(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef():
                if ast.get_docstring(node, clean=False) is not None:
                    node.body = node.body[1:]
    return ast.dump(tree)


@dataclass(frozen=True)
class Allowed:
    """The reasons why mutants survive, by where they are and what they are."""

    reasons: Mapping[tuple[str, str], str]

    def __contains__(self, mutant: Mutant) -> bool:
        return (
            _place(mutant) in self.reasons
            or (mutant.where, mutant.what) in self.reasons
        )

    def reason(self, mutant: Mutant) -> str:
        """The reason why this one survives."""
        own = self.reasons.get((mutant.where, mutant.what))
        return own or self.reasons[_place(mutant)]


def _place(mutant: Mutant) -> tuple[str, str]:
    """The place of a reason: no case tells the class of a row that none expects."""
    if of_an_exception(mutant):
        return mutant.where.removesuffix("/class"), "deleted"
    return mutant.where, mutant.what


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
    """All mutants of the tables, and of the functions that they name, in order."""
    return chain(Enumeration(tables).mutants(), functions.mutants())


def by_table(mutants: Iterable[Mutant]) -> Mapping[str, list[Mutant]]:
    """The mutants of each table."""
    found: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        found[mutant.table].append(mutant)
    return found


def identity(mutant: Mutant) -> str:
    """The id of a mutant: where it is and what it says."""
    return digest_of([str(mutant)], 10)


@dataclass
class Hunted:
    """The entries by the ids of their mutants, and the seconds that hunts took."""

    entries: dict[str, Entry] = field(default_factory=dict)
    # Processor seconds for one mutant in the hunts so far, and how many these were.
    seconds: float = 0.0
    tried: int = 0

    @staticmethod
    def read() -> Hunted:
        """Those of the record; nothing yet, if there is none."""
        if not RECORD.path.exists():
            return Hunted()
        data = json.loads(RECORD.read_text())
        known = [Entry(*row) for row in data.get("tellers", ())]
        entries = {name: known[k] for name, k in data.get("entries", {}).items()}
        spent = data.get("hunts", {"seconds": 0.0, "tried": 0})
        return Hunted(entries, spent["seconds"], spent["tried"])

    def add(self, mutant: Mutant, entry: Entry, seconds: float) -> None:
        """Enter what was found of a mutant."""
        self.entries[identity(mutant)] = entry
        self.seconds += seconds
        self.tried += 1

    def of(self, mutant: Mutant) -> Entry | None:
        """The entry of a mutant, None if none was made."""
        return self.entries.get(identity(mutant))

    def write(self, mutants: Iterable[Mutant], allowed: Allowed) -> None:
        """Write the record: entries of mutants that there are, and what they amount
        to."""
        mutants = list(mutants)
        names = {identity(m) for m in mutants}
        self.entries = {n: e for n, e in self.entries.items() if n in names}
        rows = list(dict.fromkeys(self.entries.values()))
        number = {row: n for n, row in enumerate(rows)}
        data = {
            **self.summary(mutants, allowed),
            "hunts": {"seconds": round(self.seconds, 1), "tried": self.tried},
            "tellers": [list(asdict(row).values()) for row in rows],
            "entries": {n: number[e] for n, e in sorted(self.entries.items())},
        }
        RECORD.write_text(json.dumps(data, indent=0) + "\n")

    def summary(self, mutants: Iterable[Mutant], allowed: Allowed) -> dict[str, Any]:
        """The counts of each table, the mutants that are allowed and those open."""
        tables, reasons, left = {}, [], []
        for table, some in sorted(by_table(mutants).items()):
            kinds = {m: _kind(self.of(m), m in allowed) for m in some}
            by = Counter(kinds.values())
            tables[table] = {
                "mutants": len(some),
                **{kind: by[kind] for kind in (*KINDS, "untried")},
            }
            for mutant, kind in kinds.items():
                row = {"where": mutant.where, "mutant": mutant.what}
                if kind == "allowed":
                    reasons.append({**row, "reason": allowed.reason(mutant)})
                elif kind == "surviving":
                    left.append(str(mutant))
        count = sum(t["mutants"] for t in tables.values())
        untried = sum(t["untried"] for t in tables.values())
        return {
            "mutants": count,
            "killed": count - untried - len(reasons) - len(left),
            "tables": tables,
            "allowed": sorted(reasons, key=lambda row: (row["where"], row["mutant"])),
            "surviving": sorted(left),
        }


def _kind(entry: Entry | None, allowed: bool) -> str:
    """One of `KINDS`, or `untried`: by what a mutant was told."""
    if entry is None:
        return "untried"
    if not entry.killer:
        return "allowed" if allowed else "surviving"
    if entry.by == NO_ANSWER:
        return "silence"
    return TELLERS.get(entry.killer, "case")


def read_record() -> dict[str, Any]:
    """The record as it is written; nothing yet, if there is none."""
    if not RECORD.path.exists():
        return {}
    found: dict[str, Any] = json.loads(RECORD.read_text())
    return found


def digest_of(texts: Iterable[str], digits: int = 12) -> str:
    """A number that changes with any of some texts.

    >>> digest_of(["a", "b"]) == digest_of(["ab"])
    False
    """
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:digits]


def case_digest(case: Case) -> str:
    """A number that changes with what a case says."""
    if case.plain:
        (source,) = case.verbs["plain"]
        return digest_of([case.name, source.text[source.start : source.stop]])
    parts = [s.text[s.start : s.stop] for some in case.verbs.values() for s in some]
    return digest_of([case.name, *case.verbs, *parts])
