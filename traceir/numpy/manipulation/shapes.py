"""The reshape family and joining. Serves: face.shape, face.reshape, face.axis"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    convert,
    dtype_of,
    joined,
    no_out,
    operand,
    operands,
    shape_of,
)
from traceir.lax.checks.shapes import ShapeLike, axes_in, axis_in, shape_tuple
from traceir.lax.checks.warnings import warn
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.foreign_values import has_jax_array
from traceir.tracing.trace import typeof


def shape(a: Operand) -> tuple[int, ...]:
    """The extents of an array, or of whatever has a `shape`.

    Warns (DeprecationWarning) of lists, tuples and None, and tells what NumPy does.

    >>> import traceir.numpy as jnp
    >>> shape(jnp.ones((2, 3)))
    (2, 3)
    """
    extents: tuple[int, ...] | None = getattr(a, "shape", None)
    if extents is not None:
        return extents
    if hasattr(type(a), "__jax_array__"):
        return shape(a.__jax_array__())
    if a is None or isinstance(a, list | tuple):
        warn(f"shape of {type(a).__name__}: pass an array", DeprecationWarning)
        return () if a is None else np.shape(a)
    return () if isinstance(a, str) else typeof(a).shape


def ndim(a: Operand) -> int:
    """The number of dimensions of an array, or of whatever has an `ndim`.

    >>> ndim(2.5)
    0
    """
    rank: int | None = getattr(a, "ndim", None)
    return len(shape(a)) if rank is None else rank


def size(a: Operand, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements of an array, or along some axes (face.axis).

    >>> import traceir.numpy as jnp
    >>> size(jnp.ones((2, 3))), size(jnp.ones((2, 3)), 1)
    (6, 3)
    """
    extents = shape(a)
    if axis is None:
        return prod(extents)
    return prod(extents[i] for i in axes_in(axis, len(extents)))


@takes_out_sharding
def reshape(
    a: Operand,
    shape: ShapeLike,
    order: str = "C",
    *,
    copy: bool | None = None,
    out_sharding: OutSharding = None,
) -> Array:
    """The elements under another shape; one extent may be -1.

    The last dimension is the fastest, in the order "F" the first, before and after.

    `copy` is what the Array API standard asks for: no array can tell whether it shares
    memory. An array of NumPy's stays one, of its own dtype, as in JAX.

    Raises TypeError (face.shape, face.reshape), ValueError (face.choice),
    NotImplementedError (array.order).

    >>> import traceir.numpy as jnp
    >>> reshape(jnp.arange(4), (2, -1))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    value = operand("reshape", a)
    asked = shape_tuple(shape)
    sizes = _sized(asked, prod(shape_of(value)))
    if sizes is None or prod(sizes) != prod(shape_of(value)):
        got = f"{typeof(value).str_short()} into {asked}"
        raise rules.error("face.reshape", got=got)
    if isinstance(a, np.ndarray | np.generic):
        of_numpy: Any = a
        kept: Array = of_numpy.reshape(sizes, order=order)  # to checkers alone an Array
        return kept
    return _arranged(value, sizes, order)


def _arranged(value: Operand, sizes: tuple[int, ...], order: str) -> Array:
    """The elements under a shape that they fit, as `reshape` has it."""
    if order == "F":
        turned = lax.reshape(_reversed(value), sizes[::-1])
        return _reversed(turned)
    if order == "A":
        raise rules.error("array.order", got=f"{order=} of reshape")
    if order != "C":
        raise rules.error("face.choice", got=f"{order=} of reshape", hint='"C" or "F"')
    return lax.reshape(value, sizes)


def _reversed(x: Operand) -> Array:
    """The dimensions the other way around."""
    return lax.transpose(x, range(len(shape_of(x)))[::-1])


def _sized(asked: tuple[int, ...], size: int) -> tuple[int, ...] | None:
    """The extents with -1 worked out, or None where that cannot be."""
    known = prod(n for n in asked if n != -1)
    unknown = asked.count(-1)
    if unknown > 1 or any(n < -1 for n in asked):
        return None
    if unknown and (not known or size % known):
        return None
    return tuple(size // known if n == -1 else n for n in asked)


@takes_out_sharding
def ravel(a: Operand, order: str = "C", *, out_sharding: OutSharding = None) -> Array:
    """The elements along one dimension, in row-major order, or in column-major "F".

    Raises ValueError (face.choice), NotImplementedError (array.order).

    >>> import traceir.numpy as jnp
    >>> ravel(jnp.ones((2, 2)))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    if order == "K":
        raise rules.error("array.order", got="order='K' of ravel")
    value = operand("ravel", a)
    return _arranged(value, (prod(shape_of(value)),), order)


def transpose(a: Operand, axes: Sequence[int] | None = None) -> Array:
    """The dimensions in another order, by default reversed.

    Raises ValueError (face.axis), and transpose.permutation.

    >>> import traceir.numpy as jnp
    >>> transpose(jnp.ones((2, 3))).shape
    (3, 2)
    """
    value = operand("transpose", a)
    rank = len(shape_of(value))
    if axes is None:
        return lax.transpose(value, tuple(reversed(range(rank))))
    return lax.transpose(value, [axis_in(d, rank) for d in axes])


