"""Programs of linear algebra."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

A = "f32[2,2]{4.0 2.0 2.0 5.0}"
M = "f32[3,3]{2.0 -1.0 0.5 0.0 1.0 3.0 -2.0 4.0 1.0}"
V = "f32[3]{1.0 -2.0 0.5}"
T = "f32[2,3,2]{1.0 2.0 -1.0 0.5 3.0 0.25 1.0 1.0 2.0 -2.0 0.5 4.0}"


@program(A)
def a_cholesky_factor(jax: Library, x: Array) -> Array:
    """The mean of the matrix and its transpose, and what stands above is left out."""
    return jax.numpy.linalg.cholesky(x)


@program(f"{A} f32[2,1]{{2.0 8.0}}")
def a_triangular_system(jax: Library, a: Array, b: Array) -> Array:
    """The triangle is chosen by flags."""
    return jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=True)


@program(M)
def eigenvalues(jax: Library, x: Array) -> Array:
    """Eigenvalues are those of a whole decomposition."""
    return jax.numpy.linalg.eigvalsh(x)


@program(M)
def norms_of_matrices(jax: Library, x: Array) -> Array:
    """Norms of matrices and of their rows."""
    norm = jax.numpy.linalg.norm
    return norm(x), norm(x, 1), norm(x, axis=1)


@program(M)
def a_power_of_a_matrix(jax: Library, x: Array) -> Array:
    """A power is made of squares."""
    return jax.numpy.linalg.matrix_power(x, 5)


@program(f"{M} {V}")
def vectors_by_matrices(jax: Library, x: Array, v: Array) -> Array:
    """A matrix by a vector, and a vector by a matrix."""
    return jax.numpy.matvec(x, v), jax.numpy.vecmat(v, x)


@program(f"{T} {T}")
def sums_of_einstein(jax: Library, x: Array, y: Array) -> Array:
    """Letters are batched, contracted or kept."""
    einsum = jax.numpy.einsum
    return einsum("bij,bkj->bik", x, y), einsum("bij->jb", x)


@program(f"{M} {M}")
def a_chain_and_a_diagonal(jax: Library, x: Array, y: Array) -> Array:
    """Three operands are contracted two by two; a letter that is there twice."""
    einsum = jax.numpy.einsum
    return einsum("ij,jk,kl->li", x, y, x), einsum("ii->i", x), einsum("ii", y)


@program("f32[2,2]{4.0 2.0 2.0 5.0}")
def a_determinant(jax: Library, x: Array) -> Array:
    """A determinant of two rows."""
    return jax.numpy.linalg.det(x)


@program(M)
def a_decomposition(jax: Library, x: Array) -> Array:
    """An orthogonal matrix and a triangle."""
    return jax.numpy.linalg.qr(x)


@program(M)
def singular_values(jax: Library, x: Array) -> Array:
    """Singular values are those of a whole decomposition."""
    return jax.numpy.linalg.svd(x, compute_uv=False)
