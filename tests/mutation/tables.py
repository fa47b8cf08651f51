"""Mutants of the tables: of each formula, and of each other thing that they say.

A mutant is found by the form of what it changes, not by the table, so that a new table
is mutated without a word here. What is not mutated is what only people read, and ids,
since a row with another id is a row less.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mutation import templates
from mutation.operators import Siblings, after, alike, equations_of, mutants

from traceir.rules.formulas.domains import DOMAINS
from traceir.rules.rules import PRIMITIVES

Path = tuple[str | int, ...]
Tables = Mapping[str, Any]
FORMULAS = frozenset(
    {"holds", "value", "steps", "parse", "default", "part", "level", "when"}
    | {"across", "identity", "dim", "over", "varies"}
)
OUT = frozenset({"shape", "dtype", "weak_type"})
PARTS = frozenset({"let", "each"})
# Keys above the templates of tangents and of cotangents.
DERIVED = frozenset({"jvp", "transpose"})
# Sentences and names.
PROSE = frozenset(
    {"says", "splits", "hint", "id", "name", "short", "form", "tried", "breaks"}
)
# Classes of exceptions, by which a rejection without a rule is judged.
EXCEPTIONS = ("OSError", "TypeError", "ValueError", "IndexError")
# Exemptions from the test of derivatives, which asks that each is needed.
EXEMPTIONS = "singular"
# Lists in which the order says something.
ORDERED = frozenset({"in", "order"})


@dataclass(frozen=True)
class Mutant:
    """A change of the tables: where, what it is, and the row that it belongs to."""

    where: str
    what: str
    row: str
    path: Path
    value: Any = field(compare=False)  # may be a list; `what` tells it
    kind: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"

    @property
    def table(self) -> str:
        """The table's stem."""
        return self.where.partition("/")[0]

    def tables(self, tables: Tables) -> dict[str, Any]:
        """The tables with this change; what is alike is shared with those given."""
        changed = dict(tables)
        holder: Any = changed
        for step in self.path[:-1]:
            holder[step] = copy.copy(holder[step])
            holder = holder[step]
        if self.kind == "delete":
            del holder[self.path[-1]]
        else:
            holder[self.path[-1]] = self.value
        return changed


