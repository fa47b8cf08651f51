"""`traceir spec`: a rule or a primitive as the tables have it."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from traceir import rules

_HEADER = re.compile(r"^(?=\[)", re.MULTILINE)


def command(arguments: Sequence[str], prog: str) -> int:
    """Print rows of the tables; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog,
        description="Print rules and primitives as the tables of the specification have"
        " them, or count what there is.",
    )
    text = "a rule, as errors name them ([index.bounds]), a primitive, or index.*"
    parser.add_argument("names", nargs="*", metavar="NAME", help=text)
    names = parser.parse_args(arguments).names
    if not names:
        print(summary())
        return 0
    for name in names:
        found = shown(name.strip("[]"))
        if not found:
            near = difflib.get_close_matches(name, _names(), 3)
            hint = f"; is it {', '.join(near)}?" if near else ""
            print(f"{prog}: no rule is named {name!r}{hint}", file=sys.stderr)
            return 1
        print(found)
    return 0


def summary() -> str:
    """The number of rows, and where they are."""
    tables = rules.default()
    files = sorted(rules.spec_path().glob("rules/*.toml"))
    return (
        f"{len(tables.clauses):,} rules and {len(tables.prims):,} primitives in "
        f"{len(files)} tables:\n  {rules.spec_path() / 'rules'}\n"
        "`spec NAME` prints one, `spec 'index.*'` those of a name with a line each."
    )


def shown(name: str) -> str:
    """The row of a name as its table has it, or a line for each name of a pattern.

    >>> print(shown("jit.callable"))
    # rules/errors.toml
    [[clause]]
    id = "jit.callable"
    ...
    """
    clauses = rules.default().clauses
    if any(sign in name for sign in "*?"):
        rows = [f"{i}: {c.says}" for i, c in clauses.items() if fnmatchcase(i, name)]
        return "\n".join(sorted(rows))
    found = "\n\n".join(_rows(name))
    clause = clauses.get(name)
    if found or clause is None:
        return found
    return f"{name}: {clause.says}"  # of a row that is written in another form


def _names() -> list[str]:
    tables = rules.default()
    return [*tables.clauses, *tables.prims]


def _rows(name: str) -> Iterator[str]:
    """The parts of the tables that define a name, under the file's."""
    first = re.escape(name.partition(".")[0])
    row = re.compile(rf"\[+prim\.{re.escape(name)}(\.[\w.]+)?\]+\n")
    # The clauses of a primitive, or of a class, are named after it.
    of_row = re.compile(rf"\[\[(?:prim|class)\.{first}\.\w+\]\]")
    part = f'id = "{name.partition(".")[2]}"'
    own = re.compile(rf'\b(?:id|key) = "{re.escape(name)}"')
    for path in sorted(rules.spec_path().glob("rules/*.toml")):
        blocks = _HEADER.split(path.read_text(encoding="utf-8"))
        found = [
            re.sub(r"(\n#[^\n]*|\s)*\Z", "", block)
            for block in blocks
            if row.match(block)
            or own.search(block)
            or (part in block and of_row.match(block))
        ]
        if found:
            yield f"# rules/{path.name}\n" + "\n\n".join(found)
