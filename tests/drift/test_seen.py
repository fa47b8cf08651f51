"""Each formula of a clause has been seen true and seen false while the cases run.

Cites program.constant-type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from mutation import faults as asking

from traceir.conform import load_cases
from traceir.rules import Clause, default
from traceir.rules.applied import demand

# Text gives a constant the type of its variable: tests/test_typing.py has this one.
# And to an equation the effects that it has: tests/test_effects.py.
NEVER_FALSE = {"program.constant-type", "program.effects"}


@pytest.fixture(scope="module")
def seen() -> Mapping[str, set[bool]]:
    """The verdicts on each clause in the programs of the cases."""
    found: dict[str, set[bool]] = {}

    def recording(clause: Clause) -> Callable[[Any], bool]:
        holds = demand(clause)

        def ask(scope: Any) -> bool:
            answer = bool(holds(scope))
            found.setdefault(clause.id, set()).add(answer)
            return answer

        return ask

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "demand", recording)
        for case in load_cases():
            if case.session is None:
                asking.faults(case, default())
    return found


def clauses() -> list[str]:
    """The ids of all clauses of programs and primitives, once each."""
    rules = default()
    owned = {c.id for prim in rules.prims.values() for c in prim.clauses}
    return sorted(owned | {c.id for c in rules.program})


@pytest.mark.parametrize("clause", clauses())
def test_a_clause_is_seen_true_and_false(
    clause: str, seen: Mapping[str, set[bool]]
) -> None:
    wanted = {True} if clause in NEVER_FALSE else {True, False}
    assert seen.get(clause) == wanted
