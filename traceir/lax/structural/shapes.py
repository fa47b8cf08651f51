"""Creation, reshaping and joining under their `jax.lax` names. Serves: prim.*"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from traceir.arrays.array import Array
from traceir.arrays.sharding import Sharding
from traceir.dtypes import is_key, key_of
from traceir.lax.checks.int_ranges import held
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    fitting,
    shape_of,
)
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.operands import operands as all_checked
from traceir.lax.checks.shapes import ShapeLike, axes_in, axis_in, shape_tuple
from traceir.lax.structural.sharding_constraints import (
    OutSharding,
    lying,
    takes_out_sharding,
)
from traceir.tracing.trace import bind, bind_one, typeof


def full(
    shape: ShapeLike,
    fill_value: Operand,
    dtype: DTypeLike = None,
    *,
    sharding: Sharding | None = None,
) -> Array:
    """An array of this shape with one number everywhere, by default of its dtype.

    Keys have the number for both words. The array lies on devices as `sharding` says.
    Raises TypeError (face.shape, face.dtype, sharding.type), ValueError
    (sharding.rank, sharding.divides, device.known).

    >>> full((2,), 1.5)
    Array([1.5, 1.5], dtype=float32, weak_type=True)
    """
    if sharding is not None:
        found: Array = lying(full(shape, fill_value, dtype), sharding, "full")
        return found
    extents = shape_tuple(shape)
    if dtype is not None and not is_key(dtype):
        wanted = dtype_of(dtype, "full")
        value = convert(checked("full", held(fill_value, wanted, cut=True)), wanted)
        return broadcast_in_dim(value, extents, ())
    value = checked("full", fill_value)
    if is_key(dtype) and not is_key(typeof(value).dtype):
        key = key_of(dtype)
        words = full((*extents, key.words), value, "uint32")
        return bind_one("random_wrap", words, impl=key.tag)
    return broadcast_in_dim(value, extents, ())


def iota(dtype: DTypeLike, size: int) -> Array:
    """0, 1, 2 … `size - 1` in a numeric dtype.

    >>> iota("int32", 3)
    Array([0, 1, 2], dtype=int32)
    """
    return broadcasted_iota(dtype, (size,), 0)


@takes_out_sharding
def broadcasted_iota(
    dtype: DTypeLike,
    shape: ShapeLike,
    dimension: int,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Each element's own index along one dimension (iota.dimension, iota.extents).

    Raises OverflowError (jit.overflow) if the default integer dtype does not hold it;
    in a narrower dtype it wraps.

    >>> broadcasted_iota("int32", (2, 2), 0)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    extents, wanted, d = shape_tuple(shape), dtype_of(dtype, "iota"), index(dimension)
    if wanted == default_dtype(int) and 0 <= d < len(extents):
        fitting(extents[d] - 1, wanted)
    return bind_one("iota", dtype=wanted, shape=extents, dimension=d)


@takes_out_sharding
def broadcast_in_dim(
    operand: Operand,
    shape: ShapeLike,
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Stretch to a shape; dimension `d` becomes `broadcast_dimensions[d]`.

    Raises TypeError (face.shape) and the clauses of broadcast_in_dim.

    >>> broadcast_in_dim(2, (3,), ())
    Array([2, 2, 2], dtype=int32, weak_type=True)
    """
    extents, value = shape_tuple(shape), checked("broadcast_in_dim", operand)
    dims = tuple(map(index, broadcast_dimensions))
    if shape_of(value) == extents and dims == tuple(range(len(extents))):
        return as_array(value)
    return bind_one("broadcast_in_dim", value, shape=extents, broadcast_dimensions=dims)


@takes_out_sharding
def broadcast(
    operand: Operand, sizes: ShapeLike, *, out_sharding: OutSharding = None
) -> Array:
    """`operand` repeated along new leading dimensions.

    >>> broadcast(2, (3,))
    Array([2, 2, 2], dtype=int32, weak_type=True)
    """
    value, lead = checked("broadcast", operand), shape_tuple(sizes)
    shape = shape_of(value)
    dims = range(len(lead), len(lead) + len(shape))
    return broadcast_in_dim(value, lead + shape, tuple(dims))


