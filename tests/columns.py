"""Fresh verdicts of the implementations of this project, each computed once.

Processes that run tests side by side tell each other their verdicts.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

from traceir.conform import Case, Verdict, judge, load_cases
from traceir.conform.adapters import Adapter, load
from traceir.conform.implementations import Oracle
from traceir.conform.runs import Run, load_runs

# What can be judged without any package that is not a dependency of the tests.
OWN = ("oracle", "reference", "numba")
CASES = load_cases()


@cache
def adapter(column: str) -> Adapter:
    """The implementation of a column."""
    return load(column)


@cache
def cases() -> dict[str, Case]:
    """The cases by their names."""
    return {case.name: case for case in CASES}


def files() -> dict[str, list[Case]]:
    """The cases by their files."""
    found: dict[str, list[Case]] = {}
    for case in CASES:
        found.setdefault(case.file, []).append(case)
    return found


@cache
def verdict(column: str, name: str) -> Verdict:
    """What an implementation does in a case, in this process."""
    found = adapter(column).verdict(cases()[name])
    tell(column, name, found)
    return found


@cache
def exact(name: str) -> Verdict:
    """What the tables give in a case: exactly what it says, unless that is a set.

    Where a case has such results their last bits are a library's. What passes here
    passes where results may be any that are near enough.
    """
    case = cases()[name]
    found = judge(Oracle(), case, exact="accuracy.relation" not in case.cites)
    if found:
        tell("oracle", name, found)
    return found


def notes(process: str) -> Path:
    """The file of a process's verdicts."""
    return Path(os.environ["TESTS_OF_TRACEIR"], f"{process}.verdicts")


def tell(column: str, name: str, found: Verdict) -> None:
    """Note a verdict for this process and the others."""
    with notes(str(os.getpid())).open("a", encoding="utf-8") as file:
        file.write(json.dumps([column, name, found.kind, found.why]) + "\n")


def told(column: str) -> dict[str, Verdict]:
    """What this process and others have noted of a column so far."""
    found = {}
    for path in notes("x").parent.glob(notes("*").name):
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):  # the last one may be half written
                where, name, *said = json.loads(line)
                if where == column:
                    found[name] = Verdict(*said)
    return found


def fresh(column: str) -> Run:
    """The run that is kept when it is made now."""
    one, known = adapter(column), told(column)
    names = (case.name for case in CASES)
    verdicts = {n: known.get(n) or verdict(column, n) for n in names}
    return Run(one.name, one.version, one.choices, verdicts)


def kept(column: str) -> Run:
    """The run that is in spec/runs."""
    return load_runs()[column]


def differences(a: Run, b: Run) -> list[str]:
    """In what two runs differ: what is declared, or the names of cases.

    `make conform` makes anew what is kept.
    """
    names = a.verdicts.keys() | b.verdicts.keys()
    cases = sorted(n for n in names if a.verdicts.get(n) != b.verdicts.get(n))
    said = ("implementation", "version", "choices")
    return [f for f in said if getattr(a, f) != getattr(b, f)] + cases
