"""Programs of libraries written for JAX have JAX's numbers beside them.

They run by `make libraries`, where the libraries are; here their records are looked at.
"""

from __future__ import annotations

import ast
import json
import re

import pytest
from libraries.__main__ import ENDED, FOLDER, NUMBERS, PROGRAMS, agree, names
from libraries.speed import TIMES, ratios

ROW = r"^   (\w+), ([\w-]+) ([\w.]+), ([^,]+), ([\d.]+), ([\d.]+)$"
# Distributions that have another name than what is imported.
DISTRIBUTIONS = {"haiku": "dm-haiku", "ott": "ott-jax"}


def test_each_program_has_numbers() -> None:
    numbers = json.loads(NUMBERS.read_text())
    assert list(numbers) == names()
    assert set(ENDED) <= numbers.keys()
    assert all(numbers.values())


def test_the_page_tells_each_program_and_the_version_of_its_library() -> None:
    text = (FOLDER.parents[1] / "docs" / "libraries.rst").read_text(encoding="utf-8")
    rows = re.findall(ROW, text, re.MULTILINE)
    assert [row[0] for row in rows] == names()
    pins = (FOLDER / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert {f"{row[1]}=={row[2]}" for row in rows} <= set(pins)
    assert {row[0] for row in rows if row[3] != "right"} == set(ENDED)
    times = json.loads(TIMES.read_text())
    assert {row[0]: list(row[4:]) for row in rows} == {
        name: ratios(times[name]) for name in names()
    }


@pytest.mark.parametrize("name", names())
def test_what_a_program_imports_is_pinned(name: str) -> None:
    text = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
    found = re.findall(r"^([\w.-]+)==", text.lower(), re.MULTILINE)
    pinned = {name.replace("_", "-") for name in found}
    assert not {"jax", "jaxlib"} & pinned
    tree = ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    wanted = {
        DISTRIBUTIONS.get(n, n).replace("_", "-")
        for n in imported - {"__future__", "jax"}
    }
    assert wanted <= pinned
    assert any(ast.unparse(n).startswith("def main(") for n in tree.body)


def test_other_numbers_do_not_agree() -> None:
    assert agree([1.0, [2.0]], [1.0, [2.0000001]])
    assert not agree([1.0], [1.01])
    assert not agree([1.0], [1.0, 2.0])
