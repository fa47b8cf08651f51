"""Reference kernels as source in generated modules.

The parts of a kernel are found in its code, so a module that calls one still runs with
NumPy (and SciPy, where the kernel needs it) alone.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from functools import cache
from textwrap import dedent
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from traceir.base.python_parser import parse_module
from traceir.reference.kernels import KERNELS

OWN = "traceir"


def reference_name(primitive: str) -> str:
    """The name under which a program's function calls a kernel of the reference.

    >>> reference_name("sort")
    'evaluate_sort'
    """
    return f"evaluate_{re.sub(r'[^a-z0-9]', '_', primitive)}"


def argument_text(value: Any) -> str:
    """A param as it stands in a call.

    Raises TypeError for what has no such text.

    >>> argument_text((1, None, "low")), argument_text(np.dtype("float32"))
    ("(1, None, 'low')", 'FLOAT32')
    """
    match value:
        case np.dtype():
            return value.name.upper()
        case tuple():
            inner = ", ".join(map(argument_text, value))
            return f"({inner}{',' if len(value) == 1 else ''})"
        case None | bool() | int() | float() | str():
            return repr(value)
    raise TypeError(f"a param that is a {type(value).__name__} has no text")


def reference_source(primitives: Iterable[str]) -> list[str]:
    """The texts of kernels' parts: imports, functions, and their names."""
    imports: dict[str, None] = {}
    parts: dict[str, None] = {}
    for primitive in primitives:
        lines, functions = _closure(primitive)
        imports.update(dict.fromkeys(lines))
        parts.update(dict.fromkeys(functions))
        name = KERNELS[primitive].__name__
        parts[f"{reference_name(primitive)} = evaluated({name})"] = None
    return ["\n".join(imports), *parts] if imports else [*parts]


@cache
def _closure(primitive: str) -> tuple[list[str], list[str]]:
    """The imports and definitions of one kernel, each after those that it needs."""
    imports: dict[str, None] = {}
    found: dict[str, str] = {}

    def visit(name: str, value: Any) -> None:
        """Enter a name's definition, after those that it needs."""
        if name in found:
            return
        line = _import(name, value)
        if line is not None:
            imports[line] = None
            return
        found[name] = ""  # which calls of itself find
        # What remembers results of a function is that function.
        value = inspect.unwrap(value) if callable(value) else value
        if isinstance(value, FunctionType):
            for other, used in _globals(value):
                visit(other, used)
        text = found.pop(name) or _definition(name, value)
        found[name] = text

    function = KERNELS[primitive]
    visit(function.__name__, inspect.unwrap(function))
    return list(imports), list(found.values())


def _import(name: str, value: Any) -> str | None:
    """The line that gives a name that is of another library."""
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        if parent and last == name:
            return f"from {parent} import {name}"
        renamed = "" if value.__name__ == name else f" as {name}"
        return f"import {value.__name__}{renamed}"
    module = getattr(value, "__module__", None)
    known = isinstance(module, str) and not module.startswith(OWN)
    own = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if known and own:
        renamed = "" if own == name else f" as {name}"
        return f"from {module} import {own}{renamed}"
    return None


def _globals(function: FunctionType) -> list[tuple[str, Any]]:
    """The names of its module that a function reads, its inner functions included."""

    def names(code: CodeType) -> Iterable[str]:
        yield from code.co_names
        for const in code.co_consts:
            if isinstance(const, CodeType):
                yield from names(const)

    space = function.__globals__
    read = dict.fromkeys(names(function.__code__))
    found = [(name, space[name]) for name in read if name in space]
    for own in [vars(value) for _, value in found if _is_own(value)]:
        found += [(name, own[name]) for name in read if name in own]
    return [(name, value) for name, value in found if not _is_own(value)]


def _is_own(value: Any) -> bool:
    """True for a module of the reference: its names stand for themselves."""
    return isinstance(value, ModuleType) and value.__name__.startswith(OWN)


class _Unqualified(ast.NodeTransformer):
    """The text of a function, without modules of the reference before names."""

    def __init__(self, function: FunctionType) -> None:
        self._space = function.__globals__

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """The attribute of a module as a name."""
        self.generic_visit(node)
        left = node.value
        own = isinstance(left, ast.Name) and _is_own(self._space.get(left.id))
        return ast.Name(node.attr, node.ctx) if own else node


def _definition(name: str, value: Any) -> str:
    """The text that defines a function, a class or a constant of the reference's."""
    if not isinstance(value, FunctionType | type):
        return f"{name} = {value!r}"
    tree = parse_module(dedent(inspect.getsource(value)))
    if isinstance(value, FunctionType):
        _Unqualified(value).visit(tree)
    (top,) = tree.body
    assert isinstance(top, ast.FunctionDef | ast.ClassDef)
    if isinstance(top, ast.FunctionDef):
        top.decorator_list = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)
