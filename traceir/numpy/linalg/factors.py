"""Factorizations of matrices: `cholesky`, `qr`, `eigh`, `eig`, `svd`. Serves: linalg.*

Integers become floating; a matrix is the last two dimensions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import Operand
from traceir.lax.linalg.matrices import adjoint, subset_places, transposed
from traceir.numpy.indexing.take_put import take_along_axis
from traceir.numpy.linalg.checks import matrices, option, square


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: Array
    R: Array


class EigResult(NamedTuple):
    """The result of `eig`."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """The result of `eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class SVDResult(NamedTuple):
    """The result of `svd`."""

    U: Array
    S: Array
    Vh: Array


@composite(static_argnames=["upper", "symmetrize_input"])
def cholesky(
    a: Operand, *, upper: bool = False, symmetrize_input: bool = True
) -> Array:
    """Lower triangular `l`, `l @ l.T.conj()` the matrix; with `upper`, `l.T.conj()`.

    Shape (..., n, n) to the same. The mean with the conjugate transpose is taken
    with `symmetrize_input`, else the lower triangle; all is NaN where it is not
    positive definite. Raises LinAlgError (linalg.matrix, linalg.square), TypeError
    (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> cholesky(jnp.array([[4, 2], [2, 5]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    x = square("cholesky", a)
    found = lax.linalg.cholesky(x, symmetrize_input=symmetrize_input)
    return adjoint(found) if upper else found


@composite(static_argnames=["mode"])
def qr(a: Operand, mode: str = "reduced") -> Any:
    """Orthogonal columns `Q` and upper triangular `R` with `Q @ R` the matrix.

    Shape (..., m, n) to (..., m, k) and (..., k, n): k is min(m, n), or m if `mode` is
    "complete"; "r" gives R alone, "raw" what `lax.linalg.geqrf` gives, its matrices
    transposed. Raises LinAlgError (linalg.matrix), ValueError
    (linalg.option), TypeError (matrices.dtype), NotImplementedError (derive.factors).

    >>> import traceir.numpy as jnp
    >>> q, r = qr(jnp.array([[3, 1], [4, 2], [0, 2]]))
    >>> q.shape, jnp.round(q @ r)
    ((3, 2), Array([[3., 1.],
           [4., 2.],
           [0., 2.]], dtype=float32))
    """
    option("qr", "mode", mode, ("reduced", "complete", "r", "raw"))
    [x] = matrices("qr", a)
    if mode == "raw":
        packed, taus = lax.linalg.geqrf(x)
        return transposed(packed), taus
    q, r = lax.linalg.qr(x, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


@composite(static_argnames=["UPLO", "symmetrize_input"])
def eigh(
    a: Operand, UPLO: str | None = None, symmetrize_input: bool = True
) -> EighResult:
    """Eigenvalues of Hermitian matrices, ascending, and eigenvectors as columns.

    Shape (..., n, n) to real (..., n) and (..., n, n). The mean of the matrix and its
    conjugate transpose is taken with `symmetrize_input`, else a triangle. Raises
    LinAlgError (linalg.matrix, linalg.square), ValueError (linalg.option), TypeError
    (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> eigh(jnp.array([[2, 0], [0, 1]])).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    option("eigh", "UPLO", UPLO, (None, "L", "U"))
    x, lower = square("eigh", a), UPLO != "U"
    vectors, values = lax.linalg.eigh(x, lower=lower, symmetrize_input=symmetrize_input)
    return EighResult(values, vectors)


@composite(static_argnames=["UPLO", "symmetrize_input"])
def eigvalsh(
    a: Operand, UPLO: str | None = "L", *, symmetrize_input: bool = True
) -> Array:
    """Eigenvalues of Hermitian matrices, ascending: those of `eigh`.

    >>> import traceir.numpy as jnp
    >>> eigvalsh(jnp.array([[2, 0], [0, 1]]))
    Array([1., 2.], dtype=float32)
    """
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def eig(a: Operand) -> EigResult:
    """Eigenvalues of any matrices, and eigenvectors as columns, complex in any case.

    Shape (..., n, n) to (..., n) and (..., n, n); in no order. Raises LinAlgError
    (linalg.matrix, linalg.square), TypeError (matrices.dtype), NotImplementedError
    (derive.eigenvectors).

    >>> import traceir.numpy as jnp
    >>> eig(jnp.array([[0, 1], [-1, 0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    x = square("eig", a)
    values, vectors = lax.linalg.eig(x, compute_left_eigenvectors=False)
    return EigResult(values, vectors)


@composite
def eigvals(a: Operand) -> Array:
    """Eigenvalues of any matrices: (..., n, n) to complex (..., n), in no order.

    Raises LinAlgError (linalg.matrix, linalg.square), TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> eigvals(jnp.array([[0, 1], [-1, 0]]))
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    x = square("eigvals", a)
    [values] = lax.linalg.eig(
        x, compute_left_eigenvectors=False, compute_right_eigenvectors=False
    )
    return values


@composite(static_argnames=["full_matrices", "compute_uv", "hermitian"])
def svd(
    a: Operand,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """`U`, `S` and `Vh` with `(U * S) @ Vh` the matrix, S descending.

    Shape (..., m, n) to (..., m, k), (..., min(m, n)) and (..., l, n): k and l are m
    and n if `full_matrices`, else min(m, n). Without `compute_uv`, S alone. Of a matrix
    that is `hermitian` they are made of `eigh`; `subset_by_index` has values from one
    place to before another be given. Raises LinAlgError (linalg.matrix), TypeError
    (matrices.dtype), ValueError (face.choice), NotImplementedError (derive.factors).

    >>> import traceir.numpy as jnp
    >>> svd(jnp.array([[0, 2], [1, 0]])).S
    Array([2., 1.], dtype=float32)
    """
    [x] = matrices("svd", a)
    if hermitian:
        return _of_eigenvalues(x, compute_uv, subset_by_index)
    found = lax.linalg.svd(
        x,
        full_matrices=full_matrices,
        compute_uv=compute_uv,
        subset_by_index=subset_by_index,
    )
    return SVDResult(*found) if isinstance(found, tuple) else found


def _of_eigenvalues(
    x: Array, compute_uv: bool, subset_by_index: tuple[int, int] | None
) -> Any:
    """The singular values of a Hermitian matrix: the sizes of its eigenvalues.

    Of two that are equal, the one of the later eigenvalue comes first.
    """
    vectors, values = lax.linalg.eigh(x)
    last = values.ndim - 1
    parts = lax.abs(values), lax.broadcasted_iota("int32", values.shape, last)
    ordered = lax.sort((*parts, lax.sign(values)), dimension=last, num_keys=1)
    s, places, signs = (lax.rev(part, [last]) for part in ordered)
    u = take_along_axis(vectors, places[..., None, :], axis=-1)
    turned = lax.mul(u, lax.convert_element_type(signs[..., None, :], u.dtype))
    if subset_by_index is not None:
        asked = subset_places(subset_by_index, values.shape[-1])
        s, u, turned = (lax.slice_in_dim(v, *asked, axis=-1) for v in (s, u, turned))
    return SVDResult(u, s, adjoint(turned)) if compute_uv else s


def svdvals(x: Operand, /) -> Array:
    """Singular values, descending: (..., m, n) to (..., min(m, n)). As `svd`.

    >>> import traceir.numpy as jnp
    >>> svdvals(jnp.array([[0, 2], [1, 0]]))
    Array([2., 1.], dtype=float32)
    """
    found: Array = svd(x, compute_uv=False)
    return found
