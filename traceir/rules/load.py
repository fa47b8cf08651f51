"""TOML tables to checked rules. Serves: every id of every table

The reader of a row (`row_reader`) takes key by key, and a key that nobody asked for is
an error. A formula is parsed once (`formulas.language`), and whatever works with
formulas works on that one tree: it is evaluated, made Python, told in errors, set as
mathematics on the site, and changed by the mutation tests. A machine of the cache in
which an event has no transition, or two, is not loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from traceir.base.flags import spec_path
from traceir.rules import levels, rows
from traceir.rules.applied import SCOPES
from traceir.rules.derivatives import check_templates
from traceir.rules.formulas.names import (
    DECISIONS,
    FORMS,
    KEYS,
    NESTING,
    FormulaNames,
)
from traceir.rules.formulas.table_errors import problem
from traceir.rules.judgements import heads, read_judgements
from traceir.rules.lattice import read_lattice
from traceir.rules.machine import Machine, read_machine
from traceir.rules.primitives import (
    ClausesOnDemand,
    OnDemand,
    read_clause,
    read_primitives,
    resolve_needs,
)
from traceir.rules.row_reader import Chain, RowReader, Tables
from traceir.rules.rules import FILES, PRIMITIVES, Rules

if TYPE_CHECKING:
    from pathlib import Path


def read_tables(path: Path) -> dict[str, Any]:
    """The TOML files of a folder by their stems; RuleTableError (table.file)."""
    import tomllib  # not for tables that are in the store

    tables = {}
    for file in sorted(path.glob("*.toml")):
        try:
            tables[file.stem] = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise problem("table.file", str(file), str(error)) from None
    if not tables:
        raise problem("table.file", str(path), "no tables")
    return tables


def load(
    source: PathLike[str] | str | Tables | None = None,
    *,
    lenient: bool = False,
    checked: bool = False,
    like: Rules | None = None,
) -> Rules:
    """The rules of a folder of tables, or of tables given as a mapping by file stem.

    Without `source`, those of the specification. Raises RuleTableError, naming file,
    row and key, for whatever is not well formed (table.*). When `lenient`, a clause
    may need one that is not there. Of tables that were `checked` before, by loading
    them, each part is read when somebody asks for it, and each primitive. A primitive
    whose rows are the very rows that rules which are `like` these have is taken from
    those.

    >>> row = {"id": "a.b", "class": "TypeError", "says": "No."}
    >>> rules = load({"errors": {"clause": [row]}})
    >>> print(rules.error("a.b", got="yes", where=""))
    No.
      got: yes
      [a.b]
    """
    if source is None:
        source = read_tables(spec_path() / "rules")
    elif isinstance(source, (str, PathLike)):
        from pathlib import Path  # not on the way of an import

        source = read_tables(Path(source))
    if unknown := sorted(set(source) - set(FILES)):
        raise problem("table.file", f"{unknown[0]}.toml", "unknown table")
    loader = _Loader(source, lenient, checked, like)
    return loader.rules_on_demand() if checked else loader.rules()


class _Loader:
    """Reads the tables one by one and gathers the ids of all rows."""

    def __init__(
        self, tables: Tables, lenient: bool, checked: bool, like: Rules | None
    ) -> None:
        self.tables = tables
        self.lenient = lenient
        self.checked = checked
        self.like = like
        self.clauses: dict[str, rows.Clause] = {}

    def table(self, stem: str) -> RowReader:
        table = RowReader(self.tables.get(stem, {}), f"{stem}.toml")
        table.has("fact")  # which are read together, in `facts`
        return table

    def lattice(self) -> rows.Lattice:
        """The lattice; the rows of its table are entered."""
        found, clauses = read_lattice(self.table("lattice"), self.checked)
        self.add_all(clauses, "lattice.toml")
        return found

    def facts(self) -> None:
        """Enter the rows of all tables that are a sentence; a machine's are others."""
        for stem in FILES:
            if stem != "machine":
                for row in self.table(stem).rows("fact"):
                    self.plain(row)

    def rules(self) -> Rules:
        """All tables as one value, checked against each other."""
        lattice = self.lattice()
        accuracy, choices = self.accuracy()
        before = len(self.clauses)
        prims = self.prims(lattice, accuracy)
        self.facts()
        keys, flags = self.cache()
        clauses: Mapping[str, rows.Clause] = self.clauses
        if self.checked:
            clauses = ClausesOnDemand(clauses, prims, before)
        rules = Rules(
            lattice=lattice,
            prims=prims,
            program=self.program(),
            keys=keys,
            flags=flags,
            machine=self.machine(),
            levels=self.levels(),
            accuracy=accuracy,
            choices=choices,
            text=self.forms(),
            decisions=self.decisions(),
            errors=self.errors(),
            clauses=clauses,
            tables=self.tables,
        )
        self.judgements()
        lost = rules.machine.raised - self.clauses.keys()
        if lost and not self.lenient and not self.checked:
            raise problem("table.row", "machine.toml", min(lost), "a row to raise")
        return rules

    def rules_on_demand(self) -> Rules:
        """The same of tables that were checked before: each field read for itself."""
        rules = Rules.on_demand(
            self.tables, {name: partial(self.part, name) for name in PARTS}
        )
        vars(rules)["_fields"]["prims"] = lambda: self.prims(rules.lattice, {})
        return rules

    def part(self, field: str) -> Any:
        """A field of the rules; its rows are no duplicates of what others read."""
        return PARTS[field](_Loader(self.tables, self.lenient, True, None))

    def machine(self) -> Machine:
        """The life of a trace; it is tried out unless it was before."""
        lenient = self.lenient or self.checked
        return read_machine(self.table("machine"), self.plain, lenient)

    def judgements(self) -> None:
        """Enter the rows about judgements, which are read when somebody asks."""
        table = self.table("judgements")
        if self.checked:
            self.add_all(heads(table.data), table.where)
        else:
            read_judgements(table, self.plain)

    def add(self, clause: rows.Clause, where: str) -> rows.Clause:
        """Enter a row under its id; table.duplicate if another one has it."""
        known = self.clauses.get(clause.id)
        # A clause of a class is read again for each primitive of the class.
        if known is not None and (known != clause or not where.startswith("prim")):
            raise problem("table.duplicate", where, clause.id)
        self.clauses[clause.id] = clause
        return clause

    def add_all(self, clauses: Iterable[rows.Clause], where: str) -> None:
        for clause in clauses:
            self.add(clause, where)

    def plain(self, row: RowReader, class_: str = "TypeError") -> rows.Clause:
        """Enter the clause that every row is: an id and a sentence."""
        hint, class_ = row.text("hint", ""), row.class_(class_)
        clause = rows.Clause(
            row.text("id"), row.says(), None, hint, class_, hints=row.hints()
        )
        return self.add(clause, row.where)

    def others(self, table: RowReader, class_: str = "TypeError") -> list[rows.Clause]:
        """The clauses of a table that hold no formula: errors raised by their id."""
        return [self.plain(row, class_) for row in table.rows("clause")]

    def prims(
        self, lattice: rows.Lattice, accuracy: Mapping[str, rows.AccuracySet]
    ) -> Mapping[str, rows.Prim]:
        """The primitives by name; read on demand if the tables were checked before."""
        if self.checked:
            return OnDemand(map(self.table, PRIMITIVES), lattice.constants)
        found: dict[str, rows.Prim] = {}
        options = lattice.constants, self.lenient
        prims = [
            (stem, prim)
            for stem in PRIMITIVES
            for prim in read_primitives(self.table(stem), *options, self.known(stem))
        ]
        for stem, prim in prims:
            where = f"prim.{prim.name} of {stem}.toml"
            if prim.name in found:
                raise problem("table.duplicate", where, prim.name)
            self.add_all(prim.clauses, where)
            unmeasured = prim.accuracy == "ulp" and not prim.ulp
            if accuracy and (unmeasured or prim.accuracy not in accuracy):
                raise problem("table.accuracy", where, prim.accuracy or "none")
            found[prim.name] = prim
        if not self.lenient:
            check_templates(found)
        return found

    def known(self, stem: str) -> Callable[[Chain], rows.Prim | None]:
        """A look-up of the rows of a table that are known already."""
        like = self.like
        # Formulas may name the dtypes of a lattice: another one may have others.
        if like is None or like.tables.get("lattice") != self.tables.get("lattice"):
            return lambda chain: None
        return partial(like.shared, stem)

    def accuracy(self) -> tuple[dict[str, rows.AccuracySet], dict[str, rows.Choice]]:
        """The accuracy sets and the choices."""
        table = self.table("accuracy")
        sets = {}
        for row in table.rows("set"):
            clause = self.plain(row)
            sets[row.text("name")] = rows.AccuracySet(
                clause.id, row.text("name"), clause.says
            )
        choices = {}
        for row in table.rows("choice"):
            clause, allowed = self.plain(row), row.texts("allowed", ...)
            reference, names = row.one_of("reference", allowed), row.texts("sets")
            made = rows.Choice(clause.id, clause.says, allowed, reference, names)
            choices[made.id] = made
            for name in {*names} - sets.keys():
                raise problem("table.accuracy", f"{row.where}: sets", name)
        self.others(table)
        table.done()
        return sets, choices

    def program(self) -> tuple[rows.Clause, ...]:
        """The clauses about equations, in the order in which they need one another."""
        table = self.table("program")
        found: dict[str, rows.Clause] = {}
        ids: dict[str, str] = {}
        for row in table.rows("clause"):
            scope = FormulaNames(SCOPES[row.one_of("at", SCOPES)])
            clause = read_clause(row, scope, "JaxprTypeError", True, SCOPES)
            needs = resolve_needs(clause, ids, "program.toml", self.lenient)
            found[clause.id] = self.add(replace(clause, needs=needs), row.where)
            ids[clause.id] = clause.id
        table.done()
        return tuple(found.values())

    def cache(self) -> tuple[tuple[rows.KeyRow, ...], dict[str, rows.Flag]]:
        """The rows of the cache key, and the flags that key rows may depend on."""
        table = self.table("cache")
        keys = []
        for row in table.rows("key"):
            clause, per = self.plain(row), row.one_of("per", KEYS)
            part = row.formula("part", KEYS[per])
            keys.append(rows.KeyRow(clause.id, per, part, clause.says))
        flags, split = {}, []
        for row in table.rows("flag"):
            clause, name = self.plain(row), row.text("name")
            row.text("field", name)  # which the library reads
            values, key = row.texts("values", ...), row.text("key", "")
            flags[name] = rows.Flag(clause.id, name, values, key, clause.says)
            if key:
                split.append(self.split(key, name, row))
        self.others(table)
        table.done()
        for key_row in keys:
            name = key_row.part.text.removeprefix("call.")
            if name in flags:
                raise problem("table.row", f"cache.toml: {key_row.id}: part", name)
        # The parts of flags come after that of the function.
        return (*keys[:1], *split, *keys[1:]), flags

    def split(self, key: str, flag: str, row: RowReader) -> rows.KeyRow:
        """The row of the key that a flag decides."""
        says = row.text("splits")
        self.add(rows.Clause(key, says), row.where)
        part = KEYS["call"].formula(f"call.{flag}", row.where)
        return rows.KeyRow(key, "call", part, says)

    def levels(self) -> levels.Levels:
        """The rows of questions to values, and of transforms."""
        table = self.table("levels")
        knowledge: tuple[str, ...] = ()
        if table.has("knowledge"):
            row = RowReader(table.get("knowledge", Mapping), "levels.toml: knowledge")
            knowledge = row.texts("order", ...)
            row.done()
        transforms, asks, nesting = {}, {}, {}
        for row in table.rows("transform"):
            clause, name = self.plain(row), row.text("name")
            knows = row.one_of("knows", knowledge)
            how = _handling(row) if row.has("handles") else ()
            transforms[name] = levels.Transform(
                clause.id, name, knows, clause.says, *how
            )
        for row in table.rows("ask"):
            clause, needs = self.plain(row), row.one_of("needs", (*knowledge, "never"))
            action, code = row.text("action"), row.text("code")
            asks[clause.id] = levels.Ask(clause.id, action, code, needs, clause.says)
        for row in table.rows("nesting"):
            clause = self.plain(row)
            keys = ("level", "holds", "knows", "answers", "literal", "runs")
            formulas = (row.maybe(key, NESTING) for key in keys)
            nesting[clause.id] = levels.Nesting(clause.id, clause.says, *formulas)
        self.others(table)
        table.done()
        found = levels.Levels(knowledge, transforms, asks, nesting)
        levels.check_levels(found)
        return found

    def forms(self) -> dict[str, rows.Form]:
        """The forms of program text."""
        table = self.table("text")
        found = {}
        for row in table.rows("form"):
            clause = self.plain(row)
            found[clause.id] = rows.Form(
                clause.id,
                clause.says,
                row.maybe("when", FORMS.get(clause.id, FormulaNames([]))),
                row.text("mark", ""),
                row.text("letters", ""),
                row.get("width", int, 0),
                row.get("indent", int, 0),
            )
        return found

    def decisions(self) -> dict[str, rows.Decision]:
        """The decisions about loops and choices of plain functions."""
        table = self.table("staged")
        found = {}
        for row in table.rows("decision"):
            clause, when = self.plain(row), row.maybe("when", DECISIONS)
            kinds = row.texts("kinds")
            found[clause.id] = rows.Decision(clause.id, clause.says, when, kinds)
        table.done()
        return found

    def errors(self) -> dict[str, rows.Clause]:
        # What reading refuses stands with the other rows about text.
        found = self.others(self.table("text"))
        table = self.table("errors")
        found += self.others(table, class_="")  # each says its own
        table.done()
        return {clause.id: clause for clause in found}


def _handling(row: RowReader) -> tuple[Any, bool]:
    """The operations that a trace handles, and a flag: True if it is kept."""
    return row.one_of("handles", ("all", "own")), row.get("keeps", bool)


# The fields of rules but for the primitives, which need the lattice.
PARTS: dict[str, Callable[[_Loader], Any]] = {
    "lattice": _Loader.lattice,
    "program": _Loader.program,
    "keys": lambda loader: loader.cache()[0],
    "flags": lambda loader: loader.cache()[1],
    "machine": _Loader.machine,
    "levels": _Loader.levels,
    "accuracy": lambda loader: loader.accuracy()[0],
    "choices": lambda loader: loader.accuracy()[1],
    "text": _Loader.forms,
    "decisions": _Loader.decisions,
    "errors": _Loader.errors,
    "clauses": lambda loader: loader.rules().clauses,
}
