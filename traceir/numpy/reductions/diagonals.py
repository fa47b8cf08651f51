"""Diagonals: read from matrices, and written into them. Serves: linalg.matrix"""

from __future__ import annotations

from operator import index

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    convert,
    no_out,
    operand,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_in
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.tracing.trace import typeof


@composite(static_argnames=["offset", "axis1", "axis2"])
def diagonal(a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The elements of two axes whose second index is `offset` more than the first.

    Shape (..., m, n) without the two axes, and then the diagonal's extent. Raises
    ValueError (linalg.matrix, face.axis, face.axis-repeated).

    >>> import traceir.numpy as jnp
    >>> diagonal(jnp.arange(6).reshape(2, 3), 1)
    Array([1, 5], dtype=int32)
    """
    x = _planes("diagonal", a, axis1, axis2)
    x = convert(x, typeof(x).dtype, bool(offset) and typeof(x).weak_type)
    *stack, rows, columns = shape_of(x)
    down, across = max(-index(offset), 0), max(index(offset), 0)
    length = max(min(rows - down, columns - across), 0)
    if not length:
        return lax.full((*stack, 0), 0, typeof(x).dtype)
    rank = len(stack)
    flat = lax.reshape(x, (*stack, rows * columns))
    first = down * columns + across
    step = columns + 1
    last = first + (length - 1) * step + 1
    return lax.slice(
        flat,
        (0,) * rank + (first,),
        (*stack, last),
        (1,) * rank + (step,),
    )


def _planes(name: str, a: Operand, axis1: int, axis2: int) -> Operand:
    """An operand with these axes last; ValueError if there are not two."""
    x = operand(name, a)
    rank = len(shape_of(x))
    if rank < 2:
        raise rules.error("linalg.matrix", got=f"{name} of {typeof(x).str_short()}")
    first, second = axes_in((axis1, axis2), rank)
    others = [d for d in range(rank) if d not in (first, second)]
    order = (*others, first, second)
    return x if order == tuple(range(rank)) else lax.transpose(x, order)


def trace(
    a: Operand,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike = None,
    out: None = None,
) -> Array:
    """The sum of a diagonal: as `diagonal`, without its extent.

    Small integers and booleans are added as the usual integers. Raises ValueError
    (linalg.matrix, face.axis, face.axis-repeated).

    >>> import traceir.numpy as jnp
    >>> trace(jnp.arange(4).reshape(2, 2))
    Array(3, dtype=int32)
    """
    no_out("trace", out)
    x = _planes("trace", a, axis1, axis2)
    return _sum(diagonal(x, offset, -2, -1), -1, dtype)


def diag(v: Operand, k: int = 0) -> Array:
    """The `k`-th diagonal of a matrix, or the matrix that has a vector as its own.

    Raises ValueError (linalg.diag) for other ranks.

    >>> import traceir.numpy as jnp
    >>> diag(jnp.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    >>> diag(jnp.arange(4).reshape(2, 2))
    Array([0, 3], dtype=int32)
    """
    x = operand("diag", v)
    return _diag(x, index(k))


def diagflat(v: Operand, k: int = 0) -> Array:
    """A matrix with all elements, row by row, as its `k`-th diagonal.

    >>> import traceir.numpy as jnp
    >>> diagflat(jnp.ones((1, 2)), 1)
    Array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    x = operand("diagflat", v)
    aval = typeof(x)
    return _written(convert(lax.reshape(x, (aval.size,)), aval.dtype), index(k))


def _diag(x: Operand, k: int) -> Array:
    match len(shape_of(x)):
        case 1:
            return _written(x, k)
        case 2:
            return diagonal(x, offset=k)
    raise rules.error("linalg.diag", got=typeof(x).str_short())


def _written(x: Operand, k: int) -> Array:
    """A square matrix with a vector as its `k`-th diagonal, zeros elsewhere.

    Each element is the first of a row that is one longer than the matrix's.
    """
    (length,) = shape_of(x)
    size = length + abs(k)
    if not length:
        return lax.full((size, size), 0, typeof(x).dtype)
    zero = typed(0, typeof(x).dtype, typeof(x).weak_type)
    column = lax.reshape(x, (length, 1))
    rows = lax.pad(column, zero, ((0, 0, 0), (0, size, 0)))
    flat = lax.reshape(rows, (length * (size + 1),))
    before = k if k > 0 else -k * size
    after = size * size - before - length * (size + 1)
    return lax.reshape(lax.pad(flat, zero, ((before, after, 0),)), (size, size))