@takes_out_sharding
def reshape(
    operand: Operand,
    new_sizes: ShapeLike,
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The elements, in row-major order, under another shape (reshape.size).

    With `dimensions` they are put in this order first.

    >>> reshape(iota("int32", 4), (2, 2))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    value, sizes = checked("reshape", operand), shape_tuple(new_sizes)
    if dimensions is not None:
        value = transpose(value, dimensions)
    if shape_of(value) == sizes:
        return as_array(value)
    return bind_one("reshape", value, new_sizes=sizes)


def transpose(operand: Operand, permutation: Sequence[int]) -> Array:
    """The dimensions in another order (transpose.permutation).

    >>> transpose(broadcasted_iota("int32", (2, 2), 0), (1, 0))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    value, order = checked("transpose", operand), tuple(map(index, permutation))
    if order == tuple(range(len(shape_of(value)))):
        return as_array(value)
    return bind_one("transpose", value, permutation=order)


def rev(operand: Operand, dimensions: Sequence[int]) -> Array:
    """The elements in the other order along these dimensions.

    Raises TypeError (rev.range, rev.distinct).

    >>> rev(iota("int32", 3), (0,))
    Array([2, 1, 0], dtype=int32)
    """
    value = checked("rev", operand)
    rank = len(shape_of(value))
    given = tuple(map(index, dimensions))
    dims = tuple(d + rank if -rank <= d < 0 else d for d in given)
    return bind_one("rev", value, dimensions=dims)


def squeeze(array: Operand, dimensions: Sequence[int]) -> Array:
    """Without these dimensions, each of extent 1 (squeeze.size-one).

    Raises ValueError (face.axis, face.axis-repeated).

    >>> squeeze(iota("int32", 1), (0,))
    Array(0, dtype=int32)
    """
    value = checked("squeeze", array)
    dims = tuple(sorted(axes_in(tuple(dimensions), len(shape_of(value)))))
    if not dims:
        return as_array(value)
    return bind_one("squeeze", value, dimensions=dims)


def expand_dims(array: Operand, dimensions: Sequence[int]) -> Array:
    """The array with new dimensions of extent 1 at these places of the result.

    Raises ValueError (face.axis, face.axis-repeated).

    >>> expand_dims(iota("int32", 2), (1,))
    Array([[0],
           [1]], dtype=int32)
    """
    value = checked("expand_dims", array)
    rank = len(shape_of(value)) + len(dimensions)
    new = axes_in(tuple(dimensions), rank)
    kept = tuple(d for d in range(rank) if d not in new)
    extents = dict(zip(kept, shape_of(value), strict=True))
    return broadcast_in_dim(value, [extents.get(d, 1) for d in range(rank)], kept)


def slice(
    operand: Operand,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """Every `strides[d]`-th element from start to limit, along each dimension.

    Raises the clauses of slice: nothing is clamped.

    >>> slice(iota("int32", 5), (1,), (5,), (2,))
    Array([1, 3], dtype=int32)
    """
    return bind_one(
        "slice",
        checked("slice", operand),
        start_indices=tuple(map(index, start_indices)),
        limit_indices=tuple(map(index, limit_indices)),
        strides=None if strides is None else tuple(map(index, strides)),
    )


def slice_in_dim(
    operand: Operand,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Array:
    """`slice` along one axis; None is an end, and negative places count from the end.

    >>> slice_in_dim(iota("int32", 5), 1, None, 2)
    Array([1, 3], dtype=int32)
    """
    value = checked("slice_in_dim", operand)
    shape = shape_of(value)
    at = axis_in(axis, len(shape))
    start = 0 if start_index is None else index(start_index)
    limit = shape[at] if limit_index is None else index(limit_index)
    starts, limits = [0] * len(shape), list(shape)
    strides = [1] * len(shape)
    starts[at] = start + shape[at] if start < 0 else start
    limits[at] = limit + shape[at] if limit < 0 else limit
    strides[at] = index(stride)
    return slice(value, starts, limits, strides)


def index_in_dim(
    operand: Operand, index: int, axis: int = 0, keepdims: bool = True
) -> Array:
    """The elements at one place of an axis, which stays, with extent 1, or goes.

    >>> index_in_dim(iota("int32", 5), -1, keepdims=False)
    Array(4, dtype=int32)
    """
    value = checked("index_in_dim", operand)
    rank = len(shape_of(value))
    at = axis_in(axis, rank)
    place = axis_in(index, shape_of(value)[at])
    found = slice_in_dim(value, place, place + 1, axis=at)
    return found if keepdims else squeeze(found, (at,))


def concatenate(operands: Sequence[Operand], dimension: int) -> Array:
    """Arrays of one dtype after one another along a dimension.

    Raises the clauses of concatenate.

    >>> concatenate([iota("int32", 2), iota("int32", 3)], 0)
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    values = all_checked("concatenate", operands)
    if len(values) == 1:
        return as_array(values[0])
    return bind_one("concatenate", *values, dimension=index(dimension))


def split(operand: Operand, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Consecutive parts of these extents along an axis; raises the clauses of split.

    >>> split(iota("int32", 3), (1, 2))
    [Array([0], dtype=int32), Array([1, 2], dtype=int32)]
    """
    value = checked("split", operand)
    at = axis_in(axis, len(shape_of(value)))
    return list(bind("split", value, sizes=tuple(map(index, sizes)), axis=at))


def pad(
    operand: Operand,
    padding_value: Operand,
    padding_config: Sequence[tuple[int, int, int]],
) -> Array:
    """So many elements before, behind and between those of each dimension.

    Negative padding takes elements away at an end. Raises the clauses of pad.

    >>> pad(iota("int32", 2), 7, [(1, 0, 1)])
    Array([7, 0, 7, 1], dtype=int32)
    """
    values = checked("pad", operand), checked("pad", padding_value)
    config = tuple((index(a), index(b), index(c)) for a, b, c in padding_config)
    return bind_one("pad", *values, padding_config=config)


def stack(operands: Sequence[Operand], axis: int = 0) -> Array:
    """Arrays of one shape and dtype along a new axis; raises the clauses of stack.

    >>> stack([iota("int32", 2), iota("int32", 2)], 0)
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    return bind_one("stack", *all_checked("stack", operands), axis=index(axis))
