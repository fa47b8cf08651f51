"""Systems of linear equations, inverses and determinants. Serves: linalg.*"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    broadcast_shapes,
    promoted_inexact,
    shape_of,
)
from traceir.lax.linalg.matrices import diagonal, eye_like, permuted, solved
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise.arithmetic import divide
from traceir.numpy.elementwise.composites import where
from traceir.numpy.linalg.checks import check_square, matrices, option, shown, square
from traceir.numpy.reductions.reductions import any as _any
from traceir.numpy.reductions.reductions import prod
from traceir.tracing.trace import typeof


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Array
    logabsdet: Array


@composite
def solve(a: Operand, b: Operand) -> Array:
    """The solution x of `a @ x == b`: of vectors if `b` has one dimension.

    Shapes (..., n, n) and (n,), or (..., n, k), to (..., n), or (..., n, k). A singular
    matrix gives infinities or NaN. Raises LinAlgError (linalg.matrix, linalg.square),
    ValueError (linalg.shapes), TypeError (face.broadcast, matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> solve(jnp.array([[2, 0], [0, 4]]), jnp.array([2, 8]))
    Array([1., 2.], dtype=float32)
    """
    a, b = _pair("solve", a, b)
    vector = len(shape_of(b)) == 1
    columns = lax.expand_dims(b, (1,)) if vector else b
    if shape_of(columns)[-2] != shape_of(a)[-1]:
        got = f"{shown(a)} and {shown(b)}"
        hint = "the second has as many rows as the first"
        raise rules.error("linalg.shapes", got=got, hint=hint)
    found = _by_lu(a, columns)
    return lax.squeeze(found, (found.ndim - 1,)) if vector else found


def _pair(name: str, a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """A square matrix and a right side of one floating dtype."""
    a, b = promoted_inexact(name, a, b)
    [a] = matrices(name, a)
    check_square(name, a)
    if not shape_of(b):
        raise rules.error("linalg.shapes", got=f"{shown(a)} and {shown(b)}")
    return a, b


def _by_lu(a: Operand, b: Operand) -> Array:
    """Solutions by triangular factors; stacks are broadcast."""
    factors, _, order = lax.linalg.lu(a)
    stack = broadcast_shapes("solve", [shape_of(a)[:-2], shape_of(b)[:-2]])
    factors = broadcast_to(factors, (*stack, *shape_of(a)[-2:]))
    order = broadcast_to(order, (*stack, shape_of(a)[-1]))
    b = broadcast_to(b, (*stack, *shape_of(b)[-2:]))
    inner = solved(
        factors, permuted(b, order), left_side=True, lower=True, unit_diagonal=True
    )
    return solved(factors, inner, left_side=True, lower=False)


@composite
def inv(a: Operand) -> Array:
    """The inverse: (..., n, n) to the same; infinities or NaN if there is none.

    Raises LinAlgError (linalg.matrix, linalg.square), TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> inv(jnp.array([[2, 0], [0, 4]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    x = square("inv", a)
    return solve(x, eye_like(x))


@composite
def det(a: Operand) -> Array:
    """The determinant: (..., n, n) to (...); 1 of a matrix without elements.

    Raises LinAlgError (linalg.matrix, linalg.square), TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> det(jnp.array([[1, 2], [3, 4]]))
    Array(-2., dtype=float32)
    """
    x = square("det", a)
    match shape_of(x)[-1]:
        case 1:
            return _expanded(x, [(0,)], [])
        case 2:
            return _expanded(x, [(0, 1)], [(1, 0)])
        case 3:
            return _expanded(x, _EVEN, _ODD)
    factors, exchanges, _ = lax.linalg.lu(x)
    signs = _exchange_signs(exchanges, typeof(x).dtype)
    return lax.mul(prod(diagonal(factors), axis=-1), signs)


Columns = tuple[int, ...]
# The even and the odd permutations of three columns.
_EVEN = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
_ODD = [(2, 1, 0), (1, 0, 2), (0, 2, 1)]


def _expanded(x: Operand, even: Sequence[Columns], odd: Sequence[Columns]) -> Array:
    """The determinant of a small matrix by its definition."""
    terms = [[_term(x, order) for order in orders] for orders in (even, odd)]
    found = terms[0][0]
    for term in terms[0][1:]:
        found = lax.add(found, term)
    for term in terms[1]:
        found = lax.sub(found, term)
    return found


def _term(x: Operand, order: Columns) -> Array:
    """The product of one element of each row, from these columns."""
    found = _element(x, 0, order[0])
    for row, column in enumerate(order[1:], 1):
        found = lax.mul(found, _element(x, row, column))
    return found


def _element(x: Operand, row: int, column: int) -> Array:
    *stack, _, _ = shape_of(x)
    rank = len(stack)
    start = (0,) * rank + (row, column)
    stop = (*stack, row + 1, column + 1)
    return lax.squeeze(lax.slice(x, start, stop), (rank, rank + 1))


def _exchange_signs(exchanges: Operand, dtype: np.dtype) -> Array:
    """-1 where an odd number of rows have changed places, 1 elsewhere."""
    shape = shape_of(exchanges)
    own = lax.broadcasted_iota("int32", shape, len(shape) - 1)
    moved = lax.convert_element_type(lax.ne(exchanges, own), "int32")
    odd = lax.rem(lax.reduce_sum(moved, (len(shape) - 1,)), _number(2, shape[:-1]))
    sign = lax.sub(_number(1, shape[:-1]), lax.mul(_number(2, shape[:-1]), odd))
    return lax.convert_element_type(sign, dtype)


def _number(value: int, shape: tuple[int, ...]) -> Array:
    return lax.full(shape, value, "int32")


def _signs(pivots: Operand) -> Array:
    """The product of the numbers' signs, of complex ones of their directions."""
    dtype, shape = typeof(pivots).dtype, shape_of(pivots)
    if dtype.kind == "c":
        # Not `sign`, which counts as constant (JAX's, too).
        length = lax.abs(pivots)
        return prod(divide(pivots, where(length, length, 1.0)), axis=-1)
    zero = lax.full(shape, 0, dtype)
    below = lax.convert_element_type(lax.lt(pivots, zero), "int32")
    count = lax.reduce_sum(below, (len(shape) - 1,))
    odd = lax.rem(count, _number(2, shape[:-1]))
    flips = lax.sub(_number(1, shape[:-1]), lax.mul(_number(2, shape[:-1]), odd))
    return lax.convert_element_type(flips, typeof(pivots).dtype)


@composite(static_argnames=["method"])
def slogdet(a: Operand, *, method: str | None = None) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its magnitude.

    Shape (..., n, n) to (...) twice; of a complex matrix the sign is on the unit circle
    and the logarithm real. 0 and -inf for a singular matrix. Raises LinAlgError
    (linalg.matrix, linalg.square), TypeError (matrices.dtype), ValueError
    (linalg.option) for a `method` other than "lu" and "qr", which give the same.

    >>> import traceir.numpy as jnp
    >>> slogdet(jnp.array([[0, 1], [1, 0]]))
    SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """
    option("slogdet", "method", method, (None, "lu", "qr"))
    x = square("slogdet", a)
    dtype = typeof(x).dtype
    factors, exchanges, _ = lax.linalg.lu(x)
    pivots = diagonal(factors)
    last = pivots.ndim - 1
    zero = lax.full(pivots.shape, 0, dtype)
    singular = _any(lax.eq(pivots, zero), axis=-1)
    signs = lax.mul(_exchange_signs(exchanges, dtype), _signs(pivots))
    total = lax.reduce_sum(lax.log(lax.abs(pivots)), (last,))
    return SlogdetResult(where(singular, 0.0, signs), where(singular, -np.inf, total))
