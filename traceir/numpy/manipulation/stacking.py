"""Arrays raised to a rank and stacked. Serves: face.join-empty"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    dtype_of,
    operand,
    operands,
    shape_of,
)
from traceir.numpy.manipulation.shapes import concatenate, transpose

Raised = Callable[[Operand], Array]


def _each(raised: Raised, name: str, arys: tuple[Operand, ...]) -> Any:
    """One array for one argument, for several a list."""
    found = [raised(value) for value in operands(name, arys)]
    return found[0] if len(found) == 1 else found


@composite
def atleast_1d(*arys: Operand) -> Any:
    """The array, with one dimension at least; of several arrays a list.

    >>> atleast_1d(2)
    Array([2], dtype=int32, weak_type=True)
    """
    return _each(lambda v: _with_rank(v, 1), "atleast_1d", arys)


@composite
def atleast_2d(*arys: Operand) -> Any:
    """The array, with two dimensions at least, a vector as a row; of several a list.

    >>> import traceir.numpy as jnp
    >>> atleast_2d(jnp.arange(2))
    Array([[0, 1]], dtype=int32)
    """
    return _each(lambda v: _with_rank(v, 2), "atleast_2d", arys)


def _with_rank(value: Operand, rank: int) -> Array:
    missing = max(0, rank - len(shape_of(value)))
    return lax.expand_dims(value, range(missing)) if missing else as_array(value)


@composite
def atleast_3d(*arys: Operand) -> Any:
    """The array, with three dimensions at least; of several arrays a list.

    A vector of n elements gets the shape (1, n, 1), a matrix one more dimension behind.

    >>> import traceir.numpy as jnp
    >>> atleast_3d(jnp.arange(2)).shape, atleast_3d(jnp.ones((4, 5))).shape
    ((1, 2, 1), (4, 5, 1))
    """
    return _each(_deep, "atleast_3d", arys)


def _deep(value: Operand) -> Array:
    new = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}.get(len(shape_of(value)))
    return lax.expand_dims(value, new) if new else as_array(value)


def hstack(tup: Sequence[Operand], dtype: DTypeLike = None) -> Array:
    """Arrays side by side: along the second axis, or the first of vectors.

    Raises ValueError (face.join-empty), TypeError (face.dtype, and the clauses of
    concatenate).

    >>> import traceir.numpy as jnp
    >>> hstack([jnp.ones(2), 5])
    Array([1., 1., 5.], dtype=float32)
    """
    parts = [atleast_1d(part) for part in tup]
    axis = 1 if parts and parts[0].ndim > 1 else 0
    return concatenate(parts, axis=axis, dtype=_asked("hstack", dtype))


def vstack(tup: Sequence[Operand], dtype: DTypeLike = None) -> Array:
    """Arrays below one another: along the first axis, vectors as rows.

    Raises as `hstack`.

    >>> import traceir.numpy as jnp
    >>> vstack([jnp.ones(2), jnp.zeros(2)])
    Array([[1., 1.],
           [0., 0.]], dtype=float32)
    """
    parts = [atleast_2d(part) for part in tup]
    return concatenate(parts, dtype=_asked("vstack", dtype))


def dstack(tup: Sequence[Operand], dtype: DTypeLike = None) -> Array:
    """Arrays behind one another: along the third axis, vectors and matrices raised.

    Raises as `hstack`.

    >>> import traceir.numpy as jnp
    >>> dstack([jnp.arange(2), jnp.arange(2)])
    Array([[[0, 0],
            [1, 1]]], dtype=int32)
    """
    parts = [atleast_3d(part) for part in tup]
    return concatenate(parts, axis=2, dtype=_asked("dstack", dtype))


def _asked(name: str, dtype: DTypeLike) -> np.dtype | None:
    return None if dtype is None else dtype_of(dtype, name)


def column_stack(tup: Sequence[Operand]) -> Array:
    """Arrays side by side, vectors as columns.

    Raises as `hstack`.

    >>> import traceir.numpy as jnp
    >>> column_stack([jnp.arange(2), jnp.arange(2)])
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    values = operands("column_stack", list(tup))
    parts = [v if len(shape_of(v)) > 1 else transpose(atleast_2d(v)) for v in values]
    return concatenate(parts, axis=1)


@composite
def block(arrays: Any) -> Array:
    """An array put together of nested lists of blocks.

    The blocks of the innermost lists are joined along the last axis, what comes of
    them along the one before, and so on; ranks are made equal first. Lists must be
    nested to one depth. Raises ValueError (face.ragged, face.join-empty), and the
    clauses of concatenate.

    >>> import traceir.numpy as jnp
    >>> block([[jnp.ones((1, 1)), jnp.zeros((1, 1))], [jnp.ones((1, 2))]])
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    depth = _depth(arrays)
    return _joined(arrays, depth, max([depth, *_ranks(arrays)]))


def _depth(tree: Any) -> int:
    """The depth to which lists are nested."""
    if isinstance(tree, tuple):
        raise rules.error("face.argument", got="a tuple in the lists of block")
    if not isinstance(tree, list):
        return 0
    if not tree:
        raise rules.error("face.join-empty", got="block of an empty list")
    depths = {_depth(part) for part in tree}
    if len(depths) > 1:
        raise rules.error("face.ragged", got=f"block of lists of depths {depths}")
    return 1 + depths.pop()


def _ranks(tree: Any) -> Iterator[int]:
    if isinstance(tree, list):
        for part in tree:
            yield from _ranks(part)
    else:
        yield len(shape_of(operand("block", tree)))


def _joined(tree: Any, depth: int, rank: int) -> Array:
    if isinstance(tree, list):
        return concatenate([_joined(part, depth - 1, rank) for part in tree], -depth)
    return _with_rank(operand("block", tree), rank)
