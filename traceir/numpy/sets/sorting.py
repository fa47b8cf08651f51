"""Elements in order along an axis. Serves: face.axis, order.keys, order.place, sort

Orders are stable and ascending, with NaN last and the zeros equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    default_dtype,
    dtype_of,
    operand,
    operands,
    shape_of,
)
from traceir.lax.checks.shapes import axis_in


def _along(name: str, a: Operand, axis: int | None) -> tuple[Array, int]:
    """The array and its axis; all of its elements in a row where there is none."""
    value = as_array(operand(name, a))
    if axis is None:
        return lax.reshape(value, (prod(value.shape),)), 0
    return value, axis_in(axis, value.ndim)


@composite(static_argnames=["axis", "stable", "descending"])
def sort(
    a: Operand,
    axis: int | None = -1,
    *,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The elements in ascending order along an axis; without one, all of them.

    NaN is last, and first in descending order. Equal elements keep their order, also
    where `stable` does not ask for it. Raises ValueError (face.axis), TypeError
    (face.argument).

    >>> import traceir.numpy as jnp
    >>> sort(jnp.array([3, 1, 2])), sort(jnp.array([3, 1, 2]), descending=True)
    (Array([1, 2, 3], dtype=int32), Array([3, 2, 1], dtype=int32))
    """
    value, d = _along("sort", a, axis)
    found: Array = lax.sort(value, d, stable)
    return lax.rev(found, (d,)) if descending else found


@composite(static_argnames=["axis", "stable", "descending", "dtype"])
def argsort(
    a: Operand,
    axis: int | None = -1,
    *,
    stable: bool = True,
    descending: bool = False,
    dtype: DTypeLike = None,
) -> Array:
    """The places of the elements in ascending order along an axis; as `sort`.

    Of equal elements the first comes first, in descending order, too. The places are
    of the default integer dtype. Raises as `sort`.

    >>> import traceir.numpy as jnp
    >>> argsort(jnp.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    value, d = _along("argsort", a, axis)
    wanted = default_dtype(int) if dtype is None else dtype_of(dtype, "argsort")
    places = lax.broadcasted_iota(wanted, value.shape, d)
    if not descending:
        # Of several operands there are as many results, of one there is one.
        return lax.sort((value, places), d, stable, 1)[1]  # type: ignore[no-any-return]
    # From the last to the first, so that equal ones are in order when it is turned.
    turned = lax.rev(value, (d,)), lax.rev(places, (d,))
    return lax.rev(lax.sort(turned, d, stable, 1)[1], (d,))


@composite(static_argnames=["axis"])
def lexsort(keys: Operand | Sequence[Operand], axis: int = -1) -> Array:
    """The places in the order of several keys, of which the last counts most.

    `keys` are arrays of one shape, or the rows of one array. Raises TypeError
    (order.keys), ValueError (order.key-shapes, face.axis).

    >>> import traceir.numpy as jnp
    >>> lexsort((jnp.array([1, 0, 3]), jnp.array([5, 5, 4])))
    Array([2, 1, 0], dtype=int32)
    """
    found = [as_array(k) for k in operands("lexsort", _keys(keys))]
    if not found:
        raise rules.error("order.keys", got="none")
    shape = shape_of(found[0])
    if any(shape_of(k) != shape for k in found):
        listed = ", ".join(str(shape_of(k)) for k in found)
        raise rules.error("order.key-shapes", got=listed)
    if not shape:
        return as_array(default_dtype(int).type(0))
    d = axis_in(axis, len(shape))
    places = lax.broadcasted_iota(default_dtype(int), shape, d)
    moved = lax.sort((*reversed(found), places), d, num_keys=len(found))
    return moved[-1]  # type: ignore[no-any-return]  # the places


def _keys(keys: Operand | Sequence[Operand]) -> Sequence[Operand]:
    if isinstance(keys, (tuple, list)):
        return keys
    value = as_array(operand("lexsort", keys))
    if not value.shape:
        return [value]
    return [lax.index_in_dim(value, k, 0, False) for k in range(shape_of(value)[0])]


@composite(static_argnames=["kth", "axis"])
def _partition(a: Operand, kth: int, axis: int) -> Array:
    value, d = _placed("partition", a, kth, axis)
    # Of several operands there are as many results, of one there is one.
    return lax.sort(value, d)  # type: ignore[no-any-return]


def partition(a: Operand, kth: int, axis: int = -1) -> Array:
    """The elements along an axis, such that no greater one is before the `kth`.

    All of them are in order here: a sort costs no more than a selection that keeps NaN
    last. Raises ValueError (order.place, face.axis).

    >>> import traceir.numpy as jnp
    >>> partition(jnp.array([3, 1, 2]), 1)[1]
    Array(2, dtype=int32)
    """
    return _partition(operand("partition", a), kth, axis)


@composite(static_argnames=["kth", "axis"])
def _argpartition(a: Operand, kth: int, axis: int) -> Array:
    value, d = _placed("argpartition", a, kth, axis)
    places = lax.broadcasted_iota(np.dtype(np.int32), value.shape, d)
    return lax.sort_key_val(value, places, d)[1]


def argpartition(a: Operand, kth: int, axis: int = -1) -> Array:
    """The places of the elements as `partition` has them.

    >>> import traceir.numpy as jnp
    >>> argpartition(jnp.array([3, 1, 2]), 1)[1]
    Array(2, dtype=int32)
    """
    return _argpartition(operand("argpartition", a), kth, axis)


def _placed(name: str, a: Operand, kth: int, axis: int) -> tuple[Array, int]:
    value, d = _along(name, a, axis)
    extent = value.shape[d]
    if not -extent <= kth < extent:
        raise rules.error("order.place", got=f"{kth} of {extent} elements")
    return value, d
