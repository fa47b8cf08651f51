"""A table of what a value answers under each way of running a function."""

from __future__ import annotations

from docutils import nodes

from _ext.pieces import code, link, separated, table, text
from traceir.rules import Rules


def levels_table(rules: Rules) -> nodes.Node:
    """A row for each question, a column for each step of knowledge."""
    levels = rules.levels
    steps = [
        (step, [t.name for t in levels.transforms.values() if t.knows == step])
        for step in reversed(levels.knowledge)
    ]
    used = [(step, names) for step, names in steps if names]
    head = ["asked of a value", *(f"{step} is known" for step, _ in used)]
    ways: list[list[nodes.Node]] = [
        [text("under")],
        *(separated(map(code, n), ", ") for _, n in used),
    ]
    rows = [ways]
    for ask in levels.asks.values():
        cells: list[list[nodes.Node]] = [
            [text("answered" if levels.permits(step, ask.id) else "refused")]
            for step, _ in used
        ]
        asked: list[nodes.Node] = [code(ask.code), text(" "), link("rule", ask.id)]
        rows.append([asked, *cells])
    return table(head, rows, "levels")
