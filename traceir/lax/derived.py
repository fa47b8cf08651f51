"""Functions of `jax.lax` that are made of others. Serves: face.shape, face.axis"""

from __future__ import annotations

from math import prod
from operator import index

from traceir import rules
from traceir.arrays.array import LAID_OUT, Array
from traceir.arrays.sharding import Sharding
from traceir.dtypes import is_key
from traceir.lax.checks.int_ranges import held
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    dtype_of,
    shape_of,
)
from traceir.lax.checks.operands import broadcast_shapes as _meet
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.precision import PrecisionLike
from traceir.lax.checks.shapes import ShapeLike, axis_in, shape_tuple
from traceir.lax.reductions.reductions import dot_general
from traceir.lax.structural.shapes import broadcast_in_dim, full, reshape
from traceir.lax.structural.sharding_constraints import lying
from traceir.tracing.trace import bind, typeof


def full_like(
    x: Operand,
    fill_value: Operand,
    dtype: DTypeLike = None,
    shape: ShapeLike = None,
    sharding: Sharding | None = None,
) -> Array:
    """One number everywhere, in the shape and dtype of `x`, where not given.

    The array lies on devices as `sharding` says, with the errors of `full`.

    >>> full_like(2.5, 1)
    Array(1., dtype=float32, weak_type=True)
    """
    if sharding is not None:
        whole = full_like(x, fill_value, dtype, shape)
        found: Array = lying(whole, sharding, "full_like")
        return found
    if shape is None and type(x) in LAID_OUT:
        return full_like(x, fill_value, dtype, x.shape, x.sharding)
    aval = typeof(checked("full_like", x))
    extents = aval.shape if shape is None else shape_tuple(shape)
    if is_key(dtype) or (dtype is None and is_key(aval.dtype)):
        return full(extents, fill_value, aval.dtype if dtype is None else dtype)
    wanted = aval.dtype if dtype is None else dtype_of(dtype, "full_like")
    weak = dtype is None and aval.weak_type
    value = checked("full_like", held(fill_value, wanted, cut=True), 1)
    return broadcast_in_dim(convert(value, wanted, weak), extents, ())


def collapse(
    operand: Operand, start_dimension: int, stop_dimension: int | None = None
) -> Array:
    """The dimensions from one to before another made one.

    They are counted as in slices: what is past the end is the end, and no dimension
    becomes one of extent 1. Raises ValueError (face.axis) for one before another.

    >>> from traceir import lax
    >>> collapse(lax.full((2, 3, 4), 0), 0, 2).shape
    (6, 4)
    """
    value = checked("collapse", operand)
    shape = shape_of(value)
    start, stop, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if stop < start:
        got = f"from {start_dimension} to {stop_dimension}"
        raise rules.error("face.axis", got=got)
    return reshape(value, (*shape[:start], prod(shape[start:stop]), *shape[stop:]))


def broadcast_shapes(*shapes: ShapeLike) -> tuple[int, ...]:
    """The shape to which all shapes stretch; ValueError (face.broadcast) if none is.

    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return _meet("broadcast_shapes", list(map(shape_tuple, shapes)))


def broadcast_to_rank(x: Operand, rank: int) -> Array:
    """The array with leading dimensions of extent 1, so many that it has this rank.

    One of a greater rank stays as it is.

    >>> broadcast_to_rank(1.5, 2)
    Array([[1.5]], dtype=float32, weak_type=True)
    """
    value = checked("broadcast_to_rank", x)
    own = shape_of(value)
    missing = index(rank) - len(own)
    if missing <= 0:
        return as_array(value)
    lead = range(missing, missing + len(own))
    return broadcast_in_dim(value, (1,) * missing + own, tuple(lead))


def batch_matmul(lhs: Operand, rhs: Operand, precision: PrecisionLike = None) -> Array:
    """Products of matrices, which are the last two dimensions; the others are equal.

    Raises ValueError (face.axis, face.least-rank) below two dimensions, or where there
    are not as many of both, and the clauses of dot_general.

    >>> from traceir import lax
    >>> batch_matmul(lax.full((5, 2, 3), 1.0), lax.full((5, 3, 4), 1.0)).shape
    (5, 2, 4)
    """
    x, y = checked("batch_matmul", lhs), checked("batch_matmul", rhs, 1)
    rank = len(shape_of(x))
    if len(shape_of(y)) != rank:
        got = f"{rank} dimensions and {len(shape_of(y))} in batch_matmul"
        raise rules.error("face.least-rank", got=got, hint="it needs as many of both")
    contracted = ((axis_in(-1, rank),), (axis_in(-2, len(shape_of(y))),))
    batch = tuple(range(rank - 2))
    return dot_general(x, y, (contracted, (batch, batch)), precision)


def unstack(x: Operand, axis: int = 0) -> tuple[Array, ...]:
    """The parts along an axis, without it; raises the clauses of unstack.

    >>> from traceir import lax
    >>> unstack(lax.iota("int32", 2))
    (Array(0, dtype=int32), Array(1, dtype=int32))
    """
    value = checked("unstack", x)
    return tuple(bind("unstack", value, axis=axis_in(axis, len(shape_of(value)))))
