"""Tridiagonal systems, and symmetric products.

They are made of other primitives, so they are differentiated and mapped as these are.
Serves: linalg.shapes, matrices.*
"""

from __future__ import annotations

from typing import Any

from traceir import rules
from traceir.arrays.array import Array
from traceir.ir.jaxpr import sort_params
from traceir.ir.typecheck import infer
from traceir.lax.checks.operands import Operand, like, operands, shape_of
from traceir.lax.control.scans import scan
from traceir.lax.derived import full_like
from traceir.lax.elementwise.arithmetic import abs as abs_
from traceir.lax.elementwise.arithmetic import add, div, gt, mul, neg, sub
from traceir.lax.elementwise.selection import select
from traceir.lax.linalg import matrices
from traceir.lax.structural.shapes import (
    broadcast_in_dim,
    concatenate,
    expand_dims,
    transpose,
)
from traceir.tracing.trace import typeof


def check_fit(name: str, fit: bool, *values: Operand) -> None:
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
    check_fit("tridiagonal_solve", fit, *values)
    rank = len(shape)
    back = (*range(1, rank - 1), 0, rank - 1)
    rows = transpose(b, (rank - 2, *range(rank - 2), rank - 1))
    below, middle, above = (_by_rows(v, rank) for v in (dl, d, du))
    above = concatenate([above[:-1], full_like(above[-1:], 0)], 0)
    first = middle[0], above[0], rows[0]
    parts = below[1:], middle[1:], above[1:], rows[1:]
    (pivot, _, rest), lines = scan(_eliminate, first, parts)
    last = div(rest, pivot)
    start = last, full_like(last, 0)
    _, found = scan(_substitute, start, lines, reverse=True)
    whole = concatenate([found, expand_dims(last, (0,))], 0)
    return transpose(whole, back)


def _by_rows(x: Operand, rank: int) -> Array:
    """A diagonal of shape (..., m) as (m, ..., 1)."""
    moved = transpose(x, (rank - 2, *range(rank - 2)))
    return expand_dims(moved, (rank - 1,))


def _eliminate(above: Any, row: Any) -> tuple[Any, Any]:
    """One step down: the rest of two rows below, and the row that is done."""
    (a, u, r), (lower, p, q, s) = above, row
    swap = gt(abs_(lower), abs_(a))
    wide = broadcast_in_dim(swap, r.shape, range(r.ndim))
    pivot = select(swap, lower, a)
    factor = div(select(swap, a, lower), pivot)
    done = (
        pivot,
        select(swap, p, u),
        select(swap, q, full_like(q, 0)),
        select(wide, s, r),
    )
    exchanged = (
        sub(u, mul(factor, p)),
        neg(mul(factor, q)),
        sub(r, mul(factor, s)),
    )
    kept = (
        sub(p, mul(factor, u)),
        q,
        sub(s, mul(factor, r)),
    )
    which = swap, swap, wide
    return tuple(map(select, which, exchanged, kept)), done


def _substitute(below: Any, line: Any) -> tuple[Any, Any]:
    """One step up: a row's unknowns by those of the two rows below."""
    (one, two), (pivot, u, v, r) = below, line
    known = add(mul(u, one), mul(v, two))
    found = div(sub(r, known), pivot)
    return (found, one), found


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
    check_fit("symmetric_product", fit, a, c)
    square = matrices.product(a, matrices.transposed(a))
    found = add(mul(square, like(alpha, a)), mul(c, like(beta, c)))
    if not symmetrize_output:
        return found
    mirrored = matrices.transposed(matrices.lower(found, -1))
    return add(matrices.lower(found), mirrored)
