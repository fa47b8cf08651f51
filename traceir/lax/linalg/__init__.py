"""Factorizations and triangular systems, named as in `jax.lax.linalg`.

A matrix is the last two dimensions of an operand, those before number a stack. Operands
are float32, float64 or complex; nothing is promoted. Start reading at `cholesky`.

- `factor_derivatives`: derivatives of factorizations with several results
- `matrices`: products, triangles and diagonals of stacks of matrices
- `reflections`: reflections: the factorization that keeps them, and products with them
- `systems`: tridiagonal systems, and symmetric products

>>> import traceir.numpy as jnp
>>> cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
Array([[2., 0.],
       [1., 2.]], dtype=float32)

Serves: the rows of algebra.toml
"""

from __future__ import annotations

from operator import index

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.ir.jaxpr import sort_params
from traceir.ir.typecheck import infer
from traceir.lax.checks.operands import (
    Operand,
    operand,
    promoted_inexact,
    shape_of,
)
from traceir.lax.linalg import factor_derivatives, matrices
from traceir.lax.linalg.reflections import geqrf, householder_product, ormqr
from traceir.lax.linalg.systems import symmetric_product, tridiagonal_solve
from traceir.lax.structural.shapes import expand_dims, slice_in_dim, squeeze
from traceir.tracing.named_primitives import builtin
from traceir.tracing.trace import bind, bind_one, typeof

__all__ = [
    "cholesky",
    "cholesky_p",
    "cholesky_update_p",
    "eig",
    "eig_p",
    "eigh",
    "eigh_p",
    "geqrf",
    "hessenberg",
    "hessenberg_p",
    "householder_product",
    "householder_product_p",
    "lu",
    "lu_p",
    "lu_pivots_to_permutation",
    "lu_pivots_to_permutation_p",
    "ormqr",
    "ormqr_p",
    "qr",
    "qr_p",
    "schur",
    "schur_p",
    "svd",
    "svd_p",
    "symmetric_product",
    "symmetric_product_p",
    "triangular_solve",
    "triangular_solve_p",
    "tridiagonal_p",
    "tridiagonal_solve",
    "tridiagonal_solve_p",
]
# Importing it registers the derivatives.
_ = factor_derivatives
# The primitives, as equations hold them.
cholesky_p = builtin("cholesky")
cholesky_update_p = builtin("cholesky_update")
eig_p = builtin("eig")
eigh_p = builtin("eigh")
hessenberg_p = builtin("hessenberg")
householder_product_p = builtin("householder_product")
lu_p = builtin("lu")
lu_pivots_to_permutation_p = builtin("lu_pivots_to_permutation")
ormqr_p = builtin("ormqr")
qr_p = builtin("qr")
schur_p = builtin("schur")
svd_p = builtin("svd")
symmetric_product_p = builtin("symmetric_product")
triangular_solve_p = builtin("triangular_solve")
tridiagonal_p = builtin("tridiagonal")
tridiagonal_solve_p = builtin("tridiagonal_solve")


def _checked(primitive: str, x: Operand, **params: object) -> None:
    """Raise the clause of the primitive that the operand violates."""
    known = {**rules.default().prims[primitive].defaults, **params}
    infer(primitive, (typeof(x),), sort_params(known))


