"""Messages to an implementer about common mistakes. Serves: every table"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from traceir.conform import Verdict, load_cases
from traceir.conform.__main__ import main
from traceir.conform.judging.adapters import NotLoaded, load
from traceir.conform.judging.runs import ConformanceRun
from traceir.conform.reporting.page import to_html
from traceir.conform.reporting.report import Report, to_text
from traceir.jit import backends


@pytest.mark.parametrize(
    "name, case, why",
    [
        ("TextProfile", "add/special", "no tuple, list or set but str"),
        ("NumberProfile", "add/special", "no tuple, list or set but int"),
        ("RejectsByClass", "add/special", "TypeError: odd, expected no rejection"),
        ("RejectsByClass", "program/bound", "expected program.bound (JaxprTypeError)"),
        (
            "RejectsOtherwise",
            "add/special",
            "by odd (no rule has this name), expected no rejection: two",
        ),
        (
            "RejectsOtherwise",
            "add/bool",
            "by odd (no rule has this name), expected add",
        ),
        ("Retraces", "cache/shape", "step 4, f: traces, expected hits"),
        ("RaisesOdd", "cache/shape", "step 1, f: raises Odd, expected traces"),
        ("RaisesOdd", "level/hash", "expected raises level.hash (TypeError)"),
    ],
)
def test_a_reason_tells_what_was_expected(
    name: str, case: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    adapter = load(f"mistaken:{name}")
    verdict = adapter.verdict({c.name: c for c in load_cases()}[case])
    assert verdict.kind == "fail" and why in verdict.why


def test_a_crash_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    lines = (Path(__file__).parent / "mistaken.py").read_text().splitlines()
    number = 1 + next(k for k, line in enumerate(lines) if "signature(None)" in line)
    cases = {c.name: c for c in load_cases()}
    for case in ("add/special", "cache/shape"):
        verdict = load("mistaken:AsksNothing").verdict(cases[case])
        assert verdict.kind == "crashed"
        assert verdict.why.split("\n")[1:] == [f"at mistaken.py:{number}"]


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--jobs", "two"), "--jobs: 'two' is no number of processes"),
        (("--jobs", "0"), "--jobs: '0' is no number of processes"),
        (("--timeout", "long"), "--timeout: 'long' is no positive number of seconds"),
        (("--timeout", "nan"), "--timeout: 'nan' is no positive number of seconds"),
    ],
)
def test_a_number_that_is_none_is_said(
    arguments: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["reference", *arguments])
    assert why in capsys.readouterr().err


def test_a_file_is_one_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "run")
    assert main(["reference", "--json", path, "--report", path]) == 2
    assert "cannot be two reports" in capsys.readouterr().err


def test_what_is_not_installed_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    backends.resolve.cache_clear()
    with pytest.raises(NotLoaded, match="without llvmlite installed"):
        load("numba")
    backends.resolve.cache_clear()


def test_unsupported_cases_stand_together_by_reason() -> None:
    cases = load_cases()[:5]
    reasons = ["one", "two", "two", "one", "two"]
    verdicts = {
        c.name: Verdict("unsupported", w) for c, w in zip(cases, reasons, strict=True)
    }
    report = Report(ConformanceRun("mine", verdicts=verdicts), cases)
    lines = to_text(report).splitlines()
    assert lines.index("unsupported, 3: two") < lines.index("unsupported, 2: one")
    assert lines[0] == lines[-1] and "5 unsupported" in lines[0]
    named = " ".join(lines).split()
    assert all(case.name in named for case in cases)
    assert to_html(report).count("<summary>3: two") == 1


def test_cases_that_crash_alike_are_told_with_the_first() -> None:
    cases = load_cases()[:5]
    reasons = ["one", "two", "two", "one", "two"]
    verdicts = {
        c.name: Verdict("crashed", w) for c, w in zip(cases, reasons, strict=True)
    }
    text = to_text(Report(ConformanceRun("mine", verdicts=verdicts), cases))
    assert text.count("\ncrashed: ") == 2
    assert "  2 more crashed like that:" in text
    assert all(text.split().count(case.name) == 1 for case in cases[2:])
