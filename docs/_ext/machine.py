"""The machine of the cache on a page: its drawing, events, facts and demands."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes

from _ext.drawings.machine_states import machine_svg
from _ext.pieces import code, drawing, link, math, sentence, separated, table
from traceir.rules import Rules

Rows = list[list[Sequence[nodes.Node]]]


def machine_nodes(rules: Rules) -> list[nodes.Node]:
    """The drawing and, as tables, what its words stand for."""
    return [
        drawing(machine_svg(rules)),
        _variables(rules),
        _states(rules),
        _events(rules),
        _facts(rules),
        _effects(rules),
        _demands(rules),
        _impossible(rules),
    ]


def _variables(rules: Rules) -> nodes.Node:
    found = rules.machine.variables.values()
    rows: Rows = [[[code(v.name)], sentence(v.says), [math(v.start)]] for v in found]
    return table(["variable", "says that or lists", "at first"], rows, "machine-terms")


def _states(rules: Rules) -> nodes.Node:
    found = rules.machine.states.values()
    rows: Rows = [[[code(s.name)], [math(s.holds)]] for s in found]
    return table(["what is found", "is the first of these"], rows, "machine-terms")


def _effects(rules: Rules) -> nodes.Node:
    found = rules.machine.effects.values()
    rows: Rows = [
        [[code(e.name)], sentence(e.says), [code(e.sets)], [math(e.to)]] for e in found
    ]
    head = ["effect", "means that", "sets", "to"]
    return table(head, rows, "machine-terms")


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
