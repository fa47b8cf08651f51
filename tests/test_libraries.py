"""Programs of libraries written for JAX have JAX's numbers beside them.

They run by `make libraries`, where the libraries are; here their records are looked at.
"""

from __future__ import annotations

import ast
import json
import re

import pytest
from libraries.__main__ import ENDED, FOLDER, NUMBERS, PROGRAMS, agree, names

# Distributions that have another name than what is imported.
DISTRIBUTIONS = {"haiku": "dm-haiku"}


def test_each_program_has_numbers() -> None:
    numbers = json.loads(NUMBERS.read_text(encoding="utf-8"))
    assert list(numbers) == names()
    assert set(ENDED) <= numbers.keys()
    assert all(numbers.values())


@pytest.mark.parametrize("name", names())
def test_what_a_program_imports_is_pinned(name: str) -> None:
    text = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([\w.-]+)==", text.lower(), re.MULTILINE))
    assert not {"jax", "jaxlib"} & pinned
    tree = ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    wanted = {DISTRIBUTIONS.get(n, n) for n in imported - {"__future__", "jax"}}
    assert wanted <= pinned
    assert any(ast.unparse(n).startswith("def main(") for n in tree.body)


def test_other_numbers_do_not_agree() -> None:
    assert agree([1.0, [2.0]], [1.0, [2.0000001]])
    assert not agree([1.0], [1.01])
    assert not agree([1.0], [1.0, 2.0])
