"""The matrix: what is kept is what happens, and the page is made of it.

Serves: every table
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from pathlib import Path

import columns
import pytest

from traceir.conform import Verdict, load_cases, read_cases
from traceir.conform.__main__ import main
from traceir.conform.casefiles.profiles import PROFILES, profile_of
from traceir.conform.judging.deviations import (
    Deviation,
    DeviationError,
    read_deviations,
)
from traceir.conform.judging.runs import (
    COLUMNS,
    KINDS,
    ConformanceRun,
    load_runs,
    run_path,
    to_json,
)
from traceir.conform.reporting.status import (
    cell,
    matrix,
    page,
    recorded,
    tables_of,
    to_rst,
)
from traceir.rules import default, spec_path

CASES = load_cases()
NAMES = {case.name for case in CASES}
DEVIATING = [name for name in load_runs() if recorded(name)]


# What is kept -------------------------------------------------------------------------


# That every case passes is for tests/conform/test_cases.py and, of numba, for
# tests/backend/test_cases.py to show.
@pytest.mark.parametrize("column", columns.OWN)
def test_a_run_that_is_kept_is_fresh(column: str) -> None:
    kept, passing = columns.kept(column), columns.passing(column)
    assert columns.differences(kept, passing) == []


@pytest.mark.parametrize("column", load_runs())
def test_a_run_is_written_as_it_is_read(column: str) -> None:
    run = load_runs()[column]
    assert run_path(column).read_text(encoding="utf-8") == to_json(run)
    assert run.implementation == column
    assert {verdict.kind for verdict in run.verdicts.values()} <= set(KINDS)


def test_differences_are_seen() -> None:
    a = ConformanceRun("a", "1", {}, {"x": Verdict("pass"), "y": Verdict("pass")})
    b = ConformanceRun("a", "2", {}, {"x": Verdict("pass"), "y": Verdict("fail")})
    assert columns.differences(a, b) == ["version", "y"]


@pytest.mark.parametrize("name", DEVIATING)
def test_a_recorded_deviation_shows_its_source(name: str) -> None:
    for row in recorded(name):
        assert re.match(r"https://\S+#L\d+$", row.link), row.id


@pytest.mark.parametrize("name", DEVIATING)
def test_a_recorded_deviation_is_measured(name: str) -> None:
    """By cases that cite its rule; bounds of numbers are those of every case."""
    cites = {case.name: case.cites for case in CASES}
    for row in recorded(name):
        assert row.cases, row.id
        assert row.reason.endswith(".") and not row.does.endswith("."), row.id
        if not row.id.startswith(("accuracy.", "choice.")):
            assert [c for c in row.cases if row.id not in cites[c]] == [], row.id


def source_line(link: str, root: Path, ref: str) -> str:
    """The line that a link shows, in a copy of the source."""
    path, _, number = link.partition(f"/blob/{ref}/")[2].partition("#L")
    return (root / path).read_text(encoding="utf-8").splitlines()[int(number) - 1]


def test_a_deviation_of_typescript_shows_a_line_of_the_source() -> None:
    """Of a definition, which begins there: other lines do not stay where they are."""
    root = spec_path().parent
    lines = [source_line(row.link, root, "main") for row in recorded("typescript")]
    assert lines and all(line.startswith("export ") for line in lines), lines


def test_a_deviation_of_jax_shows_a_line_of_its_source() -> None:
    jax = pytest.importorskip("jax", reason="the lines are those of JAX's source")
    ref = f"jax-v{jax.__version__}"  # of another version there are none
    links = [row.link for row in recorded("jax") if f"/{ref}/" in row.link]
    lines = [source_line(link, Path(jax.__file__).parents[1], ref) for link in links]
    assert [
        line for line in lines if not line.strip() or line.strip()[0] in "#)}"
    ] == []


def test_deviations_and_runs_say_the_same() -> None:
    for column, run in load_runs().items():
        listed = {case for row in recorded(column) for case in row.cases}
        found = {n for n, v in run.verdicts.items() if v.kind == "deviation"}
        assert found == listed & run.verdicts.keys()


# The matrix ---------------------------------------------------------------------------

TEXT = """
case a/one
  cites add.numeric add.numeric pointwise2.dtype
  given { lambda ; a:f32[]. let in (a,) }
  type  f32[]

case a/two
  cites add.numeric
  given { lambda ; a:f32[]. let in (a,) }
  type  f32[]
