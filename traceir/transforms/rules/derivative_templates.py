"""The templates of derivatives, applied to operands.

Serves: derive.template, derive.broadcast
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.caches import cleared
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params, sort_params
from traceir.ir.typecheck import infer
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules.applied import row_scope
from traceir.rules.derivatives import Cases, Derivative
from traceir.rules.formulas.scope import Scope
from traceir.rules.formulas.templates import (
    Part,
    Template,
    TemplateHole,
    TemplateName,
    TemplateNumber,
    TemplateSpread,
)
from traceir.rules.rows import Prim
from traceir.tracing.manual_axes import varied
from traceir.tracing.trace import Value, bind_all, current_trace, typeof

Avals = tuple[ShapedArray, ...]


@dataclass(frozen=True, slots=True)
class TemplateStep:
    """One application, with its params computed; operands by name or as numbers.

    With `each` it is one for each value of the spread operands, with its own params.
    """

    results: tuple[str, ...]
    primitive: str
    params: tuple[Params, ...]
    operands: tuple[Part, ...]
    whole: bool
    each: bool


@dataclass(frozen=True, slots=True)
class TemplatePlan:
    """A template for operands of certain types: its steps and its results."""

    steps: tuple[TemplateStep, ...]
    results: tuple[Part, ...]
    reads: frozenset[str]


@functools.cache
def derivative_of(primitive: str) -> Derivative | None:
    """The derivative's columns of a primitive's row."""
    row = rules.default().prims.get(primitive)
    return None if row is None else row.derivative


def plan_of(
    primitive: str, column: str, key: Any, avals: Avals, params: Params
) -> TemplatePlan | None:
    """The plan of a row's template, None where it is zero; made once per types.

    `column` is "jvp" or "transpose", `key` the operands'.
    """
    try:
        return _plan(primitive, column, key, avals, params)
    except TypeError:  # a param that has no hash
        return _plan.__wrapped__(primitive, column, key, avals, params)


@functools.lru_cache(maxsize=1 << 12)
def _plan(
    primitive: str, column: str, key: Any, avals: Avals, params: Params
) -> TemplatePlan | None:
    """The template of the first case that applies, its holes filled; None if zero."""
    row = rules.default().prims[primitive]
    cases: Cases = getattr(row.derivative, column)[key]
    scope = row_scope(row, avals, params, rules.default())
    scope = Scope({}, {"out": lambda _: _out(row, avals, params)}, scope)
    for case in cases:
        if case.when is None or case.when(scope):
            return None if case.template is None else planned(case.template, scope, 0)
    raise rules.error("derive.missing", got=f"{primitive} with these params")


cleared(_plan.cache_clear)


def _out(row: Prim, avals: Avals, params: Params) -> Any:
    outs = infer(row.name, avals, params)
    return outs[0] if row.single else outs


def planned(template: Template, scope: Scope, several: int) -> TemplatePlan:
    """The template with the values of its formulas; `several` values are spread."""
    steps = []
    for n, statement in enumerate(template.statements):
        row = rules.default().prims[statement.primitive]
        known = [Scope({"k": k}, {}, scope) for k in range(several)]
        params = tuple(
            sort_params({**row.defaults, **{p: f(s) for p, f in statement.params}})
            for s in (known if statement.each else [scope])
        )
        operands = tuple(_number(p, scope) for p in statement.operands)
        whole = template.whole and n == len(template.statements) - 1
        steps.append(
            TemplateStep(
                statement.results,
                statement.primitive,
                params,
                operands,
                whole,
                statement.each,
            )
        )
    parts = [*template.results, *(p for s in steps for p in s.operands)]
    reads = frozenset(
        p.name for p in parts if isinstance(p, TemplateName | TemplateSpread)
    )
    return TemplatePlan(tuple(steps), template.results, reads)


def _number(part: Part, scope: Scope) -> Part:
    return (
        TemplateNumber(part.formula(scope)) if isinstance(part, TemplateHole) else part
    )


def run(plan: TemplatePlan, values: Mapping[str, Any], like: Value) -> list[Value]:
    """Apply a plan in the trace in force; numbers alone have the type of `like`."""
    known = _KnownValues(values)
    for step in plan.steps:
        if step.each:
            known[step.results[0]] = [
                _applied(step.primitive, _operands(parts, known, like), params)[0]
                for parts, params in zip(_each(step, known), step.params, strict=True)
            ]
            continue
        operands = _operands(step.operands, known, like)
        found = _applied(step.primitive, operands, step.params[0])
        if step.whole:
            return list(found)
        known.update(zip(step.results, found, strict=True))
    return _operands(plan.results, known, like)


class _KnownValues(dict[str, Any]):
    """Values that statements have defined, and those that a template is given."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__()
        self.given = given

    def __missing__(self, name: str) -> Any:
        return self.given[name]


