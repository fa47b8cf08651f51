"""Runs: the verdicts of one implementation, as files. Serves: every table

A run is JSON with one case a line, so that two runs can be compared by eye.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from traceir.conform.judging.run import Verdict
from traceir.rules import spec_path

# The columns of the matrix, in order.
COLUMNS = ("oracle", "reference", "numba", "jax", "typescript")
# The kinds of verdicts, in the order of reports. They are never added up.
KINDS = ("pass", "fail", "unsupported", "deviation", "crashed")


@dataclass(frozen=True)
class ConformanceRun:
    """An implementation, its declarations, and its verdict for each case."""

    implementation: str
    version: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """The number of cases for each kind of verdict."""
        return Counter(verdict.kind for verdict in self.verdicts.values())

    @property
    def unattributed(self) -> int:
        """The number of cases that passed by a rejection that names no rule."""
        found = self.verdicts.values()
        return sum(verdict.kind == "pass" and bool(verdict.why) for verdict in found)

    @property
    def good(self) -> bool:
        """True if nothing failed and nothing crashed."""
        return not self.counts.keys() & {"fail", "crashed"}


def to_json(run: ConformanceRun) -> str:
    """A run as text, sorted, one case a line.

    >>> run = ConformanceRun("mine", "1", {}, {"a/b": Verdict("fail", "no")})
    >>> print(to_json(run), end="")
    {
    "implementation": "mine",
    "version": "1",
    "choices": {},
    "verdicts": {
    "a/b": {"kind": "fail", "why": "no"}
    }
    }
    """
    head = {
        "implementation": run.implementation,
        "version": run.version,
        "choices": dict(sorted(run.choices.items())),
    }
    lines = [f'"{key}": {json.dumps(value)},' for key, value in head.items()]
    cases = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(_verdict(verdict))}"
        for name, verdict in sorted(run.verdicts.items())
    )
    body = f"{cases}\n" if cases else ""
    return "{\n" + "\n".join(lines) + '\n"verdicts": {\n' + body + "}\n}\n"


def _verdict(verdict: Verdict) -> dict[str, str]:
    why = {"why": verdict.why} if verdict.why else {}
    return {"kind": verdict.kind, **why}


def from_json(text: str) -> ConformanceRun:
    """The run that `to_json` wrote.

    >>> run = ConformanceRun("mine", "1", {}, {"a/b": Verdict("pass")})
    >>> from_json(to_json(run)) == run
    True
    """
    data = json.loads(text)
    verdicts = {
        name: Verdict(found["kind"], found.get("why", ""))
        for name, found in data["verdicts"].items()
    }
    return ConformanceRun(
        data["implementation"], data["version"], data["choices"], verdicts
    )


def run_path(column: str) -> Path:
    """The file in which the run of a column is kept."""
    return spec_path() / "runs" / f"{column}.json"


def load_runs() -> dict[str, ConformanceRun]:
    """The runs that are kept, by column."""
    paths = {column: run_path(column) for column in COLUMNS}
    return {
        column: from_json(path.read_text(encoding="utf-8"))
        for column, path in paths.items()
        if path.exists()
    }
