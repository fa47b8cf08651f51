"""Functions with a batching rule, or a transpose, of their own.

Serves: custom_vmap.*
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_point, entry_points
from traceir.pytrees import flatten
from traceir.tracing.trace import Value
from traceir.transforms.autodiff.arguments import as_array
from traceir.transforms.autodiff.jvp_vjp import jvp
from traceir.transforms.custom.custom_batching import over_batch, placed
from traceir.transforms.custom.custom_primitive import (
    AXIS_BATCHERS,
    JVPS,
    TRANSPOSES,
    Primitive,
    instantiate_zeros,
)
from traceir.transforms.rules.axes import place_at
from traceir.transforms.rules.registry import BatchAxis, Zero

Leaves = Sequence[Any]
call_p = Primitive("custom_vmap_call")
call_p.multiple_results = True
linear_p = Primitive("linear_call")
linear_p.multiple_results = True


@dataclass(frozen=True, eq=False)
class MappedFunction:
    """A function of leaves, and its rule for a batch of them."""

    function: Callable[[Leaves], list[Value]]
    rule: Callable[[int, list[bool], Leaves], tuple[list[Value], list[bool]]]


@entry_points("__call__", "def_vmap")
class custom_vmap:  # used like a function
    """A function whose batches a rule of the user's computes.

    The rule is given by `def_vmap`: it takes the size of the batch, a list that says
    for each argument which of its leaves are batched, in the arguments' structure, and
    the arguments, batched along their first dimension. It returns the result, and
    which of its leaves are batched. Derivatives are those of the function, and under
    `vmap` those of the rule; reverse mode takes those of a batch alone. Raises
    AttributeError (custom_vmap.undefined) where there is no rule, TypeError
    (custom_vmap.structure) for one that returns another structure, or no pair.

    >>> import traceir, traceir.numpy as jnp
    >>> @custom_vmap
    ... def double(x):
    ...     return x + x
    >>> @double.def_vmap
    ... def rule(axis_size, in_batched, x):
    ...     return 2 * x, in_batched[0]
    >>> print(traceir.make_jaxpr(traceir.vmap(double))(jnp.ones(3)).eqns[0].primitive)
    mul
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.vmap_rule: Callable[..., Any] | None = None

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule for batches, and return it: this is a decorator."""
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args: Any) -> Any:
        """The function's result."""
        if self.vmap_rule is None:
            raise rules.error("custom_vmap.undefined", got=repr(self.fun))
        leaves, tree = flatten.flatten(args)
        trees: list[flatten.TreeDef] = []

        def function(leaves: Leaves) -> list[Value]:
            """The function of leaves."""
            found, out_tree = flatten.flatten(self.fun(*tree.unflatten(leaves)))
            trees[:] = [out_tree]
            return [as_array(v, str) for v in found]

        def rule(
            size: int, batched: list[bool], leaves: Leaves
        ) -> tuple[list[Value], list[bool]]:
            """The rule for leaves."""
            assert self.vmap_rule is not None
            pair = self.vmap_rule(
                size, list(tree.unflatten(batched)), *tree.unflatten(leaves)
            )
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise rules.error("custom_vmap.structure", got=f"{type(pair).__name__}")
            found, out_tree = flatten.flatten(pair[0])
            marks = flatten.spread(pair[1], out_tree, lambda v: isinstance(v, bool))
            trees[:] = [out_tree]
            return [as_array(v, str) for v in found], marks

        call = MappedFunction(function, rule)
        outs = call_p.bind(*(as_array(v, str) for v in leaves), call=call)
        return trees[0].unflatten(outs)


def _apply(*values: Value, call: MappedFunction) -> list[Value]:
    return call.function(values)


call_p.impl = call_p.lowering = _apply


def jvp_of_call(
    primals: Leaves, tangents: Leaves, call: MappedFunction
) -> tuple[list[Value], list[Any]]:
    """The results and tangents: a function of both, whose rule is the rule's own."""
    places = [k for k, t in enumerate(tangents) if not isinstance(t, Zero)]
    count = len(primals)

    def pair(function: Callable[[Leaves], list[Value]], values: Leaves) -> list[Value]:
        """Results and tangents of a function of the values that have tangents."""

        def along(*moved: Value) -> list[Value]:
            """The function of those alone."""
            given = list(values[:count])
            for k, value in zip(places, moved, strict=True):
                given[k] = value
            return function(given)

        outs, found = jvp(along, [values[k] for k in places], list(values[count:]))
        return [*outs, *found]

    def rule(
        size: int, batched: list[bool], values: Leaves
    ) -> tuple[list[Value], list[bool]]:
        """The derivative of the rule; a tangent is batched where its primal is."""
        marks: list[bool] = []
        own = list(batched[:count])
        for j, k in enumerate(places):
            own[k] = own[k] or batched[count + j]
        given = [
            _batched(v, size, own[k], batched[k]) for k, v in enumerate(values[:count])
        ]
        given += [
            _batched(values[count + j], size, own[k], batched[count + j])
            for j, k in enumerate(places)
        ]

        def function(leaves: Leaves) -> list[Value]:
            """The rule's results."""
            found, told = call.rule(size, own, leaves)
            marks[:] = told
            return found

        return pair(function, given), [*marks, *marks]

    def function(values: Leaves) -> list[Value]:
        """Results and tangents of one example."""
        return pair(call.function, values)

    both = MappedFunction(function, rule)
    values = [*primals, *(tangents[k] for k in places)]
    found = call_p.bind(*values, call=both)
    half = len(found) // 2
    return found[:half], found[half:]


