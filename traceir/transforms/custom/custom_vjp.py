"""Functions with a reverse-mode rule of their own. Serves: custom_vjp.*, custom.*"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points, wraps
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import HostFunction, Params, sort_params
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.pytrees.key_path import SequenceKey
from traceir.tracing.results import check_outputs
from traceir.tracing.trace import Tracer, Value, bind_all, typeof
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.custom import custom_calls
from traceir.transforms.custom.symbolic_zeros import CustomVJPPrimal, told
from traceir.transforms.rules.derivative_templates import scalar
from traceir.transforms.rules.registry import (
    BATCH,
    JVP,
    LINEARIZE,
    TRANSPOSE,
    Cotangent,
    Cotangents,
    JvpResult,
    LinearizeResult,
    LinearOperand,
    Mask,
    Tangents,
    Values,
    Zero,
)

Rule = Callable[..., Any]


@entry_points("__init__", "__call__", "defvjp")
class custom_vjp:
    """A function whose reverse-mode derivative is given by a pair of rules.

    `fwd(*args)` returns the results and residuals, any tree of arrays;
    `bwd(residuals, cotangents)` a tuple with one cotangent for each argument, or None
    for zero. Arguments in `nondiff_argnums` must not be traced; `bwd` takes them in
    front of the residuals.

    Raises AttributeError (custom.undefined) when called without rules, TypeError
    (custom_vjp.pair, custom_vjp.results, custom_vjp.tree, custom_vjp.forward) and
    ValueError (custom_vjp.types) for what a rule returns.

    >>> import traceir, traceir.numpy as jnp
    >>> @traceir.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -1, 1),))
    >>> traceir.grad(lambda x: 5 * clipped(x))(2.0)
    Array(1., dtype=float32, weak_type=True)
    """

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = ()
    ) -> None:
        wraps(fun)(self)
        self.fun = fun
        self.fwd: Rule | None = None
        self.bwd: Rule | None = None
        self.symbolic_zeros = False
        self._nondiff = custom_calls.Nondiff(fun, nondiff_argnums, ())
        self._name = function_name(fun)

    def defvjp(
        self,
        fwd: Rule,
        bwd: Rule,
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Register the forward and the backward rule.

        With `symbolic_zeros` each leaf of the forward rule's arguments is a
        `CustomVJPPrimal`, a value and whether it is differentiated, and the backward
        rule gets a `SymbolicZero` for each cotangent that is known to be zero.
        `optimize_remat` changes no result, and nothing here: within `checkpoint`, what
        of the forward rule nobody needs is not computed anyway.
        """
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        if self.fwd is None or self.bwd is None:
            raise rules.error("custom.undefined", got=f"the custom_vjp {self._name}")
        primals, others = self._nondiff.split(args, kwargs)
        for position, value in others.items():
            if any(isinstance(leaf, Tracer) for leaf in flatten.leaves(value)):
                got = f"argument {position} of {self._name}"
                raise rules.error("custom.nondiff", got=got)
        labels = self._nondiff.labels(len(primals))
        leaves, tree = custom_calls.flatten_arguments(primals, self._name, labels)
        body = custom_calls.CustomCallBody(
            custom_calls.completed(self.fun, others),
            tree,
            self._name,
            "custom_vjp",
            labels,
        )
        symbolic = self.symbolic_zeros
        call = custom_calls.completed(self.fwd, others)
        forward = ForwardRule(self.fwd, call, body, symbolic)
        front = tuple(custom_calls.in_order(others))
        backward = BackwardRule(self.bwd, front, tree, self._name, symbolic)
        return custom_calls.bind_call(
            "custom_vjp_call",
            body,
            leaves,
            fwd=HostFunction(function_name(self.fwd), forward),
            bwd=HostFunction(function_name(self.bwd), backward),
            symbolic_zeros=symbolic,
        )


