"""`make gpu-check`: one table, whatever hangs or fails. Cites: backend.device"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.gpu_check import __main__ as check
from tools.gpu_check import cases, compiling, judging, measuring, table
from traceir import rules
from traceir.conform import Verdict
from traceir_numba.cuda.ptx import Usage
from traceir_numba.cuda.runtime import device

ROOT = Path(__file__).parents[2]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The status and the output of the command."""
    status = check.main(arguments)
    return status, capsys.readouterr().out


def test_one_table_of_cases_tests_and_times(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    asked = ["--cases", "neg/*", "--tests", "test_redirected", "--times", "x + 1"]
    status, text = printed(capsys, *asked, "--jobs", "1")
    lines = text.splitlines()
    assert status == 0, text
    assert lines[0].startswith("cuda:0: ") and "numba" in lines[0]
    assert " ".join(lines[1].split()) == "result time rate of copy to JAX to CuPy"
    assert [line.split("  ")[0] for line in lines[2:-1]] == [
        "cases",
        "tests",
        "copy by the driver",
        "x + 1, float32",
        "x + 1, float64",
    ]
    assert " pass " in lines[2] and "1 passed" in lines[3] and "GB/s" in lines[5]


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


clock = Clock()


class Verdicts:
    """Processes that have judged: the first cases only pass."""

    def __init__(self, *_: object) -> None:
        pass

    def verdicts(self, names: list[str]) -> Iterator[tuple[str, Verdict]]:
        yield names[0], Verdict("pass")
        yield names[1], Verdict("fail", "3 is not\n4")
        clock.now = 1000.0
        yield names[2], Verdict("unsupported")
        yield names[3], Verdict("pass")


def test_failures_are_named_and_what_there_is_no_time_for_is_late(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "WorkerPool", Verdicts)
    for module in (check, judging):
        monkeypatch.setattr(module, "time", clock)
    status, text = printed(capsys, "--cases", "add*", "--tests", "", "--times", "")
    names = [case.name for case in cases.ordered("add*")]
    assert status == 1 and len(names) > 3
    assert f"1 pass, 1 fail, 1 unsupported, {len(names) - 3} late" in text
    assert f"  {names[1]}: fail: 3 is not 4\n" in text


def test_only_the_first_failures_are_told() -> None:
    told = [str(row) for row in table.problems((f"case{k}", "why") for k in range(25))]
    assert len(told) == 21 and told[-1].strip() == "and 5 more"


def test_a_process_that_hangs_is_ended() -> None:
    begin = time.monotonic()
    command = [sys.executable, "-c", "while True: pass"]
    assert judging._run(command, dict(os.environ), begin) == (None, "")
    process = judging._started(command, dict(os.environ))
    assert list(judging._lines(process, begin)) == []
    judging._ended(process)
    assert process.returncode < 0


def test_each_primitive_comes_first() -> None:
    met = cases.ordered("m*/*")
    found = [cases._primitives_of(case) for case in met]
    everything = set().union(*found)
    first = next(k for k in range(len(found)) if set().union(*found[:k]) == everything)
    new = [found[k] - set().union(*found[:k]) for k in range(first)]
    assert all(new) and len({case.name for case in met}) == len(met)


def test_help_names_the_packages() -> None:
    text = check.parser().format_help()
    for name in ("numba-cuda", "pytest", "mpmath", "CuPy", "driver"):
        assert name in text


def test_works_give_what_numpy_gives_and_have_shapes_for_any_size() -> None:
    for work in measuring.WORKS:
        for n in (judging.SMALL, judging.LARGE):
            assert all(work.shape(n))
        assert work.traffic or work.flops or work.shape(1 << 20) == (1000,)


def test_without_a_device_the_command_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise rules.error("backend.device", got="no driver")

    monkeypatch.setattr(device, "dialect", missing)
    assert check.main([]) == 2
    assert "backend.device" in capsys.readouterr().err


def test_the_simulator_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(check.SIMULATOR, "1")
    check._simulate()
    assert device.is_simulated()


def test_kernels_of_a_case_that_has_no_program_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert compiling.compiled("psum/over-the-axis", (9, 0)) == compiling.Found()
    # The simulator compiles nothing, and that is told.
    found = compiling.compiled("neg/floats", (9, 0))
    assert found.why.startswith("backend.device"), found


def test_what_is_said_of_machine_code() -> None:
    used = [("a: k", Usage(40, 128, 0)), ("b: k", Usage(200, 64, 8))]
    text = "\n".join(map(str, compiling._assembled(used)))
    assert "2, 1 of them spill" in text and "200 at most, 1 above 128" in text
    assert "128 bytes at most" in text and "b: k: 8 bytes spilled" in text
    assert "no ptxas" in str(*compiling._assembled([]))
