"""Determinants. Serves: linalg.*"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import Operand, convert, shape_of
from traceir.lax.linalg.matrices import diagonal, permuted, solved, transposed
from traceir.numpy.elementwise.arithmetic import divide
from traceir.numpy.elementwise.composites import where
from traceir.numpy.linalg.checks import option, square
from traceir.numpy.linalg.systems import solution
from traceir.numpy.reductions.reductions import any as _any
from traceir.numpy.reductions.reductions import prod
from traceir.tracing.trace import typeof
from traceir.transforms.custom.custom_jvp import custom_jvp

Columns = tuple[int, ...]
# The even and the odd permutations of three columns.
_EVEN = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
_ODD = [(2, 1, 0), (1, 0, 2), (0, 2, 1)]


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Array
    logabsdet: Array


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
    found: Array = _det_by_lu(x)
    return found


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


@custom_jvp
def _det_by_lu(x: Array) -> Array:
    """The determinants, from triangular factors."""
    factors, exchanges, _ = lax.linalg.lu(x)
    return _signed_product(diagonal(factors), exchanges)


def _signed_product(pivots: Array, exchanges: Array) -> Array:
    """The product of pivots, of the sign that exchanges of rows give."""
    signs = _exchange_signs(exchanges, typeof(pivots).dtype)
    return lax.mul(prod(pivots, axis=-1), signs)


@_det_by_lu.defjvp
def _det_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    """The trace of the adjugate times the tangent, as C. G. J. Jacobi has it.

    A pivot of 0 before the last one says that its column depends on those before it. In
    the last place it leaves a pivot to divide by wherever the adjugate is not 0.
    """
    [x], [t] = primals, tangents
    factors, exchanges, order = lax.linalg.lu(x)
    pivots = diagonal(factors)
    early, found = pivots[..., :-1] == 0, _signed_product(pivots, exchanges)

    def again(x: Array, t: Array, *_: Array) -> Array:
        """With the first such column of each matrix behind the others."""
        columns, signs = _dependent_last(early, x)
        x, t = (transposed(permuted(transposed(v), columns)) for v in (x, t))
        return lax.mul(signs, _adjugate_trace(t, *lax.linalg.lu(x)))

    def at_once(_: Array, t: Array, *factorized: Array) -> Array:
        return _adjugate_trace(t, *factorized)

    operands = x, t, factors, exchanges, order
    return found, lax.cond(_any(early), again, at_once, *operands)


def _dependent_last(early: Array, x: Array) -> tuple[Array, Array]:
    """The order of columns with the first that `early` tells behind the others, and
    the sign of that permutation."""
    *stack, n = shape_of(x)[:-1]
    own = lax.broadcasted_iota("int32", (*stack, n), len(stack))
    none = lax.full((*stack, 1), True)
    told = lax.concatenate([early, none], len(stack))
    first = lax.argmax(told, len(stack), np.int32)[..., None]
    last = n - 1
    columns = where(own < first, own, where(own < last, own + 1, first))
    odd = (last - first[..., 0]) % 2
    return columns, convert(1 - 2 * odd, typeof(x).dtype)


def _adjugate_trace(t: Array, factors: Array, exchanges: Array, order: Array) -> Array:
    """The trace of the adjugate times `t`; nothing is divided by the last pivot."""
    pivots = diagonal(factors)
    n = pivots.shape[-1]
    ending = np.arange(n) == n - 1
    others = _signed_product(pivots[..., :-1], exchanges)
    inner = solved(
        factors, permuted(t, order), left_side=True, lower=True, unit_diagonal=True
    )
    scaled = where(ending[:, None], inner, inner * pivots[..., -1:, None])
    # Where another pivot is 0, too, the product of the others is, and so the trace.
    kept = np.eye(n, dtype=bool) & (ending | (factors == 0))
    upper = where(kept, 1, factors)
    found = diagonal(solved(upper, scaled, left_side=True, lower=False)).sum(-1)
    return others * found


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
    return SlogdetResult(*_slogdet_by_lu(x, *lax.linalg.lu(lax.stop_gradient(x))))


@custom_jvp
def _slogdet_by_lu(
    x: Array, factors: Array, exchanges: Array, order: Array
) -> tuple[Array, Array]:
    """The signs and logarithms, by the factors of `lu(x)`, which count as constant."""
    dtype = typeof(x).dtype
    pivots = diagonal(factors)
    last = pivots.ndim - 1
    singular = _any(lax.eq(pivots, lax.full_like(pivots, 0)), axis=-1)
    signs = lax.mul(_exchange_signs(exchanges, dtype), _signs(pivots))
    total = lax.reduce_sum(lax.log(lax.abs(pivots)), (last,))
    return where(singular, 0.0, signs), where(singular, -np.inf, total)


@_slogdet_by_lu.defjvp
def _slogdet_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The trace of the inverse times the tangent: its real part is the logarithm's."""
    x, factors, _, order = primals
    sign, total = _slogdet_by_lu(*primals)
    trace = diagonal(solution(x, factors, order, tangents[0])).sum(-1)
    if typeof(x).dtype.kind != "c":
        return (sign, total), (lax.full_like(sign, 0), trace)
    grown = lax.real(trace)
    turned = lax.mul(lax.sub(trace, convert(grown, typeof(x).dtype)), sign)
    return (sign, total), (turned, grown)
