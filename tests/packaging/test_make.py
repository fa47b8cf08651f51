"""The Makefile: bare `make` lists every target, and no target is empty."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Makefile").read_text()
TARGETS = " ".join(re.findall(r"^\.PHONY: (.*)$", TEXT, re.MULTILINE)).split()


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make at the root of the checkout, without the flags of a make above."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_bare_make_lists_the_targets() -> None:
    listed = re.findall(r"^make (\S+) +\S", make().stdout, re.MULTILINE)
    assert sorted(listed) == sorted(TARGETS)
    assert {"demo", "test"} <= set(listed)


@pytest.mark.parametrize("target", TARGETS)
def test_targets_do_something_that_exists(target: str) -> None:
    dry = make("--dry-run", target)
    assert dry.returncode == 0, dry.stderr
    assert dry.stdout.strip()
    for path in re.findall(r"\btests/[\w/.]+", dry.stdout):
        found = ROOT / path
        assert found.is_file() or any(found.rglob("test_*.py")), path


def test_a_python_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = make("demo", "PYTHON=no-such-python", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "No no-such-python here." in done.stdout


def test_the_way_of_continuous_integration_is_the_readers() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert script.rstrip().endswith("make test")
    assert "make test" in (ROOT / "README.md").read_text()