"""


def test_each_rule_has_the_verdicts_of_its_cases() -> None:
    verdicts = {"a/one": Verdict("fail"), "a/two": Verdict("unsupported")}
    runs = {"x": ConformanceRun("x", verdicts=verdicts), "y": ConformanceRun("y")}
    found = matrix(runs, read_cases(TEXT))
    assert found["add.numeric"] == {
        "x": Counter({"fail": 1, "unsupported": 1}),
        "y": Counter({"not run": 2}),
    }
    assert found["pointwise2.dtype"]["x"] == {"fail": 1}
    assert found["cache.key.x64"] == {"x": {}, "y": {}}
    assert cell(found["add.numeric"]["x"]) == "1F 1U"
    assert cell(found["add.numeric"]["y"]) == "2?"


def test_every_rule_stands_in_one_table() -> None:
    ids = [rule for rules in tables_of(default()).values() for rule in rules]
    assert sorted(ids) == sorted(default().clauses)


def test_every_rule_has_a_line_of_the_page() -> None:
    rows = dict(re.findall(r"^(\S+)  +(\S.*)$", page(), re.MULTILINE))
    assert default().clauses.keys() <= rows.keys()


def test_the_page_tells_all_kinds() -> None:
    cases = CASES[: len(KINDS)]
    verdicts = {c.name: Verdict(kind, "TypeError") for c, kind in zip(cases, KINDS)}
    choices = {"choice.sum-order": "free"}
    text = to_rst({"mine": ConformanceRun("mine", "7", choices, verdicts)}, CASES)
    for kind in KINDS:
        assert re.search(rf"^{kind} +1$", text, re.MULTILINE)
    assert re.search(rf"^not run +{len(CASES) - len(KINDS)}$", text, re.MULTILINE)
    assert re.search(r"^unattributed +1$", text, re.MULTILINE)
    assert re.search(r"^version +7$", text, re.MULTILINE)
    assert re.search(r"^choice\.sum-order +free$", text, re.MULTILINE)


def test_the_page_tells_of_mutants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = {"where": "add.value", "mutant": "y[i] + x[i]", "reason": "It commutes."}
    kinds = ("mutants", "case", "loader", "citation", "code", "silence")
    kinds = (*kinds, "allowed", "surviving", "untried")
    counts = dict(zip(kinds, (12, 5, 2, 0, 0, 0, 1, 1, 3), strict=True))
    tables = {"primitives": counts}
    record = {"mutants": 12, "killed": 7, "allowed": [allowed], "tables": tables}
    record["surviving"] = ["primitives/prim/add/value: x[i] - y[i]"]
    record["hunts"] = {"seconds": 300, "tried": 30}
    (tmp_path / "runs").mkdir()
    text = json.dumps(record).encode()
    (tmp_path / "runs" / "mutants.json.xz").write_bytes(lzma.compress(text))
    monkeypatch.setattr("traceir.conform.reporting.status.spec_path", lambda: tmp_path)
    text = to_rst({}, CASES)
    assert "7 of 12 mutants" in text
    assert "1 are open" in text
    assert "3 have\nnot been tried" in text
    (line,) = (t for t in text.splitlines() if t.startswith("primitives "))
    assert line.split() == ["primitives", "12", *"52000113"]
    assert "10000 ms" in text and "2 min" in text
    assert "* ``add.value``: ``y[i] + x[i]``. It commutes." in text


def test_a_row_that_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("deviation = [1]\n")
    with pytest.raises(DeviationError, match="a row is a table, not 1"):
        read_deviations(path, ())


def test_the_page_lists_deviations(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Deviation("add.numeric", "adds `bool`", "It does.", ("add/bool",))
    found = {"jax": (row,)}
    monkeypatch.setattr(
        "traceir.conform.reporting.status.recorded", lambda name: found.get(name, ())
    )
    text = " ".join(to_rst({}, CASES).split())
    assert "* ``add.numeric``: adds ``bool``. It does. Cases: ``add/bool``." in text


def test_the_command_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--status"]) == 0
    assert capsys.readouterr().out == page()


# Profiles -----------------------------------------------------------------------------


def test_every_profile_has_cases() -> None:
    counts = Counter(profile_of(case) for case in CASES)
    assert counts.keys() == PROFILES.keys() and counts.total() == len(CASES)
    assert min(counts.values()) > 10


def test_profiles_are_explained() -> None:
    text = (spec_path() / "conformance.rst").read_text(encoding="utf-8")
    said = " ".join(text.split())
    for name, about in PROFILES.items():
        assert f"``{name}`` {about[0].upper()}" in said
    for kind in KINDS:
        assert re.search(rf"^``{kind}``$", text, re.MULTILINE)
    assert all(f"``{column}``" in text for column in COLUMNS)


def test_no_run_knows_a_case_that_is_gone() -> None:
    gone = {c: run.verdicts.keys() - NAMES for c, run in load_runs().items()}
    assert not any(gone.values())
