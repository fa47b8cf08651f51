"""A user's function called on leaves, under forward mode or linearized.

Serves: derive.jvp, derive.linearize, derive.aux
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from traceir.ir.avals import ShapedArray
from traceir.ir.name_stack import under
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.tracing.results import check_outputs
from traceir.tracing.trace import Value, living, typeof
from traceir.transforms.autodiff.arguments import (
    Arguments,
    as_array,
    check_aux,
    labels_of,
    path_in,
    result,
)
from traceir.transforms.autodiff.jvp_trace import JVPTrace
from traceir.transforms.autodiff.linearize import (
    Linearized,
    differentiable,
    linearize_flat,
)
from traceir.transforms.rules.registry import Cotangent, Tangent, Zero

Function = Callable[..., Any]


class FlatFunction:
    """A function of trees, called with leaves; knows the structure of its result."""

    def __init__(
        self,
        fun: Function,
        arguments: Arguments,
        has_aux: bool,
        asker: str,
        place: Callable[[Sequence[Any]], tuple[Sequence[Any], Any]] | None = None,
    ) -> None:
        self.fun = fun
        self.arguments = arguments
        self.has_aux = has_aux
        self.asker = asker
        self.place = place or (lambda values: (values, {}))
        self.aux_leaves: list[Any] = []
        self.aux_tree: flatten.TreeDef = flatten.LEAF
        self.tree: flatten.TreeDef = flatten.LEAF

    def __call__(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves of the result, those that are numbers as arrays."""
        args, kwargs = self.place(self.arguments.treedef.unflatten(leaves))
        returned = self.fun(*args, **kwargs)
        if self.has_aux:
            returned, aux = check_aux(returned, self.asker)
            self.aux_leaves, self.aux_tree = flatten.flatten(aux)
        found, self.tree = flatten.flatten(returned)
        check_outputs(found, self.tree)
        return [
            as_array(v, partial(path_in, self.tree, k, "the result"))
            for k, v in enumerate(found)
        ]

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """The tree of a result."""
        return self.tree.unflatten(list(leaves))

    def split_aux(self, trace: JVPTrace) -> None:
        """Take the tangents off the values returned beside the result."""
        if self.has_aux:
            self.aux_leaves = list(trace.split(self.aux_leaves)[0])

    def aux(self) -> Any:
        """The values returned beside the result, without tangents; nodes that look at
        the trace in force are made in that of the caller."""
        return self.aux_tree.unflatten(self.aux_leaves) if self.has_aux else None


def linearize_call(
    call: FlatFunction, transform: str
) -> tuple[list[Any], Linearized, Any]:
    """The results, the linearized function, and its auxiliary results."""
    leaves = call.arguments.leaves

    def run(values: list[Any], trace: JVPTrace) -> list[Any]:
        with under("jvp", True):
            outs = call(values)
        call.split_aux(trace)
        return outs

    name = function_name(call.fun)
    moved = differentiable(leaves)
    outs, linearized = linearize_flat(run, leaves, moved, name, transform)
    return outs, linearized, call.aux()


def jvp_call(
    call: FlatFunction, tangents: Sequence[Tangent], transform: str
) -> tuple[list[Value], list[Tangent], Any]:
    """The results, their tangents, and the auxiliary results."""
    trace = JVPTrace(function_name(call.fun), transform)
    with living(trace), under("jvp", True):
        leaves = call.arguments.leaves
        outs, found = trace.split(call([trace.pair(*b) for b in zip(leaves, tangents)]))
        call.split_aux(trace)
    moved = [Zero(typeof(o)) if t is None else t for o, t in zip(outs, found)]
    return outs, moved, call.aux()


def flat_function(
    fun: Function, primals: Sequence[Any], has_aux: bool, asker: str
) -> FlatFunction:
    """A function of all its arguments, which are primals."""
    labels = labels_of(fun, range(len(primals)))
    return FlatFunction(fun, Arguments(primals, labels), has_aux, asker)


def flat_function_at(
    fun: Function,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    places: Sequence[int],
    has_aux: bool,
    asker: str,
) -> FlatFunction:
    """A function of the arguments at these places, the others being held."""
    arguments = Arguments([args[k] for k in places], labels_of(fun, places))

    def place(values: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        found = list(args)
        for k, value in zip(places, values, strict=True):
            found[k] = value
        return found, kwargs

    return FlatFunction(fun, arguments, has_aux, asker, place)


def cotangent_results(
    found: Sequence[Cotangent], avals: Sequence[ShapedArray]
) -> list[Any]:
    """The cotangents of leaves as they are returned."""
    return [
        result(Zero(aval) if ct is None else ct, aval)
        for ct, aval in zip(found, avals, strict=True)
    ]
