"""Linear algebra as `scipy.linalg` has it, on matrices and stacks. Serves: linalg.*

Arrays never change, and elements that are not finite are computed with: SciPy's options
`overwrite_a`, `overwrite_b`, `check_finite` and `debug` change nothing. Start reading
at `cho_factor`.

- `canonical_forms`: Schur and Hessenberg forms as `scipy.linalg` has them
- `matrix_functions`: matrix exponentials and polar factors
- `products`: products with factors, and eigenvalues of tridiagonal matrices
- `schur_methods`: functions of matrices, and matrix equations, by Schur forms
- `special_matrices`: special matrices, and factorizations with SciPy's options
- `structured`: structured matrices, and matrices of constants

>>> import traceir.numpy as jnp
>>> c = cho_factor(jnp.array([[4, 2], [2, 5]]))
>>> cho_solve(c, jnp.array([2, 5]))
Array([0., 1.], dtype=float32)
"""

from __future__ import annotations

from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.dtypes import part_dtype
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    broadcast_shapes,
    convert,
    promoted_inexact,
    shape_of,
)
from traceir.lax.linalg.matrices import (
    adjoint,
    eye_like,
    lower,
    permuted,
    product,
    solved,
    transposed,
    upper,
)
from traceir.numpy import linalg as _linalg
from traceir.numpy.arrays.creation import asarray, broadcast_to
from traceir.numpy.linalg.checks import check_square, matrices, option, shown
from traceir.scipy.linalg.canonical_forms import hessenberg, rsf2csf, schur
from traceir.scipy.linalg.matrix_functions import expm, expm_frechet, polar
from traceir.scipy.linalg.products import eigh_tridiagonal, qr_multiply
from traceir.scipy.linalg.schur_methods import funm, solve_sylvester, sqrtm
from traceir.scipy.linalg.special_matrices import (
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
from traceir.scipy.linalg.structured import (
    companion,
    convolution_matrix,
    dft,
    fiedler,
    fiedler_companion,
    helmert,
    invhilbert,
    invpascal,
    leslie,
    pascal,
)
from traceir.tracing.trace import typeof

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "companion",
    "convolution_matrix",
    "det",
    "dft",
    "eigh",
    "eigh_tridiagonal",
    "expm",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "funm",
    "hadamard",
    "hankel",
    "helmert",
    "hessenberg",
    "hilbert",
    "inv",
    "invhilbert",
    "invpascal",
    "leslie",
    "lu",
    "lu_factor",
    "lu_solve",
    "pascal",
    "polar",
    "qr",
    "qr_multiply",
    "rsf2csf",
    "schur",
    "solve",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "toeplitz",
]


