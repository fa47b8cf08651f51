"""Transposes of linear functions. Serves: linear_transpose.*, derive.nonlinear"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from traceir import rules
from traceir.base import config
from traceir.dtypes import is_inexact
from traceir.ir.avals import ShapedArray
from traceir.ir.name_stack import under
from traceir.jit.composite import run_as
from traceir.jit.staging import function_name, input_aval
from traceir.pytrees import flatten
from traceir.tracing.results import check_outputs
from traceir.tracing.trace import Value, typeof
from traceir.transforms.autodiff.arguments import (
    as_array,
    check_callable,
    no_axes,
    path_in,
)
from traceir.transforms.autodiff.cached_transforms import record
from traceir.transforms.autodiff.transpose import backward_pass
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import LinearOperand, Values, Zero


def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Sequence[Hashable] = ()
) -> Callable[[Any], Any]:
    """The transpose of a function that is linear: from a cotangent to cotangents.

    Of `primals`, arrays or ShapeDtypeStruct, only types are looked at: all floating, or
    all integers, as then the results. The transpose takes one cotangent of the result's
    structure and gives a tuple of one for each primal.

    Raises TypeError (linear_transpose.dtype), NotImplementedError (derive.nonlinear);
    the transpose TypeError (linear_transpose.tree, linear_transpose.cotangent).

    >>> import traceir
    >>> traceir.linear_transpose(lambda x: 2 * x, 1.0)(3.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    check_callable(fun, "linear_transpose")
    no_axes("linear_transpose", reduce_axes)
    run = run_as("linear_transpose", fun)
    leaves, treedef = flatten.flatten(primals)
    x64 = config.local.context.x64
    inputs = [LinearOperand(input_aval(leaf, x64)) for leaf in leaves]
    trees: list[flatten.TreeDef] = []

    def call(values: list[Value]) -> Values:
        found, tree = flatten.flatten(run(*treedef.unflatten(values)))
        trees.append(tree)
        check_outputs(found, tree)
        at = partial(path_in, tree, root="the result")
        return [as_array(v, partial(at, k)) for k, v in enumerate(found)]

    name = function_name(fun)
    moved = [True] * len(inputs)
    tape = record(call, inputs, moved, name, "linear_transpose")
    outs = [o.aval for o in tape.outputs]
    _check_dtypes([v.aval for v in inputs], outs)

    def transpose(cotangent: Any) -> Any:
        """The cotangents of the primals."""
        given, tree = flatten.flatten(cotangent)
        if tree != trees[0]:
            got = flatten.mismatch("the cotangent", tree, "the result", trees[0])
            raise rules.error("linear_transpose.tree", got=f"{name}: {got}")
        cts = [
            _cotangent(ct, aval, partial(path_in, tree, k, "the result"))
            for k, (ct, aval) in enumerate(zip(given, outs, strict=True))
        ]
        with under("transpose", True):
            back = backward_pass(tape, cts)
        found = [
            as_array(zeros(v.aval) if type(ct) is Zero else ct, str)
            for ct, v in zip(back, inputs, strict=True)
        ]
        return treedef.unflatten(found)

    return transpose


def _check_dtypes(inputs: Sequence[ShapedArray], outs: Sequence[ShapedArray]) -> None:
    kinds = {is_inexact(aval.dtype) for aval in (*inputs, *outs)}
    if len(kinds) > 1:
        shown = ", ".join(aval.dtype.name for aval in inputs)
        got = f"{shown} to {', '.join(aval.dtype.name for aval in outs)}"
        raise rules.error("linear_transpose.dtype", got=got)


def _cotangent(value: Any, aval: ShapedArray, path: Callable[[], str]) -> Value:
    """A cotangent that was given for a result of this type."""
    value = as_array(value, path)
    found = typeof(value)
    if (found.shape, found.dtype) != (aval.shape, aval.dtype):
        got = f"{found.str_short()} for {path()}, which has type {aval.str_short()}"
        raise rules.error("linear_transpose.cotangent", got=got)
    return value
