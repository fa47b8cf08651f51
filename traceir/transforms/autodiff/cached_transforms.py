"""Derivatives of programs, each kept with its program. Serves: derive.*"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from traceir.base.config import local as _local
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Literal
from traceir.tracing.staging import StagedTracer, apply, array_of, literal_of, stage
from traceir.tracing.trace import (
    Value,
    bind_all,
    current_trace,
    in_force,
    living,
    typeof,
)
from traceir.transforms.autodiff.jvp_trace import JVPTrace
from traceir.transforms.autodiff.linearize import (
    LinearEqn,
    Linearized,
    LinearTracer,
    TangentTrace,
    at,
    linearize_flat,
)
from traceir.transforms.autodiff.transpose import backward_pass
from traceir.transforms.rules.dce import live_program
from traceir.transforms.rules.derivative_templates import is_number
from traceir.transforms.rules.registry import LinearOperand, Values, Zero

Mask = tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class LinearizedProgram:
    """A program in two: `forward` gives its results and then the residuals; `linear`
    takes residuals, then the tangents that are not zero, and gives tangents.

    `nonzero` tells which results have one.
    """

    forward: ClosedJaxpr
    linear: ClosedJaxpr
    nonzero: Mask


def jvp_program(
    closed: ClosedJaxpr, nonzero: Sequence[bool]
) -> tuple[ClosedJaxpr, Mask]:
    """The program that takes the nonzero tangents, too, and gives those of the results.

    Its results are those of `closed`, then the tangents of those for which the mask
    that is returned with it is True.
    """
    mask = tuple(nonzero)
    return closed.memo(("jvp", mask), lambda: _jvp(closed, mask))


def _jvp(closed: ClosedJaxpr, nonzero: Mask) -> tuple[ClosedJaxpr, Mask]:
    """The program of primals and tangents, and the mask of results with tangents."""
    moves: list[bool] = []

    def call(tracers: list[StagedTracer]) -> Values:
        primals, tangents = tracers[: len(nonzero)], iter(tracers[len(nonzero) :])
        trace = JVPTrace(closed.jaxpr.debug_name, "jvp")
        values = [
            trace.pair(p, next(tangents) if moved else None)
            for p, moved in zip(primals, nonzero, strict=True)
        ]
        with living(trace):
            outs, found = trace.split(apply(closed, values))
        moves.extend(t is not None for t in found)
        return [*outs, *(t for t in found if t is not None)]

    moved = [a for a, m in zip(closed.in_avals, nonzero, strict=True) if m]
    return staged(closed, call, [*closed.in_avals, *moved]), tuple(moves)


def linearize_program(
    closed: ClosedJaxpr, nonzero: Sequence[bool]
) -> LinearizedProgram:
    """The program in two parts, by which of its inputs have a tangent."""
    mask = tuple(nonzero)
    return closed.memo(("linearize", mask), lambda: _linearize(closed, mask))


def _linearize(closed: ClosedJaxpr, nonzero: Mask) -> LinearizedProgram:
    """The forward program with residuals, and the linear one."""
    parts: list[tuple[Linearized, list[Value], dict[int, Literal]]] = []
    own = {id(a) for eqn in closed.jaxpr.eqns for a in eqn.inputs}

    def forward(tracers: list[StagedTracer]) -> Values:
        name = closed.jaxpr.debug_name
        outs, linearized = linearize_flat(
            lambda values, _: apply(closed, values), tracers, nonzero, name, "linearize"
        )
        found = residuals_of(linearized)
        # What the program has as a literal, the linear one has as one, too.
        literals = {id(v): a for v in found if (a := literal_of(v)) and id(a) in own}
        residuals = [v for v in found if id(v) not in literals]
        parts.append((linearized, residuals, literals))
        return [*outs, *residuals]

    program = staged(closed, forward, closed.in_avals)
    [(linearized, residuals, literals)] = parts
    moves = tuple(type(o) is not Zero for o in linearized.outputs)

    def linear(tracers: list[StagedTracer]) -> Values:
        known: dict[int, Value] = dict(zip(map(id, residuals), tracers))
        known.update((k, array_of(literal)) for k, literal in literals.items())
        moving = [t for t in linearized.inputs if t is not None]
        known.update(zip(map(id, moving), tracers[len(residuals) :], strict=True))
        replay(linearized.tape, known)
        moved = [o for o in linearized.outputs if type(o) is not Zero]
        return [known.get(id(o), o) for o in moved]

    moved = [a for a, m in zip(closed.in_avals, nonzero, strict=True) if m]
    avals = [*map(typeof, residuals), *moved]
    return _lean(program, staged(closed, linear, avals), moves, len(residuals))


def _lean(
    forward: ClosedJaxpr, linear: ClosedJaxpr, nonzero: Mask, count: int
) -> LinearizedProgram:
    """The two parts without the residuals that no tangent needs."""
    kept = [k >= count for k in range(len(linear.in_avals))]
    linear, taken = live_program(linear, [True] * len(linear.out_avals), kept)
    needed = [True] * (len(forward.out_avals) - count) + [*taken[:count]]
    forward, _ = live_program(forward, needed, [True] * len(forward.in_avals))
    return LinearizedProgram(forward, linear, nonzero)


def residuals_of(linearized: Linearized) -> list[Value]:
    """The values that tangents need beside tangents, each once, in order of use.

    Numbers are none of them: a program has them as literals.
    """
    found: dict[int, Value] = {}
    used = [value for eqn in linearized.tape for value in eqn.inputs]
    used += [value for value in linearized.outputs if type(value) is not Zero]
    for value in used:
        if type(value) is not LinearTracer and not is_number(value):
            found.setdefault(id(value), value)
    return list(found.values())


def replay(tape: Sequence[LinearEqn], known: dict[int, Value]) -> None:
    """Apply a tape to values by the identity of its own; adds the results to them."""
    for eqn in tape:
        operands = [known.get(id(value), value) for value in eqn.inputs]
        with at(eqn):
            results = bind_all(eqn.primitive, operands, eqn.params)
        known.update(zip(map(id, eqn.outputs), results, strict=True))


def record(
    call: Callable[[list[Value]], Values],
    values: Values,
    linear: Sequence[bool],
    name: str,
    transform: str,
) -> Linearized:
    """The tape of a function that is linear in some of its arguments.

    Results that do not depend on those are zero: the function is linear.
    """
    trace = TangentTrace(name, transform)
    inputs = [
        trace.input(typeof(v)) if moved else None
        for v, moved in zip(values, linear, strict=True)
    ]
    with living(trace):
        outs = call([v if t is None else t for v, t in zip(values, inputs)])
    outputs = [
        o if type(o) is LinearTracer and o._trace is trace else Zero(typeof(o))
        for o in outs
    ]
    return Linearized(trace.taken(), inputs, outputs)


def transpose_program(
    closed: ClosedJaxpr, linear: Sequence[bool], nonzero: Sequence[bool]
) -> tuple[ClosedJaxpr, Mask]:
    """The program from cotangents of the results to those of the linear inputs.

    It takes the inputs that are not linear, then the cotangents that are `nonzero`, and
    gives the cotangent of each linear input where the mask is True: others are zero.
    """
    masks = tuple(linear), tuple(nonzero)
    return closed.memo(("transpose", *masks), lambda: _transpose(closed, *masks))


def _transpose(
    closed: ClosedJaxpr, linear: Mask, nonzero: Mask
) -> tuple[ClosedJaxpr, Mask]:
    """The program of cotangents, and the mask of operands that get one."""
    given: list[bool] = []
    pairs = list(zip(closed.in_avals, linear, strict=True))
    fixed = [aval for aval, moved in pairs if not moved]

    def call(tracers: list[StagedTracer]) -> Values:
        residuals, cts = iter(tracers[: len(fixed)]), iter(tracers[len(fixed) :])
        values = [aval if moved else next(residuals) for aval, moved in pairs]
        tape = record(
            lambda operands: apply(closed, operands),
            [LinearOperand(v) if type(v) is ShapedArray else v for v in values],
            linear,
            closed.jaxpr.debug_name,
            "linear_transpose",
        )
        arriving = [
            next(cts) if moved else Zero(aval)
            for aval, moved in zip(closed.out_avals, nonzero, strict=True)
        ]
        pulled = [
            ct
            for ct, moved in zip(backward_pass(tape, arriving), linear, strict=True)
            if moved
        ]
        given.extend(type(ct) is not Zero for ct in pulled)
        return [ct for ct in pulled if type(ct) is not Zero]

    moved = [a for a, m in zip(closed.out_avals, nonzero, strict=True) if m]
    return staged(closed, call, [*fixed, *moved]), tuple(given)


def staged(
    closed: ClosedJaxpr,
    call: Callable[[list[StagedTracer]], Values],
    avals: Sequence[ShapedArray],
) -> ClosedJaxpr:
    """The program of a function made of another program, with its name and backend.

    The rules of a user's that it applies may name the axes that are bound around it.
    """
    name = closed.jaxpr.debug_name
    paths = [f"operand {k}" for k in range(len(avals))]
    around = current_trace()
    axes = around.axes if around else {}
    with in_force(None):
        jaxpr, constants, _ = stage(
            call, avals, paths, name, "jit", _local.context.face, axes
        )
    return ClosedJaxpr(jaxpr, constants, closed.backend)
