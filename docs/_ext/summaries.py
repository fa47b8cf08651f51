"""Some primitives in short: of each the type, the element, derivatives and batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from docutils import nodes

from _ext.pieces import code, link, math, separated, table, text
from _ext.views import View, view
from traceir.rules import Rules
from traceir.rules.derivatives import Cases

Cell = list[nodes.Node]
MEANING = ("primitive", "shape", "element")
TRANSFORMED = ("primitive", "tangent", "cotangent", "batched")
# Templates that are longer are shown with their primitive alone.
LONG = 40


def summary(rules: Rules, names: Sequence[str]) -> list[nodes.Node]:
    """Two tables, a line for each primitive: its meaning, and what transforms read."""
    meanings = [_meaning(rules, name) for name in names]
    transformed = [_transformed(rules, name) for name in names]
    return [
        table(MEANING, meanings, "machine-terms", (30, 30, 40)),
        table(TRANSFORMED, transformed, "machine-terms", (22, 30, 36, 12)),
    ]


def _meaning(rules: Rules, name: str) -> Sequence[Cell]:
    row = view(rules, name)
    out = row.out[0] if isinstance(row.out, tuple) else None
    shape: Cell = [math(out.shape)] if out else []
    element: Cell = [math(row.value)] if row.value else []
    own = [p.name for p in row.params if not p.has_default]
    shown = " ".join([f"[{' '.join(own)}]" if own else "", *row.inputs])
    return [link("rule", name), code(shown)], shape, element


def _transformed(rules: Rules, name: str) -> Sequence[Cell]:
    row = view(rules, name)
    batch: Cell = [code(row.batch.rule)] if row.batch else []
    return [link("rule", name)], list(_tangents(row)), list(_cotangents(row)), batch


def _tangents(row: View) -> Iterator[nodes.Node]:
    """The terms of the result's tangent, by the operand whose tangent is in them."""
    found = row.derivative
    if found is None:
        return
    if found.linear:
        yield text("the same, of the tangents")
    yield from _templates({" ".join(k): cases for k, cases in found.jvp.items()})


def _cotangents(row: View) -> Iterator[nodes.Node]:
    """The cotangent of each operand, of that of the result."""
    if row.derivative is not None:
        yield from _templates(row.derivative.transpose)


def _templates(found: Mapping[str, Cases]) -> Iterator[nodes.Node]:
    parts: list[nodes.Node] = []
    for operand, cases in found.items():
        for case in cases:
            template = case.template.text if case.template else "zero"
            shown = code(template) if len(template) <= LONG else text("see its row")
            parts.append(nodes.inline("", "", text(f"{operand}: "), shown))
    yield from separated(parts, "; ")
