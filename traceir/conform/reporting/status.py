"""The matrix of rules by implementations, and its page. Serves: every table

Everything here follows from the runs that are kept, so no implementation is needed.
"""

from __future__ import annotations

import json
import lzma
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from traceir.conform.casefiles.cases import Case, load_cases
from traceir.conform.casefiles.profiles import PROFILES, profile_of
from traceir.conform.judging.deviations import Deviation, read_deviations, record_path
from traceir.conform.judging.runs import COLUMNS, KINDS, ConformanceRun, load_runs
from traceir.rules import Rules, default, spec_path

Matrix = Mapping[str, Mapping[str, Counter[str]]]

# How a kind is written beside a number in a cell; a pass is the number alone.
MARKS = {"fail": "F", "unsupported": "U", "deviation": "D", "crashed": "C"}


def matrix(runs: Mapping[str, ConformanceRun], cases: Iterable[Case]) -> Matrix:
    """The counts of verdicts for each rule and each column.

    A case that a run does not know counts as `not run`.
    """
    found = {
        rule: {column: Counter[str]() for column in runs} for rule in default().clauses
    }
    for case in cases:
        for rule in dict.fromkeys(case.cites):
            row = found.setdefault(rule, {c: Counter[str]() for c in runs})
            for column, run in runs.items():
                verdict = run.verdicts.get(case.name)
                row[column]["not run" if verdict is None else verdict.kind] += 1
    return found


def cell(counts: Mapping[str, int]) -> str:
    """The verdicts of one rule on one column, in short.

    >>> cell({"pass": 3, "deviation": 1}), cell({"pass": 4}), cell({"fail": 2})
    ('3 1D', '4', '2F')
    >>> cell({})
    '·'
    """
    marked = [f"{counts[kind]}{MARKS[kind]}" for kind in MARKS if counts.get(kind)]
    passes = [str(counts["pass"])] if counts.get("pass") else []
    left = [f"{counts['not run']}?"] if counts.get("not run") else []
    return " ".join(passes + marked + left) or "·"


def tables_of(rules: Rules) -> dict[str, list[str]]:
    """The ids of the rules by the table that has them, in the order of the tables."""
    found: dict[str, list[str]] = {}
    for stem, table in rules.tables.items():
        ids = [i for i in dict.fromkeys(_ids(table)) if i in rules.clauses]
        found[stem] = ids
    return found


def _ids(table: Mapping[str, Any]) -> Iterator[str]:
    for section, rows in table.items():
        if isinstance(rows, list):
            yield from (row["id"] for row in rows if "id" in row)
            # A flag's part of the key is a rule as well.
            yield from (row["key"] for row in rows if "splits" in row)
        elif section in ("class", "prim"):
            for name, row in rows.items():
                yield from (f"{name}.{c['id']}" for c in row.get("clause", ()))


def to_rst(
    runs: Mapping[str, ConformanceRun], cases: Sequence[Case], rules: bool = True
) -> str:
    """The page of the matrix; with `rules`, each rule's row."""
    return "\n".join(
        [
            *_title("Status", "="),
            "Generated from ``spec/runs/``; what it means is told in",
            ":doc:`/spec/conformance`. A number counts the cases that cite a rule and",
            "pass; F marks those that fail, U unsupported ones, D recorded deviations,",
            "C crashes, ? cases that are newer than the run. Unattributed are passes",
            "by a rejection that names no rule.",
            "",
            *_totals(runs, cases),
            *_choices(runs),
            *_mutants(),
            *_deviations(),
            *(_rules(runs, cases) if rules else ()),
        ]
    )


def _totals(runs: Mapping[str, ConformanceRun], cases: Sequence[Case]) -> Iterator[str]:
    yield from _title("Totals", "-")
    rows = [["verdict", *runs]]
    names = {case.name for case in cases}
    for kind in KINDS:
        known = (_counts(run, names)[kind] for run in runs.values())
        rows.append([kind, *map(str, known)])
    blurred = [run.unattributed for run in runs.values()]
    if any(blurred):
        rows.append(["unattributed", *map(str, blurred)])
    missing = [len(names - run.verdicts.keys()) for run in runs.values()]
    if any(missing):
        rows.append(["not run", *map(str, missing)])
    rows.append(["version", *(run.version for run in runs.values())])
    yield from _table(rows)
    yield "Passes by profile:"
    yield ""
    rows = [["profile", *runs]]
    for profile in PROFILES:
        own = {case.name for case in cases if profile_of(case) == profile}
        passed = (_counts(run, own)["pass"] for run in runs.values())
        rows.append([profile, *(f"{n} of {len(own)}" for n in passed)])
    yield from _table(rows)


