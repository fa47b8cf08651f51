"""Adapters that know nothing have no pass for types and values. Serves: every table"""

from __future__ import annotations

from pathlib import Path

import pytest
from soak import sample

from traceir.conform import Case, Verdict, load_cases
from traceir.conform.casefiles.profiles import profile_of
from traceir.conform.judging.adapters import Adapter, load

ECHOES = ("Echo", "EchoesInputs", "EchoesLast", "EchoesAlike")
# With one case in how many: a thread or a process for each takes its time.
CHECKERS = {"Checks": 5, "ChecksTyped": 5, "Infers": 5}
CHECKERS |= {"ChecksInThread": 25, "ChecksInChild": 25}
CASES = {case.name: case for case in load_cases()}
CORE = [case for case in CASES.values() if profile_of(case) == "core"]


@pytest.fixture
def hollow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def passed(adapter: Adapter, cases: list[Case]) -> dict[str, Verdict]:
    """The cases that an adapter passes."""
    found = {case.name: adapter.verdict(case) for case in cases}
    return {name: verdict for name, verdict in found.items() if verdict}


@pytest.mark.usefixtures("hollow")
@pytest.mark.parametrize("name", ECHOES)
def test_who_gives_back_what_is_asked_passes_nothing(name: str) -> None:
    assert passed(load(f"hollow:{name}"), sample(CORE, 3)) == {}


@pytest.mark.usefixtures("hollow")
@pytest.mark.parametrize("name", CHECKERS)
def test_who_asks_this_project_passes_nothing(name: str) -> None:
    assert passed(load(f"hollow:{name}"), sample(CORE, CHECKERS[name])) == {}


@pytest.mark.usefixtures("hollow")
def test_who_refuses_everything_says_nothing() -> None:
    found = passed(load("hollow:Refuses"), sample(CORE, 3))
    assert found and all(v.why == "unattributed: TypeError" for v in found.values())


@pytest.mark.usefixtures("hollow")
def test_sessions_come_without_their_outcomes() -> None:
    sessions = [case for case in CASES.values() if case.session]
    # A program that is asked for is its own answer.
    found = passed(load("hollow:Echo"), sessions)
    assert found.keys() <= {"level/numbers-are-literals"}


@pytest.mark.usefixtures("hollow")
@pytest.mark.parametrize(
    "name, case, why",
    [
        ("EchoesInputs", "sin/values", "with two more inputs that nobody reads"),
        ("Checks", "add/bool", "answered by `check` of this project"),
        ("Infers", "add/wraps", "answered by `infer` of this project"),
    ],
)
def test_a_reason_says_what_was_given_back(name: str, case: str, why: str) -> None:
    verdict = load(f"hollow:{name}").verdict(CASES[case])
    assert verdict.kind == "fail" and why in verdict.why


@pytest.mark.usefixtures("hollow")
def test_an_echo_has_no_types_to_give_back() -> None:
    verdict = load("hollow:Echo").verdict(CASES["add/wraps"])
    assert verdict.kind == "crashed" and "what is asked for" in verdict.why
