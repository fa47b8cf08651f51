"""Signatures and docstrings as tables: parameters, errors, examples with full names."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx import addnodes

from _ext.pieces import code, is_rule, link, sentence, text
from traceir.rules import default

Rows = list[tuple[list[nodes.Node], ...]]
# How examples of a module import it, and what they call it; others have its last name.
NAMES = {
    "traceir": ("import traceir as jax", "jax"),
    "traceir.numpy": ("import traceir.numpy as jnp", "jnp"),
    "traceir.numpy.linalg": ("import traceir.numpy as jnp", "jnp.linalg"),
    "traceir.numpy.fft": ("import traceir.numpy as jnp", "jnp.fft"),
    "traceir_numba": ("import traceir_numba", "traceir_numba"),
}
# The types of parameters, as they are written and in words.
WORDS = {
    "Operand": "array or number",
    "DTypeLike": "dtype",
    "ShapeLike": "int or tuple of ints",
    "Key": "key",
    "Axis": "int, tuple of ints or None",
    "AxisName": "name of an axis",
    "PrecisionLike": "precision",
    "Any": "anything",
    "Callable": "function",
    "Sequence": "sequence",
    "Iterable": "iterable",
}
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "by position",
    inspect.Parameter.KEYWORD_ONLY: "by name",
    inspect.Parameter.VAR_POSITIONAL: "any number",
    inspect.Parameter.VAR_KEYWORD: "any number, by name",
}
STARS: dict[object, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
RAISED = re.compile(r"(\w+(?:Error|Warning|Exception))\s+\(([^()]*)\)")
PROMPT = re.compile(r"^( *)(>>>|\.\.\.) ?(.*)$")


def parameters(function: Any) -> Rows:
    """A row for each parameter: its name, its type in words, its default."""
    rows: Rows = []
    for one in taken(function):
        stars = STARS.get(one.kind, "")
        about = [in_words(one.annotation)] if one.annotation is not one.empty else []
        about += [KINDS[one.kind]] if one.kind in KINDS else []
        default: list[nodes.Node] = []
        if one.default is not one.empty:
            default = [text("default "), code(shown(one.default))]
        rows.append(([code(stars + one.name)], [text("; ".join(about))], default))
    return rows


def taken(function: Any) -> list[inspect.Parameter]:
    """The parameters of a function, or of the class that is called to make an object.

    >>> [one.name for one in taken(complex.conjugate)], taken(Exception)
    (['self'], [])
    """
    own = vars(function) if inspect.isclass(function) else {"__init__": None}
    if "__init__" not in own and "__new__" not in own:
        return []
    try:
        return [*inspect.signature(function).parameters.values()]
    except ValueError:
        return []


def shown(value: object) -> str:
    """A default as one writes it.

    >>> shown(None), shown(len)
    ('None', 'len')
    """
    return getattr(value, "__name__", None) or repr(value)


def in_words(annotation: object) -> str:
    """A type in words.

    >>> in_words("int | None"), in_words("Sequence[Operand]")
    ('int or None', 'sequence of array or number')
    """
    words = str(annotation)
    words = re.sub(r"Callable\[.*\]", "function", words)
    words = re.sub(r"(Sequence|Iterable)\[(\w+)\]", r"\1 of \2", words)
    words = re.sub(r"\b[A-Z]\w+\b", lambda m: WORDS.get(m[0], m[0]), words)
    return words.replace(" | ", " or ")


def errors(docstring: str) -> Rows:
    """A row for each rule that a docstring says an exception is raised by."""
    rows: Rows = []
    for exception, ids in RAISED.findall(" ".join(docstring.split())):
        for id in re.findall(r"[\w-]+(?:\.[\w-]+)+", ids):
            if is_rule(id):
                says = default().clauses[id].says
                rows.append(([to_exception(exception)], [link("rule", id)]))
                rows[-1] += (sentence(says),)
    return rows


def to_exception(name: str) -> nodes.Node:
    """The name of an exception, a link where it is one of ours."""
    if not hasattr(import_module("traceir.errors"), name):
        return code(name)
    to = addnodes.pending_xref("", code(name), refdomain="py", reftype="exc")
    to.attributes.update(reftarget=f"traceir.errors.{name}", refexplicit=True)
    return to


def qualified(lines: Sequence[str], name: str) -> list[str]:
    """A docstring whose examples call what is the module's by its full name.

    >>> print(*qualified(["Sine.", ">>> sin(0)", "0"], "traceir.numpy.sin"), sep="|")
    Sine.|>>> import traceir.numpy as jnp|>>> jnp.sin(0)|0
    """
    module = name.rpartition(".")[0]
    head, prefix = importing(module)
    public, own = names_of(module), assigned(lines)
    found: list[str] = []
    block: list[re.Match[str]] = []
    told = head in "\n".join(lines)
    for row in [*lines, ""]:
        match = PROMPT.match(row)
        if block and (match is None or match[2] == ">>>"):
            rows, named = rewritten(block, public - own, prefix)
            if named and not told:
                found.append(f"{block[0][1]}>>> {head}")
                told = True
            found += rows
            block = []
        if match:
            block.append(match)
        else:
            found.append(row)
    return found[:-1]


def importing(module: str) -> tuple[str, str]:
    """The import of a module, and the name that it has then."""
    parent, _, name = module.rpartition(".")
    return NAMES.get(module, (f"from {parent} import {name}", name))


@cache
def names_of(module: str) -> frozenset[str]:
    """The names of a module's own that examples may use."""
    found = import_module(module)
    own = (n for n, v in vars(found).items() if not inspect.ismodule(v) and n[0] != "_")
    return frozenset(getattr(found, "__all__", own))


def assigned(lines: Iterable[str]) -> set[str]:
    """The names that examples bind themselves."""
    rows = (PROMPT.match(row) for row in lines)
    source = "\n".join(match[3] for match in rows if match)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _stored(n)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
    return found


def _stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def rewritten(
    block: Sequence[re.Match[str]], names: frozenset[str], prefix: str
) -> tuple[list[str], bool]:
    """One example's lines with full names, and whether there were any."""
    rows = [match[3] for match in block]
    try:
        tree = ast.parse("\n".join(rows))
    except SyntaxError:
        return [match[0] for match in block], False
    places = sorted(
        (
            (node.lineno - 1, node.col_offset)
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id in names
        ),
        reverse=True,
    )
    for row, column in places:
        line = rows[row].encode()
        rows[row] = (line[:column] + f"{prefix}.".encode() + line[column:]).decode()
    lines = [f"{m[1]}{m[2]} {row}".rstrip() for m, row in zip(block, rows)]
    return lines, bool(places)
