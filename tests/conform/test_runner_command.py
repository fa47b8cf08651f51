"""The command: what it takes, its reports, its exit status. Serves: every table"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from traceir.conform import Verdict, load_cases
from traceir.conform.__main__ import main
from traceir.conform.judging.runs import KINDS, ConformanceRun, from_json
from traceir.conform.reporting.machine import to_badge
from traceir.conform.reporting.page import to_html
from traceir.conform.reporting.progress import Progress
from traceir.conform.reporting.report import Report

ROOT = Path(__file__).parents[2]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run the command; its exit status, output and errors."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_all_is_well(command: Command) -> None:
    status, out, err = command("reference", "--cases", "add/*", "--jobs", "2")
    count = sum(case.name.startswith("add/") for case in load_cases())
    assert (status, err) == (0, "")
    assert re.match(rf"reference \S+: {count} pass, 0 fail, 0 unsupported, ", out)
    assert "declares choice.sum-order = fixed" in out
    assert re.search(rf"^core +{count} +· +· +· +·$", out, re.MULTILINE)


def test_what_is_wrong_is_told(command: Command) -> None:
    status, out, _ = command("broken:NaNs", "--cases", "add/special")
    assert status == 1
    assert "0 pass, 1 fail, 0 unsupported, 0 deviation, 0 crashed" in out
    assert re.search(r"^add\.numeric +· +1 +· +· +·$", out, re.MULTILINE)
    assert re.search(r"\nfail: add/special \(arithmetic.tir:\d+\)\n  f32\[6\]{nan", out)


def test_unsupported_is_no_failure(command: Command) -> None:
    status, out, _ = command("broken:CoreOnly", "--cases", "cache/shape")
    assert status == 0 and "0 pass, 0 fail, 1 unsupported" in out
    assert "declares" in out and "not claimed: cache" in out


@pytest.mark.parametrize(
    "arguments, why",
    [
        ((), "which implementation?"),
        (("broken:Failing",), "OSError: no device"),
        (("reference", "--cases", "no/such"), "no case is named no/such"),
        (("reference", "--json", "no/such/folder"), "no/such/folder cannot be written"),
        (("reference", "--report", "."), ". cannot be written"),
        (("reference", "--deviations", "no-such.toml"), "no-such.toml"),
    ],
)
def test_what_cannot_be_done_is_said(
    command: Command, arguments: tuple[str, ...], why: str
) -> None:
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("traceir.conform: ") and why in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("reference", "--jobs", "0"),
        ("reference", "--timeout", "-1"),
        ("reference", "--timeout", "nan"),
        ("reference", "--colour"),
        ("--status", "--write", "a/b"),
    ],
)
def test_usage(command: Command, arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        command(*arguments)
    assert caught.value.code == 2


# Deviations ---------------------------------------------------------------------------


ROW = """
[[deviation]]
id = "{id}"
does = "gives NaN"
reason = "It is broken."
cases = {cases}
"""


@pytest.mark.parametrize(
    "adapter, case, expected, why",
    [
        ("NaNs", "add/special", "deviation", "add.numeric: gives NaN"),
        ("Quits", "add/special", "deviation", "add.numeric: gives NaN"),
        ("ready", "add/special", "fail", "unexpected pass: recorded as a deviation"),
        ("CoreOnly", "cache/shape", "fail", "unexpected unsupported: "),
    ],
)
def test_deviations_are_strict(
    command: Command, tmp_path: Path, adapter: str, case: str, expected: str, why: str
) -> None:
    path, out = tmp_path / "d.toml", tmp_path / "run.json"
    path.write_text(ROW.format(id="add.numeric", cases=json.dumps([case])))
    files = ("--deviations", str(path), "--json", str(out))
    status, _, _ = command(f"broken:{adapter}", "--cases", case, *files)
    verdict = from_json(out.read_text()).verdicts[case]
    assert verdict.kind == expected and why in verdict.why
    assert status == (expected == "fail")


@pytest.mark.parametrize(
    "text, why",
    [
        ("[[deviation]", "Expected"),
        ("[deviation]\nid = 1", "only tables"),
        ("[other]", "only tables"),
        (ROW.format(id="add.colour", cases="[]"), "add.colour is no rule"),
        (ROW.format(id="add.numeric", cases='["a"]'), "lists a, which is no case"),
        (ROW.format(id="add.numeric", cases="3"), "may have a list `cases`"),
        (ROW.format(id="add.numeric", cases="[3]"), "may have a list `cases`"),
        (ROW.format(id="add.numeric", cases="[]") * 2, "add.numeric has two rows"),
        (ROW.format(id="add.numeric", cases='["add/bool", "add/bool"]'), "twice"),
        (ROW.format(id="", cases="[]"), "needs the texts"),
        (ROW.format(id="add.numeric", cases="[]") + "more = 1", "nothing else"),
    ],
)
def test_a_malformed_record_is_refused(
    command: Command, tmp_path: Path, text: str, why: str
) -> None:
    path = tmp_path / "d.toml"
    path.write_text(text)
    status, _, err = command("reference", "--deviations", str(path))
    assert status == 2 and str(path) in err and why in err


# Reports ------------------------------------------------------------------------------


class Page(HTMLParser):
    """The contents of a page: its text, the tags left open, its references."""

    VOID = ("meta", "li", "p", "tr", "td", "th", "thead", "tbody")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [f"{k}={v}" for k, v in attrs if k in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_reports_say_the_same(command: Command, tmp_path: Path) -> None:
    names = ("a.html", "a.json", "a.txt")
    html, data, text = (tmp_path / name for name in names)
    files = ("--report", str(html), "--json", str(data), "--text", str(text))
    patterns = ("--cases", "add/special", "--cases", "add/bool")
    status, out, _ = command("broken:Script", *patterns, *files)
    assert status == 1 and text.read_text() == out
    run = from_json(data.read_text())
    assert {n: v.kind for n, v in run.verdicts.items()} == {
        "add/bool": "pass",
        "add/special": "crashed",
    }
    assert run.implementation == "<script>alert(1)</script>\x1b[31m"
    assert "\x1b[2J &amp;\ud800\nat broken.py:" in run.verdicts["add/special"].why
    page = Page(html.read_text())
    assert page.open == [] and page.links == []
    assert not {"script", "img"} & set(page.tags)
    assert r"ValueError: </pre><img src=x>\x1b[2J &amp;\ud800" in page.text
    assert "\x1b" not in out + html.read_text() and "1 pass" in page.text


def test_a_page_has_all_that_was_judged() -> None:
    cases = load_cases()[: len(KINDS)]
    verdicts = {c.name: Verdict(k, f"why {k}") for c, k in zip(cases, KINDS)}
    report = Report(
        ConformanceRun("mine", "1", {"choice.sum-order": "free"}, verdicts), cases
    )
    page = Page(to_html(report))
    for case, kind in zip(cases, KINDS):
        assert case.name in page.text and f"why {kind}" in page.text
        assert f"1 {kind}" in page.text
        assert page.text.count(f"case {case.name}\n") == 1
    assert "1 passes are rejections that name no rule" in page.text
    assert "choice.sum-order" in page.text and "viewport" in to_html(report)


def test_kinds_are_counted_side_by_side() -> None:
    cases = load_cases()[: len(KINDS)]
    verdicts = {c.name: Verdict(k) for c, k in zip(cases, KINDS)}
    report = Report(ConformanceRun("mine", verdicts=verdicts), cases)
    assert report.run.counts == dict.fromkeys(KINDS, 1)
    kinds = ["fail", "crashed", "deviation"]
    assert [verdict.kind for _, verdict in report.others] == kinds
    assert [len(found) for found in report.unsupported.values()] == [1]
    total = sum(
        (counts for _, counts in report.profiles), start=type(report.run.counts)()
    )
    assert total == report.run.counts
    for case, verdict in report.judged:
        assert all(report.rules[rule][verdict.kind] for rule in case.cites)


# A shell starts what it runs in the background with interrupts ignored.
INTERRUPTED = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("traceir.conform", run_name="__main__", alter_sys=True)
"""