def _counts(run: ConformanceRun, names: set[str]) -> Counter[str]:
    return Counter(v.kind for name, v in run.verdicts.items() if name in names)


def _choices(runs: Mapping[str, ConformanceRun]) -> Iterator[str]:
    yield from _title("Declared choices", "-")
    rows = [["choice", *runs]]
    for name in default().choices:
        rows.append([name, *(run.choices.get(name, "·") for run in runs.values())])
    yield from _table(rows)


def _mutants() -> Iterator[str]:
    path = spec_path() / "runs" / "mutants.json.xz"
    if not path.exists():
        return
    record = json.loads(lzma.decompress(path.read_bytes()))
    yield from _title("Mutants of the tables", "-")
    yield f"{record['killed']} of {record['mutants']} mutants are noticed: a case has"
    yield "another verdict, or the loader refuses the tables. A row of prose that is"
    yield "gone is noticed by a case that cites it, the ``code`` of an ask by what"
    yield "it asks, and an accuracy set by the members that are farthest off."
    yield f"{len(record['allowed'])} change nothing, each for a reason."
    untried = sum(counts["untried"] for counts in record["tables"].values())
    yield f"{len(record['surviving'])} are open: no case tells them yet. {untried} have"
    yield "not been tried. The rows *sets* and *reals* are about the functions of"
    yield "accuracy sets and the real functions, which the tables name."
    hunts = record["hunts"]
    each = hunts["seconds"] / max(hunts["tried"], 1)
    minutes = math.ceil(each * record["mutants"] / 60)
    yield f"A mutant has taken {1000 * each:.0f} ms of a processor so far, all of them"
    yield f"would take {minutes} min."
    yield ""
    told = ("case", "loader", "citation", "code", "silence")
    kinds = ("mutants", *told, "allowed", "surviving", "untried")
    rows = [["table", *kinds]]
    for table, counts in record["tables"].items():
        rows.append([table, *(str(counts[kind]) for kind in kinds)])
    yield from _table(rows)
    for row in record["allowed"]:
        yield f"* ``{row['where']}``: ``{row['mutant']}``. {prose(row['reason'])}"
    yield ""


def _deviations() -> Iterator[str]:
    for column in COLUMNS:
        path = record_path(column)
        rows = recorded(column)
        if not rows:
            continue
        yield from _title(f"Deviations: {column}", "-")
        yield f"Recorded in ``spec/deviations/{path.name}``; each case must fail there."
        yield ""
        for row in rows:
            yield f"* ``{row.id}``: {prose(row.does)}."
            yield f"  {prose(row.reason)}"
            if row.link:
                yield f"  `Its source <{row.link}>`__."
            if row.cases:
                yield f"  Cases: {', '.join(f'``{case}``' for case in row.cases)}."
        yield ""


def recorded(name: str) -> tuple[Deviation, ...]:
    """The recorded deviations of a shipped implementation, none without a file."""
    path = record_path(name)
    names = [case.name for case in load_cases()]
    return read_deviations(path, names) if path.exists() else ()


def _rules(runs: Mapping[str, ConformanceRun], cases: Sequence[Case]) -> Iterator[str]:
    found = matrix(runs, cases)
    for table, ids in tables_of(default()).items():
        yield from _title(f"Rules: {table}", "-")
        rows = [[rule, *(cell(found[rule][c]) for c in runs)] for rule in ids]
        yield from _table([["rule", *runs], *rows])


def prose(text: str) -> str:
    r"""A sentence with `code` in it as reStructuredText.

    >>> print(prose("`x[i]` is taken modulo 2**bits"))
    ``x[i]`` is taken modulo 2\*\*bits
    """
    parts = text.split("`")
    plain = (re.sub(r"[*_|\\]", r"\\\g<0>", part) for part in parts[::2])
    code = [f"``{part}``" for part in parts[1::2]] + [""]
    return "".join(chain.from_iterable(zip(plain, code)))


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A simple table of reStructuredText; the first row is the head."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    line = "  ".join("=" * width for width in widths)
    text = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows]
    yield from (line, text[0], line, *text[1:], line, "")


def page(rules: bool = True) -> str:
    """The page of the runs that are kept, as reStructuredText; `rules`: all rows."""
    return to_rst(load_runs(), load_cases(), rules).rstrip("\n") + "\n"
