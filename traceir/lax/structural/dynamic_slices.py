"""Slices at indices that are values.

A negative place counts from the end; a box that would not lie inside is moved there.
Serves: dynamic_slice, dynamic_update_slice
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    fitting,
    is_scalar,
    is_tracer,
    typed,
)
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.shapes import axis_in, shape_tuple
from traceir.lax.structural.index_dtypes import as_index, from_end, index_dtype, widened
from traceir.lax.structural.shapes import broadcast_in_dim, slice_in_dim, squeeze
from traceir.tracing.trace import bind_one, typeof

Starts = Array | Sequence[Operand]
# Whether negative places count from the end: for all dimensions, or for each.
Negative = bool | Sequence[bool]


def _starts(name: str, given: Starts, shape: tuple[int, ...], wrap: Negative) -> Any:
    """The starts as scalars, each counted from 0."""
    if isinstance(given, (Array, np.ndarray)):
        count = given.shape[0] if given.ndim else 0
        given = [
            squeeze(slice_in_dim(given, k, k + 1), (0,)) if is_tracer(given)
            else np.asarray(given)[k]
            for k in range(count)
        ]  # fmt: skip
    starts = [checked(name, s, k) for k, s in enumerate(given)]
    wraps = [wrap] * len(starts) if isinstance(wrap, bool) else list(wrap)
    if len(starts) != len(shape):
        return [_start(s) for s in starts]
    one = len({typeof(_start(s)).dtype for s in starts}) == 1
    # Where one is widened to count from the end, all are.
    narrow = zip(starts, shape, wraps, strict=True)
    if one and any(w and _becomes_wider(s, n) for s, n, w in narrow):
        starts = [as_index(s, index_dtype(shape)) for s in starts]
    return [
        _start(from_end(s, n) if w else s)
        for s, n, w in zip(starts, shape, wraps, strict=True)
    ]


def _start(given: Operand) -> Operand:
    """A start; a Python int in the default dtype, as the nearest of its numbers."""
    if type(given) is not int:
        return given
    dtype = default_dtype(int)
    return typed(fitting(given, dtype), dtype, False)


def _becomes_wider(start: Operand, extent: int) -> bool:
    """True if an index counts from an end that its dtype has no number for."""
    if isinstance(start, int) or typeof(start).dtype.kind != "i":
        return False
    return widened(start, extent) is not start


def _along(start: Operand, axis: int, rank: int) -> list[Operand]:
    """Starts of 0, of its dtype, but for one axis."""
    is_array = hasattr(start, "dtype")
    zero = typed(0, typeof(start).dtype, False) if is_array else 0
    return [start if d == axis else zero for d in range(rank)]


def dynamic_slice(
    operand: Operand,
    start_indices: Starts,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: Negative = True,
) -> Array:
    """The box of extents `slice_sizes` that begins at the starts, integers that may be
    traced; moved, if need be, so that it lies inside.

    Raises the clauses of dynamic_slice.

    >>> import traceir.numpy as jnp
    >>> dynamic_slice(jnp.arange(5), (1,), (2,))
    Array([1, 2], dtype=int32)
    >>> dynamic_slice(jnp.arange(5), (-1,), (2,))
    Array([3, 4], dtype=int32)
    """
    x = as_array(checked("dynamic_slice", operand))
    sizes = shape_tuple(slice_sizes)
    starts = _starts("dynamic_slice", start_indices, x.shape, allow_negative_indices)
    return bind_one("dynamic_slice", x, *starts, slice_sizes=sizes)


def dynamic_update_slice(
    operand: Operand,
    update: Operand,
    start_indices: Starts,
    *,
    allow_negative_indices: Negative = True,
) -> Array:
    """A copy with a box written over, which begins at the starts, integers that may be
    traced; moved, if need be, so that it lies inside.

    Raises the clauses of dynamic_update_slice.

    >>> import traceir.numpy as jnp
    >>> dynamic_update_slice(jnp.arange(5), jnp.array([9, 9]), (3,))
    Array([0, 1, 2, 9, 9], dtype=int32)
    """
    name = "dynamic_update_slice"
    x, new = as_array(checked(name, operand)), as_array(checked(name, update, 1))
    starts = _starts(name, start_indices, x.shape, allow_negative_indices)
    return bind_one(name, x, new, *starts)


def dynamic_slice_in_dim(
    operand: Operand,
    start_index: Operand,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """`dynamic_slice` along one axis; all of the others.

    >>> import traceir.numpy as jnp
    >>> dynamic_slice_in_dim(jnp.arange(5), 2, 2)
    Array([2, 3], dtype=int32)
    """
    x = as_array(checked("dynamic_slice_in_dim", operand))
    at = axis_in(axis, x.ndim)
    sizes = list(x.shape)
    sizes[at] = as_int(slice_size)
    starts = _along(start_index, at, x.ndim)
    return dynamic_slice(
        x, starts, sizes, allow_negative_indices=allow_negative_indices
    )


def dynamic_update_slice_in_dim(
    operand: Operand,
    update: Operand,
    start_index: Operand,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """`dynamic_update_slice` along one axis; from 0 on along the others.

    >>> import traceir.numpy as jnp
    >>> dynamic_update_slice_in_dim(jnp.arange(5), jnp.array([9, 9]), 2, 0)
    Array([0, 1, 9, 9, 4], dtype=int32)
    """
    x = as_array(checked("dynamic_update_slice_in_dim", operand))
    at = axis_in(axis, x.ndim)
    starts = _along(start_index, at, x.ndim)
    return dynamic_update_slice(
        x, update, starts, allow_negative_indices=allow_negative_indices
    )


@composite(static_argnames=("axis", "keepdims", "allow_negative_indices"))
def dynamic_index_in_dim(
    operand: Operand,
    index: Operand,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """The elements at one place of an axis, which stays, with extent 1, or goes.

    >>> import traceir.numpy as jnp
    >>> dynamic_index_in_dim(jnp.arange(5), 2, keepdims=False)
    Array(2, dtype=int32)
    """
    x = as_array(checked("dynamic_index_in_dim", operand))
    at = axis_in(axis, x.ndim)
    found = dynamic_slice_in_dim(
        x, index, 1, at, allow_negative_indices=allow_negative_indices
    )
    return found if keepdims else squeeze(found, (at,))


@composite(static_argnames=("axis", "allow_negative_indices"))
def dynamic_update_index_in_dim(
    operand: Operand,
    update: Operand,
    index: Operand,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """A copy with the elements at one place of an axis written over; the update has
    the axis, with extent 1, or has it not.

    >>> import traceir.numpy as jnp
    >>> dynamic_update_index_in_dim(jnp.arange(4), 9, 2, 0)
    Array([0, 1, 9, 3], dtype=int32)
    """
    x = as_array(checked("dynamic_update_index_in_dim", operand))
    update = checked("dynamic_update_index_in_dim", update, 1)
    at = axis_in(axis, x.ndim)
    new = as_array(convert(update, x.dtype) if is_scalar(update) else update)
    if new.ndim != x.ndim:
        kept = [d for d in range(x.ndim) if d != at]
        shape = [1 if d == at else n for d, n in zip(kept, new.shape)]
        shape.insert(at, 1)
        new = broadcast_in_dim(new, shape, kept)
    return dynamic_update_slice_in_dim(
        x, new, index, at, allow_negative_indices=allow_negative_indices
    )
