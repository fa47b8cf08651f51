"""`primitives.toml`: the rows of primitives and classes.

Serves: every primitive's row
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from traceir.rules.batching import read_batch
from traceir.rules.derivatives import read_derivative
from traceir.rules.formulas.domains import DOMAINS
from traceir.rules.formulas.language import Formula
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.table_errors import problem
from traceir.rules.row_reader import Chain, RowReader
from traceir.rules.rows import Clause, Out, Param, Prim, Relation, Singular, Spelling

MERGED = ("params", "let", "each", "ulp")
MEANINGS = ("value", "means", "steps", "post")
DERIVATIVES = ("derivative", "jvp", "linear")
# What becomes of keys: they are used up; the first operand's are passed on, or some of
# them, which are used up; nothing.
KEYS = ("used", "passed", "parted", "seen")
# What relations see of the dtype of the first floating operand: half a unit in the last
# place of 1, and the least normal number.
ROUNDING = ("u", "tiny")
# What a formula may call or read besides the row's own names.
STEP_CALLS = ("run", "again", "fold", "lanes", "on_devices", "host", "refuse")


def read_primitives(
    table: RowReader,
    constants: Mapping[str, Any],
    lenient: bool = False,
    known: Callable[[Chain], Prim | None] = lambda chain: None,
) -> Iterator[Prim]:
    """The primitives of a table; RuleTableError if a row is malformed.

    When `lenient`, a clause may need one that has been taken out of the table. Rows
    that are `known` are not read again.
    """
    classes = {name: row.data for name, row in table.tables("class")}
    prims = list(table.tables("prim"))
    table.done()
    if clash := classes.keys() & {name for name, _ in prims}:
        raise problem("table.duplicate", table.where, ", ".join(sorted(clash)))
    for name, row in prims:
        chain = _chain(name, row, classes)
        yield known(chain) or _prim(name, row.where, chain, constants, lenient)


class OnDemand(Mapping[str, Prim]):
    """The primitives of some tables, each read when somebody asks for it.

    Faults that only show when rows are compared have been looked for before.
    """

    def __init__(
        self, tables: Iterable[RowReader], constants: Mapping[str, Any]
    ) -> None:
        self._constants = constants
        self._rows: dict[str, tuple[RowReader, Mapping[str, Any]]] = {}
        self._read: dict[str, Prim] = {}
        for table in tables:
            classes = {name: row.data for name, row in table.tables("class")}
            prims = table.tables("prim")
            self._rows.update({name: (row, classes) for name, row in prims})

    def __getitem__(self, name: str) -> Prim:
        found = self._read.get(name)
        if found is None:
            row, classes = self._rows[name]
            chain = _chain(name, row, classes)
            found = _prim(name, row.where, chain, self._constants, False)
            found = self._read.setdefault(name, found)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows


class ClausesOnDemand(Mapping[str, Clause]):
    """Clauses by their ids: those that are `known`, and those of primitives.

    So many stand `before` those of primitives.
    """

    def __init__(
        self, known: Mapping[str, Clause], prims: Mapping[str, Prim], before: int
    ) -> None:
        self._known = known
        self._prims = prims
        self._before = before

    def __getitem__(self, rule: str) -> Clause:
        found = self._known.get(rule)
        if found is not None:
            return found
        name = rule.partition(".")[0]
        prims = self._prims
        if name in prims:
            for clause in prims[name].clauses:
                if clause.id == rule:
                    return clause
        # A clause of a class, which may have a primitive's name, is in any row of it.
        for clause in (clause for prim in prims.values() for clause in prim.clauses):
            if clause.id == rule:
                return clause
        raise KeyError(rule)

    def __iter__(self) -> Iterator[str]:
        every = (clause.id for p in self._prims.values() for clause in p.clauses)
        known = list(self._known)
        first, rest = known[: self._before], known[self._before :]
        yield from dict.fromkeys((*first, *every, *rest))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _chain(name: str, row: RowReader, classes: Mapping[str, Any]) -> Chain:
    """The row and its classes, the most general first."""
    chain = [(name, row.data)]
    while (parent := chain[0][1].get("class")) is not None:
        if parent not in classes or parent in (n for n, _ in chain):
            raise problem("table.class", f"{row.where}: class", str(parent))
        chain.insert(0, (parent, classes[parent]))
    return chain


def _merged(chain: Chain) -> dict[str, Any]:
    """The rows of the chain as one; the more special row wins."""
    merged: dict[str, Any] = {}
    for _, data in chain:
        for one_of in (MEANINGS, DERIVATIVES):
            if any(key in data for key in one_of):
                merged = {k: v for k, v in merged.items() if k not in one_of}
        for key, value in data.items():
            if key in MERGED and isinstance(value, Mapping):
                value = {**merged.get(key, {}), **value}
            if key not in ("clause", "class"):
                merged[key] = value
    return merged


def _prim(
    name: str, where: str, chain: Chain, constants: Mapping[str, Any], lenient: bool
) -> Prim:
    """One primitive's row as data, its formulas parsed and their names checked."""
    row, base = RowReader(_merged(chain), where), FormulaNames(constants)
    inputs, variadic = _inputs(row)
    params = tuple(_params(row, constants, inputs))
    scope = base.plus(*inputs, *(p.name for p in params))
    let, scope = _parts(row, "let", scope)
    # A region has no elements of its own; what `each` names are parts of its steps.
    calls = STEP_CALLS if row.has("steps") else ()
    results = row.texts("results")
    _no_shadows(row, base, [*inputs, *(p.name for p in params), *results])
    unit = ROUNDING if row.has("post") else ()
    known = scope.plus("i", "part", *results, *unit, calls=calls)
    each, inner = _parts(row, "each", known)
    out = _out(row, scope)
    outs = len(out) if isinstance(out, tuple) else None
    prim = Prim(
        name,
        inputs,
        variadic,
        params,
        _known(row, "order", row.texts("order"), params),
        "".join(_known(row, "names", (row.text("names", ""),), params)),
        tuple(_spellings(name, row)),
        tuple(_clauses(chain, where, scope, lenient)),
        let,
        each,
        out,
        row.maybe("value", inner),
        row.text("means", "") or None,
        row.maybe("steps", inner),
        row.text("accuracy", ""),
        dict(row.get("ulp", Mapping, {})),
        tuple(n for n, _ in chain[:-1]),
        read_derivative(row, inputs, variadic, outs, scope),
        row.maybe("identity", scope),
        row.get("folds", bool, False),
        read_batch(row, scope, inputs, variadic, [p.name for p in params]),
        row.get("host", bool, False),
        frozenset(row.texts("effects")),
        row.maybe("across", inner.plus("n", "size", "whole")),
        results,
        row.one_of("keys", KEYS, "used"),
        tuple(_relations(row, inner)),
        tuple(_singular(row, inner, inputs)),
        row.maybe("varies", scope),
    )
    row.done()
    meanings = (prim.value, prim.means, prim.steps, prim.post or None)
    alone = prim.across is None or any(m is not None for m in meanings)
    if sum(m is not None for m in meanings) != alone:
        has = [m for m in MEANINGS if row.has(m)]
        raise problem("table.meaning", where, ", ".join(has) or "none")
    return prim


