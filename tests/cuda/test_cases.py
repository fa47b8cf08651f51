"""Each primitive's cases give their values on a device. Cites: rows of primitives"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache

import pytest

from traceir.conform import Case, Verdict, load_cases
from traceir.conform.judging.adapters import load
from traceir.errors import TraceirError
from traceir.ir.jaxpr import Jaxpr, subjaxprs
from traceir_numba.emitters import EMITTERS

# Which no program that is run has: it stands in programs that are being differentiated.
UNSEEN = {"custom_lin"}
# Functions of the host, whose programs have no types before they are called.
UNSEEN |= {"debug_callback", "io_callback", "pure_callback"}


def primitives(jaxpr: Jaxpr) -> set[str]:
    """The primitives of a program and of those in it."""
    inner = (primitives(c.jaxpr) for eqn in jaxpr.eqns for c in subjaxprs(eqn))
    return {eqn.primitive for eqn in jaxpr.eqns}.union(*inner)


@cache
def chosen() -> Mapping[str, Mapping[str, Case]]:
    """Cases with values: for each primitive one for each kinds of operands."""
    found: dict[str, dict[str, Case]] = defaultdict(dict)
    for case in load_cases():
        if "value" not in case.verbs:
            continue
        try:
            jaxpr = case.program().jaxpr
        except TraceirError:  # a function of the host's, without types
            continue
        kinds = "".join(sorted({v.aval.dtype.kind for v in jaxpr.invars}))
        for name in primitives(jaxpr):
            found[name].setdefault(kinds, case)
    return found


@pytest.mark.parametrize("name", sorted(EMITTERS))
def test_a_device_does_what_the_cases_of_a_primitive_say(name: str) -> None:
    cases = chosen()[name].values() if name in chosen() else ()
    assert cases or name in UNSEEN
    adapter = load("traceir.conform.systems.implementations:cuda")
    found = {case.name: adapter.verdict(case) for case in cases}
    assert found == dict.fromkeys(found, Verdict("pass"))
