"""Adapters that are broken get verdicts and a report. Serves: every table"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from traceir.conform import load_cases, read_cases
from traceir.conform.judging.adapters import NotLoaded, load
from traceir.conform.judging.run import Verdict
from traceir.conform.processes.pool import Limits, WorkerPool

# A case with a value, one with a rejection, a session.
VALUE, REJECT, SESSION = CASES = ("add/special", "add/bool", "cache/shape")
LIMITS = Limits(case=20, load=60)
KINDS = ("pass", "fail", "unsupported", "deviation", "crashed")


@pytest.fixture(autouse=True)
def adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the module of broken adapters be imported, here and in children."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def judged(name: str, *cases: str, limits: Limits = LIMITS) -> dict[str, Verdict]:
    """The verdicts of a broken adapter."""
    return dict(WorkerPool(f"broken:{name}", limits).verdicts(cases or CASES))


@pytest.mark.parametrize(
    "name, expected, why",
    [
        ("ready", "ppp", ""),
        ("made", "ppp", ""),
        ("Reference", "ppp", ""),
        ("Raises", "ccc", "ValueError: no"),
        ("Exits", "ccc", "SystemExit: 0"),
        ("Interrupts", "ccc", "KeyboardInterrupt"),
        ("Stops", "ccc", "GeneratorExit"),
        ("Recurses", "ccc", "RecursionError: "),
        ("CannotSay", "ccc", "RuntimeError: no rule"),
        ("NumbersRules", "ccc", "Numbered"),
        ("NaNs", "fpp", "f32[6]{nan nan nan nan nan nan}, expected f32[6]{inf -inf"),
        ("WrongDtype", "fpp", "result 0 is f64["),
        ("WrongShape", "fpp", "result 0 is f32[1,"),
        ("Twice", "fpf", "2 results, expected 1"),
        ("Nothing", "fpf", "gave NoneType, not a sequence"),
        ("Empty", "fpf", "0 results, expected 1"),
        ("Texts", "fpf", "is an array of <U"),
        ("Bare", "fpf", "gave ndarray, not a sequence"),
        ("Endless", "fpf", "2 results, expected 1"),
        ("Objects", "fpf", "is an array of object"),
        ("Huge", "fpp", "result 0 is f32[10000000]"),
        ("Numbers", "fpp", "is an array of object"),
        ("NotNow", "fpp", "is no array: BufferError"),
        ("InPlace", "fpp", "changed argument 0 in place"),
        ("NoEvent", "ppf", "outcome 0: the event 5"),
        ("OddEvent", "ppf", "the event 'dances'"),
        ("NoRule", "ppf", "the rule 5"),
        ("NoValues", "ppf", "values that are no tuple but list"),
        ("NoValue", "ppf", "no TypedValue but float"),
        ("NoType", "ppf", "a value of the type 'f32'"),
        ("NoElements", "ppf", "no array but NoneType"),
        ("OtherType", "ppf", "type f32[] with an array float64[]"),
        ("TypesOnly", "cpc", "has no method `eval`"),
        ("BadChoice", "fff", "choice.sum-order = backwards, which is not allowed"),
        ("NoChoice", "fff", "choice.colour, which is no choice"),
        ("OddChoices", "fff", "no mapping but int"),
        ("OddProfile", "fff", "claims cores, no profile"),
        ("CoreOnly", "ppu", "not claimed: cache"),
    ],
)
def test_a_wrong_answer_gets_a_verdict(name: str, expected: str, why: str) -> None:
    adapter = load(f"broken:{name}")
    cases = [case for case in load_cases() if case.name in CASES]
    check({case.name: adapter.verdict(case) for case in cases}, expected, why)


def test_bits_of_a_case_are_judged_by_what_is_declared() -> None:
    """The case's own bits are right where zeros of either sign are, and wrong here."""
    names = "max/zeros-of-both-signs", "min/zeros-of-both-signs", "min/floats"
    cases = [case for case in load_cases() if case.name in names]
    for adapter, kinds in (("ready", "pass pass pass"), ("Ordered", "fail fail pass")):
        found = {c.name: load(f"broken:{adapter}").verdict(c).kind for c in cases}
        assert [found[name] for name in names] == kinds.split()


@pytest.mark.parametrize(
    "name, expected, why",
    [
        ("Slow", "ppp", ""),
        ("Shouts", "ppp", ""),
        ("ClosesStreams", "ppp", ""),
        ("Exits", "ccc", "SystemExit: 0"),
        ("Quits", "ccc", "the process ended with status 0"),
        ("SaysAndQuits", "c", "status 3; it last printed: out of disk"),
        ("Segfaults", "c", "the process ended by SIGSEGV"),
        ("Kills", "c", "the process ended by SIGKILL"),
        ("ClosesAll", "c", "Bad file descriptor"),
        ("Lies", "c", "wrote to the pipe of the runner"),
    ],
)
def test_a_broken_process_gets_verdicts(name: str, expected: str, why: str) -> None:
    # Each case that ends a process has another one start.
    check(judged(name, *CASES[: len(expected)]), expected, why)


