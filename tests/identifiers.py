"""Identifiers of the packages, and what a reader sees of functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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


class Module(NamedTuple):
    """A module: its path in the project, what it defines, all names that it binds."""

    path: Path
    definitions: tuple[Definition, ...]
    bound: frozenset[str]


@cache
def modules() -> tuple[Module, ...]:
    """The modules of the packages."""
    paths = (p for top in PACKAGES for p in sorted((ROOT / top).rglob("*.py")))
    return tuple(_module(path) for path in paths)


def definitions() -> Iterator[Definition]:
    """All functions and classes of the packages, in the order of their modules."""
    return (one for module in modules() for one in module.definitions)


def _module(path: Path) -> Module:
    tree, path = ast.parse(path.read_text()), path.relative_to(ROOT)
    parts = path.with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    names = frozenset({*path.with_suffix("").parts, *_bound(tree)})
    return Module(path, tuple(_within(name, tree, "")), names)


def _within(module: str, node: ast.AST, prefix: str) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        own = prefix
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            own = f"{prefix}{child.name}."
            summary = (ast.get_docstring(child) or "").split("\n")[0]
            is_class = isinstance(child, ast.ClassDef)
            yield Definition(module, child.name, own[:-1], summary, is_class)
        yield from _within(module, child, own)


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