def cholesky(
    a: Operand,
    lower: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Array:
    """The upper triangular factor of symmetric matrices, or the lower one.

    Shape (..., n, n) to the same. That triangle of the matrix is read, and no other
    element; otherwise as `traceir.numpy.linalg.cholesky`.

    >>> import traceir.numpy as jnp
    >>> cholesky(jnp.array([[4, 2], [2, 5]]))
    Array([[2., 1.],
           [0., 2.]], dtype=float32)
    """
    [x] = matrices("cholesky", asarray(a))
    found = _linalg.cholesky(x if lower else adjoint(x), symmetrize_input=False)
    return found if lower else adjoint(found)


def cho_factor(
    a: Operand,
    lower: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> tuple[Array, bool]:
    """A triangular factor of symmetric matrices, and whether it is the lower one.

    >>> import traceir.numpy as jnp
    >>> cho_factor(jnp.array([[4]]))
    (Array([[2.]], dtype=float32), False)
    """
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: tuple[Operand, bool],
    b: Operand,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The x of `a @ x == b`, by the result of `cho_factor` for `a`.

    Shapes as in `solve_triangular`. Raises LinAlgError (linalg.matrix, linalg.square),
    ValueError (linalg.shapes).

    >>> import traceir.numpy as jnp
    >>> cho_solve(cho_factor(jnp.array([[4]])), jnp.array([8]))
    Array([2.], dtype=float32)
    """
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, 0 if lower else "C", lower)
    return solve_triangular(factor, first, "C" if lower else 0, lower)


def solve_triangular(
    a: Operand,
    b: Operand,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: None = None,
    check_finite: bool = True,
) -> Array:
    """The x of `a @ x == b`, for a triangle of `a`; of its transpose if `trans`.

    Shapes (..., n, n) and (..., n, k), whose stacks broadcast, to that of `b`; or `b`
    and the result are vectors, (n,), or one for each matrix, (..., n). As `trans`, 0 or
    "N" is the matrix, 1 or "T" the transpose, 2 or "C" its conjugate. Raises
    LinAlgError (linalg.matrix, linalg.square), ValueError (linalg.shapes,
    linalg.option).

    >>> import traceir.numpy as jnp
    >>> solve_triangular(jnp.array([[2, 0], [1, 1]]), jnp.array([2, 3]), lower=True)
    Array([1., 2.], dtype=float32)
    """
    option("solve_triangular", "trans", trans, (0, 1, 2, "N", "T", "C"))
    a, columns, vector = _system("solve_triangular", a, b)
    found = solved(
        a,
        columns,
        left_side=True,
        lower=bool(lower),
        transpose_a=trans not in (0, "N"),
        conjugate_a=trans in (2, "C") and typeof(a).dtype.kind == "c",
        unit_diagonal=bool(unit_diagonal),
    )
    return lax.squeeze(found, (found.ndim - 1,)) if vector else found


def _system(name: str, a: Operand, b: Operand) -> tuple[Operand, Operand, bool]:
    """Matrices and columns as stacks of one shape, and whether `b` has vectors."""
    a, b = promoted_inexact(name, asarray(a), asarray(b))
    [a] = matrices(name, a)
    check_square(name, a)
    shape = shape_of(b)
    vector = len(shape) == 1 or shape == shape_of(a)[:-1]
    _check_rows(a, b, shape[-1:] if vector else shape[-2:-1])
    columns = lax.expand_dims(b, (len(shape),)) if vector else b
    stack = broadcast_shapes(name, [shape_of(a)[:-2], shape_of(columns)[:-2]])
    return (
        broadcast_to(a, (*stack, *shape_of(a)[-2:])),
        broadcast_to(columns, (*stack, *shape_of(columns)[-2:])),
        vector,
    )


def _check_rows(a: Operand, b: Operand, rows: tuple[int, ...]) -> None:
    """Raise ValueError (linalg.shapes) unless there are as many rows."""
    if rows != shape_of(a)[-1:]:
        got = f"{shown(a)} and {shown(b)}"
        hint = "the second has as many rows as the first"
        raise rules.error("linalg.shapes", got=got, hint=hint)


def solve(
    a: Operand,
    b: Operand,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
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


def lu_factor(
    a: Operand,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> tuple[Array, Array]:
    """Triangular factors in one matrix, and the exchanges of rows.

    Shape (..., m, n) to (..., m, n) and int32 (..., min(m, n)), as `lax.linalg.lu` has
    them. Raises LinAlgError (linalg.matrix).

    >>> import traceir.numpy as jnp
    >>> lu_factor(jnp.array([[1, 2], [4, 4]]))[1]
    Array([1, 1], dtype=int32)
    """
    [x] = matrices("lu_factor", asarray(a))
    factors, exchanges, _ = lax.linalg.lu(x)
    return factors, exchanges


def lu_solve(
    lu_and_piv: tuple[Operand, Operand],
    b: Operand,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The x of `a @ x == b`, by the result of `lu_factor` for `a`; of a.T if `trans`.

    Shapes as in `solve_triangular`; `trans` 2 is the conjugate transpose. Raises
    LinAlgError (linalg.matrix, linalg.square), ValueError (linalg.shapes,
    linalg.option).

    >>> import traceir.numpy as jnp
    >>> lu_solve(lu_factor(jnp.array([[2, 0], [0, 4]])), jnp.array([2, 8]))
    Array([1., 2.], dtype=float32)
    """
    factors, exchanges = lu_and_piv
    option("lu_solve", "trans", trans, (0, 1, 2))
    factors, columns, vector = _system("lu_solve", factors, b)
    size = shape_of(factors)[-1]
    order = lax.linalg.lu_pivots_to_permutation(exchanges, size)
    order = broadcast_to(order, shape_of(factors)[:-1])
    if trans:
        inner = solve_triangular(factors, columns, trans)
        inner = solve_triangular(factors, inner, trans, lower=True, unit_diagonal=True)
        found = _restored(inner, order)
    else:
        inner = permuted(columns, order)
        inner = solve_triangular(factors, inner, lower=True, unit_diagonal=True)
        found = solve_triangular(factors, inner)
    return lax.squeeze(found, (found.ndim - 1,)) if vector else found


def _restored(x: Operand, order: Operand) -> Array:
    """Rows that were put in this order, as they were before."""
    return product(transposed(permuted(eye_like(_square_of(x)), order)), x)


def _square_of(x: Operand) -> Array:
    *stack, rows, _ = shape_of(x)
    return lax.full((*stack, rows, rows), 0, typeof(x).dtype)


@composite(static_argnames=["permute_l", "overwrite_a", "check_finite"])
def lu(
    a: Operand,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Any:
    """P, L and U with `P @ L @ U` the matrix; with `permute_l`, `P @ L` and U.

    Shape (..., m, n) to (..., m, m), (..., m, k) and (..., k, n), k = min(m, n). Raises
    LinAlgError (linalg.matrix).

    >>> import traceir.numpy as jnp
    >>> lu(jnp.array([[1, 2], [4, 4]]), permute_l=True)[0]
    Array([[0.25, 1.  ],
           [1.  , 0.  ]], dtype=float32)
    """
    [x] = matrices("lu", asarray(a))
    factors, _, order = lax.linalg.lu(x)
    *stack, rows, columns = shape_of(x)
    least = min(rows, columns)
    start = (0,) * len(shape_of(x))
    left = lower(lax.slice(factors, start, (*stack, rows, least)), -1)
    left = lax.add(left, eye_like(left))
    right = upper(lax.slice(factors, start, (*stack, least, columns)))
    dtype, rank, square = typeof(x).dtype, len(stack), (*stack, rows, rows)
    columns_of = lax.broadcast_in_dim(order, square, (*range(rank), rank + 1))
    rows_of = lax.broadcasted_iota(typeof(order).dtype, square, rank)
    back = convert(lax.eq(columns_of, rows_of), part_dtype(dtype))
    if permute_l:
        return product(convert(back, dtype), left), right
    return back, left, right


def det(
    a: Operand,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Array:
    """The determinant: `traceir.numpy.linalg.det`.

    >>> import traceir.numpy as jnp
    >>> det(jnp.array([[1, 2], [3, 4]]))
    Array(-2., dtype=float32)
    """
    return _linalg.det(a)


def inv(
    a: Operand,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Array:
    """The inverse: `traceir.numpy.linalg.inv`.

    >>> import traceir.numpy as jnp
    >>> inv(jnp.array([[4]]))
    Array([[0.25]], dtype=float32)
    """
    return _linalg.inv(a)


def __getattr__(name: str) -> object:
    from traceir.lax.checks.attribute_hints import missing

    raise missing(name, __all__, __name__)


_publish(globals())
