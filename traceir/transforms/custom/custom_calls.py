"""Calls of functions with derivative rules: parts common to both.

The function stays a Python function as long as traces let values be known, so that its
rule and its body may branch on them; it becomes a program where it is recorded.

Serves: custom.undefined, custom.keyword, custom.named, custom.capture
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.config import local
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import float0
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, HostFunction, Params, sort_params
from traceir.jit.cache.signature import POSITIONAL, form_of, resolve_static
from traceir.jit.composite import run_as
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.tracing.results import check_outputs
from traceir.tracing.staging import stage
from traceir.tracing.trace import (
    OPENING,
    Trace,
    Tracer,
    Value,
    bind_all,
    current_trace,
    handle,
    typeof,
)
from traceir.transforms.autodiff.arguments import CLOSE_OVER, argument_hint, as_array
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.batching.batch_trace import BatchTrace
from traceir.transforms.custom.symbolic_zeros import SymbolicZero
from traceir.transforms.rules.registry import Tangent, Tangents, Values, Zero

NONDIFF = "name it in nondiff_argnums: only what is differentiated has to be an array"


@dataclass(eq=False)
class CustomCallBody:
    """A function of leaves, and the structures of its arguments and results."""

    function: Callable[..., Any]
    in_tree: flatten.TreeDef
    name: str
    transform: str
    labels: Sequence[str]
    out_tree: flatten.TreeDef | None = None

    def __call__(self, leaves: Values) -> list[Value]:
        """The leaves of the results."""
        results, tree = flatten.flatten(self.function(*self.in_tree.unflatten(leaves)))
        check_outputs(results, tree)
        self.out_tree = tree
        return results

    def program(
        self, avals: Sequence[ShapedArray]
    ) -> tuple[ClosedJaxpr, tuple[Tracer, ...]]:
        """The function traced on these types, and the tracers that it captures."""
        kept = replace(self, function=run_as(self.transform, self.function))
        found = program_of(kept, avals, self.paths(), self.name, self.transform)
        self.out_tree = kept.out_tree
        return found

    def paths(self) -> list[str]:
        """The path of each leaf of the arguments, as the user spells it."""
        found = self.in_tree.paths()
        return [flatten.key_path(path[1:], self.labels[path[0].idx]) for path in found]


def program_of(
    call: Callable[[Any], Values],
    avals: Sequence[ShapedArray],
    paths: Sequence[str],
    name: str,
    transform: str,
) -> tuple[ClosedJaxpr, tuple[Tracer, ...]]:
    """A function of leaves as a program, and the values it captures; see `stage`."""
    face = local.context.face
    jaxpr, constants, captured = stage(call, avals, paths, name, transform, face)
    return ClosedJaxpr(jaxpr, constants), captured


def open_call(primitive: str, values: Values, params: Params) -> Any:
    """Apply a call: run its function, pass it on as it is, or make its program."""
    given = dict(params)
    body, trace = given["call_jaxpr"], current_trace()
    if not isinstance(body, CustomCallBody):
        return handle(primitive, values, params)
    if not consulted(trace):
        found = body(values)
        return found if trace else [as_array(v, str) for v in found]
    assert trace is not None
    if trace.takes_functions(values):
        return handle(primitive, values, params)
    closed, captured = body.program([typeof(v) for v in values])
    given.update(call_jaxpr=closed, num_consts=len(captured))
    return handle(primitive, (*captured, *values), sort_params(given))


def consulted(trace: Trace | None) -> bool:
    """True if a trace in force may ask for a derivative, now or of what it records."""
    while isinstance(trace, BatchTrace):
        trace = trace.parent
    return trace is not None


for _primitive in ("custom_jvp_call", "custom_vjp_call"):
    OPENING[_primitive] = functools.partial(open_call, _primitive)


def bind_call(
    primitive: str, body: CustomCallBody, leaves: Values, **params: Any
) -> flatten.PyTree:
    """Apply a function with rules to leaves; returns its results in their structure."""
    given = sort_params(
        {
            "name": body.name,
            "call_jaxpr": body,
            "num_consts": 0,
            "symbolic_zeros": False,
            **params,
        }
    )
    results = bind_all(primitive, leaves, given)
    assert body.out_tree is not None  # the function ran, or its rule did
    return body.out_tree.unflatten(results)


# -- arguments ------------------------------------------------------------------------


class Nondiff:
    """The arguments of a function that are no primals, by position and by name."""

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: int | Sequence[int],
        argnames: str | Iterable[str],
    ) -> None:
        self._form = form_of(fun)
        spec = resolve_static(self._form.signature, argnums, argnames)
        self._positions = spec.positions
        self._name = function_name(fun)

    def split(self, args: Any, kwargs: Any) -> tuple[list[Any], dict[int, Any]]:
        """The primal arguments in order, and the others by position.

        Raises TypeError (jit.signature, custom.keyword).
        """
        try:
            bound = self._form.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise rules.error("jit.signature", got=str(error)) from None
        bound.apply_defaults()
        if bound.kwargs:
            got = f"{', '.join(sorted(bound.kwargs))} of {self._name}"
            raise rules.error("custom.keyword", got=got)
        numbered = list(enumerate(bound.args))
        others = {k: value for k, value in numbered if k in self._positions}
        return [value for k, value in numbered if k not in self._positions], others

    def labels(self, count: int) -> list[str]:
        """The names of so many primal arguments."""
        parameters = self._form.signature.parameters.values()
        names = [p.name for p in parameters if p.kind in POSITIONAL]
        rest = [
            f"{p.name}[{k}]"
            for p in parameters
            if p.kind is p.VAR_POSITIONAL
            for k in range(count + len(self._positions) - len(names))
        ]
        numbered = enumerate(names + rest)
        return [name for k, name in numbered if k not in self._positions]


def completed(fun: Callable[..., Any], others: dict[int, Any]) -> Callable[..., Any]:
    """The function of its primal arguments alone."""
    if not others:
        return fun

    def call(*primals: Any) -> Any:
        rest = iter(primals)
        total = len(primals) + len(others)
        return fun(*[others[k] if k in others else next(rest) for k in range(total)])

    return call


def in_order(others: dict[int, Any]) -> list[Any]:
    """The values of nondifferentiable arguments, as rules take them: in front."""
    return [others[k] for k in sorted(others)]


def flatten_arguments(
    primals: Sequence[Any], name: str, labels: Sequence[str] = ()
) -> tuple[list[Value], flatten.TreeDef]:
    """The leaves of the primal arguments; TypeError (jit.argument) for no array."""
    leaves, tree = flatten.flatten(tuple(primals))
    for leaf, path in zip(leaves, tree.paths(), strict=True):
        try:
            typeof(leaf)
        except rules.TraceirError as error:
            first = path[0].idx
            root = labels[first] if labels else str(first)
            at = flatten.key_path(path[1:], root)
            got = f"{error.got} at argument {at} of {name}"
            hint = argument_hint(error, NONDIFF if labels else CLOSE_OVER)
            raise rules.error(error.rule, got=got, hint=hint) from None
    return leaves, tree


# -- what rules are given, and give ---------------------------------------------------


def host_rule(function: HostFunction, call: str) -> Callable[..., Any]:
    """The rule of a call; TypeError (custom.named) where the text had its name."""
    if function.function is None:
        raise rules.error("custom.named", got=f"`{function.name}` of `{call}`")
    return function.function


def check_captures(tangents: Tangents, count: int, name: Any) -> None:
    """Raise UnexpectedTracerError (custom.capture) for a captured value's tangent."""
    if not all(isinstance(t, Zero) for t in tangents[:count]):
        raise rules.error("custom.capture", got=f"a value captured by {name}")


