"""A primitive or a class of primitives as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from traceir.rules import Clause, Formula, Out, Param, Prim, Relation, Rules, parse
from traceir.rules.batching import Batch
from traceir.rules.derivatives import Derivative
from traceir.rules.rows import Singular

# The columns about derivatives.
DERIVED = frozenset({"derivative", "linear", "jvp", "transpose"})


@dataclass(frozen=True)
class View:
    """The parts of a row to show; `inherited` are the clauses of its classes."""

    name: str
    is_class: bool
    inputs: tuple[str, ...]
    params: tuple[Param, ...]
    classes: tuple[str, ...]
    own_params: frozenset[str]
    clauses: tuple[Clause, ...]
    inherited: tuple[Clause, ...]
    let: Mapping[str, Formula]
    out: tuple[Out, ...] | Formula | None
    each: Mapping[str, Formula]
    value: Formula | None
    steps: Formula | None
    means: str | None
    accuracy: str
    ulp: Mapping[str, float]
    derivative: Derivative | None
    batch: Batch | None
    across: Formula | None
    effects: frozenset[str]
    host: bool
    post: tuple[Relation, ...] = ()
    singular: tuple[Singular, ...] = ()

    @property
    def written(self) -> dict[str, str]:
        """Its formulas as the table has them, by what they are of."""
        found = {c.id: c.holds for c in (*self.inherited, *self.clauses)}
        found |= {f"let {name}": part for name, part in self.let.items()}
        if isinstance(self.out, Formula):
            found["out"] = self.out
        for out in self.out if isinstance(self.out, tuple) else ():
            parts = ("shape", out.shape), ("dtype", out.dtype)
            found |= dict((*parts, ("weak_type", out.weak_type)))
        found |= {f"each {name}": part for name, part in self.each.items()}
        for n, relation in enumerate(self.post):
            found |= {f"post {n} over": relation.over, f"post {n}": relation.holds}
        found |= {"value": self.value, "steps": self.steps, "across": self.across}
        return {name: f.text for name, f in found.items() if f is not None}


def view(rules: Rules, name: str) -> View:
    """The parts to show of a primitive or a class."""
    if name not in rules.prims:
        return _class(rules, name)
    prim = rules.prims[name]
    inputs = list(prim.inputs)
    if prim.variadic:
        inputs[-1] = f"*{inputs[-1]}"
    own = tuple(c for c in prim.clauses if c.id.startswith(f"{name}."))
    return View(
        name,
        False,
        tuple(inputs),
        prim.params,
        prim.classes,
        frozenset(rules.written[name].get("params", {})),
        own,
        tuple(c for c in prim.clauses if c not in own),
        prim.let,
        prim.out,
        prim.each,
        prim.value,
        prim.steps,
        prim.means,
        prim.accuracy,
        prim.ulp,
        prim.derivative,
        prim.batch,
        prim.across,
        prim.effects,
        prim.host,
        prim.post,
        prim.singular,
    )


def _class(rules: Rules, name: str) -> View:
    table = rules.classes
    chain = [name]
    while "class" in table[chain[0]]:
        chain.insert(0, table[chain[0]]["class"])
    row: dict[str, Any] = {}
    for part in chain:
        row |= table[part]
    member = next(p for p in rules.prims.values() if name in p.classes)
    clauses = [
        rules.clauses[f"{part}.{clause['id']}"]
        for part in chain
        for clause in table[part].get("clause", ())
        if f"{part}.{clause['id']}" in rules.clauses
    ]
    own = tuple(c for c in clauses if c.id.startswith(f"{name}."))
    return View(
        name,
        True,
        tuple(row.get("in", ())),
        tuple(p for p in member.params if p.name in row.get("params", {})),
        tuple(chain[:-1]),
        frozenset(table[name].get("params", {})),
        own,
        tuple(c for c in clauses if c not in own),
        _formulas(row.get("let", {})),
        _types(row.get("out")),
        _formulas(row.get("each", {})),
        None,
        parse(row["steps"]) if "steps" in row else None,
        None,
        row.get("accuracy", ""),
        row.get("ulp", {}),
        member.derivative if DERIVED & row.keys() else None,
        _batched(rules, name).batch if "batch" in row else None,
        None,
        frozenset(row.get("effects", ())),
        row.get("host", False),
    )


def _types(out: Any) -> tuple[Out, ...] | Formula | None:
    """The types of a class's results; None where its members say them."""
    if out is None:
        return None
    if isinstance(out, str):
        return parse(out)
    return tuple(
        Out(parse(o["shape"]), parse(o["dtype"]), parse(o["weak_type"])) for o in out
    )


def _batched(rules: Rules, name: str) -> Prim:
    """A member of a class whose way of being batched is the class's."""
    members = (p for p in rules.prims.values() if name in p.classes)
    return next(p for p in members if "batch" not in rules.written[p.name])


def _formulas(texts: Mapping[str, str]) -> dict[str, Formula]:
    return {name: parse(text) for name, text in texts.items()}
