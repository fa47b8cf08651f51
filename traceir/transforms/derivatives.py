"""Derivatives along tangents, and back along cotangents. Serves: jvp.*, vjp.*"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from traceir import pytree, rules
from traceir.avals import ShapedArray
from traceir.jit.staging import function_name
from traceir.trace import typeof
from traceir.transforms.applied import Call, all_of, linearized, pushed, returned
from traceir.transforms.arguments import (
    check_callable,
    path_in,
    result,
    tangent_of,
)
from traceir.transforms.forward import is_inexact
from traceir.transforms.linearize import Linearized
from traceir.transforms.rules import Cotangent
from traceir.transforms.transpose import pull

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
    call = all_of(fun, primals, has_aux, "jvp")
    arguments = call.arguments
    leaves, treedef = pytree.flatten(tuple(tangents))
    if treedef != arguments.treedef:
        got = f"{arguments.treedef} for primals and {treedef} for tangents"
        raise rules.error("jvp.tree", got=got)
    given = [
        tangent_of(t, aval, partial(arguments.path, k))
        for k, (t, aval) in enumerate(zip(leaves, arguments.avals, strict=True))
    ]
    outs, moved, aux = pushed(call, given, "jvp")
    found = [result(t, typeof(o)) for o, t in zip(outs, moved, strict=True)]
    both = call.unflatten(outs), call.unflatten(found)
    return (*both, aux) if has_aux else both


def linearize(fun: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The result of `fun` at `primals`, and the linear function that its derivative is.

    That function takes tangents of the primals' shapes and dtypes, any number of times,
    without running `fun` again. Raises TypeError (derive.aux); the linear function
    TypeError (linearize.tree, jvp.dtype) and ValueError (jvp.shape).

    >>> import traceir, traceir.numpy as jnp
    >>> y, f_jvp = traceir.linearize(jnp.sin, 0.0)
    >>> f_jvp(2.0), f_jvp(3.0)
    (Array(2., dtype=float32, weak_type=True), Array(3., dtype=float32, weak_type=True))
    """
    check_callable(fun, "linearize")
    call = all_of(fun, primals, has_aux, "linearize")
    outs, tape, aux = linearized(call, "linearize")
    linear = LinearFunction(call, tape.live(), [typeof(o) for o in outs])
    found = call.unflatten(outs), linear
    return (*found, aux) if has_aux else found


class LinearFunction:
    """The derivative of a function at a point, as a function of tangents."""

    def __init__(
        self, call: Call, linearized: Linearized, outs: list[ShapedArray]
    ) -> None:
        self._call = call
        self._linearized = linearized
        self._outs = outs

    def __call__(self, *tangents: Any) -> Any:
        """The tangents of the results."""
        arguments = self._call.arguments
        leaves, treedef = pytree.flatten(tangents)
        if treedef != arguments.treedef:
            got = f"{treedef}, the primals being {arguments.treedef}"
            raise rules.error("linearize.tree", got=got)
        given = [
            tangent_of(t, aval, partial(arguments.path, k))
            for k, (t, aval) in enumerate(zip(leaves, arguments.avals, strict=True))
        ]
        found = self._linearized.push(given)
        pairs = zip(found, self._outs, strict=True)
        return self._call.unflatten([result(t, aval) for t, aval in pairs])

    def __repr__(self) -> str:
        return f"<LinearFunction of {function_name(self._call.fun)}>"


def vjp(fun: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The result of `fun` at `primals`, and the function that takes a cotangent back.

    That function takes one cotangent of the result's structure, shapes and dtypes, and
    gives a tuple with one for each of the primals; it may be called any number of
    times. Raises TypeError (derive.aux); the function back TypeError
    (vjp.cotangents), ValueError (vjp.tree, vjp.cotangent).

    >>> import traceir, traceir.numpy as jnp
    >>> y, f_vjp = traceir.vjp(jnp.multiply, 2.0, 3.0)
    >>> f_vjp(1.0)
    (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    check_callable(fun, "vjp")
    call = all_of(fun, primals, has_aux, "vjp")
    outs, tape, aux = linearized(call, "vjp")
    back = VJPFunction(call, tape.live(), [typeof(o) for o in outs])
    found = call.unflatten(outs), back
    return (*found, aux) if has_aux else found


class VJPFunction:
    """The transpose of a function's derivative at a point."""

    def __init__(
        self, call: Call, linearized: Linearized, outs: list[ShapedArray]
    ) -> None:
        self._call = call
        self._linearized = linearized
        self._outs = outs

    def __call__(self, *cotangents: Any) -> Any:
        """The cotangents of the primals."""
        name = function_name(self._call.fun)
        if len(cotangents) != 1:
            got = f"{len(cotangents)} for {name}"
            raise rules.error("vjp.cotangents", got=got)
        leaves, treedef = pytree.flatten(cotangents[0])
        if treedef != self._call.tree:
            got = f"{treedef}, the result of {name} being {self._call.tree}"
            raise rules.error("vjp.tree", got=got)
        given = [
            self._cotangent(ct, aval, k)
            for k, (ct, aval) in enumerate(zip(leaves, self._outs, strict=True))
        ]
        found = pull(self._linearized, given)
        return self._call.arguments.treedef.unflatten(
            returned(found, self._call.arguments.avals)
        )

    def _cotangent(self, value: Any, aval: ShapedArray, k: int) -> Cotangent:
        path = partial(path_in, self._call.tree, k, "the result")
        try:
            return tangent_of(value, aval, path)
        except rules.TraceirError as error:
            if not error.rule.startswith("jvp."):
                raise
            wanted = aval.str_short() if is_inexact(aval) else "float0"
            got = f"{_short(value)} for {path()}, which has type {aval.str_short()}"
            got += "" if is_inexact(aval) else f" and a cotangent of {wanted}"
            raise rules.error("vjp.cotangent", got=got) from None

    def __repr__(self) -> str:
        return f"<VJPFunction of {function_name(self._call.fun)}>"


def _short(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    if dtype is not None and dtype.kind == "V":
        return "float0"
    return typeof(value).str_short()
