"""Rules less one row: what a test has to notice. Serves: every id of every table"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from traceir.rules import Rules, default, load
from traceir.rules.formulas.table_errors import problem


def without(rule: str, rules: Rules | None = None) -> Rules:
    """The same rules less one row: a clause, a key row, a level, a primitive.

    RuleTableError (table.row) if there is no such row, or whatever loading finds
    wrong with the tables that are left.
    """
    rules = rules or default()
    tables = {stem: _drop(table, rule) for stem, table in rules.tables.items()}
    if tables == rules.tables:
        raise problem("table.row", rule, "no such row")
    return load(tables, lenient=True, like=rules)


def _drop(table: Mapping[str, Any], rule: str) -> dict[str, Any]:
    """The table without the row of that id."""
    found: dict[str, Any] = {}
    for section, rows in table.items():
        if isinstance(rows, list):
            kept = [r for r in rows if r.get("id") != rule]
            found[section] = [_unsplit(r) if r.get("key") == rule else r for r in kept]
        elif section in ("class", "prim"):
            found[section] = dict(_drop_clause(rows, rule))
        else:
            found[section] = rows
    return found


def _unsplit(row: Mapping[str, Any]) -> dict[str, Any]:
    """A flag without its row of the key."""
    return {name: value for name, value in row.items() if name not in ("key", "splits")}


def _drop_clause(
    rows: Mapping[str, Any], rule: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, row in rows.items():
        if name == rule:
            continue
        clauses = row.get("clause", [])
        kept = [c for c in clauses if f"{name}.{c['id']}" != rule]
        yield name, row if len(kept) == len(clauses) else {**row, "clause": kept}
