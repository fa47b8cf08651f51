"""Linear algebra as `scipy.linalg` has it, on single matrices and on stacks.

Serves: linalg.*

>>> import traceir.numpy as jnp
>>> c = cho_factor(jnp.array([[4, 2], [2, 5]]))
>>> cho_solve(c, jnp.array([2, 5]))
Array([0., 1.], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.array import Array
from traceir.jit.composite import composite
from traceir.lax.matrices import (
    eye_like,
    lower,
    permuted,
    product,
    solved,
    transposed,
    upper,
)
from traceir.lax.operands import Operand, broadcast_shapes, promoted_inexact, shape_of
from traceir.numpy import linalg as _linalg
from traceir.numpy.creation import broadcast_to
from traceir.numpy.linalg.checks import check_square, matrices, option, shown, square
from traceir.numpy.linalg.norms import norm
from traceir.scipy.matrices import (
    block_diag,
    circulant,
    eigh,
    hadamard,
    hankel,
    hilbert,
    qr,
    svd,
    toeplitz,
)
from traceir.trace import typeof

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "det",
    "eigh",
    "expm",
    "hadamard",
    "hankel",
    "hilbert",
    "inv",
    "lu",
    "lu_factor",
    "lu_solve",
    "qr",
    "solve",
    "solve_triangular",
    "svd",
    "toeplitz",
]


def cholesky(a: Operand, lower: bool = False) -> Array:
    """The upper triangular factor of symmetric matrices, or the lower one.

    Shape (..., n, n) to the same; otherwise as `traceir.numpy.linalg.cholesky`.

    >>> import traceir.numpy as jnp
    >>> cholesky(jnp.array([[4, 2], [2, 5]]))
    Array([[2., 1.],
           [0., 2.]], dtype=float32)
    """
    return _linalg.cholesky(a, upper=not lower)


def cho_factor(a: Operand, lower: bool = False) -> tuple[Array, bool]:
    """A triangular factor of symmetric matrices, and whether it is the lower one.

    >>> import traceir.numpy as jnp
    >>> cho_factor(jnp.array([[4]]))
    (Array([[2.]], dtype=float32), False)
    """
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: tuple[Operand, bool], b: Operand) -> Array:
    """The x of `a @ x == b`, by what `cho_factor` gives for `a`.

    Shapes (..., n, n) and (n,), or (..., n, k), to that of `b`. Raises LinAlgError
    (linalg.matrix, linalg.square), ValueError (linalg.shapes).

    >>> import traceir.numpy as jnp
    >>> cho_solve(cho_factor(jnp.array([[4]])), jnp.array([8]))
    Array([2.], dtype=float32)
    """
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, trans=0 if lower else 1, lower=lower)
    return solve_triangular(factor, first, trans=1 if lower else 0, lower=lower)


def solve_triangular(
    a: Operand,
    b: Operand,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """The x of `a @ x == b`, for a triangle of `a`; of its transpose if `trans`.

    Shapes (..., n, n) and (n,), or (..., n, k), to that of `b`; stacks broadcast. As
    `trans`, 0 or "N" is the matrix, 1, 2, "T" or "C" the transpose. Raises LinAlgError
    (linalg.matrix, linalg.square), ValueError (linalg.shapes, linalg.option).

    >>> import traceir.numpy as jnp
    >>> solve_triangular(jnp.array([[2, 0], [1, 1]]), jnp.array([2, 3]), lower=True)
    Array([1., 2.], dtype=float32)
    """
    option("solve_triangular", "trans", trans, (0, 1, 2, "N", "T", "C"))
    a, b = promoted_inexact("solve_triangular", a, b)
    [a] = matrices("solve_triangular", a)
    check_square("solve_triangular", a)
    vector = len(shape_of(b)) == 1
    _check_rows(a, b, shape_of(b)[0 if vector else -2 :][:1])
    columns = lax.expand_dims(b, (1,)) if vector else b
    stack = broadcast_shapes("solve", [shape_of(a)[:-2], shape_of(columns)[:-2]])
    found = solved(
        broadcast_to(a, (*stack, *shape_of(a)[-2:])),
        broadcast_to(columns, (*stack, *shape_of(columns)[-2:])),
        left_side=True,
        lower=bool(lower),
        transpose_a=trans not in (0, "N"),
        unit_diagonal=bool(unit_diagonal),
    )
    return lax.squeeze(found, (len(stack) + 1,)) if vector else found


def _check_rows(a: Operand, b: Operand, rows: tuple[int, ...]) -> None:
    """Raise ValueError (linalg.shapes) unless there are as many rows."""
    if rows != shape_of(a)[-1:]:
        got = f"{shown(a)} and {shown(b)}"
        hint = "the second has as many rows as the first"
        raise rules.error("linalg.shapes", got=got, hint=hint)


def solve(a: Operand, b: Operand, lower: bool = False, assume_a: str = "gen") -> Array:
    """The x of `a @ x == b`; by Cholesky's factors if `assume_a` is "pos".

    `lower` tells how a matrix with "pos" is factorized. Raises LinAlgError
    (linalg.matrix, linalg.square), ValueError (linalg.shapes, linalg.option).

    >>> import traceir.numpy as jnp
    >>> solve(jnp.array([[4.0]]), jnp.array([8.0]), assume_a="pos")
    Array([2.], dtype=float32)
    """
    option("solve", "assume_a", assume_a, ("gen", "sym", "her", "pos"))
    if assume_a == "pos":
        return cho_solve(cho_factor(a, lower), b)
    return _linalg.solve(a, b)


def lu_factor(a: Operand) -> tuple[Array, Array]:
    """Triangular factors in one matrix, and the exchanges of rows.

    Shape (..., m, n) to (..., m, n) and int32 (..., min(m, n)), as `lax.linalg.lu` has
    them. Raises LinAlgError (linalg.matrix).

    >>> import traceir.numpy as jnp
    >>> lu_factor(jnp.array([[1, 2], [4, 4]]))[1]
    Array([1, 1], dtype=int32)
    """
    [x] = matrices("lu_factor", a)
    factors, exchanges, _ = lax.linalg.lu(x)
    return factors, exchanges


def lu_solve(lu_and_piv: tuple[Operand, Operand], b: Operand, trans: int = 0) -> Array:
    """The x of `a @ x == b`, by what `lu_factor` gives for `a`; of a.T if `trans`.

    Shapes (..., n, n) and (n,), or (..., n, k), to that of `b`. Raises LinAlgError
    (linalg.matrix, linalg.square), ValueError (linalg.shapes, linalg.option).

    >>> import traceir.numpy as jnp
    >>> lu_solve(lu_factor(jnp.array([[2, 0], [0, 4]])), jnp.array([2, 8]))
    Array([1., 2.], dtype=float32)
    """
    factors, exchanges = lu_and_piv
    option("lu_solve", "trans", trans, (0, 1, 2))
    factors, b = promoted_inexact("lu_solve", factors, b)
    check_square("lu_solve", factors)
    vector = len(shape_of(b)) == 1
    columns = lax.expand_dims(b, (1,)) if vector else b
    _check_rows(factors, b, shape_of(columns)[-2:-1])
    order = lax.linalg.lu_pivots_to_permutation(exchanges, shape_of(factors)[-1])
    if trans:
        inner = solve_triangular(factors, columns, 1)
        inner = solve_triangular(factors, inner, 1, lower=True, unit_diagonal=True)
        found = _restored(inner, order)
    else:
        inner = permuted(columns, order)
        inner = solve_triangular(factors, inner, lower=True, unit_diagonal=True)
        found = solve_triangular(factors, inner)
    return lax.squeeze(found, (len(shape_of(found)) - 1,)) if vector else found


def _restored(x: Operand, order: Operand) -> Array:
    """Rows that were put in this order, as they were before."""
    return product(transposed(permuted(eye_like(_square_of(x)), order)), x)


def _square_of(x: Operand) -> Array:
    *stack, rows, _ = shape_of(x)
    return lax.full((*stack, rows, rows), 0, typeof(x).dtype)


@composite(static_argnames=["permute_l"])
def lu(a: Operand, permute_l: bool = False) -> Any:
    """P, L and U with `P @ L @ U` the matrix; with `permute_l`, `P @ L` and U.

    Shape (..., m, n) to (..., m, m), (..., m, k) and (..., k, n), k = min(m, n). Raises
    LinAlgError (linalg.matrix).

    >>> import traceir.numpy as jnp
    >>> lu(jnp.array([[1, 2], [4, 4]]), permute_l=True)[0]
    Array([[0.25, 1.  ],
           [1.  , 0.  ]], dtype=float32)
    """
    [x] = matrices("lu", a)
    factors, _, order = lax.linalg.lu(x)
    *stack, rows, columns = shape_of(x)
    least = min(rows, columns)
    start = (0,) * len(shape_of(x))
    left = lower(lax.slice(factors, start, (*stack, rows, least)), -1)
    left = lax.add(left, eye_like(left))
    right = upper(lax.slice(factors, start, (*stack, least, columns)))
    eye = eye_like(lax.full((*stack, rows, rows), 0, typeof(x).dtype))
    back = transposed(permuted(eye, order))
    return (product(back, left), right) if permute_l else (back, left, right)


def det(a: Operand) -> Array:
    """The determinant: `traceir.numpy.linalg.det`.

    >>> import traceir.numpy as jnp
    >>> det(jnp.array([[1, 2], [3, 4]]))
    Array(-2., dtype=float32)
    """
    return _linalg.det(a)


def inv(a: Operand) -> Array:
    """The inverse: `traceir.numpy.linalg.inv`.

    >>> import traceir.numpy as jnp
    >>> inv(jnp.array([[4]]))
    Array([[0.25]], dtype=float32)
    """
    return _linalg.inv(a)


# The numerator of the Pade approximant of degree 13, and up to which norm it is exact
# in double precision: N. J. Higham, "The scaling and squaring method for the matrix
# exponential revisited" (2005), section 2.
_PADE = (
    *(64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800),
    *(129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920),
    *(40840800, 960960, 16380, 182, 1),
)
_THETA = 5.371920351148152


@composite(static_argnames=["max_squarings"])
def expm(A: Operand, *, max_squarings: int = 16) -> Array:
    """The exponential of square matrices, by scaling and squaring.

    Shape (..., n, n) to the same; NaN where it takes more than `max_squarings`. Raises
    LinAlgError (linalg.matrix, linalg.square), TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> expm(jnp.array([[0, 1], [0, 0]]))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    x = square("expm", A)
    dtype, shape = typeof(x).dtype, shape_of(x)
    size = norm(x, 1, axis=(-2, -1))
    tiny = lax.full(shape_of(size), float(np.finfo(dtype).tiny), dtype)
    ratio = lax.div(lax.max(size, tiny), lax.full(shape_of(size), _THETA, dtype))
    steps = lax.ceil(
        lax.div(lax.log(ratio), lax.full(shape_of(size), np.log(2), dtype))
    )
    more = [
        _over(lax.gt(steps, lax.full(shape_of(size), done, dtype)), shape)
        for done in range(max_squarings + 1)
    ]
    half = lax.full(shape, 0.5, dtype)
    for halved in more[:-1]:
        x = lax.select(halved, lax.mul(x, half), x)
    found = _approximant(x)
    for squared in more[:-1]:
        found = lax.select(squared, product(found, found), found)
    return lax.select(more[-1], lax.full(shape, np.nan, dtype), found)


def _over(value: Operand, shape: tuple[int, ...]) -> Array:
    """One value for each matrix, over all of its elements."""
    return lax.broadcast_in_dim(value, shape, tuple(range(len(shape) - 2)))


def _approximant(x: Operand) -> Array:
    """The Pade approximant of the exponential."""
    one = eye_like(x)
    powers = [one, product(x, x)]
    for _ in range(2):
        powers.append(product(powers[-1], powers[1]))
    odd = product(x, _polynomial(powers, _PADE[1::2]))
    even = _polynomial(powers, _PADE[::2])
    return _linalg.solve(lax.sub(even, odd), lax.add(even, odd))


def _polynomial(powers: list[Array], terms: tuple[int, ...]) -> Array:
    """The sum of terms times even powers: three low ones, and three times the sixth."""
    low = _combined(powers, terms[:4])
    return lax.add(low, product(powers[3], _combined(powers[1:], terms[4:])))


def _combined(powers: list[Array], terms: tuple[int, ...]) -> Array:
    found: Any = None
    for power, term in zip(powers, terms, strict=False):
        factor = lax.full(shape_of(power), float(term), typeof(power).dtype)
        part = lax.mul(power, factor)
        found = part if found is None else lax.add(found, part)
    result: Array = found
    return result
