"""Functions whose derivative computes again what it needs. Serves: checkpoint.policy"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from traceir import pytree, rules
from traceir.ir import ClosedJaxpr, Jaxpr, Params, sort_params
from traceir.jit.backends import runner
from traceir.jit.signature import bind_arguments, form_of, resolve_static
from traceir.jit.staging import check_outputs, function_name, prepare
from traceir.recording import apply
from traceir.trace import EAGER, Value, bind_all, typeof
from traceir.transforms import programs
from traceir.transforms.calls import staged
from traceir.transforms.programs import (
    jvp_program,
    linearize_program,
    transpose_program,
)
from traceir.transforms.rewrites import drop_inputs, live
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

# A program, and the places that its inputs had in the one that it was made of.
Lean = tuple[ClosedJaxpr, tuple[int, ...]]


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: None = None,
    static_argnums: int | Sequence[int] = (),
) -> Any:
    """`fun`, of which reverse mode saves the arguments and computes the rest anew.

    It costs another run of the function and spares the memory of what is between. The
    function is traced; arguments in `static_argnums` are Python values for it.
    `prevent_cse` says in the program that the second run is not to be merged with the
    first. Without `fun`, returns a decorator.

    Raises TypeError (checkpoint.policy) for any policy but None, and as `jit` does.

    >>> import traceir, traceir.numpy as jnp
    >>> f = traceir.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
    >>> traceir.make_jaxpr(f)(1.0).eqns[0].primitive
    'remat2'
    >>> traceir.grad(f)(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    if policy is not None:
        raise rules.error("checkpoint.policy", got=repr(policy))
    if fun is None:
        return functools.partial(
            checkpoint, prevent_cse=prevent_cse, static_argnums=static_argnums
        )
    form, name = form_of(fun), function_name(fun)
    static = resolve_static(form.signature, static_argnums, None)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = bind_arguments(form, static, args, kwargs)
        prepared = prepare(bound, "jax")
        trees: list[pytree.TreeDef] = []

        def run(tracers: Sequence[Value]) -> Sequence[Value]:
            tree = prepared.call.treedef
            given, named = bound.rebuild(tree.unflatten(tracers))
            leaves, out_tree = pytree.flatten(fun(*given, **named))
            check_outputs(leaves, out_tree)
            trees.append(out_tree)
            return leaves

        avals = prepared.call.avals
        closed, captured = staged(run, avals, prepared.call.paths, name, "checkpoint")
        # The consts come in as operands, so that they are saved like arguments.
        program, values = with_operands(closed)
        params = sort_params(
            {
                "jaxpr": program,
                "prevent_cse": prevent_cse,
                "differentiated": False,
                "policy": None,
            }
        )
        operands = [*values, *captured, *prepared.leaves]
        return trees[0].unflatten(bind_all("remat2", operands, params))

    return call


remat = checkpoint


def with_operands(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[Value]]:
    """A program whose constants are its first inputs, and their values."""
    jaxpr = closed.jaxpr
    if not jaxpr.constvars:
        return closed, []
    invars = (*jaxpr.constvars, *jaxpr.invars)
    opened = Jaxpr((), invars, jaxpr.eqns, jaxpr.outvars, jaxpr.debug_name)
    return ClosedJaxpr(opened, (), closed.backend), list(closed.consts)


def lean(closed: ClosedJaxpr) -> Lean:
    """The program without what no result needs, and the places of the inputs left."""
    program, used = live(closed, [True] * len(closed.jaxpr.outvars))
    places = tuple(k for k, needed in enumerate(used) if needed)
    return drop_inputs(program, [not needed for needed in used]), places


# -- rules ----------------------------------------------------------------------------


def _again(closed: ClosedJaxpr, values: Sequence[Value], params: Params) -> Any:
    """An equation of another program, with the params of a differentiated one."""
    given = {**dict(params), "jaxpr": closed, "differentiated": True}
    return bind_all("remat2", values, sort_params(given))


def _program(params: Params) -> ClosedJaxpr:
    found = dict(params)["jaxpr"]
    assert isinstance(found, ClosedJaxpr)
    return found


def jvp_remat(
    primals: Sequence[Value], tangents: Sequence[Tangent], params: Params
) -> tuple[Sequence[Value], Sequence[Tangent]]:
    """One equation for results and tangents."""
    closed = _program(params)
    nonzero = [type(t) is not Zero for t in tangents]
    program, moves = jvp_program(closed, nonzero)
    values = [*primals, *(t for t in tangents if type(t) is not Zero)]
    given = sort_params({**dict(params), "jaxpr": program})
    found = bind_all("remat2", values, given)
    moving = iter(found[len(moves) :])
    return found[: len(moves)], [
        next(moving) if moved else Zero(aval)
        for aval, moved in zip(closed.out_avals, moves, strict=True)
    ]


def linearize_remat(
    primals: Sequence[Value], nonzero: Sequence[bool], params: Params
) -> tuple[Sequence[Value], Sequence[bool], Sequence[Value], LinearPart]:
    """The results now; the tangents by an equation that computes everything again."""
    closed = _program(params)
    outs = apply(closed, primals)
    tangents_only, moves = tangent_program(closed, tuple(nonzero))
    count = len(primals)
    used = [k for k in tangents_only[1] if k < count]
    moving = [k - count for k in tangents_only[1] if k >= count]

    def linear(
        residuals: Sequence[Value], tangents: Sequence[Value]
    ) -> Sequence[Tangent]:
        values = [*residuals, *(tangents[k] for k in moving)]
        found: Sequence[Value] = _again(tangents_only[0], values, params)
        return found

    return outs, moves, [primals[k] for k in used], linear


def tangent_program(
    closed: ClosedJaxpr, nonzero: tuple[bool, ...]
) -> tuple[Lean, tuple[bool, ...]]:
    """The program from inputs and tangents to tangents of the results alone."""

    def make() -> tuple[Lean, tuple[bool, ...]]:
        parts = linearize_program(closed, nonzero)
        count = len(nonzero)

        def call(tracers: Sequence[Value]) -> Sequence[Value]:
            found = apply(parts.forward, tracers[:count])[len(closed.out_avals) :]
            return apply(parts.linear, [*found, *tracers[count:]])

        moved = [a for a, moves in zip(closed.in_avals, nonzero, strict=True) if moves]
        program = programs.staged(closed, call, [*closed.in_avals, *moved])
        return lean(program), parts.nonzero

    made: tuple[Lean, tuple[bool, ...]]
    made = closed.memo(("tangents", nonzero), make)
    return made


def transpose_remat(
    cotangents: Sequence[Cotangent], operands: Sequence[Any], params: Params
) -> Sequence[Cotangent]:
    """One equation from inputs and cotangents to cotangents."""
    linear = [type(v) is Linear for v in operands]
    nonzero = [type(ct) is not Zero for ct in cotangents]
    program, given = transpose_program(_program(params), linear, nonzero)
    program, used = lean(program)
    values = [v for v in operands if type(v) is not Linear]
    values += [ct for ct in cotangents if type(ct) is not Zero]
    found = iter(_again(program, [values[k] for k in used], params))
    moving = iter(given)
    return [
        None if not moved else next(found) if next(moving) else Zero(typeof(v))
        for v, moved in zip(operands, linear, strict=True)
    ]


def run_remat(params: Params) -> Callable[..., Sequence[Any]]:
    """How one is evaluated outside every trace: as a compiled program."""
    closed = _program(params)
    return runner(closed, closed.backend or "reference")


EAGER["remat2"] = run_remat
JVP["remat2"] = jvp_remat
LINEARIZE["remat2"] = linearize_remat
TRANSPOSE["remat2"] = transpose_remat
