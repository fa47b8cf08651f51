"""Tangents of equations with programs in their params.

A scan is its steps, and a loop carries the tangents beside what it carries. Serves:
region.tangents, custom_jvp.*, custom_vjp.*, effect.derivative
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Var
from traceir.oracle.scalar_interpreter import PARTS
from traceir.oracle.transforms.builder import (
    DerivedProgram,
    Moving,
    NamedFunction,
    Params,
)
from traceir.oracle.transforms.pairs import taken

Found = tuple[list[Atom], list[Moving]]
Jvp = Callable[[DerivedProgram, ClosedJaxpr, Sequence[Atom], Sequence[Moving]], Found]


def stepwise(builder: DerivedProgram, eqn: Eqn, inputs: Sequence[Atom]) -> ClosedJaxpr:
    """A scan as the program of its steps."""
    params: dict[str, Any] = dict(eqn.params)
    body, count = params["jaxpr"], params["length"]
    steps = DerivedProgram(builder.rules)
    invars = [Var(a.aval) for a in inputs]
    first = params["num_consts"]
    last = first + params["num_carry"]
    consts, carry, rows = invars[:first], invars[first:last], invars[last:]
    found: dict[int, Sequence[Atom]] = {}
    values: list[Atom] = [*carry]
    for k in range(count)[:: -1 if params["reverse"] else 1]:
        row = [taken(steps, x, 0, k) for x in rows]
        outs = steps.inlined(body, [*consts, *values, *row])
        values, found[k] = outs[: len(carry)], outs[len(carry) :]
    stacks = [
        steps.apply("stack", column, {"axis": 0})[0]
        for column in zip(*(found[k] for k in range(count)), strict=True)
    ]
    if not count:
        stacks = [steps.filled(0, v.aval) for v in eqn.outputs[len(carry) :]]
    return steps.closed(invars, [*values, *stacks])


def of_whole_arrays(builder: DerivedProgram, eqn: Eqn) -> ClosedJaxpr:
    """The program of whole arrays that a function of parts is (shard_map.value)."""
    params: dict[str, Any] = dict(eqn.params)
    names = "jaxpr", "mesh", "newly_manual_axes", "in_specs", "out_specs"
    found: ClosedJaxpr = PARTS["parts"](*(params[n] for n in names), builder.rules)
    return found


def tangents_of_while(
    builder: DerivedProgram,
    params: Params,
    inputs: Sequence[Atom],
    moved: Sequence[Moving],
    jvp: Jvp,
) -> Found:
    """The results of a loop and their tangents (region.tangents)."""
    tested, used = params["cond_nconsts"], params["body_nconsts"]
    body, going = params["body_jaxpr"], params["cond_jaxpr"]
    own, carry = inputs[tested : tested + used], inputs[tested + used :]
    fixed = [t is not None for t in moved[tested : tested + used]]
    mask = [t is not None for t in moved[tested + used :]]
    while True:
        derived, differ = _with_tangents(builder, body, fixed, mask, jvp)
        if differ == mask:
            break
        mask = differ
    first = [
        builder.zero_for(t, a.aval)
        for t, a, m in zip(moved[tested + used :], carry, mask, strict=True)
        if m
    ]
    jaxpr = going.jaxpr
    unread = tuple(Var(t.aval) for t in first)
    tests = ClosedJaxpr(replace(jaxpr, invars=(*jaxpr.invars, *unread)), going.consts)
    known = [t for t in moved[tested : tested + used] if t is not None]
    counts = {"body_nconsts": len(own) + len(known)}
    programs = {"cond_jaxpr": tests, "body_jaxpr": derived}
    operands = [*inputs[:tested], *own, *known, *carry, *first]
    found = builder.apply("while", operands, {**params, **counts, **programs})
    rest = iter(found[len(carry) :])
    return found[: len(carry)], [next(rest) if m else None for m in mask]


def _with_tangents(
    builder: DerivedProgram,
    body: ClosedJaxpr,
    fixed: Sequence[bool],
    mask: Sequence[bool],
    jvp: Jvp,
) -> tuple[ClosedJaxpr, list[bool]]:
    """A body with the tangents beside the carry, and which of its results have any."""
    program = DerivedProgram(builder.rules)
    inputs = [Var(a) for a in body.in_avals]
    moves = [Var(v.aval) if m else None for v, m in zip(inputs, [*fixed, *mask])]
    outs, found = jvp(program, body, inputs, moves)
    differ = [m or t is not None for m, t in zip(mask, found, strict=True)]
    cut = len(fixed)
    given = [
        *(v for v in inputs[:cut]),
        *(t for t in moves[:cut] if t is not None),
        *(v for v in inputs[cut:]),
        *(t for t in moves[cut:] if t is not None),
    ]
    zeros = [
        program.zero_for(t, a.aval)
        for t, a, m in zip(found, outs, differ, strict=True)
        if m
    ]
    return program.closed(given, [*outs, *zeros]), differ


# Rules of the user's own --------------------------------------------------------------


def _arguments(
    builder: DerivedProgram,
    params: Params,
    inputs: Sequence[Atom],
    moved: Sequence[Moving],
) -> tuple[Sequence[Atom], Sequence[Moving]]:
    """The arguments of a rule: what the function captured must not move."""
    first = params["num_consts"]
    if any(t is not None for t in moved[:first]):
        raise builder.rules.error("custom.capture")
    return inputs[first:], moved[first:]


def tangents_of_custom_jvp(
    builder: DerivedProgram,
    params: Params,
    inputs: Sequence[Atom],
    moved: Sequence[Moving],
) -> Found:
    """The results and tangents that the rule gives."""
    inputs, moved = _arguments(builder, params, inputs, moved)
    moves = [builder.zero_for(t, a.aval) for t, a in zip(moved, inputs, strict=True)]
    rule = params["jvp"]([a.aval for a in inputs], [t.aval for t in moves])
    found = builder.inlined(rule, [*inputs, *moves])
    half = len(found) // 2
    return found[:half], [*found[half:]]


def tangents_of_custom_vjp(
    builder: DerivedProgram,
    params: Params,
    inputs: Sequence[Atom],
    moved: Sequence[Moving],
) -> Found:
    """The results of the forward rule; tangents wait for the backward one."""
    inputs, moved = _arguments(builder, params, inputs, moved)
    count = len(params["call_jaxpr"].out_avals)
    forward = params["fwd"]([a.aval for a in inputs])
    found = builder.inlined(forward, inputs)
    outs, residuals = found[:count], found[count:]
    moves = [builder.zero_for(t, a.aval) for t, a in zip(moved, inputs, strict=True)]
    backward = params["bwd"]

    def pulling() -> ClosedJaxpr:
        types = ([a.aval for a in atoms] for atoms in (residuals, outs))
        found: ClosedJaxpr = backward(*types)
        return found

    linear = {
        "bwd": NamedFunction("bwd", pulling),
        "in_zeros": (False,) * len(moves),
        "num_res": len(residuals),
        "out_avals": tuple(a.aval for a in outs),
    }
    return outs, [*builder.apply("custom_lin", [*residuals, *moves], linear)]


def tangents_of_region(
    builder: DerivedProgram,
    eqn: Eqn,
    inputs: list[Atom],
    moved: list[Moving],
    jvp: Jvp,
) -> Found | None:
    """The results of a region and their tangents; None where nothing is said here."""
    params: dict[str, Any] = dict(eqn.params)
    match eqn.primitive:
        case "jit":
            return jvp(builder, params["jaxpr"], inputs, moved)
        case "remat2":
            with builder.doing_effects():
                return jvp(builder, params["jaxpr"], inputs, moved)
        case "scan":
            return jvp(builder, stepwise(builder, eqn, inputs), inputs, moved)
        case "shard_map":
            return jvp(builder, of_whole_arrays(builder, eqn), inputs, moved)
        case "while":
            return tangents_of_while(builder, params, inputs, moved, jvp)
        case "custom_jvp_call":
            return tangents_of_custom_jvp(builder, params, inputs, moved)
        case "custom_vjp_call":
            return tangents_of_custom_vjp(builder, params, inputs, moved)
    return None
