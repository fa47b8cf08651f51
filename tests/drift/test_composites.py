"""Python decisions of a function that is one equation are about static values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Annotations of what is never an operand.
DECIDING = {"bool", "str", "str | None", "int", "int | None", "DTypeLike", "ShapeLike"}


def lost(tree: ast.AST) -> Iterator[str]:
    """Parameters of composites that would be traced, though Python decides by them."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            if ast.unparse(mark).split("(")[0] != "composite":
                continue
            static = ast.unparse(mark)
            for one in (*node.args.args, *node.args.kwonlyargs):
                says = one.annotation and ast.unparse(one.annotation)
                if says in DECIDING and f"'{one.arg}'" not in static:
                    yield f"{node.name}: {one.arg}"


def test_what_python_decides_by_is_static() -> None:
    files = sorted((ROOT / "traceir").rglob("*.py"))
    found = [f"{path.name} {name}" for path in files for name in lost(_parsed(path))]
    assert found == []


def test_a_lost_parameter_is_told() -> None:
    text = "@composite(static_argnames=['a'])\ndef f(x, a: bool, b: bool = True): ..."
    assert list(lost(ast.parse(text))) == ["f: b"]


def _parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text(encoding="utf-8"))
