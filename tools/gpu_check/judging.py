"""The rows of `make gpu-check`: verdicts, tests and times. Serves: every table"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tools.gpu_check.cases import ordered
from tools.gpu_check.table import Row, counted, problems
from traceir.conform.processes.pool import Limits, WorkerPool
from traceir_numba.cuda.runtime import device

ADAPTER = "traceir.conform.systems.implementations:cuda"
# The parts of all seconds that tests and times may take.
TESTS, TIMES = 0.2, 0.3
# Elements of an array: on a device, in the simulator.
LARGE, SMALL = 1 << 26, 1 << 9
# The seconds of one case, and of one function that is timed, after which it hangs.
CASE, TIMED = 30.0, 90.0
# Of each test that pytest has run, a letter.
SUMMARY = re.compile(r"(\d+) (passed|failed|errors?|skipped)")


def rows(asked: argparse.Namespace, start: float, end: float) -> Iterator[Row]:
    """All of the table."""
    whole = end - start
    if asked.cases:
        yield from judged(asked.cases, asked.jobs, end - whole * _later(asked))
    if asked.tests:
        yield from tested(asked.tests, end - whole * TIMES * bool(asked.times))
    if asked.times:
        yield from timed(asked.times, end)


def _later(asked: argparse.Namespace) -> float:
    """The part of the time that is kept for what comes after the cases."""
    return TESTS * bool(asked.tests) + TIMES * bool(asked.times)


# -- cases ----------------------------------------------------------------------------


def judged(pattern: str, jobs: int, end: float) -> Iterator[Row]:
    """The verdicts of cases, by processes beside one another, until a moment."""
    start = time.monotonic()
    names = [case.name for case in ordered(pattern)]
    found: Counter[str] = Counter({"pass": 0})
    wrong = []
    pool = WorkerPool(ADAPTER, Limits(case=CASE, jobs=jobs))
    with closing(pool.verdicts(names)) as verdicts:
        for name, verdict in verdicts:
            found[verdict.kind] += 1
            if verdict.kind not in ("pass", "unsupported"):
                wrong.append((name, f"{verdict.kind}: {verdict.why}"))
            if time.monotonic() > end:
                break
    found["late"] = len(names) - found.total()
    took = f"{time.monotonic() - start:.0f} s"
    yield Row(("cases", counted(found), took), bool(wrong))
    yield from problems(wrong)


# -- tests ----------------------------------------------------------------------------


def tested(pattern: str, end: float) -> Iterator[Row]:
    """The tests of a checkout; those of cases are left to `judged`."""
    folder = Path("tests/cuda")
    files = sorted(folder.glob("test_*.py"))
    wanted = [str(f) for f in files if fnmatch(f.stem, pattern)]
    wanted = [f for f in wanted if not f.endswith("test_cases.py")]
    if not wanted:
        yield Row(("tests", "none here: this is no checkout"))
        return
    start = time.monotonic()
    options = ["-q", "--tb=line", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *wanted]
    environment = dict(os.environ)
    if not device.is_simulated():
        environment["TRACEIR_GPU"] = "1"
    status, text = _run(command, environment, end)
    (*_, last) = text.strip().splitlines() or [""]
    found = Counter({kind: int(n) for n, kind in SUMMARY.findall(last)})
    if status is None:
        found = Counter({"late": 1})
    took = f"{time.monotonic() - start:.0f} s"
    yield Row(("tests", counted(found), took), bool(status))
    if status:
        failed = [line for line in text.splitlines() if line.startswith("FAILED")]
        yield from problems((line, "") for line in failed or [last])


def _run(
    command: Sequence[str], environment: dict[str, str], end: float
) -> tuple[int | None, str]:
    """The status, None if it was ended, and the text of a command."""
    process = _started(command, environment)
    try:
        text, _ = process.communicate(timeout=max(1.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        _ended(process)
        return None, ""
    return process.returncode, text.decode(errors="replace")


def _started(
    command: Sequence[str], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )


def _ended(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


# -- times ----------------------------------------------------------------------------


def timed(pattern: str, end: float) -> Iterator[Row]:
    """The output of `measuring`, as lines of the table, until a moment."""
    n = SMALL if device.is_simulated() else LARGE
    module = "tools.gpu_check.measuring"
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    process = _started([sys.executable, "-m", module, str(n), pattern], environment)
    last, copied = "", 0.0
    try:
        for line in _lines(process, end):
            last = line
            if line.startswith("{"):
                one = json.loads(line)
                copied = copied or one["bandwidth"]
                yield _row(one, copied)
        late = process.poll() is None
    finally:
        _ended(process)
    if late:
        yield Row(("times", "late: the rest"))
    elif process.returncode:
        yield Row(("times", "failed"), True)
        yield from problems([("times", last)])


def _lines(process: subprocess.Popen[bytes], end: float) -> Iterator[str]:
    """The lines that a process prints, while it does not take too long for one."""
    assert process.stdout is not None
    descriptor, said = process.stdout.fileno(), b""
    while True:
        patience = min(TIMED, end - time.monotonic())
        ready, _, _ = select.select([descriptor], [], [], max(0.0, patience))
        if not ready:
            return
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            process.wait()
            return
        *lines, said = (said + chunk).split(b"\n")
        yield from (line.decode(errors="replace") for line in lines if line)


def _row(one: dict[str, Any], copied: float) -> Row:
    took = one["seconds"]
    rate, part = "", ""
    if one["flops"]:
        rate = f"{one['flops'] / 1e9:.4g} GFLOP/s"
    elif one["bandwidth"]:
        rate = f"{one['bandwidth'] / 1e9:.4g} GB/s"
        part = f"{one['bandwidth'] / copied:.2f}"
    others = [f"{took / one[n]:.2f}" if one[n] else "-" for n in ("jax", "cupy")]
    return Row((one["name"], "", f"{took * 1e3:.4g} ms", rate, part, *others))
