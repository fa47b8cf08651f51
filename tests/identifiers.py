"""Functions and classes of the packages, with the first lines of their texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = ("traceir", "traceir_numba")


class Definition(NamedTuple):
    """A function or a class; `path` is its dotted name in the module."""

    module: str
    name: str
    path: str
    summary: str
    is_class: bool


@cache
def files() -> tuple[tuple[Path, ast.Module], ...]:
    """The modules of the packages, by their paths in the project."""
    paths = (p for top in PACKAGES for p in sorted((ROOT / top).rglob("*.py")))
    return tuple((p.relative_to(ROOT), ast.parse(p.read_text())) for p in paths)


@cache
def definitions() -> tuple[Definition, ...]:
    """All functions and classes of the packages, in the order of their modules."""
    found: list[Definition] = []
    for path, tree in files():
        parts = path.with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found += _within(module, tree.body, "")
    return tuple(found)


def _within(module: str, body: Sequence[ast.AST], prefix: str) -> Iterator[Definition]:
    for child in body:
        own = prefix
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            own = f"{prefix}{child.name}."
            text = ast.get_docstring(child) or ""
            yield Definition(
                module,
                child.name,
                own[:-1],
                text.split("\n")[0],
                isinstance(child, ast.ClassDef),
            )
        yield from _within(module, [*ast.iter_child_nodes(child)], own)