class Enumeration:
    """All mutants of some tables, in a fixed order."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def mutants(self, stems: Iterable[str] | None = None) -> Iterator[Mutant]:
        """The mutants, of all tables or some; those of a row together."""
        for stem in sorted(self.tables if stems is None else stems):
            yield from self._node(self.tables[stem], (stem,), stem)

    def _node(self, node: Any, path: Path, row: str) -> Iterator[Mutant]:
        pairs = enumerate(node) if isinstance(node, list) else node.items()
        for key, value in pairs:
            at = (*path, key)
            own = _row(at, value, row)
            if _is_prose(at, value):
                continue
            if len(at) > 2:
                yield Mutant(self.name(at), "deleted", own, at, None, "delete")
            if _is_clause(at, value) and "class" not in value:
                where, place = f"{self.name(at)}/class", (*at, "class")
                other = EXCEPTIONS[-1]
                yield Mutant(where, f"+ {other}", own, place, other, "value")
            match value:
                case dict():
                    yield from self._node(value, at, own)
                case list():
                    yield from self._reordered(value, at, own)
                    yield from self._node(value, at, own)
                case _:
                    for other in self._others(value, at):
                        what = other if isinstance(other, str) else repr(other)
                        kind = "formula" if is_formula(at, value) else "value"
                        yield Mutant(self.name(at), what, own, at, other, kind)

    def name(self, path: Path) -> str:
        """A path as text, with the ids of rows in place of their numbers."""
        found = [str(path[0])]
        node = self.tables[str(path[0])]
        for step in path[1:]:
            node = node[step]
            named = isinstance(node, dict) and isinstance(step, int)
            label = (node.get("id") or node.get("name") or step) if named else step
            found.append(str(label))
        return "/".join(found)

    def _reordered(self, items: list[Any], at: Path, row: str) -> Iterator[Mutant]:
        """A list with one thing more, or with two neighbours changing places."""
        if at[-1] == "allowed":
            yield Mutant(
                self.name(at), "+ another", row, at, [*items, "another"], "value"
            )
        if at[-1] in ORDERED:
            for n in range(len(items) - 1):
                swapped = [*items[:n], items[n + 1], items[n], *items[n + 2 :]]
                what = f"{items[n + 1]} before {items[n]}"
                yield Mutant(self.name(at), what, row, at, swapped, "value")

    def _others(self, value: Any, at: Path) -> Iterator[Any]:
        equal = self._equal(at)
        same = ast.unparse(ast.parse(value)) if is_formula(at, value) else value
        own = equations_of(same) if is_formula(at, value) else []
        for other in self._different(value, at):
            if equal and alike(same, equal) == alike(other, equal):
                continue
            # Terms of the formula that are equal where the rest of it counts.
            kept = own and {*own} <= {*equations_of(other)}
            if not kept or alike(same, own) != alike(other, own):
                yield other

    def _equal(self, at: Path) -> list[tuple[str, str]]:
        """Terms that are equal where a formula of a row is asked: its clauses hold.

        Where a clause is asked, those hold that it needs.
        """
        if at[0] not in PRIMITIVES or {*at[3:4]} <= {"let", "params"}:
            return []
        if at[3] == "clause":
            row = _leaf(self.tables, at[:3])["clause"]
            known = {clause["id"]: clause for clause in row}
            needs = [
                known[name] for name in row[at[4]].get("needs", ()) if name in known
            ]
            return [pair for one in needs for pair in equations_of(one["holds"])]
        found = []
        for row in self._chain(*map(str, at[:3])):
            for clause in row.get("clause", ()):
                found += equations_of(clause["holds"])
        return found

    def _different(self, value: Any, at: Path) -> Iterator[Any]:
        if is_formula(at, value):
            yield from mutants(value, self._siblings(at))
        elif is_template(at, value):
            names = [*self._inputs(at), *_given(at)]
            unary, siblings = self._unary, self._siblings(at)
            yield from templates.mutants(value, siblings, unary, names)
        elif isinstance(value, bool):
            yield not value
        elif isinstance(value, int):
            loose = "ulp" in at
            yield from (0, value * 1000) if loose else (value - 1, value + 1)
        elif isinstance(value, str):
            yield from self._texts(value, at)

    def _texts(self, value: str, at: Path) -> Iterator[str]:
        """Another word that stands in the same place elsewhere, another number."""
        if at[-1] in ("min", "max"):
            read = float.fromhex if "0x" in value else int
            number = read(value)
            nearer = number / 2 if isinstance(number, float) else number - 1
            further = number * 2 if isinstance(number, float) else number + 1
            for other in (nearer, further):
                yield other.hex() if isinstance(other, float) else str(other)
            return
        if is_exception(at):
            known = value.split(", ")
            yield next(name for name in EXCEPTIONS[::-1] if name not in known)
            for name in known if len(known) > 1 else ():
                yield ", ".join(n for n in known if n != name)
            return
        if at[-1] == "letters":
            yield value[1:]
            yield value[::-1]
            return
        words = self._words[_place(at)]
        known = sorted({value, *(w for w in words if _says_more(w, value))})
        yield from dict.fromkeys(
            other for w in (known, known[::-1]) if (other := _next(value, w)) != value
        )

    @cached_property
    def _words(self) -> Mapping[Path, set[str]]:
        """The words in each kind of place, and what the language offers there."""
        found: dict[Path, set[str]] = defaultdict(set)
        for at, value in leaves(self.tables):
            if isinstance(value, str) and not is_formula(at, value):
                found[_place(at)].add(value)
        found[("primitives", "domain")] |= {*DOMAINS}
        return found

    def _siblings(self, at: Path) -> Siblings:
        stem = str(at[0])
        words, attributes = self._vocabulary[stem]
        groups = list(self._row_names(at))
        groups.append(sorted(self.tables.get("lattice", {}).get("set", {})))
        names: dict[str, tuple[str, ...]] = {}
        for group in groups:
            for name in group:
                rest = [n for n in group if n != name]
                names[name] = names.get(name, ()) + tuple(rest[:3])
        return Siblings(names, tuple(sorted(attributes)), tuple(sorted(words)))

    @cached_property
    def _vocabulary(self) -> Mapping[str, tuple[set[str], set[str]]]:
        """The quoted words and the attributes in the formulas of each table."""
        found: dict[str, tuple[set[str], set[str]]] = defaultdict(
            lambda: (set(), set())
        )
        for at, value in leaves(self.tables):
            if is_formula(at, value):
                for node in ast.walk(ast.parse(value, mode="eval")):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        found[str(at[0])][0].add(node.value)
                    if isinstance(node, ast.Attribute):
                        found[str(at[0])][1].add(node.attr)
        return found

    def _row_names(self, at: Path) -> Iterator[list[str]]:
        """Names of one kind that a formula may confuse: operands, lets, params."""
        if at[0] not in PRIMITIVES:
            yield sorted(_names(_leaf(self.tables, at)))
            return
        chain = list(self._chain(*map(str, at[:3])))
        yield self._inputs(at)
        for part in ("let", "each"):
            yield [name for row in chain for name in row.get(part, {})]
        domains: dict[str, list[str]] = defaultdict(list)
        for row in chain:
            for name, param in row.get("params", {}).items():
                domains[param["domain"].removeprefix("maybe_")].append(name)
        yield from domains.values()

    def _inputs(self, at: Path) -> list[str]:
        """The names of the operands of the row that something belongs to."""
        chain = self._chain(*map(str, at[:3]))
        inputs = next((row["in"] for row in chain if "in" in row), [])
        return [n.removeprefix("*") for n in inputs]

    @cached_property
    def _unary(self) -> list[str]:
        """The real functions and their like, of one operand and without params."""
        rows = self.tables.get("primitives", {}).get("prim", {})
        known = ("real", "real_accuracy", "pointwise1")
        named = {n for n, row in rows.items() if row.get("class") in known}
        return sorted(n for n in named if "params" not in rows[n])

    def _chain(self, stem: str, section: str, name: str) -> Iterator[Mapping[str, Any]]:
        """A row and its classes, the most special first."""
        row = self.tables[stem][section][name]
        yield row
        if "class" in row:
            yield from self._chain(stem, "class", row["class"])


def _is_clause(at: Path, value: Any) -> bool:
    """True if a value is a row that is raised."""
    return isinstance(value, dict) and at[-2] == "clause" and "id" in value


def is_formula(at: Path, value: Any) -> bool:
    """True if a value of the tables is a formula, by where it stands."""
    if not isinstance(value, str):
        return False
    key, above = at[-1], at[-2] if len(at) > 1 else ""
    if above in PARTS or (key == "out" and at[0] in PRIMITIVES):
        return True
    if above == "params" and "batch" in at:
        return True
    return key in FORMULAS or (key in OUT and "out" in at)


def _given(at: Path) -> Sequence[str]:
    """The names that a template reads besides operands."""
    return () if "batch" in at else "t" if "jvp" in at else ("ct",)


def is_template(at: Path, value: Any) -> bool:
    """True if a value of the tables is a template of a derivative or of a batch."""
    above = {*at[3:-1]} & DERIVED or ("batch" in at and "is" in at)
    return isinstance(value, str) and bool(above) and at[-1] != "when"


def _says_more(domain: str, than: str) -> bool:
    """True if another word says something else: domains may differ in name alone, and
    there is no text in which a param of the domain `none` has a pair of precisions.
    """
    if {domain, than} == {"none", "precision"}:
        return False
    found = DOMAINS.get(domain)
    return found is None or found is not DOMAINS.get(than)


def _is_prose(at: Path, value: Any) -> bool:
    """True if only people read a value, or a test of its own asks for it."""
    if at[-1] == EXEMPTIONS or "hints" in at:
        return True
    return at[-1] in PROSE and not isinstance(value, dict | list)


def is_exception(at: Path) -> bool:
    """True if a value is the class of exception by which a row is raised.

    Rows of primitives name the class of rows that they belong to by the same key.
    """
    if at[-1] != "class" or len(at) < 3:
        return False
    return at[0] not in PRIMITIVES or "clause" in at


def of_an_exception(mutant: Mutant) -> bool:
    """True if a mutant says another class of exception."""
    return is_exception(mutant.path)


def leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values in tables that hold no others, and where they stand."""
    if isinstance(node, Mapping | list):
        pairs = enumerate(node) if isinstance(node, list) else node.items()
        for key, value in pairs:
            yield from leaves(value, (*path, key))
    else:
        yield path, node


def _leaf(tables: Tables, at: Path) -> Any:
    node: Any = tables
    for step in at:
        node = node[step]
    return node


def _names(text: str) -> set[str]:
    """The names that a formula reads, without those that it calls."""
    tree = ast.parse(text, mode="eval")
    called = {n.func for n in ast.walk(tree) if isinstance(n, ast.Call)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in called}


def _place(at: Path) -> Path:
    """The kind of place that a word stands in: its table and its key."""
    keys = [step for step in at if isinstance(step, str)]
    if "edges" in keys:
        return (keys[0], "edges")
    return (keys[0], keys[-1])


def _next(item: str, items: list[str]) -> str:
    return items[(items.index(item) + 1) % len(items)]


def _row(at: Path, value: Any, row: str) -> str:
    """The id or name of the row that something in the tables belongs to."""
    if isinstance(value, dict):
        if isinstance(at[-1], int) and "id" in value:
            return str(value["id"]) if at[0] not in PRIMITIVES else row
        if len(at) == 3 and isinstance(at[-1], str):
            return at[-1]
    return row


__all__ = ["Enumeration", "Mutant", "after", "is_formula", "leaves"]
