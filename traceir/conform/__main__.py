"""`python -m traceir.conform`: judge an implementation.

Serves: every table
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

from traceir.conform.casefiles.cases import Case, load_cases
from traceir.conform.judging import runs
from traceir.conform.judging.adapters import COMMAND, SHIPPED, NotLoaded
from traceir.conform.judging.deviations import (
    Deviation,
    DeviationError,
    Record,
    read_deviations,
    record_path,
)
from traceir.conform.judging.run import Verdict
from traceir.conform.processes.pool import Limits, WorkerPool
from traceir.conform.reporting import machine, page, report, status
from traceir.conform.reporting.progress import Progress
from traceir.conform.reporting.report import Report
from traceir.conform.systems.write_values import Unwritten, write_values
from traceir.rules import spec_path

# The exit statuses of the command.
GOOD, BAD, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
# Seconds by which a case may take longer than one answer of a command.
SLACK = 5.0


class UsageError(Exception):
    """The command was asked for something that it cannot do."""


def parser(prog: str = "python -m traceir.conform") -> argparse.ArgumentParser:
    """The parser of the command's arguments."""
    found = argparse.ArgumentParser(
        prog=prog,
        description="Judge an implementation by the cases of the specification.",
        epilog="Exit status: 0 when nothing failed or crashed, 1 when something did,"
        " 2 when the command or the implementation cannot be used, 130 when"
        " interrupted.",
    )
    names = ", ".join(SHIPPED)
    add = found.add_argument
    text = f"package.module:attribute, or one that comes along: {names}"
    add("implementation", nargs="?", help=text)
    text = "an implementation behind a command line, which speaks the protocol"
    add("--command", metavar="LINE", help=text)
    text = "only cases of that name; * and ? stand for any text, any character"
    add("--cases", action="append", metavar="PATTERN", help=text)
    add("--report", type=Path, metavar="FILE", help="write a page of HTML")
    add("--json", type=Path, metavar="FILE", help="write the verdicts as JSON")
    add("--text", type=Path, metavar="FILE", help="write the report as text")
    add("--junit", type=Path, metavar="FILE", help="write the verdicts as JUnit's XML")
    text = "write a badge, as SVG or, for shields.io, as JSON, by the name of the file"
    add("--badge", type=Path, metavar="FILE", help=text)
    text = "seconds that one case may take (%(default)g)"
    add("--timeout", type=_seconds, default=Limits.case, metavar="S", help=text)
    text = "the deviations that are recorded (those in spec/deviations for short names)"
    add("--deviations", type=Path, metavar="FILE", help=text)
    text = "processes that judge side by side (%(default)d)"
    add("--jobs", type=_count, default=Limits.jobs, metavar="N", help=text)
    other = found.add_mutually_exclusive_group()
    other.add_argument(
        "--status", action="store_true", help="print the status page of the runs kept"
    )
    text = "write the values of these cases into their files, from the oracle"
    other.add_argument("--write", action="append", metavar="PATTERN", help=text)
    return found


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number of seconds")
    return value


def _count(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes")
    return int(text)


def selected(patterns: Sequence[str] | None) -> list[Case]:
    """The cases whose names match one of the patterns, all without any."""
    cases = load_cases()
    for pattern in patterns or ():
        if not any(fnmatchcase(case.name, pattern) for case in cases):
            raise UsageError(f"no case is named {pattern}")
    if not patterns:
        return cases
    return [c for c in cases if any(fnmatchcase(c.name, p) for p in patterns)]


def deviations(spec: str, path: Path | None) -> tuple[Deviation, ...]:
    """The recorded deviations of an implementation."""
    if path is None:
        path = record_path(spec)
        if spec not in SHIPPED or not path.exists():
            return ()
    return read_deviations(path, {case.name for case in load_cases()})


def conduct(spec: str, cases: Sequence[Case], limits: Limits, record: Record) -> Report:
    """Judge the cases; the report of those done so far when interrupted."""
    pool = WorkerPool(spec, limits)
    found: dict[str, Verdict] = {}
    interrupted = False
    with Progress(len(cases)) as progress:
        try:
            with closing(pool.verdicts([case.name for case in cases])) as verdicts:
                for name, verdict in verdicts:
                    found[name] = record.judged(name, verdict)
                    progress.step(found[name].kind)
        except KeyboardInterrupt:
            interrupted = True
    if pool.about is None:
        return Report(runs.ConformanceRun(spec), cases, interrupted)
    about = pool.about
    run = runs.ConformanceRun(about.name, about.version, about.choices, found)
    return Report(run, cases, interrupted)


def main(
    arguments: Sequence[str] | None = None, prog: str = "python -m traceir.conform"
) -> int:
    """Run the command; returns the exit status of the process."""
    options = parser(prog).parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return _run(options)
    except (UsageError, NotLoaded, DeviationError, Unwritten, OSError) as error:
        print(f"traceir.conform: {report.clean(str(error))}", file=sys.stderr)
        return UNUSABLE


def _run(options: argparse.Namespace) -> int:
    if options.status:
        if not runs.load_runs():
            raise UsageError("no runs here: they are kept in a checkout and an sdist")
        print(status.page(), end="")
        return GOOD
    if options.write:
        for name in write_values(selected(options.write), spec_path() / "cases"):
            print(f"written: {name}")
        return GOOD
    if (options.implementation is None) == (options.command is None):
        raise UsageError("which implementation? `--help` tells how to name one")
    files = _files(options)
    if find_spec("mpmath") is None:
        raise UsageError("judging takes mpmath: pip install 'traceir[conform]'")
    cases = selected(options.cases)
    spec, slack = options.implementation, 0.0
    if options.command is not None:
        # The client tells which answer is late, and so has to be the first to do so.
        spec, slack = f"{COMMAND}{options.timeout} {options.command}", SLACK
    record = Record(deviations(spec, options.deviations))
    limit = options.timeout + slack
    limits = Limits(limit, max(limit, Limits.load), options.jobs)
    found = conduct(spec, cases, limits, record)
    print(report.to_text(found), end="")
    for path, render in files.items():
        _write(path, render(found))
    if found.interrupted:
        return INTERRUPTED
    return GOOD if found.run.good else BAD


def _files(options: argparse.Namespace) -> dict[Path, Callable[[Report], str]]:
    """The files to write, each with its writer; found out before a long run, not after
    it.
    """
    wanted: Sequence[tuple[Path | None, Callable[[Report], str]]] = (
        (options.text, report.to_text),
        (options.json, lambda found: runs.to_json(found.run)),
        (options.report, page.to_html),
        (options.junit, machine.to_junit),
        (options.badge, machine.to_badge if _is_json(options) else machine.to_svg),
    )
    files: dict[Path, Callable[[Report], str]] = {}
    for path, render in wanted:
        if path is None:
            continue
        if path.is_dir() or not path.parent.is_dir():
            raise UsageError(f"{path} cannot be written")
        if path in files:
            raise UsageError(f"{path} cannot be two reports")
        files[path] = render
    return files


def _is_json(options: argparse.Namespace) -> bool:
    return options.badge is not None and options.badge.suffix == ".json"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
