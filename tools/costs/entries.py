"""The entries of the cost models, read from their text: nothing of them is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODELS = (
    "traceir.base.cost_model",
    "traceir_numba.cost_model",
    "traceir_numba.cuda.cost_model",
)
MEASURED = re.compile(r"\s*\[(\w+)(, bits)?\]$")


@dataclass(frozen=True)
class Entry:
    """A number that decides by size.

    `unit` is the name of its type, `text` how its value is written, `says` what it
    trades off, `program` what it is measured by; `bits` of results depend on some.
    """

    model: str
    name: str
    unit: str
    text: str
    says: str
    program: str
    bits: bool


def entries() -> dict[str, Entry]:
    """All entries by name, in the order of the models.

    Raises ValueError for one without a docstring, or whose docstring names no program.

    >>> entries()["MATMUL_DEPTH"].unit, entries()["MATMUL_DEPTH"].bits
    ('Elements', True)
    """
    found: dict[str, Entry] = {}
    for model in MODELS:
        for entry in _of(model):
            if entry.name in found:
                raise ValueError(f"{entry.name} stands in two cost models")
            found[entry.name] = entry
    return found


def _of(model: str) -> Iterator[Entry]:
    path = ROOT / f"{model.replace('.', '/')}.py"
    source = path.read_text(encoding="utf-8")
    body = ast.parse(source).body
    for k, node in enumerate(body):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        name, unit = node.target.id, ast.unparse(node.annotation)
        if not name.isupper():
            continue
        after = body[k + 1] if k + 1 < len(body) else None
        match after:
            case ast.Expr(value=ast.Constant(value=str(said))):
                says = " ".join(said.split())
            case _:
                raise ValueError(f"{model}.{name} has no docstring")
        measured = MEASURED.search(says)
        if measured is None:
            raise ValueError(f"{model}.{name} names no program that measures it")
        text = ast.get_source_segment(source, node.value) if node.value else None
        own = MEASURED.sub("", says)
        value, bits = " ".join((text or "").split()), measured[2] is not None
        yield Entry(model, name, unit, value, own, measured[1], bits)
