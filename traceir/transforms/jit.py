"""The rules of `jit` equations: the transformed program, in one or two equations.

Serves: derive.jit
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir.ir import ClosedJaxpr, Jaxpr, Literal, Params, Var, sort_params
from traceir.trace import Value, bind_all, typeof
from traceir.transforms.programs import (
    jvp_program,
    linearize_program,
    transpose_program,
)
from traceir.transforms.rules import (
    JVP,
    LINEARIZE,
    TRANSPOSE,
    Cotangent,
    Linear,
    LinearPart,
    Tangent,
    Zero,
)


def apply_jit(closed: ClosedJaxpr, values: Sequence[Value], params: Params) -> Any:
    """One `jit` equation of a program, with the other params of an equation."""
    return bind_all("jit", values, sort_params({**dict(params), "jaxpr": closed}))


def program_of(params: Params) -> ClosedJaxpr:
    """The program of a `jit` equation."""
    found = dict(params)["jaxpr"]
    assert isinstance(found, ClosedJaxpr)
    return found


def jvp_jit(
    primals: Sequence[Value], tangents: Sequence[Tangent], params: Params
) -> tuple[Sequence[Value], Sequence[Tangent]]:
    """One equation for results and tangents."""
    closed = program_of(params)
    nonzero = [type(t) is not Zero for t in tangents]
    program, moves = jvp_program(closed, nonzero)
    moving = [t for t in tangents if type(t) is not Zero]
    found = apply_jit(program, [*primals, *moving], params)
    given = iter(found[len(moves) :])
    return found[: len(moves)], [
        next(given) if moved else Zero(aval)
        for aval, moved in zip(closed.out_avals, moves, strict=True)
    ]


def linearize_jit(
    primals: Sequence[Value], nonzero: Sequence[bool], params: Params
) -> tuple[Sequence[Value], Sequence[bool], Sequence[Value], LinearPart]:
    """One equation for results and residuals, and one for the tangents."""
    closed = program_of(params)
    parts = linearize_program(closed, nonzero)
    program, places = without_copies(parts.forward)
    given = apply_jit(program, primals, params)
    sources = {"input": primals, "const": parts.forward.consts, "result": given}
    found = [sources[kind][k] for kind, k in places]
    count = len(closed.out_avals)

    def linear(
        residuals: Sequence[Value], tangents: Sequence[Value]
    ) -> Sequence[Tangent]:
        values: Sequence[Value] = apply_jit(
            parts.linear, [*residuals, *tangents], params
        )
        return values

    return found[:count], parts.nonzero, found[count:], linear


def without_copies(
    closed: ClosedJaxpr,
) -> tuple[ClosedJaxpr, list[tuple[str, int]]]:
    """A program without the results that are inputs, constants or earlier results.

    With it, where each result of `closed` is found: its kind and its place.
    """
    made: tuple[ClosedJaxpr, list[tuple[str, int]]]
    made = closed.memo("without copies", lambda: _without_copies(closed))
    return made


def _without_copies(
    closed: ClosedJaxpr,
) -> tuple[ClosedJaxpr, list[tuple[str, int]]]:
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
    shorter = Jaxpr(
        jaxpr.constvars, jaxpr.invars, jaxpr.eqns, tuple(kept), jaxpr.debug_name
    )
    return ClosedJaxpr(shorter, closed.consts, closed.backend), places


def transpose_jit(
    cotangents: Sequence[Cotangent], operands: Sequence[Any], params: Params
) -> Sequence[Cotangent]:
    """One equation from cotangents to cotangents."""
    linear = [type(v) is Linear for v in operands]
    nonzero = [type(ct) is not Zero for ct in cotangents]
    program, given = transpose_program(program_of(params), linear, nonzero)
    values = [v for v in operands if type(v) is not Linear]
    values += [ct for ct in cotangents if type(ct) is not Zero]
    found = iter(apply_jit(program, values, params))
    moving = iter(given)
    return [
        None if not moved else next(found) if next(moving) else Zero(typeof(v))
        for v, moved in zip(operands, linear, strict=True)
    ]


JVP["jit"] = jvp_jit
LINEARIZE["jit"] = linearize_jit
TRANSPOSE["jit"] = transpose_jit
