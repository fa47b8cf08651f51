"""`jvp`, `linearize` and `vjp`. Serves: jvp.*, vjp.*"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from traceir import rules
from traceir.pytrees import flatten
from traceir.tracing.trace import typeof
from traceir.transforms.autodiff.arguments import (
    check_callable,
    no_axes,
    result,
    tangent_of,
)
from traceir.transforms.autodiff.flat_functions import (
    flat_function,
    jvp_call,
    linearize_call,
)
from traceir.transforms.autodiff.linear_functions import (
    LinearFunction,
    VJPFunction,
    copy_residuals,
    point_of,
)

Function = Callable[..., Any]


def jvp(
    fun: Function,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """The result of `fun` at `primals`, and its derivative there along `tangents`.

    Both are tuples or lists of trees of one structure, with equal shapes and dtypes.
    With `has_aux`, `fun` returns a pair, of which the second is not differentiated and
    is returned last.

    Raises TypeError (jvp.sequence, jvp.tree, jvp.dtype, derive.aux), ValueError
    (jvp.shape).

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.jvp(jnp.sin, (0.0,), (2.0,))[1]
    Array(2., dtype=float32, weak_type=True)
    """
    check_callable(fun, "jvp")
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        got = f"{type(primals).__name__} and {type(tangents).__name__}"
        raise rules.error("jvp.sequence", got=got)
    call = flat_function(fun, primals, has_aux, "jvp")
    arguments = call.arguments
    leaves, treedef = flatten.flatten(tuple(tangents))
    if treedef != arguments.treedef:
        wanted = arguments.treedef
        got = flatten.mismatch("tangents", treedef, "primals", wanted)
        raise rules.error("jvp.tree", got=got)
    given = [
        tangent_of(t, aval, partial(arguments.path, k))
        for k, (t, aval) in enumerate(zip(leaves, arguments.avals, strict=True))
    ]
    outs, moved, aux = jvp_call(call, given, "jvp")
    found = [result(t, typeof(o)) for o, t in zip(outs, moved, strict=True)]
    both = call.unflatten(outs), call.unflatten(found)
    return (*both, aux) if has_aux else both


def linearize(fun: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The result of `fun` at `primals`, and the linear function that its derivative is.

    That function takes tangents of the primals' shapes and dtypes, any number of times,
    without running `fun` again. It is a tree of what it remembers, so a function under
    `jit` may return it. Raises TypeError (derive.aux); the linear function
    TypeError (linearize.tree, jvp.dtype) and ValueError (jvp.shape).

    >>> import traceir, traceir.numpy as jnp
    >>> y, f_jvp = traceir.linearize(jnp.sin, 0.0)
    >>> f_jvp(2.0), f_jvp(3.0)
    (Array(2., dtype=float32, weak_type=True), Array(3., dtype=float32, weak_type=True))
    """
    check_callable(fun, "linearize")
    call = flat_function(fun, primals, has_aux, "linearize")
    outs, tape, aux = linearize_call(call, "linearize")
    linear = LinearFunction(point_of(call, outs), copy_residuals(tape.live()))
    found = call.unflatten(outs), linear
    return (*found, aux) if has_aux else found


def vjp(
    fun: Function,
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Sequence[Hashable] = (),
) -> Any:
    """The result of `fun` at `primals`, and the function that takes a cotangent back.

    That function takes one cotangent of the result's structure, shapes and dtypes, and
    gives a tuple with one for each of the primals; it may be called any number of
    times, and is a tree, as that of `linearize`. Raises TypeError (derive.aux); the
    function back TypeError (vjp.cotangents), ValueError (vjp.tree, vjp.cotangent).

    >>> import traceir, traceir.numpy as jnp
    >>> y, f_vjp = traceir.vjp(jnp.multiply, 2.0, 3.0)
    >>> f_vjp(1.0)
    (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    check_callable(fun, "vjp")
    no_axes("vjp", reduce_axes)
    call = flat_function(fun, primals, has_aux, "vjp")
    outs, tape, aux = linearize_call(call, "vjp")
    back = VJPFunction(point_of(call, outs), copy_residuals(tape.live()))
    found = call.unflatten(outs), back
    return (*found, aux) if has_aux else found