# Leaves of the results, leaves of the residuals, what the backward rule must know.
Forward = tuple[list[Value], list[Value], Any]


@dataclass(frozen=True, eq=False)
class ForwardRule:
    """A user's forward rule, as a function of leaves."""

    rule: Rule
    call: Rule
    body: custom_calls.CustomCallBody
    symbolic: bool

    def __call__(self, primals: Values, moving: Mask | None = None) -> Forward:
        """Results, residuals, and the structures of both; `moving` tells which primals
        are differentiated: by default all."""
        name = f"the rule {function_name(self.rule)} of {self.body.name}"
        given: Sequence[Any] = primals
        if self.symbolic:
            moves = [True] * len(primals) if moving is None else moving
            given = list(map(CustomVJPPrimal, primals, moves))
        pair = self.call(*self.body.in_tree.unflatten(given))
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise rules.error("custom_vjp.pair", got=f"{pair!r:.80} from {name}")
        outs, tree = flatten.flatten(pair[0])
        check_outputs(outs, tree)
        if self.body.out_tree not in (None, tree):
            got = f"{tree} from {name}, not {self.body.out_tree}"
            raise rules.error("custom_vjp.results", got=got)
        self.body.out_tree = tree
        residuals, structure = flatten.flatten(pair[1])
        return outs, residuals, (structure, tree)


@dataclass(frozen=True, eq=False)
class BackwardRule:
    """A user's backward rule, as a function of leaves."""

    rule: Rule
    others: tuple[Any, ...]
    in_tree: flatten.TreeDef
    name: str
    symbolic: bool

    def __call__(
        self,
        trees: tuple[flatten.TreeDef, flatten.TreeDef],
        residuals: Values,
        cotangents: Cotangents,
        avals: Sequence[ShapedArray],
    ) -> list[Cotangent]:
        """The cotangent of each leaf of the arguments, of types `avals`."""
        cts = [
            told(ct, ct.aval if isinstance(ct, Zero) else typeof(ct), self.symbolic)
            for ct in cotangents
        ]
        saved, ct = trees[0].unflatten(residuals), trees[1].unflatten(cts)
        given = self.rule(*self.others, saved, ct)
        found = list(self.leaves(given))
        return [
            Zero(aval) if ct is None else self.checked(ct, aval, path)
            for ct, aval, path in zip(found, avals, self.in_tree.paths(), strict=True)
        ]

    def leaves(self, given: Any) -> Iterator[Any]:
        """A cotangent for each leaf; TypeError (custom_vjp.tree)."""
        if not isinstance(given, tuple | list):
            raise self.wrong_tree(given, ())
        if len(given) != len(self.in_tree.below):
            raise self.wrong_tree(given, ())
        for k, (tree, part) in enumerate(zip(self.in_tree.below, given, strict=True)):
            yield from self.spread(tree, part, (SequenceKey(k),))

    def spread(self, tree: flatten.TreeDef, given: Any, path: Any) -> Iterator[Any]:
        """The cotangents of a subtree: None, one for all of it, or a tree."""
        if given is None or flatten.structure(given) is flatten.LEAF:
            yield from [given] * tree.num_leaves
            return
        parts, top = flatten.flatten_with_path(given, lambda t: t is not given)
        if (top.node_type, top.meta) != (tree.node_type, tree.meta):
            raise self.wrong_tree(given, path)
        for (step, part), below in zip(parts, tree.below, strict=True):
            yield from self.spread(below, part, (*path, *step))

    def wrong_tree(self, given: Any, path: Any) -> rules.TraceirError:
        """The error of a wrong structure (custom_vjp.tree)."""
        at = flatten.key_path(path, "output")
        rule = f"the rule {function_name(self.rule)} of {self.name}"
        got = f"{flatten.structure(given)} at {at} from {rule}, for {self.in_tree}"
        return rules.error("custom_vjp.tree", got=got)

    def checked(self, ct: Any, aval: ShapedArray, path: Any) -> Cotangent:
        """The cotangent; ValueError (custom_vjp.types) unless of the leaf's type."""
        if not is_inexact(aval):
            return Zero(aval)
        if type(ct) in (int, float) and aval.shape == ():
            return scalar(ct, aval)
        found = custom_calls.symbolic(ct, aval)
        if found is None:
            at = flatten.key_path(path, "output")
            rule = f"the rule {function_name(self.rule)} of {self.name}"
            got = (
                f"{custom_calls.shown(ct)} at {at} from {rule}, for {aval.str_short()}"
            )
            raise rules.error("custom_vjp.types", got=got)
        return found


