"""A row of any other table on its page: sentence, formulas, what else it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from docutils import nodes

from _ext.cited import citations
from _ext.judgements import judgement_fields
from _ext.pieces import box, code, line, math, permalink, sentence, text
from _ext.primitives import clause_body
from traceir.errors import RuleTableError
from traceir.rules import Formula, Rules, default, parse

# The keys of rows whose texts are formulas.
FORMULAS = frozenset({"holds", "level", "part", "when", "knows", "answers"})
# What a line of a table of rows tells in cells of its own, or not at all.
TOLD = frozenset({"id", "name", "says", "hint", "hints"})
# What a clause shows of itself.
SHOWN = frozenset({"id", "says", "hint", "class", "needs"})


def clause(rules: Rules, id: str) -> list[nodes.Node]:
    """All that is shown of a row that is no primitive's."""
    row = rules.clauses[id]
    table, data = place(rules, id)
    # Other rows have a class because every row has one; nothing violates them.
    raises = "class" in data or table == "program"
    judged = table == "judgements"
    fields = judgement_fields(rules, id) if judged else list(_fields(data))
    shown = [box("fields", *fields)] if fields else []
    parts = [*clause_body(row, raises), *shown, *citations(id)]
    return [box("rule", *parts, id=id)]


def row_table(rules: Rules, table: str, section: str) -> nodes.Node:
    """All rows of a section of a table, one a line: their keys, sentences and cases."""
    rows = rules.tables[table][section]
    keys = [k for k in dict.fromkeys(k for row in rows for k in row) if k not in TOLD]
    group = nodes.tgroup("", cols=len(keys) + 2)
    widths = 16, *(9 for _ in keys), 48
    group += [nodes.colspec("", colwidth=width) for width in widths]
    head = (nodes.entry("", line("word", text(word))) for word in ("", *keys, "rule"))
    body = (_line(row, keys) for row in rows)
    group += [nodes.thead("", nodes.row("", *head)), nodes.tbody("", *body)]
    return box("rule-table", nodes.table("", group, classes=["colwidths-given"]))


def _line(row: Mapping[str, Any], keys: Sequence[str]) -> nodes.row:
    """The cells of a row: its place, the values of keys, its sentence and cases."""
    id = row["id"]
    values = (_shown(row.get(key)) for key in keys)
    name = line("rule-head", code(row["name"]), permalink(id, "rule"))
    says = line("says", *sentence(row["says"]))
    return nodes.row(
        "",
        nodes.entry("", box("row", name, id=id)),
        *(nodes.entry("", line("word", text(value))) for value in values),
        nodes.entry("", says, *citations(id)),
    )


def _shown(value: object) -> str:
    """A value of a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if value is not None else ""


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
        if key == "hints":
            yield from map(_hint, value)
        elif key in FORMULAS and (formula := _formula(value)) is not None:
            yield box("field", line("word", text(key)), box("equation", math(formula)))
        else:
            items = value if isinstance(value, list) else [value]
            shown: list[nodes.Node] = []
            for item in items:
                shown += [text(" "), code(str(item))]
            yield box("field", line("word", text(key), *shown))


def _hint(data: Mapping[str, str]) -> nodes.Node:
    """A hint, and the face, line or code for which it is another than the usual one."""
    places: list[nodes.Node] = []
    for key, value in data.items():
        if key != "hint":
            joined = text(" and " if places else " for the ")
            places += [joined, text(f"{key} "), code(value)]
    parts = text("hint"), *places, text(": "), *sentence(data["hint"])
    return box("field", line("word", *parts))


def _formula(words: object) -> Formula | None:
    """The formula of a text; a step of knowledge is a name and no formula."""
    if words in default().levels.knowledge:
        return None
    try:
        return parse(str(words))
    except RuleTableError:
        return None
