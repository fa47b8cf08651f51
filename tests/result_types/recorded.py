"""JAX's results, as a file: tables by kinds of operands, for many calls.

Calls with one table stand above it. A row has what was given, and the kinds of operands
for which it was: `f32 f16 | i8 i32` are the kinds of one operand and those of the next
that it meets. Several such products are divided by `;`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from recorded import Record

from result_types.calls import Kinds

TYPES = Record("result-types.txt.xz")
MISUSE = Record("misuse.txt.xz")
DIFFERENCES = Record("result-differences.txt")
Table = dict[Kinds, str]


def written(tables: Mapping[str, Table]) -> str:
    """The text of tables by the names of what they are of."""
    alike: dict[str, list[str]] = {}
    for name, table in tables.items():
        by_result: dict[str, list[Kinds]] = {}
        for kinds, result in table.items():
            by_result.setdefault(result, []).append(kinds)
        rows = (f"    {text} <- {_products(ks)}" for text, ks in by_result.items())
        alike.setdefault("\n".join(rows), []).append(name)
    return "\n".join("\n".join((*names, rows)) for rows, names in alike.items()) + "\n"


def _products(kinds: list[Kinds]) -> str:
    """Kinds as products of sets."""
    if len(kinds[0]) < 2:
        return " ".join(k for one in kinds for k in one)
    lasts: dict[Kinds, list[str]] = {}
    for *before, last in kinds:
        lasts.setdefault(tuple(before), []).append(last)
    befores: dict[tuple[str, ...], list[Kinds]] = {}
    for before, several in lasts.items():
        befores.setdefault(tuple(several), []).append(before)
    return "; ".join(
        f"{' '.join(map(','.join, before))} | {' '.join(several)}"
        for several, before in befores.items()
    )


def read(record: Record) -> dict[str, Table]:
    """The tables of a file."""
    found: dict[str, Table] = {}
    table: Table = {}
    for row in record.read_text().splitlines():
        if row.startswith(" "):
            result, _, kinds = row.strip().partition(" <-")
            table.update(dict.fromkeys(_kinds(kinds), result))
            continue
        table = {} if table else table
        found[row] = table
    return found


def _kinds(text: str) -> Iterator[Kinds]:
    for part in text.split(";"):
        before, _, last = part.rpartition("|")
        if before:
            for one, two in product(before.split(), last.split()):
                yield (*one.split(","), two)
        elif last.split():
            yield from ((kind,) for kind in last.split())
        else:
            yield ()