def matrix_transpose(x: Operand, /) -> Array:
    """The transpose of each matrix: the last two dimensions swapped.

    Raises ValueError (face.axis) below two dimensions.

    >>> import traceir.numpy as jnp
    >>> matrix_transpose(jnp.ones((4, 2, 3))).shape
    (4, 3, 2)
    """
    return swapaxes(x, -2, -1)


permute_dims = transpose


def swapaxes(a: Operand, axis1: int, axis2: int) -> Array:
    """Two dimensions swapped. Raises ValueError (face.axis).

    >>> import traceir.numpy as jnp
    >>> swapaxes(jnp.ones((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    value = operand("swapaxes", a)
    rank = len(shape_of(value))
    order = list(range(rank))
    one, two = axis_in(axis1, rank), axis_in(axis2, rank)
    order[one], order[two] = two, one
    return lax.transpose(value, order)


def moveaxis(
    a: Operand, source: int | Sequence[int], destination: int | Sequence[int]
) -> Array:
    """Dimensions moved to new places, the others in order around them.

    Raises ValueError (face.axis, face.axis-repeated, face.axis-pairs).

    >>> import traceir.numpy as jnp
    >>> moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    value = operand("moveaxis", a)
    rank = len(shape_of(value))
    old, new = (
        axes_in(list(d) if isinstance(d, Sequence) else (d,), rank)
        for d in (source, destination)
    )
    if len(old) != len(new):
        raise rules.error("face.axis-pairs", got=f"{source} and {destination}")
    order = [d for d in range(rank) if d not in old]
    for to, d in sorted(zip(new, old, strict=True)):
        order.insert(to, d)
    return lax.transpose(value, order)


def squeeze(a: Operand, axis: int | Sequence[int] | None = None) -> Array:
    """Without some dimensions of extent 1, by default without any.

    Raises ValueError (face.axis, face.axis-one).

    >>> import traceir.numpy as jnp
    >>> squeeze(jnp.ones((1, 3, 1))).shape
    (3,)
    """
    value = operand("squeeze", a)
    extents = shape_of(value)
    if axis is None:
        axis = [d for d, n in enumerate(extents) if n == 1]
    axes = axis if isinstance(axis, Sequence) else (axis,)
    for d in axes_in(axes, len(extents)):
        if extents[d] != 1:
            got = f"axis {d} of extent {extents[d]} in the shape {extents}"
            raise rules.error("face.axis-one", got=got)
    return lax.squeeze(value, axes)


def expand_dims(a: Operand, axis: int | Sequence[int]) -> Array:
    """The array with new dimensions of extent 1 at these places of the result.

    Raises ValueError (face.axis, face.axis-repeated).

    >>> import traceir.numpy as jnp
    >>> expand_dims(jnp.ones(3), 0).shape
    (1, 3)
    """
    return lax.expand_dims(a, axis if isinstance(axis, Sequence) else (axis,))


def _alike(name: str, arrays: Any, dtype: DTypeLike) -> list[Operand]:
    """Checked operands, converted to the dtype that is given, or in which they meet; at
    least one."""
    known = [a.__jax_array__() if has_jax_array(a) else a for a in arrays]
    values = operands(name, known)
    if not values:
        raise rules.error("face.join-empty", got=f"{name} of no arrays")
    if dtype is not None:
        return [convert(v, dtype_of(dtype, name)) for v in values]
    met, weak = joined(values)
    return [convert(v, met, weak) for v in values]


def concatenate(
    arrays: Sequence[Operand], axis: int | None = 0, dtype: DTypeLike = None
) -> Array:
    """Arrays after one another along an axis; without axis, all of them flat.

    The result has the dtype in which they meet, or the one that is given.

    Raises ValueError (face.join-empty, face.axis), and the clauses of concatenate.

    >>> import traceir.numpy as jnp
    >>> concatenate([jnp.ones(2), jnp.arange(3)])
    Array([1., 1., 0., 1., 2.], dtype=float32)
    """
    values = _alike("concatenate", arrays, dtype)
    if axis is None:
        return lax.concatenate([ravel(v) for v in values], 0)
    return lax.concatenate(values, axis_in(axis, len(shape_of(values[0]))))


def stack(
    arrays: Sequence[Operand],
    axis: int = 0,
    out: None = None,
    dtype: DTypeLike = None,
) -> Array:
    """Arrays of one shape along a new axis of the result.

    Raises ValueError (face.join-empty, face.axis), and the clauses of stack.

    >>> import traceir.numpy as jnp
    >>> stack([jnp.ones(2), jnp.arange(2)], axis=1)
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    no_out("stack", out)
    values = _alike("stack", arrays, dtype)
    return lax.stack(values, axis_in(axis, len(shape_of(values[0])) + 1))