def cholesky(x: Operand, *, symmetrize_input: bool = True) -> Array:
    """Lower triangular matrices whose products with their adjoints are these.

    Shape (..., n, n) to the same. An adjoint is the conjugate transpose; with
    `symmetrize_input` the mean of the matrix and its adjoint is taken, else what stands
    on its diagonal and below. All of a result is NaN where a matrix is not positive
    definite. Raises TypeError (matrices.rank, matrices.dtype), ValueError
    (square_matrices.extents).

    >>> import traceir.numpy as jnp
    >>> cholesky(jnp.array([[4.0, 0.0], [0.0, 9.0]]))
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    x = operand("cholesky", x)
    [x] = promoted_inexact("cholesky", x) if symmetrize_input else [x]
    _checked("cholesky", x)
    found = bind("cholesky", matrices.symmetric(x) if symmetrize_input else x)
    return matrices.lower(found)


def lu(x: Operand) -> tuple[Array, Array, Array]:
    """Triangular factors, the exchanges of rows, and the order of rows after them.

    Shape (..., m, n) to (..., m, n), int32 (..., min(m, n)) and int32 (..., m). The
    first has the lower factor below its diagonal, with ones on the diagonal that are
    not stored, the upper one on it and above. Raises TypeError (matrices.rank,
    matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> lu(jnp.array([[1.0, 2.0], [4.0, 4.0]]))[0]
    Array([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32)
    """
    found, exchanges, order = bind("lu", operand("lu", x))
    return found, exchanges, order


def lu_pivots_to_permutation(pivots: Operand, permutation_size: int) -> Array:
    """The order of so many rows after the exchanges that `lu` gives.

    int32 (..., k) to (..., permutation_size). Raises TypeError
    (lu_pivots_to_permutation.rank, .dtype), ValueError (.size).

    >>> import traceir.numpy as jnp
    >>> lu_pivots_to_permutation(jnp.array([2, 2]), 3)
    Array([2, 0, 1], dtype=int32)
    """
    return bind_one(
        "lu_pivots_to_permutation",
        operand("lu_pivots_to_permutation", pivots),
        permutation_size=index(permutation_size),
    )


def qr(
    x: Operand, *, full_matrices: bool = True, pivoting: bool = False
) -> tuple[Array, Array]:
    """Matrices with orthogonal columns of length 1, and upper triangular ones.

    Shape (..., m, n) to (..., m, k) and (..., k, n); k is m if `full_matrices`, else
    min(m, n). Raises TypeError (matrices.rank, matrices.dtype), NotImplementedError
    (qr.pivoting, derive.factors).

    >>> import traceir.numpy as jnp
    >>> q, r = qr(jnp.array([[3.0], [4.0]]), full_matrices=False)
    >>> r
    Array([[-5.]], dtype=float32)
    """
    q, r = bind(
        "qr",
        operand("qr", x),
        full_matrices=bool(full_matrices),
        pivoting=bool(pivoting),
    )
    return q, r


def eigh(
    x: Operand,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
) -> tuple[Array, Array]:
    """Eigenvectors, as columns, and eigenvalues of symmetric or Hermitian matrices.

    Shape (..., n, n) to (..., n, n) and, real, (..., n); the eigenvalues ascend. With
    `symmetrize_input` the mean of the matrix and its adjoint is taken, else one
    triangle. Eigenvalues of a matrix that is not finite are NaN. `subset_by_index` has
    those from one place to before another be given. Raises TypeError (matrices.rank,
    matrices.dtype), ValueError (square_matrices.extents, face.choice).

    >>> import traceir.numpy as jnp
    >>> eigh(jnp.array([[2.0, 0.0], [0.0, 1.0]]))[1]
    Array([1., 2.], dtype=float32)
    """
    x = operand("eigh", x)
    [x] = promoted_inexact("eigh", x) if symmetrize_input else [x]
    _checked("eigh", x, lower=lower)
    vectors, values = bind(
        "eigh",
        matrices.symmetric(x) if symmetrize_input else x,
        lower=bool(lower),
        sort_eigenvalues=bool(sort_eigenvalues),
    )
    if subset_by_index is None:
        return vectors, values
    part = matrices.subset_places(subset_by_index, shape_of(values)[-1])
    return slice_in_dim(vectors, *part, axis=-1), slice_in_dim(values, *part, axis=-1)


def eig(
    x: Operand,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
) -> list[Array]:
    """Eigenvalues, left eigenvectors and right ones, as columns, of any matrices.

    Shape (..., n, n) to complex (..., n), and (..., n, n) for each side that is asked
    for. The conjugate transposes of left ones stand on the left of the matrix. All is
    NaN for a matrix that is not finite. Raises TypeError (matrices.rank,
    matrices.dtype), ValueError (square_matrices.extents), NotImplementedError
    (derive.eigenvectors).

    >>> import traceir.numpy as jnp
    >>> eig(jnp.array([[0.0, 1.0], [-1.0, 0.0]]))[0]
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    found = bind(
        "eig",
        operand("eig", x),
        compute_left_eigenvectors=bool(compute_left_eigenvectors),
        compute_right_eigenvectors=bool(compute_right_eigenvectors),
    )
    return list(found)


def schur(
    x: Operand,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: object = None,
) -> list[Array]:
    """Triangular matrices `t` and unitary ones `z` with `z @ t @ adjoint(z)` these.

    Shape (..., n, n) to the same, twice; without `compute_schur_vectors` the first
    alone. That of a real matrix has a block of two rows on its diagonal for each pair
    of conjugate eigenvalues, which are in no order: `select_callable` is never asked.
    Raises TypeError (matrices.rank, matrices.dtype), ValueError
    (square_matrices.extents), NotImplementedError (schur.sort, derive.missing).

    >>> import traceir.numpy as jnp
    >>> schur(jnp.array([[0.0, 2.0], [-2.0, 0.0]]))[0]
    Array([[ 0.,  2.],
           [-2.,  0.]], dtype=float32)
    """
    found = bind(
        "schur",
        operand("schur", x),
        compute_schur_vectors=bool(compute_schur_vectors),
        select_callable=None,
        sort_eig_vals=bool(sort_eig_vals),
    )
    return list(found)


def hessenberg(a: Operand) -> list[Array]:
    """Matrices that are zero two lines below the diagonal, and the reflections to them.

    Shape (..., n, n) to the same and (..., n - 1). Below these lines stand the vectors
    of reflections, whose scales are the second result, as `householder_product` takes
    them. Raises TypeError (matrices.rank, matrices.dtype), ValueError
    (square_matrices.extents), NotImplementedError (derive.missing).

    >>> import traceir.numpy as jnp
    >>> hessenberg(jnp.array([[1.0, 2.0, 3.0], [0.0, 4.0, 5.0], [6.0, 7.0, 8.0]]))[1]
    Array([1., 0.], dtype=float32)
    """
    return list(bind("hessenberg", operand("hessenberg", a)))


def svd(
    x: Operand,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
) -> Array | tuple[Array, Array, Array]:
    """Left singular vectors as columns, singular values, right ones as rows.

    Shape (..., m, n) to (..., m, k), (..., min(m, n)) and (..., l, n); k and l are m
    and n if `full_matrices`, else min(m, n). The values descend; they are NaN for a
    matrix that is not finite. Without `compute_uv`, the values alone; with
    `subset_by_index`, those from one place to before another. Raises TypeError
    (matrices.rank, matrices.dtype), ValueError (face.choice), NotImplementedError
    (derive.factors).

    >>> import traceir.numpy as jnp
    >>> svd(jnp.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    found = bind(
        "svd",
        operand("svd", x),
        compute_uv=bool(compute_uv),
        # Of a part there are no other vectors.
        full_matrices=bool(full_matrices) and subset_by_index is None,
    )
    values = found[0]
    if subset_by_index is None:
        return (found[1], values, found[2]) if compute_uv else values
    part = matrices.subset_places(subset_by_index, shape_of(values)[-1])
    values = slice_in_dim(values, *part, axis=-1)
    if not compute_uv:
        return values
    left = slice_in_dim(found[1], *part, axis=-1)
    return left, values, slice_in_dim(found[2], *part, axis=-2)


def triangular_solve(
    a: Operand,
    b: Operand,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """The solutions x of x a = b, or of a x = b if `left_side`, for a triangle of `a`.

    Shapes (..., n, n) and (..., m, n), (..., n, m) if `left_side`, to that of `b`. The
    triangle is the upper one unless `lower`, transposed if `transpose_a`, conjugated if
    `conjugate_a`, and has ones on its diagonal if `unit_diagonal`. A zero on the
    diagonal gives infinities or NaN. Raises TypeError (triangular_solve.rank,
    triangular_solve.dtype), ValueError (triangular_solve.square,
    triangular_solve.extents).

    >>> import traceir.numpy as jnp
    >>> a, b = jnp.array([[2.0, 0.0], [1.0, 1.0]]), jnp.array([[2.0], [3.0]])
    >>> triangular_solve(a, b, left_side=True, lower=True)
    Array([[1.],
           [2.]], dtype=float32)
    """
    a, b = operand("triangular_solve", a), operand("triangular_solve", b, 1)
    rank = len(shape_of(b))
    vector = rank == len(shape_of(a)) - 1
    added = (rank if left_side else rank - 1,)
    result = matrices.solved(
        a,
        expand_dims(b, added) if vector else b,
        conjugate_a=bool(conjugate_a),
        left_side=bool(left_side),
        lower=bool(lower),
        transpose_a=bool(transpose_a),
        unit_diagonal=bool(unit_diagonal),
    )
    return squeeze(result, added) if vector else result


_publish(globals())
