"""The second implementation, in TypeScript: it shares nothing, and passes its tests.

Serves: every table
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PLAYGROUND = Path(__file__).parents[2] / "spec" / "playground"
SOURCES = sorted(PLAYGROUND.glob("src/*.ts"))
BUILT = PLAYGROUND / "dist" / "playground.js"
NODE = shutil.which("node") if BUILT.exists() else None
# What sources may import besides each other: numbers of many digits.
LIBRARIES = {"decimal.js"}


def test_sources_import_each_other_and_libraries_alone() -> None:
    found = {
        name
        for path in SOURCES
        for name in re.findall(r'from "([^"]+)"', path.read_text(encoding="utf-8"))
    }
    own = {f"./{path.stem}.js" for path in SOURCES}
    server = {name for name in found if name.startswith("node:")}
    assert found - server == own & found | LIBRARIES


def test_sources_are_short() -> None:
    long = [p.name for p in SOURCES if len(p.read_text().splitlines()) >= 400]
    assert not long


def test_what_npm_installs_is_pinned() -> None:
    package = json.loads((PLAYGROUND / "package.json").read_text())
    lock = json.loads((PLAYGROUND / "package-lock.json").read_text())["packages"]
    wanted = {**package["dependencies"], **package["devDependencies"]}
    assert {n: lock[f"node_modules/{n}"]["version"] for n in wanted} == wanted
    installed = [row for name, row in lock.items() if name]
    assert all(row["integrity"].startswith("sha512-") for row in installed)
    assert not [row["resolved"] for row in installed if "resolved" in row]


@pytest.mark.skipif(
    not NODE, reason="takes node, and what `make playground` builds where npm is"
)
def test_its_own_tests_pass() -> None:
    tests = sorted(map(str, PLAYGROUND.glob("dist/test/*.js")))
    done = subprocess.run(
        [str(NODE), "--test", *tests], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
