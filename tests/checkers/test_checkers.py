"""A user's program as mypy and pyright read it: signatures are those of the functions.

The lines of `user.py` that end with `# error` have a mistake; no others have.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
USER = HERE / "user.py"
MISTAKES = {
    k
    for k, line in enumerate(USER.read_text().splitlines(), 1)
    if line.endswith("# error")
}


def run(*command: str) -> str:
    """The text that a checker prints; it ends with 1 where it finds errors."""
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


BESIDE = str(Path(sys.executable).parent)
# Without what mypy kept of the library, it takes a minute.
MYPY = find_spec("mypy") is not None and (ROOT / ".mypy_cache").exists()
PYRIGHT = shutil.which("basedpyright", path=BESIDE) or shutil.which("basedpyright")


@pytest.mark.skipif(not MYPY, reason="`make type` has mypy, and keeps what it found")
def test_mypy_tells_the_mistakes_and_nothing_else() -> None:
    told = run(sys.executable, "-m", "mypy", str(USER))
    found = re.findall(r"^(.*):(\d+): error: ", told, re.MULTILINE)
    assert {int(line) for _, line in found} == MISTAKES, told
    assert {(ROOT / file).name for file, _ in found} == {USER.name}, told


@pytest.mark.skipif(not PYRIGHT, reason="`make type` has basedpyright")
def test_pyright_tells_the_mistakes_and_nothing_else() -> None:
    options = ("--outputjson", "--project", str(HERE), "--pythonpath", sys.executable)
    told = json.loads(run(str(PYRIGHT), *options))["generalDiagnostics"]
    errors = [one for one in told if one["severity"] == "error"]
    assert {one["range"]["start"]["line"] + 1 for one in errors} == MISTAKES, errors
    assert {Path(one["file"]).name for one in errors} == {USER.name}
