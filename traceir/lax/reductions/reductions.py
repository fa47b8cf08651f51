"""Reductions and contractions under their `jax.lax` names. Serves: prim.*"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.dtypes import NARROW_FLOATS, bits_of, finfo, is_narrow, kind_of, part_dtype
from traceir.lax.checks.operands import (
    BOOL,
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    operand,
    operands,
    shape_of,
)
from traceir.lax.checks.precision import PrecisionLike, precision_of
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.tracing.trace import bind, bind_one, typeof

DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]


def _reduce(primitive: str, x: Operand, axes: Sequence[int], **params: Any) -> Array:
    dims = tuple(map(index, axes))
    return bind_one(primitive, operand(primitive, x), axes=dims, **params)


@takes_out_sharding
def reduce_sum(
    operand: Operand, axes: Sequence[int], *, out_sharding: OutSharding = None
) -> Array:
    """Sum over axes, in the operand's numeric dtype; 0 over none.

    Raises reduce_sum.numeric, .axes-range, .axes-distinct.

    >>> import traceir.numpy as jnp
    >>> reduce_sum(jnp.ones((2, 3)), (1,))
    Array([3., 3.], dtype=float32)
    """
    return _reduce("reduce_sum", operand, axes)


def reduce_prod(operand: Operand, axes: Sequence[int]) -> Array:
    """Product over axes, in the operand's numeric dtype; 1 over none.

    >>> import traceir.numpy as jnp
    >>> reduce_prod(jnp.arange(1, 5), (0,))
    Array(24, dtype=int32)
    """
    return _reduce("reduce_prod", operand, axes)


def reduce_max(operand: Operand, axes: Sequence[int]) -> Array:
    """Greatest element over axes, NaN if one is; the least of the dtype over none.

    >>> import traceir.numpy as jnp
    >>> reduce_max(jnp.arange(4), (0,))
    Array(3, dtype=int32)
    """
    return _reduce("reduce_max", operand, axes)


def reduce_min(operand: Operand, axes: Sequence[int]) -> Array:
    """Least element over axes, NaN if one is; the greatest of the dtype over none.

    >>> import traceir.numpy as jnp
    >>> reduce_min(jnp.arange(4), (0,))
    Array(0, dtype=int32)
    """
    return _reduce("reduce_min", operand, axes)


def reduce_and(operand: Operand, axes: Sequence[int]) -> Array:
    """The bits that all elements over axes have (bit_reduction.bits).

    >>> import traceir.numpy as jnp
    >>> reduce_and(jnp.array([True, False]), (0,))
    Array(False, dtype=bool)
    >>> reduce_and(jnp.array([6, 3]), (0,))
    Array(2, dtype=int32)
    """
    return _reduce("reduce_and", operand, axes)


def reduce_or(operand: Operand, axes: Sequence[int]) -> Array:
    """The bits that any element over axes has (bit_reduction.bits).

    >>> import traceir.numpy as jnp
    >>> reduce_or(jnp.array([True, False]), (0,))
    Array(True, dtype=bool)
    >>> reduce_or(jnp.array([6, 3]), (0,))
    Array(7, dtype=int32)
    """
    return _reduce("reduce_or", operand, axes)


def reduce_xor(operand: Operand, axes: Sequence[int]) -> Array:
    """The bits that an odd number of elements over axes have (bit_reduction.bits).

    >>> import traceir.numpy as jnp
    >>> reduce_xor(jnp.array([1, 3, 7]), (0,))
    Array(5, dtype=int32)
    """
    return _reduce("reduce_xor", operand, axes)


def argmax(operand: Operand, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the first greatest element along an axis; a NaN counts as greatest.

    Raises the clauses of argmax.

    >>> import traceir.numpy as jnp
    >>> argmax(jnp.array([1.0, 3.0, 2.0]), 0, "int32")
    Array(1, dtype=int32)
    """
    return _reduce(
        "argmax", operand, (axis,), index_dtype=dtype_of(index_dtype, "argmax")
    )


