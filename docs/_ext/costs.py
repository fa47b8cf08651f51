"""The table of the cost models: their entries, and what was measured of them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tools.costs.entries import ROOT, Entry, entries

MEASURED = ROOT / "tools" / "costs" / "measured.json"


def rows(model: str) -> Iterator[str]:
    """The lines of a list-table of a model's entries."""
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: 30 14 40 16", "")
    yield from ("   * - name", "     - value, unit", "     - trades off", "     - time")
    for entry in entries().values():
        if entry.model == model:
            yield f"   * - ``{entry.name}``"
            yield f"     - ``{value(entry)}``, {entry.unit}"
            yield f"     - {entry.says.replace('`', '``')}{' *(bits)*' * entry.bits}"
            yield f"     - {times(entry)}"


def value(entry: Entry) -> str:
    """The value, unless it is a table of its own."""
    return "table" if entry.text.startswith("{") else entry.text


def times(entry: Entry) -> str:
    """The program, and what half and double of the value take beside it."""
    kept = json.loads(MEASURED.read_text(encoding="utf-8"))
    found = [one["call"] for one in kept.get(entry.name, {}).values()]
    ratios = [f"{call / found[0]:.2f}" for call in found[1:]]
    return f"``{entry.program}``" + (f": {', '.join(ratios)}" if ratios else "")


class Costs(SphinxDirective):
    """`.. costs:: MODEL` shows the entries of a cost model by its module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A table."""
        found = nodes.container()
        lines = StringList(list(rows(self.arguments[0])), self.arguments[0])
        self.state.nested_parse(lines, self.content_offset, found)
        return found.children


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("costs", Costs)
