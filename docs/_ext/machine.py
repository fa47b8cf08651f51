"""The machine of the cache on a page: its drawing, events, facts and demands."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes

from _ext.drawings.machine_states import machine_svg
from _ext.pieces import code, link, math, raw, sentence, separated, table
from traceir.rules import Rules

Rows = list[list[Sequence[nodes.Node]]]


def machine_nodes(rules: Rules) -> list[nodes.Node]:
    """The drawing and, as tables, what its words stand for."""
    return [
        raw(f'<div class="diagram">{machine_svg(rules)}</div>'),
        _events(rules),
        _facts(rules),
        _demands(rules),
        _impossible(rules),
    ]


def _events(rules: Rules) -> nodes.Node:
    events = rules.machine.events.items()
    rows: Rows = [[[code(name)], sentence(says)] for name, says in events]
    return table(["event", "happens when"], rows, "machine-terms")


def _facts(rules: Rules) -> nodes.Node:
    facts = rules.machine.facts.values()
    rows: Rows = [[[code(f.name)], sentence(f.says), [math(f.holds)]] for f in facts]
    return table(["fact", "holds when", "formula"], rows, "machine-terms")


def _demands(rules: Rules) -> nodes.Node:
    rows: Rows = [
        [[code(d.of)], [math(d.holds)], [link("rule", d.raises)]]
        for d in rules.machine.demands
    ]
    return table(["a call that", "demands", "or raises"], rows, "machine-terms")


def _impossible(rules: Rules) -> nodes.Node:
    rows: Rows = [
        [
            separated(map(code, row.events), ", "),
            separated(map(code, row.sources), ", "),
            sentence(row.says),
        ]
        for row in rules.machine.impossible
    ]
    return table(["does not happen", "when", "because"], rows, "machine-terms")
