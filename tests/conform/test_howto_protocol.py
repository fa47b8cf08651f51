"""The calculator in C of the how-to: its conversation, and its verdicts.

Serves: every table
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from traceir.conform import load_cases
from traceir.conform.judging.adapters import load
from traceir.conform.processes.pool import Limits, WorkerPool
from traceir.conform.protocol.decoding import read_array, read_type
from traceir.conform.protocol.server import Server

DOCS = Path(__file__).parents[2] / "docs"
COMPILER = shutil.which("cc")


def transcript() -> list[tuple[Any, Any]]:
    """The requests and answers of the page, whose lines are broken to be read."""
    text = (DOCS / "transcript.txt").read_text(encoding="utf-8")
    lines = text.replace("\n    ", " ").splitlines()
    asked, answered = (
        [json.loads(line[1:]) for line in lines if line.startswith(sign)]
        for sign in "><"
    )
    return list(zip(asked, answered, strict=True))


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The calculator, compiled as the page says."""
    made = tmp_path_factory.mktemp("vectors") / "vectors"
    flags = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-O2")
    command = ("cc", *flags, "-o", made, DOCS / "vectors.c", "-lm")
    subprocess.run(command, check=True)
    return made


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
def test_the_conversation_is_as_the_page_has_it(vectors: Path) -> None:
    pairs = transcript()
    lines = "".join(json.dumps(asked) + "\n" for asked, _ in pairs)
    done = subprocess.run(
        [vectors], input=lines, capture_output=True, text=True, check=True
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        answered for _, answered in pairs
    ]


def test_the_oracle_answers_the_same() -> None:
    server = Server(load("oracle"))
    for asked, answered in transcript():
        if asked["request"] in ("hello", "shutdown") or "unsupported" in answered:
            continue
        found = server.answer(json.dumps(asked).encode())
        match answered:
            case {"rejected": told}:
                assert found["rejected"]["rule"] == told["rule"]
            case {"gives": {"types": types}}:
                pairs = zip(found["gives"]["types"], types, strict=True)
                assert all(read_type(a) == read_type(b) for a, b in pairs)
            case {"gives": {"results": results}}:
                pairs = zip(found["gives"]["results"], results, strict=True)
                assert all(read_array(a).same(read_array(b)) for a, b in pairs)


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
def test_the_calculator_is_judged(vectors: Path) -> None:
    heads = ("neg", "abs", "add", "sub", "mul", "pointwise2", "eval", "program")
    names = [c.name for c in load_cases() if c.name.split("/")[0] in heads]
    pool = WorkerPool(f"command 20 {vectors}", Limits(25.0))
    found = dict(pool.verdicts(names))
    kinds = [verdict.kind for verdict in found.values()]
    assert {*kinds} == {"pass", "unsupported"} and kinds.count("pass") > 20
