"""Rules in code, for primitives that no template can express.

A choice among many has one zero for all of its cases, a product of many factors is
differentiated as the tree of products that it is. Serves: derive.code
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.ir.jaxpr import Params
from traceir.tracing.trace import Value, bind, bind_all, living, typeof
from traceir.transforms.autodiff.jvp_trace import JVPTrace
from traceir.transforms.rules.derivative_templates import filled, scalar, zeros
from traceir.transforms.rules.registry import (
    JVP,
    TRANSPOSE,
    Cotangent,
    Cotangents,
    JvpResult,
    LinearOperand,
    Tangents,
    Values,
    Zero,
)


def jvp_select(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """The choice among the tangents; zero stands for those that are."""
    outs = bind_all("select_n", primals, params)
    aval = typeof(outs[0])
    if all(type(t) is Zero for t in tangents[1:]):
        return outs, [Zero(aval)]
    zero = zeros(aval)
    moved = [zero if type(t) is Zero else t for t in tangents[1:]]
    return outs, [bind("select_n", primals[0], *moved)]


def transpose_select(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """To each case its cotangent where it was chosen, and zero elsewhere."""
    which, cases, [ct] = operands[0], operands[1:], cotangents
    zero = zeros(typeof(ct))
    found: list[Cotangent] = [None]
    for k, case in enumerate(cases):
        if type(case) is not LinearOperand:
            found.append(None)
        elif len(cases) == 1:
            found.append(ct)
        elif typeof(which).dtype == bool:
            parts = [ct if n == k else zero for n in range(len(cases))]
            found.append(bind("select_n", which, *parts))
        else:
            here = bind("eq", which, _like(k, which))
            found.append(bind("select_n", here, zero, ct))
    return found


def _like(k: int, which: Value) -> Value:
    """The number of a case, as a scalar beside the selector."""
    return np.asarray(k, typeof(which).dtype)[()]


def jvp_product(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """Forward mode of a tree of products, so that no factor is divided by."""
    axes: Any = dict(params)["axes"]
    trace = JVPTrace("reduce_prod", "jvp")
    with living(trace):
        out = product_tree(trace.pair(primals[0], tangents[0]), axes)
    [[primal], [tangent]] = trace.split([out])
    return [primal], [tangent]


def product_tree(x: Value, axes: Sequence[int]) -> Value:
    """The product over axes, by halves, again and again.

    >>> import traceir.numpy as jnp
    >>> product_tree(jnp.array([2.0, 3.0, 4.0]), (0,))
    Array(24., dtype=float32)
    """
    if len(axes) > 1:
        x, axes = _as_one(x, axes), (0,)
    for axis in axes:
        x = _halved(x, axis)
    shape = typeof(x).shape
    if any(shape[a] == 0 for a in axes):
        rest = tuple(n for d, n in enumerate(shape) if d not in axes)
        return filled(1, typeof(x).update(shape=rest))
    return bind("squeeze", x, dimensions=tuple(axes)) if axes else x


def _as_one(x: Value, axes: Sequence[int]) -> Value:
    """The elements of some axes along one, which is the first."""
    shape = typeof(x).shape
    rest = [d for d in range(len(shape)) if d not in axes]
    if (order := (*axes, *rest)) != tuple(range(len(shape))):
        x = bind("transpose", x, permutation=order)
    sizes = (math.prod(shape[a] for a in axes), *(shape[d] for d in rest))
    return bind("reshape", x, new_sizes=sizes)


def _halved(x: Value, axis: int) -> Value:
    """The product over one axis, which stays with extent 1; as it is if that is 0."""
    while (n := typeof(x).shape[axis]) > 1:
        half = (n + 1) // 2
        first, second = _cut(x, axis, 0, half), _cut(x, axis, half, n)
        if n % 2:
            rank = typeof(x).ndim
            config = tuple((0, int(d == axis), 0) for d in range(rank))
            one = scalar(1, typeof(x))
            second = bind("pad", second, one, padding_config=config)
        x = bind("mul", first, second)
    return x


def _cut(x: Value, axis: int, start: int, stop: int) -> Value:
    shape = typeof(x).shape
    return bind(
        "slice",
        x,
        start_indices=tuple(start if d == axis else 0 for d in range(len(shape))),
        limit_indices=tuple(stop if d == axis else n for d, n in enumerate(shape)),
        strides=(1,) * len(shape),
    )


JVP["select_n"] = jvp_select
TRANSPOSE["select_n"] = transpose_select
JVP["reduce_prod"] = jvp_product