def jvp_of_call(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """Raise an error: such a call has no forward derivative."""
    raise rules.error("custom_vjp.forward", got=str(dict(params)["name"]))


def refuse_lin(*_: Any) -> Any:
    """A backward rule can be transposed, and nothing else: there is no derivative."""
    raise rules.error("custom_vjp.forward")


def linearize_call(primals: Values, nonzero: Mask, params: Params) -> LinearizeResult:
    """The forward rule now, the backward one when cotangents come."""
    given: dict[str, Any] = dict(params)
    count = given["num_consts"]
    if any(nonzero[:count]):
        raise rules.error("custom.capture", got=f"a value captured by {given['name']}")
    fwd = custom_calls.host_rule(given["fwd"], "custom_vjp_call")
    bwd = custom_calls.host_rule(given["bwd"], "custom_vjp_call")
    moving = tuple(nonzero[count:])
    outs, residuals, trees = fwd(primals[count:], moving)
    avals = tuple(typeof(v) for v in outs)
    giver = f"the forward rule of {given['name']}"
    custom_calls.check_results("custom_vjp.results", given["call_jaxpr"], avals, giver)
    pullback = Pullback(
        bwd, trees, avals, tuple(typeof(v) for v in primals[count:]), moving
    )
    lin = sort_params(
        {
            "bwd": HostFunction(given["bwd"].name, pullback),
            "in_zeros": tuple(not moved for moved in moving),
            "num_res": len(residuals),
            "symbolic_zeros": given["symbolic_zeros"],
            "out_avals": tuple(a for a in avals if is_inexact(a)),
        }
    )

    def linear(saved: Values, tangents: Values) -> Tangents:
        return bind_all("custom_lin", [*saved, *tangents], lin)

    return outs, [is_inexact(a) for a in avals], residuals, linear


@dataclass(frozen=True, eq=False)
class Pullback:
    """A backward rule at one point: from residuals and cotangents to cotangents."""

    bwd: Callable[..., list[Cotangent]]
    trees: Any
    outs: tuple[ShapedArray, ...]
    ins: tuple[ShapedArray, ...]
    moving: tuple[bool, ...]

    def __call__(self, residuals: Values, cotangents: Cotangents) -> list[Cotangent]:
        """The cotangents of those inputs that move, by those of all real results."""
        given = iter(cotangents)
        full = [next(given) if is_inexact(a) else Zero(a) for a in self.outs]
        found = self.bwd(self.trees, residuals, full, self.ins)
        return [ct for ct, moves in zip(found, self.moving, strict=True) if moves]


def transpose_lin(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """The backward rule."""
    given: dict[str, Any] = dict(params)
    count = given["num_res"]
    pullback = custom_calls.host_rule(given["bwd"], "custom_lin")
    found = pullback(operands[:count], cotangents)
    return [None] * count + [
        ct if isinstance(operand, LinearOperand) else None
        for ct, operand in zip(found, operands[count:], strict=True)
    ]


BATCH["custom_lin"] = refuse_lin
JVP["custom_lin"] = refuse_lin
JVP["custom_vjp_call"] = jvp_of_call
LINEARIZE["custom_vjp_call"] = linearize_call
TRANSPOSE["custom_lin"] = transpose_lin