def check_results(
    rule: str, program: Any, avals: Iterable[ShapedArray], giver: str
) -> None:
    """Raise TypeError (`rule`) unless results have the types of those of a program.

    A function that has not been traced is no program: its rule tells the types.
    """
    if not isinstance(program, ClosedJaxpr):
        return
    wanted = [a.str_short() for a in program.out_avals]
    got = [a.str_short() for a in avals]
    if wanted != got:
        text = f"results {', '.join(got)} from {giver}, not {', '.join(wanted)}"
        raise rules.error(rule, got=text)


def symbolic(given: Any, aval: ShapedArray) -> Tangent | None:
    """The tangent that a rule gave for a value of this type; None if it has another
    type.

    The type of what does not vary is that of the value, or float0.
    """
    if isinstance(given, Zero | SymbolicZero):
        found = given.aval
        if found.dtype == float0 and found.shape == aval.shape:
            return Zero(aval)
    elif getattr(given, "dtype", None) == float0:
        return Zero(aval) if np.shape(given) == aval.shape else None
    else:
        found = typeof(given)
    if (found.shape, found.dtype) != (aval.shape, aval.dtype):
        return None
    varies = is_inexact(aval) and not isinstance(given, Zero | SymbolicZero)
    return given if varies else Zero(aval)


def shown(given: Any) -> str:
    """The type of a rule's result, in an error's text."""
    if getattr(given, "dtype", None) == float0:
        return f"float0[{','.join(map(str, np.shape(given)))}]"
    zero = isinstance(given, Zero | SymbolicZero)
    return (given.aval if zero else typeof(given)).str_short()
