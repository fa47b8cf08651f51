"""Judgement of the outcomes of the standard's own suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from array_api import suite

from traceir.lax.checks.attribute_hints import coverage

RECORD = coverage()["array_api"]
STAND_IN = "#!/bin/sh\ncp {given} $AAT_OUT; echo the log > $AAT_LOG; exit {status}\n"
ENOUGH = ["passed\tarray_api_tests/a.py::one"] * RECORD["least"]
KNOWN = [f"failed\tarray_api_tests/{start}" for start in RECORD["failed"]]
UNKNOWN = "failed\tarray_api_tests/b.py::two"


@pytest.mark.parametrize(
    ("outcomes", "ends", "status", "parts"),
    [
        (ENOUGH + KNOWN, 0, 0, ["No failure but"]),
        ([*ENOUGH, UNKNOWN], 0, 1, ["the log", "b.py::two failed, and no row"]),
        (ENOUGH[1:], 0, 1, ["the log", f"less than {RECORD['least']}"]),
        (ENOUGH, 2, 1, ["The suite could not run."]),
    ],
    ids=["known", "unknown", "few", "crash"],
)
def test_outcomes_are_judged_by_the_record(
    outcomes: list[str],
    ends: int,
    status: int,
    parts: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given, script = tmp_path / "given", tmp_path / "suite.sh"
    given.write_text("".join(f"{line}\n" for line in outcomes))
    script.write_text(STAND_IN.format(given=given, status=ends))
    script.chmod(0o755)
    assert suite.main(str(script)) == status
    told = capsys.readouterr().out
    assert [part for part in parts if part not in told] == []


def test_without_a_suite_what_to_do_is_said_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite.main(str(tmp_path / "nothing.sh")) == 0
    told = capsys.readouterr().out
    assert told.startswith("Skipped: ") and told.count("\n") == 1


def test_the_record_adds_up() -> None:
    assert RECORD["least"] <= RECORD["passed"] <= RECORD["tests"] - RECORD["skipped"]