def _relations(row: RowReader, scope: FormulaNames) -> Iterator[Relation]:
    """The relations that the results, known by their names, must satisfy."""
    for part in row.rows("post"):
        formulas = (part.formula(key, scope) for key in ("over", "holds"))
        yield Relation(part.says(), *formulas)


def _singular(
    row: RowReader, scope: FormulaNames, inputs: tuple[str, ...]
) -> Iterator[Singular]:
    """The points at which the derivative is not the slope of the value."""
    for part in row.rows("singular"):
        by = part.one_of("by", ("", *inputs), "")
        yield Singular(part.says(), part.formula("at", scope), by)


def _inputs(row: RowReader) -> tuple[tuple[str, ...], bool]:
    names = row.texts("in", ...)
    plain = tuple(n.removeprefix("*") for n in names)
    if any(n.startswith("*") for n in names[:-1]) or len(set(plain)) < len(plain):
        raise problem("table.key", f"{row.where}: in", ", ".join(names))
    return plain, bool(names) and names[-1].startswith("*")


def _params(
    row: RowReader, constants: Mapping[str, Any], inputs: tuple[str, ...]
) -> Iterator[Param]:
    """The params of a row, by name, their defaults checked against their domains."""
    base = FormulaNames(constants)
    for name, param in sorted(row.tables("params"), key=lambda pair: pair[0]):
        domain = param.text("domain")
        if domain not in DOMAINS:
            hint = f"one of {', '.join(DOMAINS)}"
            raise problem("table.domain", f"{param.where}: domain", domain, hint)
        default = param.maybe("default", base)
        value = None if default is None else default(constants)
        if default is not None and not DOMAINS[domain](value):
            raise problem("table.domain", f"{param.where}: default", str(default))
        shown = param.one_of("print", ("always", "nondefault", "never"), "always")
        parse = param.maybe("parse", base.plus("out", *inputs))
        applies = param.text("applies", "")
        yield Param(name, domain, default is not None, value, shown, parse, applies)
        param.done()


