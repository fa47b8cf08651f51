"""The cases that a device is judged by, in an order that meets each primitive early."""

from __future__ import annotations

from fnmatch import fnmatch

from traceir.conform import Case, load_cases
from traceir.errors import TraceirError
from traceir.ir.jaxpr import Jaxpr, subjaxprs


def primitives(jaxpr: Jaxpr) -> set[str]:
    """The primitives of a program and of those in it."""
    inner = (primitives(c.jaxpr) for eqn in jaxpr.eqns for c in subjaxprs(eqn))
    return {eqn.primitive for eqn in jaxpr.eqns}.union(*inner)


def ordered(pattern: str) -> list[Case]:
    """The cases with values: first one for each primitive, then the rest."""
    seen: set[str] = set()
    first: list[Case] = []
    rest: list[Case] = []
    for case in load_cases():
        if "value" in case.verbs and fnmatch(case.name, pattern):
            new = _primitives_of(case) - seen
            seen |= new
            (first if new else rest).append(case)
    return first + rest


def _primitives_of(case: Case) -> set[str]:
    try:
        return primitives(case.program().jaxpr)
    except TraceirError:  # a function of the host's, without types
        return set()
