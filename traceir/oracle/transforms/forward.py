"""Tangents of programs, by those of their inputs. Serves: derive.jvp, cond"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir.dtypes import kind_of
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Var
from traceir.oracle.transforms.builder import (
    Beyond,
    DerivedProgram,
    Mask,
    Moving,
    Params,
)
from traceir.oracle.transforms.pairs import PAIRS, by_pairs
from traceir.oracle.transforms.regions import tangents_of_region
from traceir.oracle.transforms.templates import by_template, named, operand_names
from traceir.rules import Rules


def jvp_results(
    builder: DerivedProgram,
    closed: ClosedJaxpr,
    primals: Sequence[Atom],
    tangents: Sequence[Moving],
) -> tuple[list[Atom], list[Moving]]:
    """The results of a program and their tangents (derive.jvp)."""
    env = builder.environment(closed, primals)
    moving: dict[Atom, Moving] = dict(zip(closed.jaxpr.invars, tangents, strict=True))
    for eqn in closed.eqns:
        inputs = [env[a] if isinstance(a, Var) else a for a in eqn.inputs]
        moved = [moving.get(a) if isinstance(a, Var) else None for a in eqn.inputs]
        outs, found = _jvp_of_equation(builder, eqn, inputs, moved)
        found = [builder.varied(t, a.aval.vma) for t, a in zip(found, outs)]
        env.update(zip(eqn.outputs, outs, strict=True))
        moving.update(zip(eqn.outputs, found, strict=True))
    outvars = closed.jaxpr.outvars
    results = [env[a] if isinstance(a, Var) else a for a in outvars]
    return results, [moving.get(a) if isinstance(a, Var) else None for a in outvars]


def _jvp_of_equation(
    builder: DerivedProgram, eqn: Eqn, inputs: list[Atom], moved: list[Moving]
) -> tuple[list[Atom], list[Moving]]:
    """The results of an equation and their tangents."""
    params: dict[str, Any] = dict(eqn.params)
    if any(t is not None for t in moved) or eqn.primitive == "remat2":
        found = tangents_of_region(builder, eqn, inputs, moved, jvp_results)
        if found is not None:
            return found
        if eqn.primitive in PAIRS:
            steps = DerivedProgram(builder.rules)
            given = [Var(a.aval) for a in inputs]
            made = by_pairs(steps, eqn.primitive, [*given], params)
            return jvp_results(builder, steps.closed(given, made), inputs, moved)
    if not builder.effects and builder.rules.prims[eqn.primitive].effects:
        if eqn.outputs:
            raise Beyond(f"results of an effect, {eqn.primitive}")
        return [], []
    outs = builder.apply(eqn.primitive, inputs, params)
    inexact = [kind_of(a.aval.dtype) in "fc" for a in outs]
    if not any(inexact) or all(t is None for t in moved):
        return outs, [None] * len(outs)
    if eqn.primitive == "cond":
        chosen_ = _jvp_of_cond(builder, params, inputs, moved, inexact)
        return outs, [t if m else None for t, m in zip(chosen_, inexact, strict=True)]
    if eqn.primitive == "select_n":  # the choice among the tangents
        pairs = zip(moved[1:], inputs[1:], strict=True)
        chosen = [builder.zero_for(t, a.aval) for t, a in pairs]
        return outs, [*builder.apply("select_n", [inputs[0], *chosen], params)]
    row = builder.rules.prims[eqn.primitive]
    derivative = row.derivative
    if derivative is None:
        raise Beyond(f"the derivative of {eqn.primitive}")
    if derivative.zero:
        return outs, [None] * len(outs)
    eqn = Eqn(eqn.primitive, tuple(inputs), tuple(map(_var, outs)), eqn.params)
    if derivative.linear:
        names = operand_names(row, len(inputs))
        operands = [
            builder.zero_for(t, a.aval) if name in derivative.linear else a
            for name, a, t in zip(names, inputs, moved, strict=True)
        ]
        linear: list[Moving] = [*builder.apply(eqn.primitive, operands, params)]
        return outs, [t if m else None for t, m in zip(linear, inexact, strict=True)]
    if not derivative.jvp:
        raise Beyond(f"the derivative of {eqn.primitive}")
    return outs, [_by_operands(builder, eqn, inputs, moved)]


def _var(atom: Atom) -> Var:
    assert isinstance(atom, Var)
    return atom


def _by_operands(
    builder: DerivedProgram, eqn: Eqn, inputs: list[Atom], moved: list[Moving]
) -> Moving:
    """The sum of what is due to the tangent of each operand, or of two together."""
    row = builder.rules.prims[eqn.primitive]
    assert row.derivative is not None
    values = named(row, inputs)
    values["out"] = eqn.outputs[0] if row.single else list(eqn.outputs)
    names = operand_names(row, len(inputs))
    known = {n: t for n, t in zip(names, moved, strict=True) if t is not None}
    keys = [tuple(known)]
    if keys[0] not in row.derivative.jvp:
        keys = [(n,) for n in known if (n,) in row.derivative.jvp]
    total: Moving = None
    for key in keys:
        tangents = {f"t_{n}": known[n] for n in key} if len(key) > 1 else {}
        given = values | (tangents or {"t": known[key[0]]})
        found = by_template(builder, eqn, row.derivative.jvp[key], given, inputs[0])
        if found is not None:
            part = builder.stretched(found[0], eqn.outputs[0].aval.shape)
            total = builder.added(total, part)
    return total


def _jvp_of_cond(
    builder: DerivedProgram,
    params: Params,
    inputs: list[Atom],
    moved: list[Moving],
    inexact: Mask,
) -> list[Atom]:
    """The tangents of the branch that is chosen; each branch's are computed in it."""
    mask = [t is not None for t in moved[1:]]
    branches = tuple(tangents(b, mask, builder.rules) for b in params["branches"])
    found = iter(
        builder.apply(
            "cond",
            [*inputs, *(t for t in moved if t is not None)],
            {**params, "branches": branches},
        )
    )
    return [next(found) if m else inputs[0] for m in inexact]


def tangents(closed: ClosedJaxpr, moving: Mask, rules: Rules) -> ClosedJaxpr:
    """The program of the tangents of inexact results, by inputs and their tangents.

    Tangents are given of the inputs that are `moving`, and have their types.
    """
    builder = DerivedProgram(rules, effects=False)
    inputs = [Var(a) for a in closed.in_avals]
    given = [Var(v.aval) if m else None for v, m in zip(inputs, moving, strict=True)]
    outs, found = jvp_results(builder, closed, inputs, given)
    results = [
        builder.zero_for(t, a.aval)
        for a, t in zip(outs, found, strict=True)
        if kind_of(a.aval.dtype) in "fc"
    ]
    return builder.closed([*inputs, *(v for v in given if v is not None)], results)
