"""A row of any other table on its page: sentence, formulas, what else it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docutils import nodes

from _ext.cited import citations
from _ext.pieces import box, code, line, math, text
from _ext.primitives import clause_body
from traceir.errors import RuleTableError
from traceir.rules import Formula, Rules, default, parse

# The keys of rows whose texts are formulas.
FORMULAS = frozenset({"holds", "level", "part", "when", "knows", "answers"})
# What a clause shows of itself.
SHOWN = frozenset({"id", "says", "hint", "class", "needs"})


def clause(rules: Rules, id: str) -> list[nodes.Node]:
    """All that is shown of a row that is no primitive's."""
    row = rules.clauses[id]
    table, data = place(rules, id)
    # Other rows have a class because every row has one; nothing violates them.
    raises = "class" in data or table == "program"
    fields = list(_fields(data))
    shown = [box("fields", *fields)] if fields else []
    parts = [*clause_body(row, raises), *shown, *citations(id)]
    return [box("rule", *parts, id=id)]


def place(rules: Rules, id: str) -> tuple[str, Mapping[str, Any]]:
    """The table of a row, and the row as it is written."""
    for table, sections in rules.tables.items():
        for rows in sections.values():
            if isinstance(rows, list):
                for row in rows:
                    if row.get("id") == id:
                        return table, row
                    if row.get("key") == id:  # a part of the key that a flag decides
                        return table, {"per": "call", "part": f"call.{row['name']}"}
    raise LookupError(id)


def _fields(data: Mapping[str, Any]) -> Iterator[nodes.Node]:
    for key, value in data.items():
        if key in SHOWN or key == "edges":
            continue
        if key in FORMULAS and (formula := _formula(value)) is not None:
            yield box("field", line("word", text(key)), box("equation", math(formula)))
        else:
            items = value if isinstance(value, list) else [value]
            shown: list[nodes.Node] = []
            for item in items:
                shown += [text(" "), code(str(item))]
            yield box("field", line("word", text(key), *shown))


def _formula(words: object) -> Formula | None:
    """The formula of a text; a step of knowledge is a name and no formula."""
    if words in default().levels.knowledge:
        return None
    try:
        return parse(str(words))
    except RuleTableError:
        return None
