"""The templates of rows, applied as they stand. Serves: derive.template"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, Eqn, Literal, sort_params
from traceir.oracle.transforms.builder import DerivedProgram, Params
from traceir.rules import Prim, Scope
from traceir.rules.applied import row_scope
from traceir.rules.derivatives import Cases
from traceir.rules.formulas.templates import (
    Part,
    Template,
    TemplateHole,
    TemplateName,
    TemplateNumber,
    TemplateSpread,
    TemplateStatement,
)


def operand_names(row: Prim, count: int) -> list[str]:
    """The name of each operand; the values of a variadic one share theirs."""
    return [row.inputs[min(k, len(row.inputs) - 1)] for k in range(count)]


def by_template(
    builder: DerivedProgram,
    eqn: Eqn,
    cases: Cases,
    values: Mapping[str, Any],
    like: Atom,
) -> list[Atom] | None:
    """The results of the first template that holds, None where that is zero.

    `values` are those of names: an atom, or several. Numbers alone are as `like`.
    """
    rules = builder.rules
    row = rules.prims[eqn.primitive]
    avals = tuple(a.aval for a in eqn.inputs)
    outs = tuple(v.aval for v in eqn.outputs)
    names = {"k": 0, "out": outs[0] if row.single else outs}
    scope = Scope(names, {}, row_scope(row, avals, eqn.params, rules))
    return by_cases(builder, eqn.primitive, cases, scope, values, like)


def by_cases(
    builder: DerivedProgram,
    primitive: str,
    cases: Cases,
    scope: Scope,
    values: Mapping[str, Any],
    like: Atom,
) -> list[Atom] | None:
    """The results of the first template that holds in a scope, None for zero."""
    for case in cases:
        if case.when is None or case.when(scope):
            if case.template is None:
                return None
            return _run(builder, case.template, scope, dict(values), like)
    raise builder.rules.error("derive.missing", got=primitive)


def _run(
    builder: DerivedProgram,
    template: Template,
    scope: Scope,
    values: dict[str, Any],
    like: Atom,
) -> list[Atom]:
    for statement in template.statements:
        if statement.each:
            values |= {
                statement.results[0]: [*_each(builder, statement, scope, values)]
            }
            continue
        params = {name: formula(scope) for name, formula in statement.params}
        operands = _parts(statement.operands, scope, values, like)
        found = _applied(builder, statement.primitive, operands, params)
        if template.whole and statement is template.statements[-1]:
            return found
        values |= dict(zip(statement.results, found, strict=True))
    return _parts(template.results, scope, values, like)


def _each(
    builder: DerivedProgram,
    statement: TemplateStatement,
    scope: Scope,
    values: Mapping[str, Any],
) -> Iterator[Atom]:
    """The results of a statement for each value of the operands that are several."""
    names = [p.name for p in statement.operands if isinstance(p, TemplateSpread)]
    for k in range(len(values[names[0]])):
        one = {n: [v[k]] if n in names else v for n, v in values.items()}
        here = Scope({"k": k}, {}, scope)
        params = {name: formula(here) for name, formula in statement.params}
        operands = _parts(statement.operands, here, one, values[names[0]][k])
        yield from _applied(builder, statement.primitive, operands, params)


def _applied(
    builder: DerivedProgram, primitive: str, operands: list[Atom], params: Params
) -> list[Atom]:
    """The results of a step, left out where its row says it changes nothing."""
    row = builder.rules.prims[primitive]
    if row.identity is not None:
        known = sort_params({**row.defaults, **params})
        avals = [a.aval for a in operands]
        if row.identity(row_scope(row, avals, known, builder.rules)):
            return operands
    return builder.apply(primitive, operands, params)


def _parts(
    parts: Sequence[Part], scope: Scope, values: Mapping[str, Any], like: Atom
) -> list[Atom]:
    """Operands; a number has the dtype of what stands beside it."""
    beside = [values[p.name] for p in parts if isinstance(p, TemplateName)]
    beside += [
        v for p in parts if isinstance(p, TemplateSpread) for v in values[p.name]
    ]
    avals = [a.aval for a in beside if kind_of(a.aval.dtype) != "b"]
    aval = avals[0] if avals else like.aval
    found: list[Atom] = []
    for part in parts:
        match part:
            case TemplateName(name):
                found.append(values[name])
            case TemplateSpread(name):
                found.extend(values[name])
            case TemplateHole(formula):
                found.append(_number(formula(scope), aval))
            case TemplateNumber(number, ""):
                found.append(_number(number, aval))
            case TemplateNumber(number, dtype):
                found.append(_number(number, ShapedArray((), dtype)))
    return found


def _number(number: Any, aval: ShapedArray) -> Literal:
    value = np.asarray(number, aval.dtype).item()
    return Literal(value, ShapedArray((), aval.dtype, aval.weak_type))


def named(row: Prim, atoms: Sequence[Any]) -> dict[str, Any]:
    """Operands by name; a variadic one is a list."""
    found: dict[str, Any] = dict(zip(row.inputs, atoms))
    if row.variadic:
        found[row.inputs[-1]] = list(atoms[row.arity :])
    return found