def test_an_interrupt_leaves_what_was_judged(tmp_path: Path) -> None:
    path, marks = tmp_path / "run.json", tmp_path / "marks"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            INTERRUPTED,
            "broken:SlowWithMarks",
            "--cases",
            "*/*",
            "--json",
            str(path),
        ],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), "BROKEN_MARK": str(marks)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not marks.exists() or marks.read_text().count("asked") < 3:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    run = from_json(path.read_text())
    assert 0 < len(run.verdicts) < len(load_cases())
    count = f"{len(run.verdicts)} of {len(load_cases())}"
    assert f"interrupted: {count} cases judged; {len(run.verdicts)} pass" in out


# The bar ------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_progress_on_one_line() -> None:
    stream = Terminal()
    with Progress(2, stream) as progress:
        progress.drawn = float("-inf")
        progress.step("pass")
        progress.drawn = float("-inf")
        progress.step("crashed")
    drawn = stream.getvalue()
    assert "1/2" in drawn and "2/2, 1 crashed" in drawn
    assert "\n" not in drawn and drawn.endswith(" \r")


# The adapter in the chapter -----------------------------------------------------------


def test_the_adapter_of_the_chapter_runs(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    status, out, err = command("adapter:Lists")
    assert (status, err) == (0, "")
    passed = re.match(r"lists: (\d+) pass, 0 fail, \d+ unsupported, 0 dev", out)
    assert passed and int(passed[1]) > 12
    assert re.search(r"^[1-9]\d* passes are rejections that name no rule", out, re.M)
    chapter = (ROOT / "spec" / "conformance.rst").read_text()
    assert ".. literalinclude:: /adapter.py" in chapter


def test_reports_for_machines(command: Command, tmp_path: Path) -> None:
    xml, svg, badge = (tmp_path / name for name in ("a.xml", "b.svg", "b.json"))
    patterns = ("--cases", "add/special", "--cases", "cache/shape")
    status, _, _ = command("broken:NaNs", *patterns, "--junit", str(xml))
    (suites,) = [ElementTree.parse(xml).getroot()]
    found = {suite.get("name"): suite for suite in suites}
    assert status == 1 and found.keys() == {"core", "cache"}
    (case,) = found["core"]
    assert case.get("name") == "add/special" and case.get("file") == "arithmetic.tir"
    assert found["core"].get("failures") == "1" and case[0].tag == "failure"
    assert (case[0].text or "").startswith("f32[6]{nan")
    command("broken:NaNs", *patterns, "--badge", str(badge))
    assert json.loads(badge.read_text())["color"] == "red"
    command("reference", *patterns, "--badge", str(badge))
    data = json.loads(badge.read_text())
    assert (data["schemaVersion"], data["message"]) == (1, "2 pass")
    command("reference", *patterns, "--badge", str(svg))
    texts = [e.text for e in ElementTree.parse(svg).getroot().iter() if e.text]
    assert texts[1:] == [data["label"], data["message"]]


def test_a_badge_claims_what_passes_as_a_whole() -> None:
    cases = load_cases()
    passed = {case.name: Verdict("pass") for case in cases}
    found = json.loads(to_badge(Report(ConformanceRun("a", verdicts=passed), cases)))
    assert found["color"] == "brightgreen" and found["message"].startswith(
        f"{len(cases):,} pass, all of core, text"
    )
    passed["add/wraps"] = Verdict("unsupported", "integers")
    found = json.loads(to_badge(Report(ConformanceRun("a", verdicts=passed), cases)))
    assert found["color"] == "green" and "all of text, levels" in found["message"]


def test_unsupported_is_skipped_and_leaves_no_claim(
    command: Command, tmp_path: Path
) -> None:
    xml, badge = tmp_path / "a.xml", tmp_path / "b.json"
    files = ("--junit", str(xml), "--badge", str(badge))
    command("broken:CoreOnly", "--cases", "cache/shape", *files)
    (suite,) = ElementTree.parse(xml).getroot()
    assert suite.get("skipped") == "1" and suite[0][0].tag == "skipped"
    assert suite[0][0].get("message") == "unsupported: not claimed: cache"
    data = json.loads(badge.read_text())
    assert (data["message"], data["color"]) == ("0 pass", "green")
