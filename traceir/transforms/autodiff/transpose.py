"""Transposition: cotangents backwards through the tape. Serves: derive.transpose"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from traceir import rules
from traceir.base import config
from traceir.ir.jaxpr import Params, programs_in
from traceir.tracing.trace import Value, bind, bind_all, typeof
from traceir.transforms.autodiff.jvp_trace import operand_names, operand_values
from traceir.transforms.autodiff.linearize import (
    LinearEqn,
    Linearized,
    LinearTracer,
    at,
)
from traceir.transforms.rules.derivative_templates import (
    derivative_of,
    plan_of,
    run,
    unbroadcast,
    zeros,
)
from traceir.transforms.rules.registry import (
    TRANSPOSE,
    Cotangent,
    Cotangents,
    LinearOperand,
    Zero,
)


def backward_pass(
    linearized: Linearized, cotangents: Cotangents, start: Sequence[Value | None] = ()
) -> list[Cotangent]:
    """The cotangents of the inputs, by those of the results; in the trace in force.

    An input that was held fixed has None; one that no result depends on, Zero. The
    cotangents of inputs are added to those in `start`, if it is given.
    """
    known: dict[int, Value] = {
        id(tracer): before
        for tracer, before in zip(linearized.inputs, start)
        if tracer is not None and before is not None
    }
    for tracer, ct in zip(linearized.outputs, cotangents, strict=True):
        if type(tracer) is LinearTracer and type(ct) is not Zero:
            _add(known, tracer, ct)
    for eqn in reversed(linearized.tape):
        found = [known.pop(id(o), None) for o in eqn.outputs]
        if all(ct is None for ct in found):
            continue
        cts = [
            Zero(o.aval) if ct is None else ct
            for o, ct in zip(eqn.outputs, found, strict=True)
        ]
        operands = [LinearOperand(v.aval) if _is_linear(v) else v for v in eqn.inputs]
        with at(eqn):
            given = transpose_rule(eqn.primitive, cts, operands, eqn.params)
            along = _along(eqn)
            for value, ct in zip(eqn.inputs, given, strict=True):
                if _is_linear(value) and ct is not None and type(ct) is not Zero:
                    _add(known, value, _summed(ct, along, value.aval.vma))
    return [
        None if t is None else known.get(id(t), Zero(t.aval)) for t in linearized.inputs
    ]


def _along(eqn: LinearEqn) -> frozenset[Hashable]:
    """The axes along which devices have cotangents of their own for the operands.

    Those along which a result may vary. Where a row tells these itself, or programs in
    the params do, so does what they say of cotangents.
    """
    row = rules.default().prims[eqn.primitive]
    if row.varies is not None or any(programs_in(eqn.params)):
        return frozenset()
    return frozenset(name for out in eqn.outputs for name in out.aval.vma)


def _summed(ct: Value, along: frozenset[Hashable], vma: tuple[Hashable, ...]) -> Value:
    """The cotangent of a value that may vary along some axes: the sum over the other
    ones (shard_map.vma)."""
    own = typeof(ct).vma
    missing = tuple(sorted(along.union(own).difference(vma), key=str))
    if not missing:
        return ct
    if unlike := tuple(name for name in missing if name not in own):
        ct = bind("pvary", ct, axes=unlike)
    return bind("psum_invariant", ct, axes=missing)


def _is_asked(value: Any) -> bool:
    """True if a cotangent is asked for of an operand, or of one of several."""
    if isinstance(value, list):
        return any(map(_is_asked, value))
    return type(value) is LinearOperand


def _is_linear(value: Any) -> bool:
    return type(value) is LinearTracer


def _add(known: dict[int, Value], tracer: LinearTracer, ct: Value) -> None:
    before = known.get(id(tracer))
    known[id(tracer)] = (
        ct if before is None else bind_all("add_any", [before, ct], ())[0]
    )


def _nonlinear(primitive: str, operand: int) -> Exception:
    at = f", at {where}" if (where := config.local.source) else ""
    got = f"operand {operand} of {primitive}{at}"
    return rules.error("derive.nonlinear", got=got)


def transpose_rule(
    primitive: str, cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """The cotangents of a linear operation's operands, in the trace in force.

    Raises NotImplementedError (derive.nonlinear) where the primitive is not linear in
    an operand whose cotangent is asked for.
    """
    rule = TRANSPOSE.get(primitive)
    if rule is not None:
        return rule(cotangents, operands, params)
    derivative = derivative_of(primitive)
    columns = derivative.transpose if derivative else {}
    row = rules.default().prims[primitive]
    avals = tuple(typeof(v) for v in operands)
    names = operand_names(primitive, len(operands))
    values = operand_values(primitive, operands)
    values["ct"] = cotangents[0]
    if not row.single:
        values["ct"] = [zeros(c.aval) if type(c) is Zero else c for c in cotangents]
    row_names = frozenset(row.inputs)
    found: list[Cotangent] = [None] * len(operands)
    for k, (name, operand) in enumerate(zip(names, operands, strict=True)):
        if type(operand) is not LinearOperand or found[k] is not None:
            continue
        if name not in columns:
            raise _nonlinear(primitive, k)
        plan = plan_of(primitive, "transpose", name, avals, params)
        if plan is None:
            found[k] = Zero(operand.aval)
            continue
        if any(_is_asked(values[n]) for n in plan.reads & row_names):
            raise _nonlinear(primitive, k)
        results = run(plan, values, cotangents[0])
        if len(results) > 1:  # of all values of a variadic operand
            found[row.arity :] = results
        else:
            found[k] = unbroadcast(results[0], operand.aval.shape)
    return found
