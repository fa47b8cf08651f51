"""Fresh verdicts of the implementations of this project, and the runs that are kept."""

from __future__ import annotations

from functools import cache

from traceir.conform import Case, Verdict, judge, load_cases
from traceir.conform.judging.adapters import Adapter, load
from traceir.conform.judging.runs import ConformanceRun, load_runs
from traceir.conform.systems.implementations import Oracle

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


def verdict(column: str, name: str) -> Verdict:
    """The verdict on an implementation in a case."""
    return adapter(column).verdict(cases()[name])


def exact(name: str) -> Verdict:
    """The verdict by the tables in a case: exactly what it says, unless that is a set.

    Where a case has such results their last bits are a library's. What passes here
    passes where results may be any that are near enough.
    """
    case = cases()[name]
    return judge(Oracle(), case, exact="accuracy.relation" not in case.cites)


def expected(column: str, case: Case) -> Verdict:
    """The verdict that is right: all pass, but the tables and the reference have no
    decorators of Numba's.
    """
    lacks = case.plain is not None and case.plain.decorates and column != "numba"
    why = "no decorators in place of Numba's"
    return Verdict("unsupported", why) if lacks else Verdict("pass")


def passing(column: str) -> ConformanceRun:
    """The run of an implementation that passes in every case that it has."""
    one = adapter(column)
    verdicts = {case.name: expected(column, case) for case in CASES}
    return ConformanceRun(one.name, one.version, one.choices, verdicts)


def kept(column: str) -> ConformanceRun:
    """The run that is in spec/runs."""
    return load_runs()[column]


def differences(a: ConformanceRun, b: ConformanceRun) -> list[str]:
    """In what two runs differ: what is declared, or the names of cases.

    `make conform` makes anew what is kept.
    """
    names = a.verdicts.keys() | b.verdicts.keys()
    cases = sorted(n for n in names if a.verdicts.get(n) != b.verdicts.get(n))
    said = ("implementation", "version", "choices")
    return [f for f in said if getattr(a, f) != getattr(b, f)] + cases
