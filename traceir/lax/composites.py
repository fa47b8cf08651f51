"""Functions of `lax` that take several primitives, or none.

Serves: face.shape, face.axis, face.argument, face.choice
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import TypeVar

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.dtypes import bits_of, is_narrow, kind_of
from traceir.lax.checks.operands import (
    BOOL,
    DTypeLike,
    Operand,
    aligned,
    as_array,
    constant,
    convert,
    like,
    operands,
    shape_of,
)
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.precision import PrecisionLike
from traceir.lax.checks.shapes import ShapeLike, axis_in, shape_tuple
from traceir.lax.elementwise.arithmetic import (
    add,
    bitwise_and,
    ge,
    lt,
    mul,
    neg,
    rem,
    sub,
)
from traceir.lax.elementwise.bits import shift_right_arithmetic, shift_right_logical
from traceir.lax.elementwise.selection import select
from traceir.lax.reductions.convolution import (
    ConvNumbers,
    conv_dimension_numbers,
    conv_general_dilated,
)
from traceir.lax.reductions.cumulative import cumsum
from traceir.lax.reductions.reductions import dot_general, reduce_or, reduce_sum
from traceir.lax.reductions.windows import Padding
from traceir.lax.structural.gather_scatter import GatherDimensionNumbers, gather
from traceir.lax.structural.index_dtypes import from_end, widened
from traceir.lax.structural.shapes import (
    broadcast_in_dim,
    broadcasted_iota,
    concatenate,
    expand_dims,
    reshape,
)
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.lax.structural.sorting import top_k
from traceir.pytrees import flatten
from traceir.tracing.trace import typeof

T = TypeVar("T")


def optimization_barrier(operand: T) -> T:
    """The arrays of a tree as they are: nothing is moved here that this would hold.

    >>> optimization_barrier((1.5, 2))
    (Array(1.5, dtype=float32, weak_type=True), Array(2, dtype=int32, weak_type=True))
    """
    held: T = flatten.map_(
        lambda leaf: as_array(checked("optimization_barrier", leaf)), operand
    )
    return held


def tile(operand: Operand, reps: ShapeLike) -> Array:
    """The array repeated along each dimension, so many times.

    Raises TypeError (face.shape) unless there is a number for each dimension.

    >>> tile(np.arange(2), (2,))
    Array([0, 1, 0, 1], dtype=int32)
    """
    x, times = checked("tile", operand), shape_tuple(reps)
    shape = shape_of(x)
    if len(times) != len(shape):
        raise rules.error("face.shape", got=f"{times} for {len(shape)} dimensions")
    parted = tuple(n for pair in zip(times, shape) for n in pair)
    whole = broadcast_in_dim(x, parted, range(1, 2 * len(shape), 2))
    return reshape(whole, tuple(n * m for n, m in zip(times, shape)))


def index_take(src: Operand, idxs: Sequence[Operand], axes: Sequence[int]) -> Array:
    """The parts that vectors of places take: for each k that at `idxs[j][k]` of
    `axes[j]`.

    Places outside go around, as negative ones do. Raises ValueError (face.axis).

    >>> index_take(np.arange(6).reshape(2, 3), (np.array([1, -2]),), (0,))
    Array([[3, 4, 5],
           [0, 1, 2]], dtype=int32)
    """
    x = as_array(checked("index_take", src))
    dims = tuple(axis_in(axis, x.ndim) for axis in axes)
    columns = [_around(i, x.shape[d]) for i, d in zip(idxs, dims)]
    places = concatenate([expand_dims(i, (1,)) for i in columns], 1)
    rest = range(1, x.ndim - len(dims) + 1)
    sizes = [1 if d in dims else n for d, n in enumerate(x.shape)]
    numbers = GatherDimensionNumbers(tuple(rest), tuple(sorted(dims)), dims)
    return gather(x, places, numbers, sizes, mode="clip")


def _around(places: Operand, extent: int) -> Operand:
    """Places modulo an extent."""
    wide = widened(places, extent)
    return from_end(rem(wide, like(extent, wide)), extent)


def mulhi(x: Operand, y: Operand) -> Array:
    """The upper half of the bits of products of integers.

    Raises TypeError (shift.integer) for other dtypes.

    >>> mulhi(np.int32(2**30), 7)
    Array(1, dtype=int32)
    """
    a, b = (as_array(v) for v in aligned("mulhi", operands("mulhi", (x, y))))
    dtype = a.dtype
    if kind_of(dtype) not in "iu":
        return shift_right_logical(a, b)  # it says what is wrong with the dtypes
    if is_narrow(dtype):
        whole = mul(*(convert(v, np.dtype("int32")) for v in (a, b)))
        upper = shift_right_arithmetic(whole, like(bits_of(dtype), whole))
        return as_array(convert(upper, dtype))
    words = np.dtype(f"u{dtype.itemsize}")
    found: Array = convert(_upper(convert(a, words), convert(b, words)), dtype)
    if dtype.kind == "u":
        return found
    sign = like(8 * dtype.itemsize - 1, a)  # the bit that makes negative ones large
    less = [shift_right_arithmetic(v, sign) for v in (a, b)]
    return sub(sub(found, bitwise_and(less[0], b)), bitwise_and(less[1], a))


def _upper(a: Operand, b: Operand) -> Array:
    """The upper half of products of unsigned integers, by halves of the bits."""
    half = typeof(a).dtype.itemsize * 4
    width, mask = like(half, a), like((1 << half) - 1, a)
    low, high = bitwise_and(a, mask), shift_right_logical(a, width)
    below, above = bitwise_and(b, mask), shift_right_logical(b, width)
    one = add(mul(high, below), shift_right_logical(mul(low, below), width))
    two = add(mul(low, above), bitwise_and(one, mask))
    carried = add(shift_right_logical(one, width), shift_right_logical(two, width))
    return add(mul(high, above), carried)


@takes_out_sharding
def ragged_dot(
    lhs: Operand,
    rhs: Operand,
    group_sizes: Operand,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    group_offset: None = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Products of groups of rows, one after the other, with one matrix each.

    Shapes (m, k), (g, k, n) and (g,) to (m, n). Rows after the last group are 0.
    Raises TypeError (face.integers) unless sizes are integers, ValueError (face.choice)
    for a `group_offset`, and the clauses of dot_general.

    >>> x, y = np.ones((3, 1), "int32"), np.array([[[2]], [[5]]])
    >>> ragged_dot(x, y, np.array([1, 2]))
    Array([[2],
           [5],
           [5]], dtype=int32)
    """
    x, y = operands("ragged_dot", (lhs, rhs))
    sizes = as_array(checked("ragged_dot", group_sizes, 2))
    if sizes.dtype.kind not in "iu":
        raise rules.error("face.integers", got=f"{sizes.dtype.name} in ragged_dot")
    if group_offset is not None:
        raise rules.error("face.choice", got=f"{group_offset=}", hint="leave it out")
    numbers = (((len(shape_of(x)) - 1,), (1,)), ((), ()))
    # Of each row and each group.
    products = dot_general(x, y, numbers, precision, preferred_element_type)
    ends = cumsum(sizes)
    shape = products.shape
    row = broadcasted_iota(sizes.dtype, shape, 0)
    end, count = (broadcast_in_dim(v, shape, (1,)) for v in (ends, sizes))
    inside = bitwise_and(lt(row, end), ge(row, sub(end, count)))
    if products.dtype == BOOL:
        return reduce_or(bitwise_and(inside, products), (1,))
    none = broadcast_in_dim(like(0, products), shape, ())
    return reduce_sum(select(inside, products, none), (1,))