def argmin(operand: Operand, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the first least element along an axis; a NaN counts as least.

    Raises the clauses of argmin.

    >>> import traceir.numpy as jnp
    >>> argmin(jnp.array([1.0, 3.0, 2.0]), 0, "int32")
    Array(0, dtype=int32)
    """
    return _reduce(
        "argmin", operand, (axis,), index_dtype=dtype_of(index_dtype, "argmin")
    )


def _width(dtype: np.dtype) -> tuple[bool, int, int, int, bool]:
    """The key by which the dtype of products of two dtypes is chosen: range comes
    first.
    """
    kind = kind_of(dtype)
    limits = finfo(part_dtype(dtype)) if kind in "fc" else None
    digits = (limits.maxexp, limits.nmant) if limits else (-1, -1)
    return kind == "c", *digits, bits_of(dtype) * (kind != "b"), kind != "u"


def _bits(dtype: np.dtype) -> int:
    """The width of a dtype in bits, a complex one by its parts."""
    return 1 if dtype == BOOL else bits_of(part_dtype(dtype))


@takes_out_sharding
def dot_general(
    lhs: Operand,
    rhs: Operand,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Sum of products over paired axes.

    `dimension_numbers` is ((lhs contracted, rhs contracted), (lhs batch, rhs batch));
    the result has the batch axes, then the rest of lhs, then the rest of rhs. Of
    booleans it tells whether any pair holds; in a dtype that is asked for, how many.
    Of two dtypes the one with the greater range is that of both.
    Products are never less precise than their dtype, whatever `precision` says. Raises
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
    asked = None if wanted is None else dtype_of(wanted, "dot")
    x, y = operands("dot_general", (lhs, rhs))
    pair = typeof(x).dtype, typeof(y).dtype
    if pair[0] != pair[1]:
        wider = max(pair, key=_width)
        if all(d.name in NARROW_FLOATS for d in pair):
            # Neither holds the numbers of the other.
            final = asked or wider
            asked = np.dtype("float32") if is_narrow(final) else final
            found = _products(x, y, numbers, precision, asked)
            return as_array(convert(found, final))
        x, y = (convert(v, wider) for v in (x, y))
    own = typeof(x).dtype
    truths = own == BOOL
    after = truths
    if truths:
        x, y = (convert(v, default_dtype(int)) for v in (x, y))
    elif asked is not None:
        if kind_of(own) != "f" and _bits(asked) < _bits(own):
            got = f"{asked} for products of {own}"
            raise rules.error("dot_general.result-dtype", got=got)
        # A dtype that does not hold the products is that of the sum alone.
        after = asked.itemsize < own.itemsize or _width(asked) < _width(own)
        if kind_of(asked) != kind_of(own) and not after:
            x, y = (convert(v, asked) for v in (x, y))
    result = _products(x, y, numbers, precision, None if after else asked)
    return as_array(convert(result, asked or BOOL)) if after else result


def _products(
    x: Operand, y: Operand, numbers: Any, precision: PrecisionLike, asked: Any
) -> Array:
    """The equation of operands that may have it."""
    params = {"dimension_numbers": numbers, "precision": precision_of(precision)}
    found: Array = bind("dot_general", x, y, preferred_element_type=asked, **params)
    return found


@takes_out_sharding
def dot(
    lhs: Operand,
    rhs: Operand,
    *,
    dimension_numbers: DotDimensionNumbers | None = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Product of vectors and matrices: the last axis by the first.

    With `dimension_numbers` it is `dot_general`.

    >>> import traceir.numpy as jnp
    >>> dot(jnp.ones((2, 3)), jnp.ones((3,)))
    Array([3., 3.], dtype=float32)
    """
    left, right = operands("dot", (lhs, rhs))
    last = len(shape_of(left)) - 1
    numbers = dimension_numbers or (((last,), (0,)), ((), ()))
    return dot_general(left, right, numbers, precision, preferred_element_type)
