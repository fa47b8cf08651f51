"""The built wheel is whole: every module, every rule table, and it works elsewhere."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("traceir", "traceir_numba")
DATA = (
    "coverage.toml",
    "grammar.ebnf",
    "rules/*.toml",
    "cases/**/*.tir",
    "cases/*.py",
    "deviations/*.toml",
    "messages/*.toml",
    "specification.schema.json",
)

PROGRAM = """
import traceir, traceir.rules, traceir_numba
import traceir.numpy as jnp
rules = traceir.rules.load()
assert traceir.__file__.startswith({target!r}), traceir.__file__
assert traceir_numba.__file__.startswith({target!r}), traceir_numba.__file__
assert str(traceir.rules.spec_path()).startswith({target!r})
assert "sin" in rules.prims and "cache.key.x64" in {{row.id for row in rules.keys}}
print(traceir.make_jaxpr(jnp.sin)(1.0))
print(traceir.jit(lambda x: x + 1, backend="reference")(1))
"""

PREPARED = """
from traceir.store import prepared
from traceir.rules import parsed_tables
made = prepared.prepared
def found(kind, key, make):
    return made(kind, key, lambda: 1 / 0)
parsed_tables.prepared = prepared.prepared = found
from traceir_numba import vecmath
from traceir.rules import default
print(default().prims["sin"].inputs)
"""


def run(*command: str, cwd: Path, **environment: str) -> str:
    """Run a command; its output, or a failed test that shows its errors."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip(*arguments: str, cwd: Path) -> None:
    """Run pip without network and without asking."""
    common = ("--no-index", "--no-deps", "--no-input", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", *arguments, *common, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built in a copy so that the checkout stays as it is."""
    base = tmp_path_factory.mktemp("wheel")
    copy = base / "checkout"
    ignore = shutil.ignore_patterns("__pycache__", "node_modules")
    for folder in (*PACKAGES, "spec"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignore)
    for name in ("setup.cfg", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    pip("wheel", ".", "--no-build-isolation", "-w", str(base), cwd=copy)
    (built,) = base.glob("traceir-*.whl")
    return built


def test_listed_packages_are_the_folders() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    listed = settings["options"]["packages"].split()
    folders = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    }
    assert sorted(listed) == sorted({*folders, "traceir.spec.tables"})


def test_wheel_has_every_module_and_table(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for pattern in ("*.py", "*.pyi", "py.typed", "private.toml")
        for path in (ROOT / package).rglob(pattern)
    }
    tables = {
        "traceir/spec/tables/" + str(path.relative_to(ROOT / "spec"))
        for pattern in DATA
        for path in (ROOT / "spec").glob(pattern)
    }
    assert len(tables) > 10
    prepared = {name for name in names if name.startswith("traceir/prepared/")}
    assert sorted(name.partition(".")[2] for name in prepared) == [
        "functions",
        "tables",
    ]
    found = {name for name in names if ".dist-info" not in name}
    assert found == modules | tables | prepared
    assert any(name.endswith("LICENSE") for name in names)


def test_a_process_of_the_wheel_finds_the_tables_prepared(
    wheel: Path, tmp_path: Path
) -> None:
    target = tmp_path / "elsewhere"
    pip("install", "--target", str(target), str(wheel), cwd=tmp_path)
    told = {"PYTHONPATH": str(target), "TRACEIR_CACHE": "0"}
    assert run(sys.executable, "-c", PREPARED, cwd=tmp_path, **told) == "('x',)\n"


def test_wheel_works_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    pip("install", "--target", str(target), str(wheel), cwd=tmp_path)
    program = PROGRAM.format(target=str(target))
    output = run(
        sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(target)
    ).splitlines()
    assert output == ["{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }", "2"]
    judged = run(
        sys.executable,
        "-m",
        "traceir.conform",
        "oracle",
        "--cases",
        "add/*",
        cwd=tmp_path,
        PYTHONPATH=str(target),
    )
    assert judged.startswith("oracle ") and ", 0 fail, 0 unsupported," in judged
    status = subprocess.run(
        [sys.executable, "-m", "traceir.conform", "--status"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (status.returncode, status.stdout) == (2, "")
    assert "kept in a checkout and an sdist" in status.stderr
