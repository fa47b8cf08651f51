"""The second implementation on the suite: its run is fresh; it needs every row.

Serves: every table
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import columns
import pytest

from traceir.conform.casefiles.profiles import profile_of
from traceir.conform.judging.deviations import Record
from traceir.conform.processes.pool import Limits, WorkerPool
from traceir.conform.reporting.status import recorded
from traceir.rules import default
from traceir.spec.document import document, written

SERVER = Path(__file__).parents[2] / "spec" / "playground" / "dist" / "impl.js"
NODE = shutil.which("node") if SERVER.exists() else None
needs_node = pytest.mark.skipif(
    not NODE, reason="takes node, and what `make playground` builds where npm is"
)
# Every so many cases are tried anew; `make playground` tries all.
EVERY = 24


@pytest.fixture(scope="module")
def exported() -> dict[str, Any]:
    """The specification as data."""
    return document(default(), ())


class Asked:
    """The server of the protocol, over some document."""

    def __init__(self, found: dict[str, Any], folder: Path) -> None:
        path = folder / "specification.json"
        path.write_text(written(found), encoding="utf-8")
        self.command = [str(NODE), str(SERVER), str(path)]

    def ask(self, request: str, **data: Any) -> dict[str, Any]:
        """The answer to one request."""
        line = json.dumps({"id": 1, "request": request, **data})
        done = subprocess.run(
            self.command, input=line, capture_output=True, text=True, check=True
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


@needs_node
def test_it_needs_every_part_of_a_row(exported: dict[str, Any], tmp_path: Path) -> None:
    text = "{ lambda ; a:bool[]. let b:bool[] = add a a in (b,) }"
    asked = Asked(exported, tmp_path)
    program = asked.ask("parse", text=text)["gives"]["program"]
    (equation,) = program["equations"]
    equation["outputs"][0]["type"] = None
    refused = asked.ask("infer", program=program)["rejected"]
    assert refused["rule"] == "add.numeric"
    prims = exported["rules"]["prims"]
    clauses = [c for c in prims["add"]["clauses"] if c["id"] != "add.numeric"]
    less = {**prims, "add": {**prims["add"], "clauses": clauses}}
    altered = {**exported, "rules": {**exported["rules"], "prims": less}}
    found = Asked(altered, tmp_path).ask("infer", program=program)
    assert found["gives"]["types"][0]["dtype"] == "bool"
    gone = {name: row for name, row in prims.items() if name != "add"}
    altered["rules"]["prims"] = gone
    refused = Asked(altered, tmp_path).ask("infer", program=program)["rejected"]
    assert refused["rule"] == "program.primitive"


@pytest.fixture(scope="module")
def pool(
    exported: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WorkerPool]:
    asked = Asked(exported, tmp_path_factory.mktemp("document"))
    command = shlex.join(asked.command)
    yield WorkerPool(f"command 30 {command}", Limits(35))


@needs_node
def test_the_run_that_is_kept_is_fresh(pool: WorkerPool) -> None:
    kept = columns.kept("typescript")
    names = sorted(kept.verdicts.keys() & columns.cases().keys())[::EVERY]
    record = Record(recorded("typescript"))
    found = {n: record.judged(n, v) for n, v in pool.verdicts(names)}
    assert {n: v.kind for n, v in found.items()} == {
        n: kept.verdicts[n].kind for n in names
    }


def test_it_passes_what_a_second_implementation_has_to() -> None:
    run = columns.kept("typescript")
    assert run.good
    passed = [n for n, v in run.verdicts.items() if v.kind == "pass"]
    core = [n for n in passed if profile_of(columns.cases()[n]) == "core"]
    assert len(core) >= 1200 and len(passed) >= 2000