def check(found: dict[str, Verdict], expected: str, why: str) -> None:
    """Compare the verdicts, and the reason of the first that is no pass."""
    verdicts = [found[case] for case in CASES[: len(expected)]]
    assert "".join(verdict.kind[0] for verdict in verdicts) == expected
    bad = [verdict.why for verdict in verdicts if verdict.kind != "pass"]
    assert why in (bad or [""])[0]
    assert all(len(text) < 5000 for text in bad)


@pytest.mark.parametrize(
    "name, why",
    [("Fickle", "gave NoneType, not a sequence"), ("Hasty", "all variables are asked")],
)
def test_a_program_of_several_equations_is_asked_about_twice(
    name: str, why: str
) -> None:
    (case,) = read_cases(
        "case a/b\n  given { lambda ; a:f32[2]. let b:f32[2] = neg a;"
        " c:f32[2] = neg b in (c,) }\n  call f32[2]{1 2}\n  value f32[2]{1 2}\n"
    )
    found = load(f"broken:{name}").verdict(case)
    assert found.kind == "fail" and why in found.why


def test_an_adapter_that_falls_silent_is_ended() -> None:
    found = judged("ClosesAndWaits", VALUE)
    assert found[VALUE].why == "the process closed the pipe of the runner"


def test_a_case_that_takes_too_long_is_ended() -> None:
    began = time.monotonic()
    found = judged("Hangs", VALUE, REJECT, limits=Limits(case=0.5, load=60))
    assert {v.kind for v in found.values()} == {"crashed"}
    assert found[VALUE].why == "no answer within 0.5 s"
    assert time.monotonic() - began < 60


def test_what_an_adapter_started_ends_with_it() -> None:
    began = time.monotonic()
    limits = Limits(case=1, load=60)
    found = judged("LeavesAChild", VALUE, limits=limits)
    assert found[VALUE].kind == "crashed" and time.monotonic() - began < 60


def test_children_work_side_by_side() -> None:
    pool = WorkerPool("broken:Slow", Limits(jobs=3))
    names = [VALUE, REJECT, "add/wraps", "add/rounds-to-even", SESSION]
    found = dict(pool.verdicts(names))
    assert sorted(found) == sorted(names) and all(found.values())


def test_children_end_when_nobody_listens() -> None:
    pool = WorkerPool("broken:Slow", Limits(jobs=2))
    verdicts = pool.verdicts(CASES)
    next(verdicts)
    processes = [child.process for child in pool.children]
    verdicts.close()
    assert processes and all(p.returncode is not None for p in processes)


@pytest.mark.parametrize(
    "spec, why",
    [
        ("broken:Failing", "OSError: no device"),
        ("broken:Leaving", "SystemExit: bye"),
        ("broken:Silent", "none of the methods type, eval, session"),
        ("broken:Declaring", "LookupError: no version"),
        ("broken:endless", "count has none of the methods"),
        ("broken:NUMBER", "int has none of the methods"),
        ("broken:MAPPING", "dict has none of the methods"),
        ("broken:Missing", "broken has no attribute `Missing`"),
        ("broken:ready.missing", "no attribute `ready.missing`"),
        ("missing.module:a", "No module named 'missing'"),
        ("broken", "neither `package.module:attribute` nor oracle"),
        ("broken:", "neither"),
        (":ready", "neither"),
    ],
)
def test_what_cannot_be_loaded_is_named(spec: str, why: str) -> None:
    with pytest.raises(NotLoaded) as caught:
        load(spec)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "name, why",
    [
        ("Failing", "broken:Failing: OSError: no device"),
        ("Dying", "while loading: the process ended with status 3; it last printed: "),
    ],
)
def test_children_that_cannot_load_tell_why(name: str, why: str) -> None:
    with pytest.raises(NotLoaded) as caught:
        judged(name)
    assert str(caught.value).startswith(why)


def test_what_is_not_loaded_in_time_is_ended() -> None:
    with pytest.raises(NotLoaded, match="while loading: no answer within 2 s"):
        judged("NeverReady", limits=Limits(case=1, load=2))


def test_what_cannot_be_loaded_again_is_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKEN_MARK", str(tmp_path / "mark"))
    found = judged("DyingLater", VALUE, REJECT, "add/wraps")
    assert found[VALUE].why == "the process ended with status 1"
    assert [found[name].why.partition(": ")[0] for name in (REJECT, "add/wraps")] == [
        "cannot be loaded again"
    ] * 2


def test_no_kind_of_verdict_is_another() -> None:
    assert [bool(Verdict(kind)) for kind in KINDS] == [True, *[False] * 4]