def _spellings(name: str, row: RowReader) -> Iterator[Spelling]:
    for old, was in row.tables("was"):
        renamed = was.get("params", Mapping, {})
        yield Spelling(old, name, dict(renamed), was.texts("ignores"))
        was.done()


def _no_shadows(row: RowReader, base: FormulaNames, names: list[str]) -> None:
    # The element type, the shape and such may share a name with no helper or dtype.
    taken = base.free | base.calls
    for name in names:
        if name in taken or names.count(name) > 1:
            raise problem("table.duplicate", row.where, f"the name {name}")


def _parts(
    row: RowReader, key: str, scope: FormulaNames
) -> tuple[dict[str, Formula], FormulaNames]:
    found: dict[str, Formula] = {}
    for name in row.get(key, Mapping, {}):
        text = row.get(key, Mapping)[name]
        found[name] = scope.formula(text, f"{row.where}: {key}.{name}")
        scope = scope.plus(name)
    return found, scope


def _known(
    row: RowReader, key: str, listed: tuple[str, ...], params: tuple[Param, ...]
) -> tuple[str, ...]:
    """The params that a key lists; table.key if one is none of the row's."""
    if unknown := {n for n in listed if n} - {p.name for p in params}:
        raise problem("table.key", f"{row.where}: {key}", ", ".join(sorted(unknown)))
    return listed


def _out(row: RowReader, scope: FormulaNames) -> tuple[Out, ...] | Formula:
    if isinstance(row.get("out", (str, list)), str):
        return row.formula("out", scope)
    found = []
    for out in row.rows("out"):
        fields = (out.formula(k, scope) for k in ("shape", "dtype", "weak_type"))
        found.append(Out(*fields))
    return tuple(found)


def _clauses(
    chain: Chain, where: str, scope: FormulaNames, lenient: bool
) -> Iterator[Clause]:
    """The clauses of the row and its classes; an equal slug replaces the class's."""
    found: dict[str, Clause] = {}
    for name, data in chain:
        own: set[str] = set()
        for row in RowReader(data, where).rows("clause"):
            slug = row.text("id")
            if slug in own:
                raise problem("table.duplicate", row.where, f"{name}.{slug}")
            own.add(slug)
            found.pop(slug, None)
            clause = read_clause(row, scope, "TypeError", holds=True)
            found[slug] = replace(clause, id=f"{name}.{slug}")
    ids: dict[str, str] = {}
    for slug, clause in found.items():
        yield replace(clause, needs=resolve_needs(clause, ids, where, lenient))
        ids[slug] = clause.id


def resolve_needs(
    clause: Clause, before: Mapping[str, str], where: str, lenient: bool
) -> tuple[str, ...]:
    """The ids of the clauses that one needs; table.needs if they do not precede it."""
    if not lenient and (missing := [n for n in clause.needs if n not in before]):
        raise problem("table.needs", f"{where}: {clause.id}", ", ".join(missing))
    return tuple(before[n] for n in clause.needs if n in before)


def read_clause(
    row: RowReader,
    scope: FormulaNames,
    class_: str,
    holds: bool = False,
    at: Iterable[str] = (),
) -> Clause:
    """One clause; `holds`: it must have a formula; `at`: where it may apply."""
    formula = row.formula("holds", scope) if holds else row.maybe("holds", scope)
    return Clause(
        row.text("id"),
        row.says(),
        formula,
        row.text("hint", ""),
        row.class_(class_),
        row.texts("needs"),
        row.one_of("at", at) if at else "",
        row.hints(),
    )
