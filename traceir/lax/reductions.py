"""Reductions and contractions under their `jax.lax` names. Serves: prim.*"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from traceir.array import Array
from traceir.lax.operands import (
    DTypeLike,
    Operand,
    dtype_of,
    operand,
    operands,
    shape_of,
)
from traceir.trace import bind

DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]


def _reduce(primitive: str, x: Operand, axes: Sequence[int], **params: Any) -> Array:
    dims = tuple(map(index, axes))
    result: Array = bind(primitive, operand(primitive, x), axes=dims, **params)
    return result


def reduce_sum(x: Operand, axes: Sequence[int]) -> Array:
    """Sum over axes, in the operand's numeric dtype; 0 over none.

    Raises reduce_sum.numeric, .axes-range, .axes-distinct.

    >>> import traceir.numpy as jnp
    >>> reduce_sum(jnp.ones((2, 3)), (1,))
    Array([3., 3.], dtype=float32)
    """
    return _reduce("reduce_sum", x, axes)


def reduce_prod(x: Operand, axes: Sequence[int]) -> Array:
    """Product over axes, in the operand's numeric dtype; 1 over none.

    >>> import traceir.numpy as jnp
    >>> reduce_prod(jnp.arange(1, 5), (0,))
    Array(24, dtype=int32)
    """
    return _reduce("reduce_prod", x, axes)


def reduce_max(x: Operand, axes: Sequence[int]) -> Array:
    """Greatest element over axes, NaN if one is; the least of the dtype over none.

    >>> import traceir.numpy as jnp
    >>> reduce_max(jnp.arange(4), (0,))
    Array(3, dtype=int32)
    """
    return _reduce("reduce_max", x, axes)


def reduce_min(x: Operand, axes: Sequence[int]) -> Array:
    """Least element over axes, NaN if one is; the greatest of the dtype over none.

    >>> import traceir.numpy as jnp
    >>> reduce_min(jnp.arange(4), (0,))
    Array(0, dtype=int32)
    """
    return _reduce("reduce_min", x, axes)


def reduce_and(x: Operand, axes: Sequence[int]) -> Array:
    """Whether all booleans over axes hold (reduce_and.bool).

    >>> import traceir.numpy as jnp
    >>> reduce_and(jnp.array([True, False]), (0,))
    Array(False, dtype=bool)
    """
    return _reduce("reduce_and", x, axes)


def reduce_or(x: Operand, axes: Sequence[int]) -> Array:
    """Whether any boolean over axes holds (reduce_or.bool).

    >>> import traceir.numpy as jnp
    >>> reduce_or(jnp.array([True, False]), (0,))
    Array(True, dtype=bool)
    """
    return _reduce("reduce_or", x, axes)


def argmax(x: Operand, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the first greatest element along an axis; a NaN counts as greatest.

    Raises the clauses of argmax.

    >>> import traceir.numpy as jnp
    >>> argmax(jnp.array([1.0, 3.0, 2.0]), 0, "int32")
    Array(1, dtype=int32)
    """
    return _reduce("argmax", x, (axis,), index_dtype=dtype_of(index_dtype, "argmax"))


def argmin(x: Operand, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the first least element along an axis; a NaN counts as least.

    Raises the clauses of argmin.

    >>> import traceir.numpy as jnp
    >>> argmin(jnp.array([1.0, 3.0, 2.0]), 0, "int32")
    Array(0, dtype=int32)
    """
    return _reduce("argmin", x, (axis,), index_dtype=dtype_of(index_dtype, "argmin"))


def dot_general(
    lhs: Operand,
    rhs: Operand,
    dimension_numbers: DotDimensionNumbers,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """Sum of products over paired axes.

    `dimension_numbers` is ((lhs contracted, rhs contracted), (lhs batch, rhs batch));
    the result has the batch axes, then the rest of lhs, then the rest of rhs. Raises
    the clauses of dot_general.

    >>> import traceir.numpy as jnp
    >>> dot_general(jnp.ones((2, 3)), jnp.ones((3,)), (((1,), (0,)), ((), ())))
    Array([3., 3.], dtype=float32)
    """
    contract, batch = dimension_numbers
    numbers = tuple(
        tuple(tuple(map(index, side)) for side in pair) for pair in (contract, batch)
    )
    wanted = preferred_element_type
    result: Array = bind(
        "dot_general",
        *operands("dot_general", (lhs, rhs)),
        dimension_numbers=numbers,
        preferred_element_type=None if wanted is None else dtype_of(wanted, "dot"),
    )
    return result


def dot(lhs: Operand, rhs: Operand) -> Array:
    """Product of vectors and matrices of one dtype: the last axis by the first.

    >>> import traceir.numpy as jnp
    >>> dot(jnp.ones((2, 3)), jnp.ones((3,)))
    Array([3., 3.], dtype=float32)
    """
    left, right = operands("dot", (lhs, rhs))
    last = len(shape_of(left)) - 1
    return dot_general(left, right, (((last,), (0,)), ((), ())))
