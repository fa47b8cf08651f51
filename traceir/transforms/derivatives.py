"""The functions of derivatives. Serves: grad.*, jvp.*, vjp.*, level.grad, level.jvp"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from traceir import pytree, rules
from traceir.avals import ShapedArray
from traceir.jit.staging import function_name
from traceir.trace import living, typeof
from traceir.transforms.arguments import (
    Argnums,
    Arguments,
    as_array,
    check_aux,
    check_callable,
    labels_of,
    path_in,
    positions,
    result,
    tangent_of,
    wraps,
)
from traceir.transforms.forward import JVPTrace, is_inexact
from traceir.transforms.linearize import (
    Linearized,
    differentiable,
    linearize_flat,
)
from traceir.transforms.rules import Cotangent, Zero
from traceir.transforms.templates import filled
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
    arguments = Arguments(primals, labels_of(fun, range(len(primals))))
    leaves, treedef = pytree.flatten(tuple(tangents))
    if treedef != arguments.treedef:
        got = f"{arguments.treedef} for primals and {treedef} for tangents"
        raise rules.error("jvp.tree", got=got)
    given = [
        tangent_of(t, aval, partial(arguments.path, k))
        for k, (t, aval) in enumerate(zip(leaves, arguments.avals, strict=True))
    ]
    trace = JVPTrace(function_name(fun), "jvp")
    with living(trace):
        values = [trace.pair(*both) for both in zip(arguments.leaves, given)]
        call = _Call(fun, arguments, has_aux, "jvp")
        outs, found = trace.split(call(values))
    moved = [
        result(Zero(typeof(o)) if t is None else t, typeof(o))
        for o, t in zip(outs, found, strict=True)
    ]
    given_back = call.unflatten(outs), call.unflatten(moved)
    return (*given_back, call.aux(trace)) if has_aux else given_back


class _Call:
    """A function of trees, called with leaves; remembers the structure of its result."""

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
        self.returned: Any = None
        self.tree: pytree.TreeDef = pytree.LEAF

    def __call__(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves of the result, those that are numbers as arrays."""
        args, kwargs = self.place(self.arguments.treedef.unflatten(leaves))
        returned = self.fun(*args, **kwargs)
        if self.has_aux:
            returned, self.returned = check_aux(returned, self.asker)
        found, self.tree = pytree.flatten(returned)
        return [
            as_array(v, partial(path_in, self.tree, k, "the result"))
            for k, v in enumerate(found)
        ]

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """The tree of a result."""
        return self.tree.unflatten(list(leaves))

    def aux(self, trace: JVPTrace) -> Any:
        """What was returned beside the result, without tangents."""
        leaves, tree = pytree.flatten(self.returned)
        return tree.unflatten(trace.split(leaves)[0])


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
    arguments = Arguments(primals, labels_of(fun, range(len(primals))))
    call = _Call(fun, arguments, has_aux, "linearize")
    outs, linearized, aux = _linearize(call, "linearize")
    linear = LinearFunction(call, linearized, [typeof(o) for o in outs])
    found = call.unflatten(outs), linear
    return (*found, aux) if has_aux else found


def _linearize(call: _Call, transform: str) -> tuple[list[Any], Linearized, Any]:
    leaves = call.arguments.leaves
    kept: list[Any] = []

    def run(values: list[Any], trace: JVPTrace) -> list[Any]:
        outs = call(values)
        if call.has_aux:
            kept.append(call.aux(trace))
        return outs

    name = function_name(call.fun)
    moved = differentiable(leaves)
    outs, linearized = linearize_flat(run, leaves, moved, name, transform)
    return outs, linearized, kept[0] if kept else None


