"""Forward mode: each operation beside its derivative. Serves: derive.jvp, level.jvp"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import LIVING
from traceir.base import source_info
from traceir.base.config import local
from traceir.dtypes import is_inexact as is_inexact_dtype
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params
from traceir.rules.derivatives import Derivative
from traceir.tracing.knowledge import passed_on
from traceir.tracing.manual_axes import varied
from traceir.tracing.trace import (
    Trace,
    Tracer,
    Value,
    as_numpy,
    bind_all,
    in_force,
    typeof,
)
from traceir.transforms.rules.derivative_templates import (
    broadcast,
    derivative_of,
    plan_of,
    run,
    zeros,
)
from traceir.transforms.rules.registry import (
    JVP,
    JvpResult,
    Tangent,
    Tangents,
    Values,
    Zero,
)


class JVPTracer(Tracer):
    """A value and its tangent, each of the trace around the function."""

    __slots__ = ("primal", "tangent")
    _trace: JVPTrace

    def __init__(
        self,
        trace: JVPTrace,
        primal: Value,
        tangent: Value,
        where: source_info.Source | None,
    ) -> None:
        self.aval = typeof(primal)
        self._trace = trace
        self._source = where
        self.primal = primal
        self.tangent = tangent

    def __repr__(self) -> str:
        shown = f"primal={show(self.primal)} tangent={show(self.tangent)}"
        return f"{super().__repr__()} {shown}"

    @property
    def knowledge(self) -> str:
        """Knowledge of the primal, as far as this trace lets it be known."""
        return passed_on(self.primal, self._trace.transform)

    def answer(self) -> Value:
        """The value of the primal."""
        if isinstance(self.primal, Tracer):
            return self.primal.answer()
        if type(self.primal) in LIVING:
            return self.primal
        return as_numpy(self.primal, self.aval)

    def arguments(self) -> list[str]:
        """The arguments that the primal is computed from."""
        return self.primal.arguments() if isinstance(self.primal, Tracer) else []

    def is_of_parts(self) -> bool:
        """True if devices have parts of the primal."""
        return isinstance(self.primal, Tracer) and self.primal.is_of_parts()


def show(value: Value) -> str:
    """A value as the text of a tracer has it: one array on one line."""
    if isinstance(value, Tracer):
        return repr(value)
    array = np.asarray(value)
    return str(array) if array.ndim == 0 else typeof(value).str_short()


class JVPTrace(Trace):
    """Carries tangents along: each operation is applied in the trace around, and then
    what gives its tangent."""

    __slots__ = ()
    kind = "JVPTrace"

    def bind(self, primitive: str, values: Values, params: Params) -> list[Value]:
        """Apply a primitive to primals, and its rule to tangents if there are any."""
        primals, tangents = self.split(values)
        with in_force(self.parent):
            tangents = [
                Zero(typeof(p)) if t is None else t for p, t in zip(primals, tangents)
            ]
            outs, tangents_out = self.rule(primitive, primals, tangents, params)
        where = local.source or source_info.capture()
        return [self.pair(p, t, where) for p, t in zip(outs, tangents_out, strict=True)]

    def takes_functions(self, values: Values) -> bool:
        """Always: rules know as much of values as the function does."""
        return True

    def rule(
        self, primitive: str, primals: Values, tangents: Tangents, params: Params
    ) -> JvpResult:
        """The results of a primitive and their tangents, in the trace in force."""
        return jvp_rule(primitive, primals, tangents, params)

    def split(self, values: Values) -> tuple[list[Value], list[Value | None]]:
        """Primals and tangents; a value of another trace is a constant here."""
        primals: list[Value] = []
        tangents: list[Value | None] = []
        for value in values:
            if type(value) is JVPTracer and value._trace is self:
                primals.append(value.primal)
                tangents.append(value.tangent)
            else:
                primals.append(value)
                tangents.append(None)
        return primals, tangents

    def pair(
        self,
        primal: Value,
        tangent: Tangent | None,
        where: source_info.Source | None = None,
    ) -> Value:
        """One value of this trace; the primal itself where it does not move, unless
        the trace handles whatever happens."""
        if tangent is None or type(tangent) is Zero:
            if self.whole != self.place:
                return primal
            tangent = zeros(typeof(primal))
        if vma := typeof(primal).vma:  # one for each device, as the primal is
            with in_force(self.parent):
                tangent = varied(tangent, vma)
        return JVPTracer(self, primal, tangent, where)


def is_inexact(aval: ShapedArray) -> bool:
    """True if values of a type have tangents that are not zero."""
    return is_inexact_dtype(aval.dtype)


def jvp_rule(
    primitive: str, primals: Values, tangents: Tangents, params: Params
) -> JvpResult:
    """The results of a primitive and their tangents, in the trace in force.

    Raises NotImplementedError (derive.missing) for a primitive that has no derivative.
    """
    rule = JVP.get(primitive)
    if rule is not None:
        return rule(primals, tangents, params)
    derivative = derivative_of(primitive)
    if derivative is None or not (
        derivative.zero or derivative.linear or derivative.jvp
    ):
        raise rules.error("derive.missing", got=primitive)
    outs = list(bind_all(primitive, primals, params))
    avals = tuple(map(typeof, outs))
    if derivative.zero or not any(map(is_inexact, avals)):
        return outs, [Zero(aval) for aval in avals]
    if derivative.linear:
        found = _linear(primitive, derivative, primals, tangents, params)
    else:
        found = [_by_templates(primitive, derivative, primals, tangents, params, outs)]
    return outs, [
        broadcast(t, aval.shape) if t is not None and is_inexact(aval) else Zero(aval)
        for t, aval in zip(found, avals, strict=True)
    ]


def _linear(
    primitive: str,
    derivative: Derivative,
    primals: Values,
    tangents: Tangents,
    params: Params,
) -> list[Value]:
    """The primitive itself, applied to the tangents of its linear operands."""
    names = operand_names(primitive, len(primals))
    operands = list(primals)
    for k, (name, tangent) in enumerate(zip(names, tangents, strict=True)):
        if name in derivative.linear:
            zero = type(tangent) is Zero
            operands[k] = zeros(typeof(primals[k])) if zero else tangent
    return list(bind_all(primitive, operands, params))


def _by_templates(
    primitive: str,
    derivative: Derivative,
    primals: Values,
    tangents: Tangents,
    params: Params,
    outs: Values,
) -> Value | None:
    """The sum of the contributions of each operand's tangent; None if there is none."""
    row = rules.default().prims[primitive]
    avals = tuple(map(typeof, primals))
    values = operand_values(primitive, primals)
    values["out"] = outs[0] if row.single else list(outs)
    moved = {
        name: tangent
        for name, tangent in zip(
            operand_names(primitive, len(primals)), tangents, strict=True
        )
        if type(tangent) is not Zero
    }
    parts: list[Value] = []
    for key in _keys(derivative, moved):
        plan = plan_of(primitive, "jvp", key, avals, params)
        if plan is None:
            continue
        if len(key) == 1:
            values["t"] = moved[key[0]]
        else:
            values |= {f"t_{name}": moved[name] for name in key}
        parts.append(run(plan, values, primals[0])[0])
    shape = typeof(outs[0]).shape
    return functools.reduce(lambda x, y: add(x, y, shape), parts) if parts else None


def _keys(derivative: Derivative, moved: dict[str, Any]) -> list[tuple[str, ...]]:
    """The templates for these operands: one for all together, or one for each."""
    together = tuple(moved)
    if together in derivative.jvp:
        return [together]
    return [(name,) for name in moved if (name,) in derivative.jvp]


def add(x: Value, y: Value, shape: tuple[int, ...]) -> Value:
    """The sum of two tangents of one result."""
    return bind_all("add_any", [broadcast(x, shape), broadcast(y, shape)], ())[0]


def operand_names(primitive: str, count: int) -> list[str]:
    """The name of each operand; those of a variadic one share theirs."""
    row = rules.default().prims[primitive]
    names = list(row.inputs)
    if row.variadic:
        names[-1:] = [names[-1]] * (count - row.arity)
    return names


def operand_values(primitive: str, values: Sequence[Any]) -> dict[str, Any]:
    """Operands by name; a variadic one is the list of its values."""
    row = rules.default().prims[primitive]
    found: dict[str, Any] = dict(zip(row.inputs, values))
    if row.variadic:
        found[row.inputs[-1]] = list(values[row.arity :])
    return found
