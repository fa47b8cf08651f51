"""Rules of calls, equations with one program.

Serves: derive.jit
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir.ir.jaxpr import ClosedJaxpr, Literal, Params, Var, sort_params
from traceir.tracing.staging import constants_of
from traceir.tracing.trace import Tracer, typeof
from traceir.transforms.autodiff.cached_transforms import (
    jvp_program,
    linearize_program,
    transpose_program,
)
from traceir.transforms.batching.batch_trace import batch_program
from traceir.transforms.control.regions import given, moving, nonzero, region, symbolic
from traceir.transforms.custom.custom_calls import CustomCallBody
from traceir.transforms.rules.registry import (
    BATCH,
    JVP,
    LINEARIZE,
    TRANSPOSE,
    BatchAxis,
    Batched,
    BatchRule,
    Cotangent,
    Cotangents,
    Dims,
    JvpResult,
    JvpRule,
    LinearizeResult,
    LinearOperand,
    Mask,
    Tangents,
    Values,
    Zero,
)
from traceir.transforms.rules.rewrites import changed


def jvp_call(primitive: str) -> JvpRule:
    """The rule of a call in forward mode: one for results and tangents."""

    def rule(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
        others = given(params)
        closed: ClosedJaxpr = others.pop("jaxpr")
        program, moves = jvp_program(closed, moving(tangents))
        values = [*primals, *nonzero(tangents)]
        found = region(primitive, values, **others, jaxpr=program)
        count = len(moves)
        return found[:count], symbolic(found[count:], moves, closed.out_avals)

    return rule


def batch_call(primitive: str) -> BatchRule:
    """The rule of a call for a batch: one of the program for a batch."""

    def rule(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
        others = given(params)
        program, dims_out = batch_program(others.pop("jaxpr"), axis, dims)
        return region(primitive, values, **others, jaxpr=program), dims_out

    return rule


def pulled(operands: Sequence[Any], found: Values, moves: Mask) -> list[Cotangent]:
    """The cotangents of all operands from those that a call gives: of the linear ones
    that move."""
    values, moving = iter(found), iter(moves)
    return [
        None
        if type(v) is not LinearOperand
        else next(values)
        if next(moving)
        else Zero(typeof(v))
        for v in operands
    ]


def linearize_jit(primals: Values, moved: Mask, params: Params) -> LinearizeResult:
    """One equation for results and residuals, and one for the tangents."""
    others = given(params)
    closed: ClosedJaxpr = others.pop("jaxpr")
    parts = linearize_program(closed, moved)
    program, places = without_copies(parts.forward)
    outs = region("jit", primals, **others, jaxpr=program)
    consts = constants_of(parts.forward)
    sources = {"input": primals, "const": consts, "result": outs}
    found = [sources[kind][k] for kind, k in places]
    count = len(closed.out_avals)

    def linear(residuals: Values, tangents: Values) -> Tangents:
        values = [*residuals, *tangents]
        return region("jit", values, **others, jaxpr=parts.linear)

    return found[:count], parts.nonzero, found[count:], linear


def without_copies(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[tuple[str, int]]]:
    """A program without the results that are inputs, constants or earlier results.

    With it, where each result of `closed` is found: its kind and its place.
    """
    return closed.memo("without copies", lambda: _without_copies(closed))


def _without_copies(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[tuple[str, int]]]:
    """The program without copies of inputs among results, and the places of all."""
    jaxpr = closed.jaxpr
    known: dict[Any, tuple[str, int]] = {}
    known.update((v, ("const", k)) for k, v in enumerate(jaxpr.constvars))
    known.update((v, ("input", k)) for k, v in enumerate(jaxpr.invars))
    kept: list[Var | Literal] = []
    places = []
    for atom in jaxpr.outvars:
        place = known.get(atom) if isinstance(atom, Var) else None
        if place is None:
            place = "result", len(kept)
            kept.append(atom)
            if isinstance(atom, Var):
                known[atom] = place
        places.append(place)
    if len(kept) == len(jaxpr.outvars):
        return closed, places
    return changed(closed, outvars=tuple(kept)), places


def transpose_jit(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """One equation from cotangents to cotangents."""
    others = given(params)
    linear = [type(v) is LinearOperand for v in operands]
    closed: ClosedJaxpr = others.pop("jaxpr")
    program, moves = transpose_program(closed, linear, moving(cotangents))
    values = [v for v in operands if type(v) is not LinearOperand]
    values += nonzero(cotangents)
    found = region("jit", values, **others, jaxpr=program)
    return pulled(operands, found, moves)


def transpose_custom_jvp(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """As of a call of the function, which is linear: its rule says no more."""
    captured: tuple[Tracer, ...] = ()
    body: Any = dict(params)["call_jaxpr"]
    if isinstance(body, CustomCallBody):
        avals = [v.aval if type(v) is LinearOperand else typeof(v) for v in operands]
        body, captured = body.program(avals)
    call = sort_params({"name": dict(params)["name"], "jaxpr": body})
    found = transpose_jit(cotangents, (*captured, *operands), call)
    return found[len(captured) :]


JVP["jit"] = jvp_call("jit")
LINEARIZE["jit"] = linearize_jit
TRANSPOSE["jit"] = transpose_jit
TRANSPOSE["custom_jvp_call"] = transpose_custom_jvp
BATCH["jit"] = batch_call("jit")
