"""Triangles of matrices, and Vandermonde matrices.

Serves: face.least-rank, face.count
"""

from __future__ import annotations

from operator import index

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    BOOL,
    Operand,
    convert,
    default_dtype,
    operand,
    shape_of,
    typed,
)
from traceir.lax.structural.index_dtypes import offset
from traceir.numpy.elementwise.composites import power
from traceir.numpy.manipulation.split import of_rank
from traceir.tracing.trace import bind, typeof


@composite(static_argnames=["k"])
def tril(m: Operand, k: int = 0) -> Array:
    """Matrices with zeros above their `k`-th diagonal.

    The last two dimensions are those of matrices. Raises ValueError (face.least-rank)
    below two.

    >>> import traceir.numpy as jnp
    >>> tril(jnp.ones((2, 2)))
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    value = of_rank("tril", m, 2)
    which = _at_or_below(shape_of(value), index(k))
    return lax.select_n(which, _zeros(value), value)


@composite(static_argnames=["k"])
def triu(m: Operand, k: int = 0) -> Array:
    """Matrices with zeros below their `k`-th diagonal.

    The last two dimensions are those of matrices. Raises ValueError (face.least-rank)
    below two.

    >>> import traceir.numpy as jnp
    >>> triu(jnp.ones((2, 2)), 1)
    Array([[0., 1.],
           [0., 0.]], dtype=float32)
    """
    value = of_rank("triu", m, 2)
    which = _at_or_below(shape_of(value), index(k) - 1)
    return lax.select_n(which, value, _zeros(value))


def _zeros(value: Operand) -> Array:
    aval = typeof(value)
    return lax.broadcast_in_dim(typed(0, aval.dtype, aval.weak_type), aval.shape, ())


def _at_or_below(shape: tuple[int, ...], k: int) -> Array:
    """True where an element of matrices is at or below their `k`-th diagonal."""
    integers, rank = default_dtype(int), len(shape)
    rows = lax.broadcasted_iota(integers, shape[-2:], 0)
    rows = lax.add(rows, typed(offset(k, shape), integers, False))
    below = bind("ge", rows, lax.broadcasted_iota(integers, shape[-2:], 1))
    return lax.broadcast_in_dim(below, shape, (rank - 2, rank - 1))


@composite(static_argnames=["N", "increasing"])
def vander(x: Operand, N: int | None = None, increasing: bool = False) -> Array:
    """The powers of a vector's elements as rows, by default N - 1 to 0.

    There are `N` of them, by default as many as elements. Raises ValueError
    (face.vector, face.count).

    >>> import traceir.numpy as jnp
    >>> vander(jnp.array([2, 3]), 3)
    Array([[4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    value = operand("vander", x)
    if len(shape_of(value)) != 1:
        raise rules.error("face.vector", got=f"vander of shape {shape_of(value)}")
    if typeof(value).dtype == BOOL:
        value = convert(value, default_dtype(int))
    count = shape_of(value)[0] if N is None else index(N)
    if count < 0:
        raise rules.error("face.count", got=f"N={count}")
    dtype = typeof(value).dtype
    powers = lax.iota(dtype, count)
    if not increasing:
        powers = lax.sub(typed(count - 1, dtype, False), powers)
    return power(lax.expand_dims(value, (1,)), lax.expand_dims(powers, (0,)))
