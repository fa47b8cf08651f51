"""`checkpoint`: derivatives that recompute what they need. Serves: checkpoint.*"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import wraps
from traceir.ir.jaxpr import ClosedJaxpr, Params
from traceir.ir.name_stack import under
from traceir.jit.backends import runner
from traceir.jit.cache.signature import bind_arguments, form_of, resolve_static
from traceir.jit.composite import run_as
from traceir.jit.staging import function_name, prepare
from traceir.pytrees import flatten
from traceir.references import calls
from traceir.references.reference import Ref
from traceir.tracing.results import check_outputs
from traceir.tracing.staging import apply, constants_of
from traceir.tracing.trace import EAGER, current_trace
from traceir.transforms.autodiff import cached_transforms
from traceir.transforms.autodiff.cached_transforms import (
    linearize_program,
    transpose_program,
)
from traceir.transforms.control.call_rules import batch_call, jvp_call, pulled
from traceir.transforms.control.regions import given, moving, nonzero, region
from traceir.transforms.custom.custom_calls import program_of
from traceir.transforms.rules.dce import live_program
from traceir.transforms.rules.registry import (
    BATCH,
    JVP,
    LINEARIZE,
    TRANSPOSE,
    Cotangents,
    LinearizeResult,
    LinearOperand,
    Mask,
    Tangents,
    Values,
)
from traceir.transforms.rules.rewrites import kept, opened

if TYPE_CHECKING:
    from traceir.ir.checkpoint_policies import Policy

P = ParamSpec("P")
R = TypeVar("R")


@overload
def checkpoint(
    fun: Callable[P, R],
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Callable[P, R]: ...


@overload
def checkpoint(
    fun: None = None,
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Any:
    """`fun`, of which reverse mode saves the arguments and computes the rest anew.

    It costs another run of the function and spares the memory of what is between. The
    function is traced; arguments in `static_argnums` are Python values for it.
    `prevent_cse` says in the program that the second run is not to be merged with the
    first. A `policy` tells what else is saved: one of `checkpoint_policies`, or a
    function of a primitive, the types of its operands and, by name, its params, which
    returns True for equations whose results are saved. Without `fun`, returns a
    decorator.

    Raises TypeError (checkpoint.policy) for a policy that cannot be called, and as
    `jit` does.

    >>> import traceir, traceir.numpy as jnp
    >>> f = traceir.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
    >>> traceir.make_jaxpr(f)(1.0).eqns[0].primitive
    remat2
    >>> traceir.grad(f)(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    if not (policy is None or callable(policy)):
        raise rules.error("checkpoint.policy", got=repr(policy))
    if fun is None:
        return functools.partial(
            checkpoint,
            prevent_cse=prevent_cse,
            policy=policy,
            static_argnums=static_argnums,
        )
    shown = None
    if policy is not None:
        from traceir.ir.checkpoint_policies import (
            policy_text,  # not on the way of an import
        )

        shown = policy_text(policy)
    form, name = form_of(fun), function_name(fun)
    static = resolve_static(form.signature, static_argnums, None)

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        """Trace the function, and bind it as one `remat2` equation."""
        prepared = prepare(bind_arguments(form, static, args, kwargs), "jax")
        bound = prepared.bound
        trees: list[flatten.TreeDef] = []
        outer: list[Ref] = []

        def run(tracers: Values) -> Values:
            tree = prepared.call.treedef
            trace: Any = current_trace()
            trace.refs = {}
            values = tree.unflatten(tracers)
            given, named = bound.rebuild(values)
            found = run_as("checkpoint", fun)(*given, **named)
            mine = calls.refs_in(values) if prepared.refs else ()
            found = calls.with_written(trace, mine, found)
            outer.extend(calls.closed_over(trace))
            leaves, out_tree = flatten.flatten(found)
            check_outputs(leaves, out_tree)
            trees.append(out_tree)
            return leaves

        avals = prepared.call.avals
        closed, captured = program_of(
            run, avals, prepared.call.paths, name, "checkpoint"
        )
        held = calls.operands(outer, prepared.refs)
        # The consts come in as operands, so that they are saved like arguments.
        results = region(
            "remat2",
            [*constants_of(closed), *captured, *held, *prepared.leaves],
            jaxpr=opened(closed),
            prevent_cse=prevent_cse,
            differentiated=False,
            policy=shown,
        )
        return calls.written_back(trees[0].unflatten(results), outer, prepared.refs)

    return call


remat = checkpoint


# -- rules ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A program in two: `forward` gives its results and then what its policy saves;
    `tangents` takes the inputs for which `taken` is True, what is saved and tangents.

    `nonzero` tells which results have a tangent.
    """

    forward: ClosedJaxpr
    tangents: ClosedJaxpr
    taken: Mask
    nonzero: Mask


def linearize_remat(primals: Values, moved: Mask, params: Params) -> LinearizeResult:
    """The results now; the tangents by an equation that computes again what its policy
    does not save."""
    others = given(params)
    closed: ClosedJaxpr = others.pop("jaxpr")
    parts = checkpointed(closed, tuple(moved), others["policy"])
    found = apply(parts.forward, primals)
    count = len(closed.out_avals)
    others["differentiated"] = True

    def linear(residuals: Values, tangents: Values) -> Tangents:
        values = [*residuals, *tangents]
        return region("remat2", values, **others, jaxpr=parts.tangents)

    residuals = [*kept(primals, parts.taken), *found[count:]]
    return found[:count], parts.nonzero, residuals, linear


def checkpointed(
    closed: ClosedJaxpr, nonzero: tuple[bool, ...], policy: str | None
) -> Checkpointed:
    """The program in two, by which of its inputs have a tangent."""
    key = "checkpoint", nonzero, policy
    return closed.memo(key, lambda: _checkpointed(closed, nonzero, policy))


def _checkpointed(
    closed: ClosedJaxpr, nonzero: tuple[bool, ...], policy: str | None
) -> Checkpointed:
    """The part that saves, and the program of tangents that computes the rest."""
    from traceir.ir import (
        checkpoint_policies as policies,  # not on the way of an import
    )
    from traceir.transforms.control.saved_residuals import (
        saved_residuals,
        without_results,
    )

    found = policies.nothing_saveable if policy is None else policies.policy_of(policy)
    if found is None:
        raise rules.error("checkpoint.policy", got=str(policy))
    parts = linearize_program(closed, nonzero)
    results = len(closed.out_avals)
    total = len(parts.forward.out_avals)
    split = saved_residuals(
        parts.forward, found, tuple(k >= results for k in range(total))
    )
    forward = without_results(
        split.forward,
        tuple(not results <= k < total for k in range(len(split.forward.out_avals))),
    )
    saved = split.again.in_avals[sum(split.taken) :]

    def call(tracers: Values) -> Values:
        again = len(split.again.in_avals)
        with under("rematted_computation"):
            residuals = apply(split.again, tracers[:again])
        return apply(parts.linear, [*residuals, *tracers[again:]])

    moved = kept(closed.in_avals, nonzero)
    avals = [*kept(closed.in_avals, split.taken), *saved, *moved]
    program = cached_transforms.staged(closed, call, avals)
    return Checkpointed(forward, program, split.taken, parts.nonzero)


def transpose_remat(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """One equation from inputs and cotangents to cotangents."""
    others = given(params)
    closed: ClosedJaxpr = others.pop("jaxpr")
    linear = [type(v) is LinearOperand for v in operands]
    program, moves = transpose_program(closed, linear, moving(cotangents))
    program, taken = live_program(program, [True] * len(program.out_avals))
    values = [v for v in operands if type(v) is not LinearOperand]
    values += nonzero(cotangents)
    others["differentiated"] = True
    found = region("remat2", kept(values, taken), **others, jaxpr=program)
    return pulled(operands, found, moves)


def run_remat(params: Params) -> Callable[..., Sequence[Any]]:
    """The evaluation of one outside every trace: as a compiled program."""
    closed: ClosedJaxpr = given(params)["jaxpr"]
    return runner(closed, closed.backend or "reference")


EAGER["remat2"] = run_remat
JVP["remat2"] = jvp_call("remat2")
LINEARIZE["remat2"] = linearize_remat
TRANSPOSE["remat2"] = transpose_remat
BATCH["remat2"] = batch_call("remat2")
