"""The columns about derivatives of a primitive's row.

    derivative = "zero"            no result depends smoothly on an operand
    jvp = { x = T, "x y" = T }     the tangent of the result due to x's alone, t; due
                                   to those of x and y together, t_x and t_y
    linear = ["x"]                 linear in these together: the primitive itself
                                   applied to their tangents
    transpose = { x = T }          the cotangent of x, by that of the result, ct

T is a template (see `templates`), or a list of `{ when = formula, is = template }` of
which the first that holds counts; the last may have no `when`. An empty template is
zero. An operand that is several values has no `jvp`. Serves: table.derivative
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.rules.formulas.language import Formula
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.table_errors import problem
from traceir.rules.formulas.templates import (
    Template,
    TemplateSpread,
    TemplateStatement,
    parse_template,
)
from traceir.rules.row_reader import RowReader


@dataclass(frozen=True, slots=True)
class TemplateCase:
    """A template, or None for zero, and the condition under which it counts."""

    when: Formula | None
    template: Template | None


Cases = tuple[TemplateCase, ...]


@dataclass(frozen=True, slots=True)
class Derivative:
    """The derivative of a primitive: see the module's text."""

    zero: bool = False
    linear: tuple[str, ...] = ()
    jvp: Mapping[tuple[str, ...], Cases] = field(default_factory=dict)
    transpose: Mapping[str, Cases] = field(default_factory=dict)

    @property
    def templates(self) -> Iterator[Template]:
        """Every template of the row."""
        for cases in (*self.jvp.values(), *self.transpose.values()):
            yield from (case.template for case in cases if case.template)


def read_derivative(
    row: RowReader,
    inputs: tuple[str, ...],
    variadic: bool,
    outs: int | None,
    names: FormulaNames,
) -> Derivative | None:
    """The derivative of a row, None if it has none; RuleTableError if malformed.

    `names` are those of formulas: operands, params, lets; `outs` is the number of
    results, None where it varies.
    """
    zero = row.has("derivative") and row.one_of("derivative", ("zero",)) == "zero"
    linear = row.texts("linear")
    jvp = row.get("jvp", Mapping, {})
    transpose = row.get("transpose", Mapping, {})
    if zero + bool(linear) + bool(jvp) > 1:
        raise problem("table.derivative", row.where, "more than one of its kinds")
    if not (zero or linear or jvp or transpose):
        return None
    reader = _Reader(row.where, inputs, variadic, outs, names)
    for name in linear:
        reader.known(name, "linear")
    return Derivative(
        zero, linear, dict(reader.tangents(jvp)), dict(reader.cotangents(transpose))
    )


class _Reader:
    def __init__(
        self,
        where: str,
        inputs: tuple[str, ...],
        variadic: bool,
        outs: int | None,
        names: FormulaNames,
    ) -> None:
        self.where = where
        self.inputs = inputs
        self.values = {n: variadic and n == inputs[-1] for n in inputs}
        self.outs = outs
        self.names = names.plus("out")

    def known(self, name: str, key: str) -> None:
        if name not in self.values:
            raise problem("table.derivative", f"{self.where}: {key}", name)

    def tangents(self, data: Any) -> Iterator[tuple[tuple[str, ...], Cases]]:
        """The templates of tangents; a template knows the result as `out`."""
        known = {**self.values, "out": self.outs != 1}
        for key in data:
            operands = tuple(key.split())
            for name in operands:
                self.known(name, f"jvp.{key}")
                if self.values[name]:  # a template has a tangent, not several
                    raise problem("table.derivative", f"{self.where}: jvp", f"*{name}")
            tangents = ["t"] if len(operands) == 1 else [f"t_{n}" for n in operands]
            yield operands, self.cases(data[key], {**known, **_one(tangents)}, key)

    def cotangents(self, data: Any) -> Iterator[tuple[str, Cases]]:
        """The templates of cotangents, which do not know the result."""
        for key in data:
            self.known(key, f"transpose.{key}")
            known = {**self.values, "ct": self.outs != 1}
            yield key, self.cases(data[key], known, key)

    def cases(self, data: Any, known: Mapping[str, bool], key: str) -> Cases:
        """The cases of a column."""
        return read_cases(data, known, self.names, f"{self.where}: {key}")


def read_cases(
    data: Any, known: Mapping[str, bool], names: FormulaNames, where: str
) -> Cases:
    """Templates, each with a condition but for the last; RuleTableError if not so."""
    rows = data if isinstance(data, list) else [{"is": data}]
    found = []
    for item in rows:
        row = RowReader(item, where)
        when = row.maybe("when", names)
        text = row.text("is")
        template = parse_template(text, known, names, where) if text else None
        found.append(TemplateCase(when, template))
        row.done()
    if not found or any(case.when is None for case in found[:-1]):
        raise problem("table.derivative", where, "a case after one for all")
    return tuple(found)


def _one(names: list[str]) -> dict[str, bool]:
    return dict.fromkeys(names, False)


def check_templates(prims: Mapping[str, Any]) -> None:
    """Raise RuleTableError (table.derivative) for a template that cannot be applied.

    It names only primitives that there are, with their params and so many operands.
    """
    for prim in prims.values():
        for template in templates_of(prim):
            for statement in template.statements:
                row = prims.get(statement.primitive)
                at = f"{prim.name}: {template.text}"
                if row is None:
                    raise problem("table.derivative", at, statement.primitive)
                _check_application(row, statement, at)


def templates_of(prim: Any) -> Iterator[Template]:
    """Every template of a row: of its derivatives, and of its batch."""
    if prim.derivative is not None:
        yield from prim.derivative.templates
    cases = () if prim.batch is None else prim.batch.cases
    yield from (case.template for case in cases if case.template)


def _check_application(row: Any, statement: TemplateStatement, at: str) -> None:
    """Refuse a template that applies a primitive with wrong params or operands."""
    given = {name for name, _ in statement.params}
    declared = {p.name for p in row.params}
    needed = declared - set(row.defaults)
    if not needed <= given <= declared:
        got = ", ".join(sorted((needed - given) | (given - declared)))
        raise problem("table.derivative", at, f"{row.name} with the params {got}")
    spread = any(isinstance(part, TemplateSpread) for part in statement.operands)
    count = len(statement.operands)
    if not spread and (count < row.arity or (count > row.arity and not row.variadic)):
        raise problem("table.derivative", at, f"{count} operands of {row.name}")