def approx_max_k(
    operand: Operand,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """The `k` greatest elements along a dimension, and their places: exactly.

    They are those of `top_k`, whatever recall is asked for, with its errors. Raises
    ValueError (face.choice) unless `aggregate_to_topk`: there are no other candidates.

    >>> approx_max_k(np.array([1.0, 3.0, 2.0]), 2)
    [Array([3., 2.], dtype=float32), Array([1, 2], dtype=int32)]
    """
    x = as_array(checked("approx_max_k", operand))
    return _top_k(x, k, reduction_dimension, aggregate_to_topk)


def approx_min_k(
    operand: Operand,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """The `k` least elements along a dimension, as `approx_max_k`.

    >>> approx_min_k(np.array([1.0, 3.0, 2.0]), 2)
    [Array([1., 2.], dtype=float32), Array([0, 2], dtype=int32)]
    """
    x = neg(checked("approx_min_k", operand))
    values, places = _top_k(x, k, reduction_dimension, aggregate_to_topk)
    return [neg(values), places]


def _top_k(x: Array, k: int, axis: int, aggregate_to_topk: bool) -> list[Array]:
    if not aggregate_to_topk:
        raise rules.error("face.choice", got=f"{aggregate_to_topk=}", hint="True")
    if not x.shape:
        raise rules.error("face.vector", got=f"the greatest of {typeof(x).str_short()}")
    return top_k(x, k, axis=axis)


def conv_general_dilated_patches(
    lhs: Operand,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvNumbers = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The windows that a convolution would see, their elements along the features.

    Features of the result are those of `lhs`, and for each the elements of a window.
    Raises the clauses of `conv_general_dilated`.

    >>> x = np.array([[[1.0, 2.0, 4.0]]])
    >>> conv_general_dilated_patches(x, (2,), (1,), "VALID")
    Array([[[1., 2.],
            [2., 4.]]], dtype=float32)
    """
    x = as_array(checked("conv_general_dilated_patches", lhs))
    taps, rank = tuple(map(index, filter_shape)), x.ndim
    if rank != len(taps) + 2:
        got = f"patches of {x.aval.str_short()} with windows {taps}"
        raise rules.error("conv_general_dilated.rank", got=got)
    shape = (0, 0, *taps)
    numbers = conv_dimension_numbers(x.shape, shape, dimension_numbers)
    count, features = prod(taps), x.shape[numbers.lhs_spec[1]]
    eye = np.eye(count, dtype=x.dtype).reshape(count, 1, *taps)
    back = np.argsort(numbers.rhs_spec)
    kernel = np.transpose(np.tile(eye, (features, *(1,) * (rank - 1))), back)
    return conv_general_dilated(
        x,
        constant(np.ascontiguousarray(kernel)),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        numbers,
        feature_group_count=features,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
