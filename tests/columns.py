"""Fresh verdicts of the implementations of this project, each computed once."""

from __future__ import annotations

from functools import cache

from traceir.conform import Verdict, load_cases
from traceir.conform.adapters import Adapter, load
from traceir.conform.runs import Run, load_runs

# What can be judged without any package that is not a dependency of the tests.
OWN = ("oracle", "reference", "numba")
CASES = load_cases()


@cache
def adapter(column: str) -> Adapter:
    """The implementation of a column."""
    return load(column)


@cache
def verdict(column: str, name: str) -> Verdict:
    """What an implementation does in a case, in this process."""
    (case,) = (case for case in CASES if case.name == name)
    return adapter(column).verdict(case)


def fresh(column: str) -> Run:
    """The run that is kept when it is made now."""
    one = adapter(column)
    verdicts = {case.name: verdict(column, case.name) for case in CASES}
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