def _each(step: TemplateStep, known: Mapping[str, Any]) -> Iterator[list[Any]]:
    """The operands of each application of a step, of which it takes one value each."""
    for k in range(len(step.params)):
        yield [
            known[p.name][k] if isinstance(p, TemplateSpread) else p
            for p in step.operands
        ]


def _applied(primitive: str, operands: list[Value], params: Params) -> Sequence[Value]:
    """The results of an operation that is left out where it changes nothing."""
    row = rules.default().prims[primitive]
    if row.identity is not None and is_identity(
        primitive, tuple(map(typeof, operands)), params
    ):
        return operands
    if row.folds and all(map(is_number, operands)):
        avals = tuple(map(typeof, operands))
        arrays = [np.asarray(v, a.dtype) for v, a in zip(operands, avals)]
        found = evaluate_eqn(primitive, params, arrays)
        outs = infer(primitive, avals, params)
        return [scalar(v.item(), out) for v, out in zip(found, outs, strict=True)]
    return bind_all(primitive, operands, params)


@functools.lru_cache(maxsize=1 << 12)
def is_identity(primitive: str, avals: Avals, params: Params) -> bool:
    """True if an operation gives its operand as it is."""
    row = rules.default().prims[primitive]
    if row.identity is None:
        return False
    return bool(row.identity(row_scope(row, avals, params, rules.default())))


cleared(is_identity.cache_clear)


def is_number(value: Value) -> bool:
    """True if a value is a number of Python's or NumPy's."""
    return isinstance(value, bool | int | float | complex | np.generic)


def _operands(
    parts: Sequence[Any], known: Mapping[str, Any], like: Value
) -> list[Value]:
    """The operands of an application; numbers take the dtype of the others."""
    found: list[Value] = []
    numbers = []
    for part in parts:
        match part:
            case TemplateName(name):
                found.append(known[name])
            case TemplateSpread(name):
                found.extend(known[name])
            case TemplateNumber():
                numbers.append(len(found))
                found.append(part)
            case _:  # a value already
                found.append(part)
    if numbers:
        named = [v for k, v in enumerate(found) if k not in numbers]
        avals = [typeof(v) for v in named]
        aval = next((a for a in avals if kind_of(a.dtype) != "b"), typeof(like))
        for k in numbers:
            found[k] = _typed(found[k], aval)
    return found


def _typed(number: TemplateNumber, aval: ShapedArray) -> Value:
    """A number of a dtype; weak where the value beside it is and Python's can be."""
    if number.dtype:
        return np.asarray(number.value, rules.default().constants[number.dtype])[()]
    return scalar(number.value, aval)


def scalar(number: int | float, aval: ShapedArray) -> Value:
    """A number as a scalar of the dtype of `aval`, and as weak where that is."""
    value = np.asarray(number, aval.dtype)[()]
    plain = value.item()
    if aval.weak_type and typeof(plain).dtype == aval.dtype:
        kind = type(plain)
        return kind(number)  # which text shows with all digits
    if typeof(value).dtype != aval.dtype:  # wider than numbers are here
        return Array._wrap(np.asarray(number, aval.dtype), aval)
    return value


def broadcast(value: Value, shape: tuple[int, ...]) -> Value:
    """A tangent in the shape of the result that it belongs to (derive.broadcast)."""
    own = typeof(value).shape
    if own == shape:
        return value
    dims = tuple(range(len(shape) - len(own), len(shape)))
    params = (("broadcast_dimensions", dims), ("shape", shape), ("sharding", None))
    return bind_all("broadcast_in_dim", [value], params)[0]


def unbroadcast(value: Value, shape: tuple[int, ...]) -> Value:
    """A cotangent summed to the shape of its operand (derive.broadcast)."""
    own = typeof(value).shape
    if own == shape:
        return value
    axes = tuple(d for d, n in enumerate(own) if not shape or n != shape[d])
    params: Params = (("axes", axes), ("out_sharding", None))
    value = bind_all("reduce_sum", [value], params)[0]
    if not shape:
        return value
    params = (("dimensions", None), ("new_sizes", shape), ("sharding", None))
    return bind_all("reshape", [value], params)[0]


def zeros(aval: ShapedArray) -> Value:
    """Zeros of a type, as an operation makes them; a scalar as a value of the trace."""
    value = varied(scalar(0, aval), aval.vma)
    if aval.shape:
        return broadcast(value, aval.shape)
    trace = current_trace()
    return value if aval.vma or trace is None else trace.array(value, aval)


def filled(number: int | float, aval: ShapedArray) -> Value:
    """An array of one number: a scalar, broadcast unless the type is one."""
    return broadcast(varied(scalar(number, aval), aval.vma), aval.shape)