def _batched(value: Value, size: int, wanted: bool, batched: bool) -> Value:
    return place_at(value, None, size, 0) if wanted and not batched else value


def batch_of_call(
    size: int,
    name: Any,
    axis: BatchAxis,
    values: Leaves,
    dims: Any,
    call: MappedFunction,
) -> tuple[list[Value], list[int | None]]:
    """The rule's results, for a batch at the front."""
    marks = [dim is not None for dim in dims]
    given = [
        v if dim is None else place_at(v, dim, size, 0)
        for v, dim in zip(values, dims, strict=True)
    ]
    outs, batched = call.rule(size, marks, given)
    return outs, [0 if mark else None for mark in batched]


JVPS[call_p] = jvp_of_call
AXIS_BATCHERS[call_p] = batch_of_call


# -- linear calls ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LinearFunctions:
    """A linear function of leaves and its transpose, after so many that are fixed."""

    forward: Callable[[Leaves, Leaves], list[Value]]
    backward: Callable[[Leaves, Leaves], list[Value]]
    fixed: int


@entry_point
def linear_call(
    fun: Callable[..., Any],
    fun_transpose: Callable[..., Any],
    residual_args: Any,
    linear_args: Any,
) -> Any:
    """`fun(residual_args, linear_args)`, whose transpose is `fun_transpose`.

    `fun` is linear in its second argument, and `fun_transpose(residual_args, ct)` gives
    the cotangents of that one. Neither is checked. Residuals have no derivative.
    Raises NotImplementedError (custom_primitive.rule) for a derivative by them.

    >>> import traceir
    >>> def halved(y):
    ...     divide = lambda by, x: x / by
    ...     return linear_call(divide, divide, 2.0, y)
    >>> halved(3.0), traceir.grad(halved)(3.0)
    (Array(1.5, dtype=float32, weak_type=True),
     Array(0.5, dtype=float32, weak_type=True))
    """
    fixed, fixed_tree = flatten.flatten(residual_args)
    linear, linear_tree = flatten.flatten(linear_args)
    trees: list[flatten.TreeDef] = []

    def forward(fixed: Leaves, linear: Leaves) -> list[Value]:
        """The function of leaves."""
        given = fixed_tree.unflatten(fixed), linear_tree.unflatten(linear)
        found, tree = flatten.flatten(fun(*given))
        trees[:] = [tree]
        return [as_array(v, str) for v in found]

    def backward(fixed: Leaves, cotangents: Leaves) -> list[Value]:
        """The transpose, as a function of leaves."""
        given = fixed_tree.unflatten(fixed), trees[0].unflatten(cotangents)
        found, tree = flatten.flatten(fun_transpose(*given))
        if tree != linear_tree:
            got = flatten.mismatch("the transpose", tree, "the argument", linear_tree)
            raise rules.error("custom_vmap.structure", got=got)
        return [as_array(v, str) for v in found]

    call = LinearFunctions(forward, backward, len(fixed))
    values = [as_array(v, str) for v in [*fixed, *linear]]
    outs = linear_p.bind(*values, call=call)
    return trees[0].unflatten(outs)


def _linear(*values: Value, call: LinearFunctions) -> list[Value]:
    return call.forward(values[: call.fixed], values[call.fixed :])


linear_p.impl = linear_p.lowering = _linear


def jvp_of_linear(
    primals: Leaves, tangents: Leaves, call: LinearFunctions
) -> tuple[list[Value], list[Any]]:
    """The function of the tangents; residuals must have none."""
    if any(not isinstance(t, Zero) for t in tangents[: call.fixed]):
        got = "a derivative of linear_call by its residuals"
        raise rules.error("custom_primitive.rule", got=got)
    outs = linear_p.bind(*primals, call=call)
    moved = [instantiate_zeros(t) for t in tangents[call.fixed :]]
    return outs, linear_p.bind(*primals[: call.fixed], *moved, call=call)


def transpose_of_linear(
    cotangents: Leaves, *operands: Any, call: LinearFunctions
) -> list[Any]:
    """The transpose, whose own transpose is the function."""
    given = [instantiate_zeros(ct) for ct in cotangents]
    back = LinearFunctions(call.backward, call.forward, call.fixed)
    fixed = operands[: call.fixed]
    found = linear_p.bind(*fixed, *given, call=back)
    return [None] * call.fixed + list(found)


def batch_of_linear(
    size: int,
    name: Any,
    axis: BatchAxis,
    values: Leaves,
    dims: Any,
    call: LinearFunctions,
) -> tuple[list[Value], list[int]]:
    """The functions of all examples; their linear arguments are a batch each."""
    count = call.fixed

    def over(function: Callable[[Leaves, Leaves], list[Value]]) -> Any:
        """A function of a batch."""

        def batched(fixed: Leaves, linear: Leaves) -> list[Value]:
            """The results, batched at the front."""
            places = [*dims[:count], *(0,) * len(linear)]
            both = [*fixed, *linear]
            pairs = over_batch(
                lambda v: function(v[:count], v[count:]), axis, both, places
            )
            return [placed(pair, axis, 0) for pair in pairs]

        return batched

    own = [
        place_at(v, d, size, 0)
        for v, d in zip(values[count:], dims[count:], strict=True)
    ]
    new = LinearFunctions(over(call.forward), over(call.backward), count)
    outs = linear_p.bind(*values[:count], *own, call=new)
    return outs, [0] * len(outs)


AXIS_BATCHERS[linear_p] = batch_of_linear
JVPS[linear_p] = jvp_of_linear
TRANSPOSES[linear_p] = transpose_of_linear
