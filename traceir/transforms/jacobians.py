"""Jacobians and Hessians. Serves: grad.*, derive.jacobian"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.name_stack import under
from traceir.ir.promotion import promote
from traceir.tracing.trace import Value, bind, typeof
from traceir.transforms.autodiff.arguments import (
    Argnums,
    as_array,
    check_callable,
    positions,
    wraps,
)
from traceir.transforms.autodiff.flat_functions import (
    FlatFunction,
    cotangent_results,
    flat_function_at,
    jvp_call,
    linearize_call,
)
from traceir.transforms.autodiff.gradients import check_inputs, check_result
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.autodiff.transpose import backward_pass
from traceir.transforms.batching.vmap import vmap
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import Values, Zero

P = ParamSpec("P")


def jacfwd(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[P, Any]:
    """A function that gives the Jacobian of `fun`, column by column in forward mode.

    For each leaf of the result, of shape r, there is a tree like the argument with
    leaves of shape r + s, where s is that of the argument's leaf; with a sequence of
    `argnums`, a tuple of such trees. Cheap where there are fewer inputs than results.
    With `has_aux`, a pair of the Jacobian and what `fun` returned beside the result.

    Raises as `grad` does, but for grad.scalar and grad.output-dtype.

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.jacfwd(lambda x: x * x)(jnp.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    check_callable(fun, "jacfwd")

    @wraps(fun, "Jacobian, by forward mode,")
    def jacobian_of(*args: P.args, **kwargs: P.kwargs) -> Any:
        """The Jacobian by columns: tangents along all unit vectors."""
        places = positions(argnums, args, "jacfwd")
        call = flat_function_at(fun, args, kwargs, places, has_aux, "jacfwd")
        check_inputs(call.arguments, False, holomorphic, "jacfwd")

        def push(*tangents: Value) -> Any:
            outs, moved, aux = jvp_call(call, tangents, "jacfwd")
            return outs, [zeros(t.aval) if type(t) is Zero else t for t in moved], aux

        avals = call.arguments.avals
        over = vmap(push, out_axes=(None, -1, None))
        outs, columns, aux = over(*_basis(avals))
        for out in outs if holomorphic else ():
            check_result(typeof(out), holomorphic)
        found = [
            _tree(
                [
                    _like(part, typeof(out))
                    for part in _parts(column, avals, typeof(out).ndim)
                ],
                call,
                argnums,
            )
            for out, column in zip(outs, columns, strict=True)
        ]
        jacobian = call.unflatten(found)
        return (jacobian, aux) if has_aux else jacobian

    return jacobian_of


def jacrev(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]:
    """A function that gives the Jacobian of `fun`, row by row in reverse mode.

    The result is as that of `jacfwd`. Cheap where there are fewer results than inputs.

    Raises as `grad` does, but for grad.scalar.

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.jacrev(lambda x: jnp.sum(x * x))(jnp.array([1.0, 2.0]))
    Array([2., 4.], dtype=float32)
    """
    check_callable(fun, "jacrev")

    @wraps(fun, "Jacobian, by reverse mode,")
    def jacobian_of(*args: P.args, **kwargs: P.kwargs) -> Any:
        """The Jacobian by rows: cotangents of all unit vectors."""
        places = positions(argnums, args, "jacrev")
        call = flat_function_at(fun, args, kwargs, places, has_aux, "jacrev")
        check_inputs(call.arguments, allow_int, holomorphic, "jacrev")
        outs, tape, aux = linearize_call(call, "jacrev")
        tape, rows = tape.live(), [typeof(out) for out in outs]
        for aval in rows:
            check_result(aval, holomorphic)
        avals = call.arguments.avals

        def back(*cotangents: Value) -> list[Value]:
            with under("transpose", True):
                found = backward_pass(tape, cotangents)
            return [
                zeros(aval) if ct is None or type(ct) is Zero else ct
                for ct, aval in zip(found, avals, strict=True)
            ]

        found = vmap(back)(*_basis(rows))
        return _rows(found, rows, call, argnums, aux)

    return jacobian_of


jacobian = jacrev


def _rows(
    found: Values,
    rows: Sequence[ShapedArray],
    call: FlatFunction,
    argnums: Argnums,
    aux: Any,
) -> Any:
    """The Jacobian, by leaves of the result, from that by leaves of the argument."""
    avals = call.arguments.avals
    parts = [
        _parts(value, rows, 0) if is_inexact(aval) else [value] * len(rows)
        for value, aval in zip(found, avals, strict=True)
    ]
    trees = [
        _tree(
            [
                _like(part[k], aval)
                if is_inexact(aval)
                else cotangent_results([None], [aval])[0]
                for part, aval in zip(parts, avals, strict=True)
            ],
            call,
            argnums,
        )
        for k in range(len(rows))
    ]
    jacobian = call.unflatten(trees)
    return (jacobian, aux) if call.has_aux else jacobian


def hessian(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[P, Any]:
    """A function that gives the second derivatives of `fun`: `jacfwd` of `jacrev`.

    For each pair of leaves of the argument, of shapes s and t, an array of the result's
    shape with s + t behind it.

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.hessian(lambda x: x[0] * x[1] ** 2)(jnp.array([3.0, 2.0]))
    Array([[0., 4.],
           [4., 6.]], dtype=float32)
    """
    inner = jacrev(fun, argnums, has_aux, holomorphic)
    return jacfwd(inner, argnums, has_aux, holomorphic)


def _tree(leaves: Sequence[Any], call: FlatFunction, argnums: Argnums) -> Any:
    """The leaves in the structure of the arguments that are differentiated."""
    trees = call.arguments.treedef.unflatten([as_array(v, str) for v in leaves])
    return trees[0] if isinstance(argnums, int) else tuple(trees)


def _basis(avals: Sequence[ShapedArray]) -> list[Value]:
    """The unit vectors of a space, one per row, each in parts of these types."""
    size = sum(aval.size for aval in avals)
    dtype, _ = promote(*avals) if avals else (np.dtype("float32"), False)
    rows, columns = (
        bind("iota", dimension=d, dtype=np.dtype("int32"), shape=(size, size))
        for d in (0, 1)
    )
    rows = bind("add", rows, np.int32(0))
    ones = bind("convert_element_type", bind("eq", rows, columns), new_dtype=dtype)
    return [
        bind(
            "convert_element_type", part, new_dtype=aval.dtype, weak_type=aval.weak_type
        )
        for part, aval in zip(_parts(ones, avals, 1), avals, strict=True)
    ]


def _parts(value: Value, avals: Sequence[ShapedArray], axis: int) -> list[Value]:
    """An array cut along an axis into parts, which have these shapes in its place."""
    sizes = tuple(aval.size for aval in avals)
    if not sizes:
        return []
    shape = typeof(value).shape
    found = bind("split", value, axis=axis, sizes=sizes)
    return [
        _shaped(part, (*shape[:axis], *aval.shape, *shape[axis + 1 :]))
        for part, aval in zip(found, avals, strict=True)
    ]


def _like(value: Value, aval: ShapedArray) -> Value:
    """A part of a Jacobian in the dtype and weakness of its argument."""
    own = typeof(value)
    if (own.dtype, own.weak_type) == (aval.dtype, aval.weak_type):
        return value
    return bind(
        "convert_element_type", value, new_dtype=aval.dtype, weak_type=aval.weak_type
    )


def _shaped(value: Value, shape: tuple[int, ...]) -> Value:
    if typeof(value).shape == shape:
        return value
    return bind("reshape", value, new_sizes=shape)
