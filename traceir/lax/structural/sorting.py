"""Sorting and `top_k` under their `jax.lax` names. Serves: sort, top_k

The tangent of a result is that of the element that came there.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.ir.jaxpr import Params, sort_params
from traceir.lax.checks.operands import Operand, as_array, operands, shape_of
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.shapes import axis_in
from traceir.tracing.trace import Value, bind, bind_all, typeof
from traceir.transforms.rules.axes import stretch
from traceir.transforms.rules.registry import JVP, Tangent, Zero


def sort(
    operand: Operand | Sequence[Operand],
    dimension: int = -1,
    is_stable: bool = True,
    num_keys: int = 1,
) -> Any:
    """The elements in ascending order along a dimension, NaN last, the zeros equal.

    Of several operands of one shape, the first `num_keys` are the keys, compared one
    after the other, and all are moved alike; the result is then a tuple. Equal keys
    keep their order, also where that is not asked for. Raises TypeError (sort.some,
    sort.shape), ValueError (sort.keys, face.axis).

    >>> import traceir.numpy as jnp
    >>> sort(jnp.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    >>> sort((jnp.array([1, 0, 1]), jnp.array([5, 6, 7])))
    (Array([0, 1, 1], dtype=int32), Array([6, 5, 7], dtype=int32))
    """
    several = isinstance(operand, Sequence)
    given = operands("sort", operand if several else [operand])
    axis = axis_in(dimension, len(shape_of(given[0]))) if given else 0
    results = bind_all(
        "sort",
        [as_array(x) for x in given],
        sort_params(
            {
                "dimension": axis,
                "is_stable": bool(is_stable),
                "num_keys": index(num_keys),
            }
        ),
    )
    return tuple(results) if several else results[0]


def sort_key_val(
    keys: Operand, values: Operand, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """Keys in ascending order, and values moved as their keys are: `sort` of both.

    >>> import traceir.numpy as jnp
    >>> sort_key_val(jnp.array([2, 1]), jnp.array([0.5, 1.5]))
    (Array([1, 2], dtype=int32), Array([1.5, 0.5], dtype=float32))
    """
    first, second = sort((keys, values), dimension, is_stable, 1)
    return first, second


def top_k(operand: Operand, k: int, *, axis: int = -1) -> list[Array]:
    """The `k` greatest elements along an axis, the greatest first, and their places.

    NaN counts as the greatest, 0.0 as greater than -0.0; of equals the first comes
    first. The places are int32. Raises ValueError (top_k.negative, top_k.size,
    face.axis).

    >>> import traceir.numpy as jnp
    >>> top_k(jnp.array([3, 9, 5]), 2)
    [Array([9, 5], dtype=int32), Array([1, 2], dtype=int32)]
    """
    value = as_array(checked("top_k", operand))
    axis = axis_in(axis, value.ndim)
    return list(bind("top_k", value, k=index(k), axis=axis))


def _moved(x: Value, axis: int, column: Value) -> Value:
    """The elements of each line of `x` at its own indices, each a row of `column`."""
    others = tuple(d for d in range(typeof(x).ndim) if d != axis)
    shape = typeof(column).shape[:-1]
    if 0 in shape:  # a window of no elements has no place
        return bind("slice", x, start_indices=(0,) * len(shape), limit_indices=shape)
    return bind(
        "gather",
        x,
        column,
        dimension_numbers=((), (axis,), (axis,), others, others),
        slice_sizes=(1,) * typeof(x).ndim,
    )


def _sorted_tangents(
    primals: Sequence[Value], tangents: Sequence[Tangent], params: Params
) -> tuple[Sequence[Value], Sequence[Tangent]]:
    """Tangents in the order of the keys: the places are sorted with them."""
    known: dict[str, Any] = dict(params)
    axis, shape = known["dimension"], typeof(primals[0]).shape
    places = bind("iota", dtype=np.dtype("uint32"), shape=shape, dimension=axis)
    *results, order = bind_all("sort", [*primals, places], params)
    column = stretch(order, (*shape, 1), range(len(shape)))
    return results, [
        t if type(t) is Zero else _moved(t, axis, column) for t in tangents
    ]


def _greatest_tangents(
    primals: Sequence[Value], tangents: Sequence[Tangent], params: Params
) -> tuple[Sequence[Value], Sequence[Tangent]]:
    """The tangents of the elements that were chosen; places have none."""
    known: dict[str, Any] = dict(params)
    [t] = tangents
    values, places = bind_all("top_k", primals, params)
    column = bind("reshape", places, new_sizes=(*typeof(places).shape, 1))
    return [values, places], [_moved(t, known["axis"], column), Zero(typeof(places))]


JVP["sort"] = _sorted_tangents
JVP["top_k"] = _greatest_tangents
