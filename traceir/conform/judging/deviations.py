"""Recorded deviations: the known differences of an implementation. Serves: all tables

A listed case must fail or crash, then it is a `deviation`; when it does anything else
the record is wrong, and that is a `fail`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceir.conform.judging.run import Verdict
from traceir.rules import default, spec_path

_KEYS = {"id", "does", "reason", "cases", "link"}


@dataclass(frozen=True)
class Deviation:
    """One rule that an implementation does not follow, and the cases that show it.

    `link` is the place in its source, or its documentation, that does so.
    """

    id: str
    does: str
    reason: str
    cases: tuple[str, ...] = ()
    link: str = ""


class DeviationError(ValueError):
    """A file of deviations is malformed, or names something that does not exist."""


def record_path(name: str) -> Path:
    """The file in which the deviations of a shipped implementation are recorded."""
    return spec_path() / "deviations" / f"{name}.toml"


def read_deviations(path: Path, cases: Collection[str]) -> tuple[Deviation, ...]:
    """The rows of a file; raises DeviationError for a wrong one."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DeviationError(f"{path}: {error}") from None
    rows = table.get("deviation", [])
    if table.keys() - {"deviation"} or not isinstance(rows, list):
        raise DeviationError(f"{path}: only tables `[[deviation]]` belong here")
    found = tuple(_row(path, row) for row in rows)
    for problem in _problems(found, cases):
        raise DeviationError(f"{path}: {problem}")
    return found


def _row(path: Path, row: Any) -> Deviation:
    if not isinstance(row, Mapping):
        raise DeviationError(f"{path}: a row is a table, not {row!r}")
    cases = row.get("cases", [])
    texts = [row.get(key) for key in ("id", "does", "reason")]
    texts += cases if isinstance(cases, list) else [cases]
    texts += [row["link"]] if "link" in row else []
    filled = all(isinstance(text, str) and text for text in texts)
    if row.keys() - _KEYS or not isinstance(cases, list) or not filled:
        raise DeviationError(
            f"{path}: a row needs the texts `id`, `does` and `reason`,"
            f" may have a list `cases` and a text `link`, and nothing else: {row}"
        )
    link = row.get("link", "")
    return Deviation(row["id"], row["does"], row["reason"], tuple(cases), link)


def _problems(rows: Iterable[Deviation], cases: Collection[str]) -> Iterator[str]:
    ids: set[str] = set()
    listed: set[str] = set()
    for row in rows:
        if row.id not in default().clauses:
            yield f"{row.id} is no rule"
        if row.id in ids:
            yield f"{row.id} has two rows"
        ids.add(row.id)
        for case in row.cases:
            if case not in cases:
                yield f"{row.id} lists {case}, which is no case"
            if case in listed:
                yield f"{case} is listed twice"
            listed.add(case)


@dataclass(frozen=True)
class Record:
    """The deviations of one implementation, by case."""

    rows: tuple[Deviation, ...] = ()

    def judged(self, case: str, verdict: Verdict) -> Verdict:
        """The verdict in view of the record.

        >>> record = Record((Deviation("add.numeric", "adds texts", "", ("a/b",)),))
        >>> record.judged("a/b", Verdict("fail", "accepted")).kind
        'deviation'
        >>> print(record.judged("a/b", Verdict("pass")).why)
        unexpected pass: recorded as a deviation from add.numeric
        >>> record.judged("a/c", Verdict("fail", "accepted")).kind
        'fail'
        """
        row = next((row for row in self.rows if case in row.cases), None)
        if row is None:
            return verdict
        if verdict.kind in ("fail", "crashed"):
            return Verdict("deviation", f"{row.id}: {row.does}")
        why = f"unexpected {verdict.kind}: recorded as a deviation from {row.id}"
        return Verdict("fail", why)
