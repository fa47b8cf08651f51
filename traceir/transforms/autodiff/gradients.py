"""`grad` and `value_and_grad`: functions with a scalar result. Serves: grad.*"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ParamSpec, TypeVar

from traceir import rules
from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.name_stack import under
from traceir.pytrees import flatten
from traceir.tracing.trace import Tracer, bind, typeof
from traceir.transforms.autodiff.arguments import (
    Argnums,
    Arguments,
    check_callable,
    no_axes,
    positions,
    wraps,
)
from traceir.transforms.autodiff.flat_functions import (
    FlatFunction,
    cotangent_results,
    flat_function_at,
    linearize_call,
)
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.autodiff.transpose import backward_pass
from traceir.transforms.rules.derivative_templates import filled

P = ParamSpec("P")
R = TypeVar("R")


def value_and_grad(
    fun: Callable[P, R],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Hashable] = (),
) -> Callable[P, tuple[R, Any]]:
    """A function that gives the result of `fun` and its gradient; see `grad`.

    With `has_aux`, the result is `((value, aux), gradient)`.

    >>> import traceir
    >>> traceir.value_and_grad(lambda x: x * x)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    no_axes("value_and_grad", reduce_axes)
    return _value_and_grad(
        fun, argnums, has_aux, holomorphic, allow_int, "value_and_grad"
    )


def _value_and_grad(
    fun: Callable[P, R],
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    asker: str,
) -> Callable[P, tuple[R, Any]]:
    """As `value_and_grad`, for what its caller calls so."""
    check_callable(fun, asker)

    @wraps(fun, "Value and gradient")
    def value_and_gradient(*args: P.args, **kwargs: P.kwargs) -> Any:
        """The value, and the gradient by the transposed tape."""
        places = positions(argnums, args, asker)
        call = flat_function_at(fun, args, kwargs, places, has_aux, asker)
        arguments = call.arguments
        check_inputs(arguments, allow_int, holomorphic, asker)
        outs, tape, aux = linearize_call(call, asker)
        aval = _scalar(call, outs, holomorphic)
        one = filled(1, aval)
        if isinstance(outs[0], Tracer) and outs[0].is_of_parts():
            one = bind("reshard", one)
        with under("transpose", True):
            found = backward_pass(tape.live(), [one])
        trees = arguments.treedef.unflatten(cotangent_results(found, arguments.avals))
        gradient = trees[0] if isinstance(argnums, int) else tuple(trees)
        return ((outs[0], aux) if has_aux else outs[0]), gradient

    return value_and_gradient


def check_inputs(
    arguments: Arguments, allow_int: bool, holomorphic: bool, asker: str
) -> None:
    """Raise TypeError (grad.input-dtype, grad.holomorphic) for a leaf of no use."""
    for k, aval in enumerate(arguments.avals):
        got = f"{aval.dtype.name} at {arguments.path(k)} of {asker}"
        is_complex = aval.dtype.kind == "c"
        if holomorphic != is_complex and (holomorphic or asker == "jacfwd"):
            raise rules.error("grad.holomorphic", got=got)
        if not is_inexact(aval) and not allow_int:
            raise rules.error("grad.input-dtype", got=got)


def check_result(aval: ShapedArray, holomorphic: bool) -> None:
    """Raise TypeError (grad.output-dtype) for a result that has no such derivative."""
    if aval.dtype.kind != "c" if holomorphic else kind_of(aval.dtype) != "f":
        raise rules.error("grad.output-dtype", got=aval.dtype.name)


def _scalar(call: FlatFunction, outs: Sequence[Any], holomorphic: bool) -> ShapedArray:
    """The type of the one result; TypeError (grad.scalar, grad.output-dtype)."""
    if call.tree is not flatten.LEAF:
        got = f"a result of structure {flatten.short(call.tree)}"
        hint = "the function returns nothing: add a `return`" if not outs else None
        raise rules.error("grad.scalar", got=got, hint=hint)
    aval = typeof(outs[0])
    if aval.shape:
        raise rules.error("grad.scalar", got=f"a result of shape {aval.shape}")
    check_result(aval, holomorphic)
    return aval


def grad(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Hashable] = (),
) -> Callable[P, Any]:
    """A function that gives the gradient of `fun`, which returns a floating scalar.

    The gradient is with respect to the positional argument `argnums`, a tree of
    floating arrays, or a tuple of gradients where `argnums` is a sequence; negative
    positions count from the end of those given. It has the structure, shapes and dtypes
    of the argument. With `has_aux`, `fun` returns a pair, and so does the function:
    the gradient and the second. With `holomorphic`, arguments and result are complex,
    and the gradient is the complex derivative; without it, that of a floating result by
    a complex argument is the derivative by the real part less i times that by the
    imaginary one (derive.complex). With `allow_int`, integers and booleans may be among
    the leaves: their gradient is of `traceir.dtypes.float0`. Keyword arguments are
    passed on. Inside `fun`, Python control flow may depend on values.

    Raises TypeError (grad.scalar, grad.input-dtype, grad.output-dtype, grad.argnums,
    grad.argnums-type, grad.holomorphic, derive.aux), ValueError (grad.argnums-range),
    NotImplementedError (face.choice) for any `reduce_axes`.

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.grad(jnp.tanh)(0.0)
    Array(1., dtype=float32, weak_type=True)
    >>> traceir.grad(lambda p, x: p["w"] * x + p["b"])({"w": 1.0, "b": 2.0}, 3.0)["w"]
    Array(3., dtype=float32, weak_type=True)
    """
    no_axes("grad", reduce_axes)
    both = _value_and_grad(fun, argnums, has_aux, holomorphic, allow_int, "grad")

    @wraps(fun, "Gradient")
    def gradient(*args: P.args, **kwargs: P.kwargs) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient
