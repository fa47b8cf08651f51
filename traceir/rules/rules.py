"""The tables as one immutable value, and the errors of their clauses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from traceir.base import source_info
from traceir.base.caches import cached_property
from traceir.base.fast_dataclass import dataclass
from traceir.errors import TraceirError, make
from traceir.rules import rows
from traceir.rules.formulas.table_errors import problem
from traceir.rules.hints import hint_at, spelled
from traceir.rules.judgements import Judgements, plain_row, read_judgements
from traceir.rules.levels import Levels
from traceir.rules.machine import Machine
from traceir.rules.row_reader import Chain, RowReader, Tables

# The tables, and those that have rows of primitives.
FILES = (
    *("lattice", "primitives", "program", "cache", "machine", "levels", "accuracy"),
    *("text", "errors", "regions", "effects", "collectives", "staged", "judgements"),
    *("indexing", "windows", "ordering", "algebra"),
    *("complex", "random", "special", "fft"),
)

PRIMITIVES = (
    *("primitives", "regions", "effects", "collectives"),
    *("indexing", "windows", "ordering", "algebra"),
    *("complex", "random", "special", "fft"),
)


@dataclass(frozen=True, eq=False)
class Rules:
    """All rules: whatever is derived from the tables takes one of these.

    `clauses` has every row that has an id and a sentence. Two rules values are equal
    only when they are the same object.
    """

    lattice: rows.Lattice
    prims: Mapping[str, rows.Prim]
    program: tuple[rows.Clause, ...]
    keys: tuple[rows.KeyRow, ...]
    flags: Mapping[str, rows.Flag]
    machine: Machine
    levels: Levels
    accuracy: Mapping[str, rows.AccuracySet]
    choices: Mapping[str, rows.Choice]
    text: Mapping[str, rows.Form]
    decisions: Mapping[str, rows.Decision]
    errors: Mapping[str, rows.Clause]
    clauses: Mapping[str, rows.Clause]
    tables: Tables = field(repr=False)

    @classmethod
    def on_demand(
        cls, tables: Tables, fields: Mapping[str, Callable[[], Any]]
    ) -> Rules:
        """The rules whose other `fields` are read when somebody asks for them."""
        rules = object.__new__(cls)
        vars(rules).update(tables=tables, _fields=fields)
        return rules

    def __getattr__(self, name: str) -> Any:
        """A field that nobody has asked for before."""
        read = vars(self).get("_fields", {}).get(name)
        if read is None:
            kind = type(self).__name__
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")
        # Threads may read it at once; all get what the first one has read.
        return vars(self).setdefault(name, read())

    @cached_property
    def classes(self) -> Mapping[str, Mapping[str, Any]]:
        """The classes of primitives, as the tables have them."""
        return self._written("class")

    @cached_property
    def written(self) -> Mapping[str, Mapping[str, Any]]:
        """The rows of primitives as the tables have them, without their classes."""
        return self._written("prim")

    def _written(self, section: str) -> Mapping[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for stem in PRIMITIVES:
            found |= self.tables.get(stem, {}).get(section, {})
        return found

    @cached_property
    def judgements(self) -> Judgements:
        """The judgements and their rules, read when somebody asks for them.

        RuleTableError where a row is malformed.
        """
        table = RowReader(self.tables.get("judgements", {}), "judgements.toml")
        return read_judgements(table, plain_row)

    @cached_property
    def dtypes(self) -> Mapping[str, rows.DType]:
        """The dtypes that arrays can have, by name."""
        return {n: d for n, d in self.lattice.dtypes.items() if d.stored}

    @cached_property
    def sets(self) -> Mapping[str, frozenset[np.dtype]]:
        """The sets of dtypes that formulas speak of."""
        found = self.lattice.constants
        return {n: v for n, v in found.items() if isinstance(v, frozenset)}

    @cached_property
    def constants(self) -> Mapping[str, Any]:
        """The names of every formula: the dtypes and their sets."""
        return self.lattice.constants

    @cached_property
    def spellings(self) -> Mapping[str, rows.Spelling]:
        """The older spellings of primitives."""
        return {was.name: was for p in self.prims.values() for was in p.was}

    def error(
        self,
        rule: str,
        got: str = "",
        hint: str | None = None,
        where: str | None = None,
    ) -> TraceirError:
        """The error of a clause, at the user's line unless `where` says otherwise.

        RuleTableError (table.row) if no row has that id.
        """
        clause = self.clauses.get(rule)
        if clause is None:
            return problem("table.row", rule, "no such row")
        source = source_info.capture_shown(2)
        if where is None:
            where = source_info.user_frame_summary(source)
        if hint is None:
            hint = hint_at(clause, source)
        return make(clause.class_, rule, clause.says, got, spelled(hint), where)

    def decides(self, rule: str, **known: Any) -> bool:
        """The decision of a row of `staged.toml`, by what is known.

        RuleTableError (table.row) if no row has that id and a formula.

        >>> from traceir.rules import default
        >>> default().decides("staged.choice", known=False)
        True
        """
        row = self.decisions.get(rule)
        if row is None or row.when is None:
            raise problem("table.row", rule, "no such row")
        return bool(row.when(known))

    def form(self, rule: str) -> rows.Form:
        """A row about the text of programs; RuleTableError (table.row) if none."""
        form = self.text.get(rule)
        if form is None:
            raise problem("table.row", rule, "no such row")
        return form

    def shared(self, stem: str, chain: Chain) -> rows.Prim | None:
        """The primitive of a table, if it has been read of these very rows."""
        table = self.tables.get(stem, {})
        classes, prims = table.get("class", {}), table.get("prim", {})
        *above, (name, row) = chain
        if prims.get(name) is not row:
            return None
        return self.prims[name] if all(classes[n] is r for n, r in above) else None