class LinearFunction:
    """The derivative of a function at a point, as a function of tangents."""

    def __init__(
        self, call: _Call, linearized: Linearized, outs: list[ShapedArray]
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
    arguments = Arguments(primals, labels_of(fun, range(len(primals))))
    call = _Call(fun, arguments, has_aux, "vjp")
    outs, linearized, aux = _linearize(call, "vjp")
    back = VJPFunction(call, linearized, [typeof(o) for o in outs])
    found = call.unflatten(outs), back
    return (*found, aux) if has_aux else found


class VJPFunction:
    """The transpose of a function's derivative at a point."""

    def __init__(
        self, call: _Call, linearized: Linearized, outs: list[ShapedArray]
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
            gradients(found, self._call.arguments.avals)
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


def gradients(found: Sequence[Cotangent], avals: Sequence[ShapedArray]) -> list[Any]:
    """The cotangents of leaves as they are returned."""
    return [
        result(Zero(aval) if ct is None else ct, aval)
        for ct, aval in zip(found, avals, strict=True)
    ]


def value_and_grad(
    fun: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Function:
    """A function that gives the result of `fun` and its gradient; see `grad`.

    With `has_aux`, the result is `((value, aux), gradient)`.

    >>> import traceir
    >>> traceir.value_and_grad(lambda x: x * x)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    check_callable(fun, "grad")

    @wraps(fun, "Value and gradient")
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        places = positions(argnums, args, "grad")
        arguments = Arguments([args[k] for k in places], labels_of(fun, places))
        check_inputs(arguments, allow_int, holomorphic, "grad")

        def place(values: Sequence[Any]) -> tuple[Sequence[Any], Any]:
            found = list(args)
            for k, value in zip(places, values, strict=True):
                found[k] = value
            return found, kwargs

        call = _Call(fun, arguments, has_aux, "grad", place)
        outs, linearized, aux = _linearize(call, "grad")
        aval = _scalar(call, outs)
        found = pull(linearized, [filled(1, aval)])
        trees = arguments.treedef.unflatten(gradients(found, arguments.avals))
        gradient = trees[0] if isinstance(argnums, int) else tuple(trees)
        return ((outs[0], aux) if has_aux else outs[0]), gradient

    return value_and_gradient  # type: ignore[no-any-return]


def check_inputs(
    arguments: Arguments, allow_int: bool, holomorphic: bool, asker: str
) -> None:
    """Raise TypeError (grad.input-dtype, grad.holomorphic) for a leaf of no use."""
    for k, aval in enumerate(arguments.avals):
        got = f"{aval.dtype.name} at {arguments.path(k)} of {asker}"
        if holomorphic:
            raise rules.error("grad.holomorphic", got=got)
        if not is_inexact(aval) and not allow_int:
            raise rules.error("grad.input-dtype", got=got)


def _scalar(call: _Call, outs: Sequence[Any]) -> ShapedArray:
    """The type of the one result; TypeError (grad.scalar, grad.output-dtype)."""
    if call.tree is not pytree.LEAF:
        raise rules.error("grad.scalar", got=f"a result of structure {call.tree}")
    aval = typeof(outs[0])
    if aval.shape:
        raise rules.error("grad.scalar", got=f"a result of shape {aval.shape}")
    if not is_inexact(aval):
        raise rules.error("grad.output-dtype", got=aval.dtype.name)
    return aval


def grad(
    fun: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Function:
    """A function that gives the gradient of `fun`, which returns a floating scalar.

    The gradient is with respect to the positional argument `argnums`, a tree of
    floating arrays, or a tuple of gradients where `argnums` is a sequence; negative
    positions count from the end of those given. It has the structure, shapes and dtypes
    of the argument. With `has_aux`, `fun` returns a pair, and so does the function:
    the gradient and the second. With `allow_int`, integers and booleans may be among
    the leaves: their gradient is of `traceir.dtypes.float0`. Keyword arguments are
    passed on. Inside `fun`, Python control flow may depend on values.

    Raises TypeError (grad.scalar, grad.input-dtype, grad.output-dtype, grad.argnums,
    grad.argnums-type, grad.holomorphic, derive.aux), ValueError (grad.argnums-range).

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.grad(jnp.tanh)(0.0)
    Array(1., dtype=float32, weak_type=True)
    >>> traceir.grad(lambda p, x: p["w"] * x + p["b"])({"w": 1.0, "b": 2.0}, 3.0)["w"]
    Array(3., dtype=float32, weak_type=True)
    """
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @wraps(fun, "Gradient")
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient  # type: ignore[no-any-return]
