"""Systems with three diagonals, products of reflectors, symmetric products.

They are made of other primitives, so they are differentiated and mapped as these are.
Serves: linalg.shapes, matrices.*
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.ir.jaxpr import sort_params
from traceir.ir.typecheck import infer
from traceir.lax.checks.operands import Operand, like, operands, shape_of
from traceir.lax.linalg import matrices
from traceir.tracing.trace import typeof


def _check(name: str, fit: bool, *values: Operand) -> None:
    """Raise ValueError (linalg.shapes) where shapes do not fit, and what the clauses
    of matrices are, for the last value."""
    if not fit:
        listed = " and ".join(typeof(v).str_short() for v in values)
        raise rules.error("linalg.shapes", got=f"{name} of {listed}")
    known = rules.default().prims["lu"].defaults
    infer("lu", (typeof(values[-1]),), sort_params(known))


def tridiagonal_solve(dl: Operand, d: Operand, du: Operand, b: Operand) -> Array:
    """The solutions of systems whose matrices have three diagonals.

    The diagonals have shape (..., m), `b` and the result (..., m, n). `dl` stands below
    the diagonal `d`, its first element counts for nothing, nor does the last one of
    `du`, which stands above. Rows are exchanged where the one below has the greater
    pivot (Golub and Van Loan, Matrix Computations, 4.3). Raises ValueError
    (linalg.shapes), TypeError (matrices.rank, matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> one = jnp.ones(2)
    >>> tridiagonal_solve(one, 2 * one, one, jnp.array([[4.0], [5.0]]))
    Array([[1.],
           [2.]], dtype=float32)
    """
    dl, d, du, b = values = operands("tridiagonal_solve", (dl, d, du, b))
    shapes, shape = {shape_of(v) for v in values[:3]}, shape_of(b)
    fit = shapes == {shape[:-1]} and len(shape) > 1 and shape[-2] > 0
    _check("tridiagonal_solve", fit, *values)
    rank = len(shape)
    back = (*range(1, rank - 1), 0, rank - 1)
    rows = lax.transpose(b, (rank - 2, *range(rank - 2), rank - 1))
    below, middle, above = (_by_rows(v, rank) for v in (dl, d, du))
    above = lax.concatenate([above[:-1], lax.full_like(above[-1:], 0)], 0)
    first = middle[0], above[0], rows[0]
    parts = below[1:], middle[1:], above[1:], rows[1:]
    (pivot, _, rest), lines = lax.scan(_eliminate, first, parts)
    last = lax.div(rest, pivot)
    start = last, lax.full_like(last, 0)
    _, found = lax.scan(_substitute, start, lines, reverse=True)
    whole = lax.concatenate([found, lax.expand_dims(last, (0,))], 0)
    return lax.transpose(whole, back)


def _by_rows(x: Operand, rank: int) -> Array:
    """A diagonal of shape (..., m) as (m, ..., 1)."""
    moved = lax.transpose(x, (rank - 2, *range(rank - 2)))
    return lax.expand_dims(moved, (rank - 1,))


def _eliminate(above: Any, row: Any) -> tuple[Any, Any]:
    """One step down: what is left of two rows below, and the row that is done."""
    (a, u, r), (lower, p, q, s) = above, row
    swap = lax.gt(lax.abs(lower), lax.abs(a))
    wide = lax.broadcast_in_dim(swap, r.shape, range(r.ndim))
    pivot = lax.select(swap, lower, a)
    factor = lax.div(lax.select(swap, a, lower), pivot)
    done = (
        pivot,
        lax.select(swap, p, u),
        lax.select(swap, q, lax.full_like(q, 0)),
        lax.select(wide, s, r),
    )
    exchanged = (
        lax.sub(u, lax.mul(factor, p)),
        lax.neg(lax.mul(factor, q)),
        lax.sub(r, lax.mul(factor, s)),
    )
    kept = (
        lax.sub(p, lax.mul(factor, u)),
        q,
        lax.sub(s, lax.mul(factor, r)),
    )
    which = swap, swap, wide
    return tuple(map(lax.select, which, exchanged, kept)), done


def _substitute(below: Any, line: Any) -> tuple[Any, Any]:
    """One step up: a row's unknowns by those of the two rows below."""
    (one, two), (pivot, u, v, r) = below, line
    known = lax.add(lax.mul(u, one), lax.mul(v, two))
    found = lax.div(lax.sub(r, known), pivot)
    return (found, one), found


def householder_product(a: Operand, taus: Operand) -> Array:
    """The first columns of a product of reflections, as `qr` has them in one matrix.

    Shapes (..., m, n), with no more columns than rows, and (..., k) to (..., m, n).
    Reflection i is I - taus[i] v v^H; its v has zeros, a 1 in row i and below it what
    stands in column i of `a`. Raises ValueError (linalg.shapes), TypeError
    (matrices.rank, matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> householder_product(jnp.array([[0.0], [1.0]]), jnp.array([1.0]))
    Array([[ 0.],
           [-1.]], dtype=float32)
    """
    a, taus = operands("householder_product", (a, taus))
    shape, counts = shape_of(a), shape_of(taus)
    fit = len(shape) > 1 and counts[:-1] == shape[:-2] and len(counts) > 0
    fit = fit and counts[-1] <= shape[-1] <= shape[-2]
    _check("householder_product", fit, taus, a)
    rank, count = len(shape), counts[-1]
    eye = matrices.eye_like(a)
    vectors = lax.add(matrices.lower(a, -1), eye)[..., :count]
    columns = lax.transpose(vectors, (rank - 1, *range(rank - 1)))
    factors = lax.transpose(taus, (rank - 2, *range(rank - 2)))

    def reflect(product: Array, part: Sequence[Array]) -> tuple[Array, None]:
        v = lax.expand_dims(part[0], (rank - 1,))
        tau = lax.expand_dims(part[1], (rank - 2, rank - 1))
        height = matrices.product(matrices.adjoint(v), product)
        return lax.sub(product, lax.mul(tau, matrices.product(v, height))), None

    found: Array = lax.scan(reflect, eye, (columns, factors), reverse=True)[0]
    return found


def symmetric_product(
    a_matrix: Operand,
    c_matrix: Operand,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """`alpha * a @ a.T + beta * c`, for shapes (..., n, m) and (..., n, n).

    With `symmetrize_output` what stands below the diagonal is mirrored above. Raises
    ValueError (linalg.shapes), TypeError (matrices.rank, matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> symmetric_product(jnp.array([[1.0], [2.0]]), jnp.eye(2), beta=1.0)
    Array([[2., 2.],
           [2., 5.]], dtype=float32)
    """
    a, c = operands("symmetric_product", (a_matrix, c_matrix))
    shape = shape_of(a)
    fit = len(shape) > 1 and shape_of(c) == (*shape[:-1], shape[-2])
    _check("symmetric_product", fit, a, c)
    square = matrices.product(a, matrices.transposed(a))
    found = lax.add(lax.mul(square, like(alpha, a)), lax.mul(c, like(beta, c)))
    if not symmetrize_output:
        return found
    mirrored = matrices.transposed(matrices.lower(found, -1))
    return lax.add(matrices.lower(found), mirrored)
