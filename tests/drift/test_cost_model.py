"""Every number that decides by size is in a cost model, measured, and read when needed.

Numbers elsewhere are listed with reasons in `tests/data/numbers.toml`.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import cost_scan
import pytest

from tools.costs.__main__ import measure, shown
from tools.costs.entries import MODELS, Entry, entries
from tools.costs.plain_programs import PROGRAMS
from tools.costs.programs import DEVICE
from traceir_numba import cost_model
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import Elementwise

ROOT = Path(__file__).parents[2]
# A range is shared among threads where there are several.
ENVIRONMENT = {"TRACEIR_CACHE": "1", "TRACEIR_NUM_THREADS": "4"}
NUMBERS = ROOT / "tests" / "data" / "numbers.toml"
# What only a device reads, or its memory; the text of the backend is looked at instead.
ON_DEVICE = {
    "LAUNCH_THREADS",
    "COPY_THREADS",
    "DEVICE_POOL_BYTES",
    "DEVICE_POOL_STEPS",
    "PARTS",
    "LINE_PARTS",
}
# What LLVM's loader of code reads, which stands in for ours on other systems.
ELSEWHERE = {"ENGINE_OBJECTS"}


def kept() -> list[str]:
    """Patterns of the numbers that may stand elsewhere, with reasons."""
    tables = tomllib.loads(NUMBERS.read_text(encoding="utf-8"))["kept"]
    assert all(table["reason"] for table in tables)
    return [name for table in tables for name in table["names"]]


@cache
def numbers() -> tuple[cost_scan.Number, ...]:
    """Numbers with names, and literals that something is compared with."""
    return tuple(
        number
        for module, tree in cost_scan.modules()
        for find in (cost_scan.constants, cost_scan.bounds)
        for number in find(module, tree)
    )


def test_no_number_that_decides_stands_elsewhere() -> None:
    patterns = kept()
    unlisted = [
        f"{number} at line {number.line}"
        for number in numbers()
        if not any(fnmatchcase(str(number), pattern) for pattern in patterns)
    ]
    hint = (
        "move it to a cost model, or list it with a reason in tests/data/numbers.toml"
    )
    assert unlisted == [], hint


def test_what_is_listed_is_there() -> None:
    found = [str(number) for number in numbers()]
    gone = [p for p in kept() if not any(fnmatchcase(name, p) for name in found)]
    assert gone == [] and len(kept()) == len(set(kept()))


FAULTS = {
    "FEW = 12": "m:FEW",
    "FEW: Final = 1 << 4": "m:FEW",
    "FEW, MANY = (1, 2), {'a': 3.5}": "m:FEW,m:MANY",
    "FEW = (1, 30)": "m:FEW",
    "class A:\n    few = 12": "m:few",
    "FEW = 2": "",
    "FEW = 'a' * 3": "",
    "def f(n):\n    return n < 12": "m:f",
    "def f(n):\n    return n * 4 <= len(n)": "m:f",
    "class A:\n    def f(self, n=12):\n        pass": "m:A.f",
    "def f(n):\n    return min(n, 12)": "m:f",
    "def f(n):\n    return n == 12 or n > 1": "",
}


@pytest.mark.parametrize("text", FAULTS)
def test_numbers_are_found(text: str) -> None:
    tree = ast.parse(text)
    found = [*cost_scan.constants("m", tree), *cost_scan.bounds("m", tree)]
    assert ",".join(map(str, found)) == FAULTS[text]


def test_an_entry_is_read_when_it_is_needed() -> None:
    found = [
        n for module, tree in cost_scan.modules() for n in cost_scan.early(module, tree)
    ]
    assert found == [], "read `cost_model.NAME` in the function that decides"


@pytest.mark.parametrize(
    "text",
    [
        "from traceir_numba.cost_model import FEW",
        "MOST = 2 * cost_model.FEW",
        "class A:\n    few = cost_model.FEW",
        "def f(n=cost_model.FEW):\n    pass",
        "@cached(cost_model.FEW)\ndef f():\n    pass",
    ],
)
def test_reads_at_import_are_found(text: str) -> None:
    assert [n.name for n in cost_scan.early("m", ast.parse(text))] == ["FEW"]


def test_reads_in_functions_are_not_early() -> None:
    text = "def f():\n    most = 2 * cost_model.FEW\n    return lambda n: n < most"
    assert not list(cost_scan.early("m", ast.parse(text)))


def used() -> set[str]:
    """The entries that some function reads."""
    return {n.attr for _, tree in cost_scan.modules() for n in cost_scan.reads(tree)}


def test_entries_and_their_uses_are_the_same() -> None:
    assert used() - {"operation_cost"} == set(entries()) - {"OPERATION_COST"}


def test_models_have_nothing_else() -> None:
    for model in MODELS:
        path = ROOT / f"{model.replace('.', '/')}.py"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = [str(n).partition(":")[2] for n in cost_scan.constants(model, tree)]
        assert set(named) <= set(entries())


def test_each_entry_names_what_measures_it() -> None:
    known = {*PROGRAMS, *DEVICE, "operations"}
    assert {e.program for e in entries().values()} == known
    device: list[Entry] = [e for e in entries().values() if e.program in DEVICE]
    assert {e.model for e in device} == {"traceir_numba.cuda.cost_model"}


def test_the_program_that_measures_an_entry_reads_it(tmp_path: Path) -> None:
    # What is made once in a process may have been made for a program before.
    done = subprocess.run(
        [sys.executable, "-m", "tools.costs.reads"],
        cwd=ROOT,
        env={**os.environ, **ENVIRONMENT, "TRACEIR_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    order = [*PROGRAMS, *DEVICE]
    late = {
        name: entry.program
        for name, entry in entries().items()
        if entry.program != "operations"
        and name not in ON_DEVICE | ELSEWHERE
        and not any(order.index(p) <= order.index(entry.program) for p in read[name])
    }
    assert late == {}


def test_real_functions_have_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    real = {
        n for n, e in EMITTERS.items() if isinstance(e, Elementwise) and not e.exact
    }
    assert real <= set(cost_model.OPERATION_COST) <= set(EMITTERS)
    monkeypatch.setitem(cost_model.OPERATION_COST, "exp", 7)
    assert cost_model.operation_cost("exp") == 7


def test_a_number_is_measured() -> None:
    entry = entries()["SHARED_PART_BYTES"]
    found = measure(entry, [1024, 1], rounds=2)
    assert list(found) == ["1024", "1"]
    assert all(0 < took["call"] < took["first"] for took in found.values())
    lines = shown(entry, found).splitlines()
    assert lines[0] == "traceir.base.cost_model.SHARED_PART_BYTES = 1024 (Bytes)"
    assert lines[-2].split()[0] == "1024" and lines[-2].endswith("1.00")
