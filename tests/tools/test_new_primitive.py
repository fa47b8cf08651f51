"""`make new-primitive` on a copy of the tree: what it writes works at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.new_primitive import Primitive, main, parser, write

ROOT = Path(__file__).parents[2]
CHECKS = ["test_cases.py", "test_transform_cases.py", "test_public_names.py"]
SOFTSIGN = [
    *("softsign", "--value", "a / (1 + abs(a))", "--numpy", "x / (1 + np.abs(x))"),
    *("--jvp", "a = abs x; b = add 1 a; s = integer_pow[y=-2] b; mul t s"),
    *("--emit", "{x} / ({e.number(1)} + abs({x}))", "--says", "x / (1 + abs(x))"),
]
CASES = ["softsign/*", "jvp/softsign", "vjp/softsign", "vmap/softsign*"]
USE = """
import sys
import numpy as np
import traceir
from traceir import lax
from traceir.conform import judge, load_cases
from traceir.conform.judging.adapters import load

x = np.float32([0, 1, -3])
for backend in ("reference", "numba"):
    found = traceir.jit(lax.softsign, backend=backend)(x)
    assert np.array_equal(found, np.float32([0, 0.5, -0.75])), found
assert np.allclose(traceir.vmap(traceir.grad(lax.softsign))(x), [1, 0.25, 0.0625])
assert np.allclose(traceir.grad(traceir.grad(lax.softsign))(1.0), -0.25)
own = [case for case in load_cases() if "softsign" in case.name]
assert len(own) == 8
for name in ("oracle", "reference", "numba"):
    wrong = [c.name for c in own if load(name).verdict(c).kind != "pass"]
    assert not wrong, (name, wrong)
print("used")
"""
FOLDERS = ("tests/*.py", "tests/drift/*.py", "tests/transforms/*.py", "tests/*/*.toml")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the tool writes to, and of the tests that look at it."""
    copy = tmp_path_factory.mktemp("tree")
    unwanted = shutil.ignore_patterns("__pycache__", "runs")
    for name in ("traceir", "traceir_numba", "spec"):
        shutil.copytree(ROOT / name, copy / name, ignore=unwanted)
    for path in (path for folder in FOLDERS for path in ROOT.glob(folder)):
        place = copy / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    return copy


def run(tree: Path, *command: str) -> str:
    """The output of a Python command in the copy."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree}:{tree / 'tests'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_a_new_primitive_works_at_once(tree: Path) -> None:
    written = write(Primitive(parser().parse_args(SOFTSIGN)), tree)
    assert len(written) == 9
    told = run(tree, "-m", "traceir.conform", *(f"--write={c}" for c in CASES))
    assert len(told.splitlines()) == 8
    assert run(tree, "-c", USE) == "used\n"
    files = [f"tests/drift/{name}" for name in CHECKS]
    files.append("tests/transforms/test_finite_differences.py")
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-c", os.devnull]
    chosen = "softsign or every_primitive_has_a_row or every_primitive_has_a_public"
    done = run(
        tree, "-m", "pytest", *options, "-k", chosen, f"--rootdir={tree}", *files
    )
    assert int(done.rpartition(" passed")[0].split()[-1]) > 8, done


def test_one_of_two_operands_is_written_whole(tree: Path) -> None:
    write(Primitive(parser().parse_args(["twofold", "--binary"])), tree)
    use = """
import numpy as np, traceir
from traceir import lax
for backend in ("reference", "numba"):
    assert traceir.jit(lax.twofold, backend=backend)(2.0, 3.0) == 6
assert traceir.grad(lax.twofold, (0, 1))(2.0, 3.0) == (3, 2)
"""
    run(tree, "-c", use)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["sin"], "there is a primitive sin"),
        (["lambda"], "'lambda' is no name"),
        (["soft-sign"], "'soft-sign' is no name"),
        (["some", "--binary", "--jvp", "t"], "one --jvp for each operand"),
    ],
)
def test_a_name_that_cannot_be_is_refused(arguments: list[str], said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        main(arguments)
