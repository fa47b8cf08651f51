"""Iterative solutions of linear systems.

Serves: custom_solve.*, face.choice

The matrix is an array, or a function that multiplies a tree of arrays by it. A solution
has the derivatives of the exact one (`traceir.lax.custom_linear_solve`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traceir.numpy as jnp
from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.flatten_util import ravel_pytree
from traceir.transforms.custom.linear_solve import custom_linear_solve

__all__ = ["bicgstab", "cg", "gmres"]

Vector = Callable[[Array], Array]
Solver = Callable[[Vector, Array, Array, Vector, Array, int], Array]


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """The solution `x` of `A(x) = b` by conjugate gradients, and None.

    `A` is Hermitian and positive definite: an array, or a function of trees like `b`.
    `x0` is where to begin, zeros by default; `M` is an approximate inverse of `A`. It
    ends where the residual is no longer than `tol` times `b`, or than `atol`, or after
    `maxiter` steps, ten times the number of unknowns by default. Raises TypeError
    (custom_solve.structure) unless `A(x)` is like `b`.

    >>> import traceir.numpy as jnp
    >>> x, _ = cg(jnp.array([[4.0, 1.0], [1.0, 3.0]]), jnp.array([1.0, 2.0]))
    >>> jnp.round(x, 4)
    Array([0.0909, 0.6364], dtype=float32)
    """
    return _solved(_by_gradients, A, b, x0, tol, atol, maxiter, M, hermitian=True)


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """The solution `x` of `A(x) = b` by stabilized biconjugate gradients, and None.

    `A` is any square matrix; arguments and errors are those of `cg`.

    >>> import traceir.numpy as jnp
    >>> x, _ = bicgstab(jnp.array([[4.0, 1.0], [2.0, 3.0]]), jnp.array([1.0, 2.0]))
    >>> jnp.round(x, 4)
    Array([0.1, 0.6], dtype=float32)
    """
    return _solved(_by_two_gradients, A, b, x0, tol, atol, maxiter, M)


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, None]:
    """The solution `x` of `A(x) = b` of least residual in a Krylov space, and None.

    `A` is any square matrix; arguments and errors are those of `cg`. The space grows to
    `restart` dimensions, then the next begins at what was found; `maxiter` counts
    spaces. `solve_method` is "batched" or "incremental", and both are one here. Raises
    ValueError (face.choice) for another.

    >>> import traceir.numpy as jnp
    >>> x, _ = gmres(jnp.array([[4.0, 1.0], [2.0, 3.0]]), jnp.array([1.0, 2.0]))
    >>> jnp.round(x, 4)
    Array([0.1, 0.6], dtype=float32)
    """
    if solve_method not in ("batched", "incremental"):
        hint = '"batched" or "incremental"'
        raise rules.error("face.choice", got=f"{solve_method=}", hint=hint)

    def by_residuals(
        A: Vector, b: Array, x: Array, M: Vector, least: Array, most: int
    ) -> Array:
        """`_by_residuals` in spaces of so many dimensions."""
        return _by_residuals(A, b, x, M, least, most, min(restart, b.size))

    return _solved(by_residuals, A, b, x0, tol, atol, maxiter, M)


def _solved(
    solver: Solver,
    A: Any,
    b: Any,
    x0: Any,
    tol: float,
    atol: float,
    maxiter: int | None,
    M: Any,
    hermitian: bool = False,
) -> tuple[Any, None]:
    right, tree = ravel_pytree(b)
    if not jnp.issubdtype(right.dtype, jnp.inexact):
        right = right.astype(float)
    start = jnp.zeros_like(right) if x0 is None else ravel_pytree(x0)[0]
    multiply, better = _multiplied(A, tree), _multiplied(M, tree)
    most = 10 * right.size if maxiter is None else maxiter

    def solve(matvec: Vector, y: Array) -> Array:
        """The solution for a right side."""
        least = jnp.maximum(tol * jnp.linalg.norm(y), atol)
        return solver(matvec, y, start.astype(y.dtype), better, least, most)

    symmetric = hermitian and not jnp.iscomplexobj(right)
    found = custom_linear_solve(multiply, right, solve, solve, symmetric)
    return tree(found), None


def _multiplied(A: Any, tree: Callable[[Array], Any]) -> Vector:
    """A matrix, or a function of trees, as a function of vectors; None as identity."""
    if A is None:
        return lambda x: x
    if callable(A):
        return lambda x: ravel_pytree(A(tree(x)))[0].astype(x.dtype)
    matrix = jnp.asarray(A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        got = f"a matrix of shape {matrix.shape}"
        raise rules.error("custom_solve.structure", got=got)
    return lambda x: jnp.matmul(matrix, x, precision="highest").astype(x.dtype)


def _squared(x: Array) -> Array:
    return jnp.vdot(x, x).real


def _by_gradients(
    A: Vector, b: Array, x: Array, M: Vector, least: Array, most: int
) -> Array:
    residual = b - A(x)
    better = M(residual)
    first = x, residual, better, jnp.vdot(residual, better), 0

    def going(state: Any) -> Any:
        """True until the residual is short, or steps are too many."""
        far = _squared(state[1]) > least**2
        return far & (state[4] < most)

    def step(state: Any) -> Any:
        """One step along the next conjugate direction."""
        x, residual, along, product, k = state
        image = A(along)
        length = product / jnp.vdot(along, image)
        x, residual = x + length * along, residual - length * image
        better = M(residual)
        next_product = jnp.vdot(residual, better)
        along = better + next_product / product * along
        return x, residual, along, next_product, k + 1

    found: Array = lax.while_loop(going, step, first)[0]
    return found


def _by_two_gradients(
    A: Vector, b: Array, x: Array, M: Vector, least: Array, most: int
) -> Array:
    shadow = residual = b - A(x)
    one, none = jnp.ones((), b.dtype), jnp.zeros_like(b)
    first = x, residual, none, none, (one, one, one), 0

    def going(state: Any) -> Any:
        """True until the residual is short, a product is 0, or steps are too many."""
        far = _squared(state[1]) > least**2
        alive = (state[4][0] != 0) & (state[4][2] != 0)
        return far & alive & (state[5] < most)

    def step(state: Any) -> Any:
        """A step along a direction, then one that shortens what is left."""
        x, residual, along, image, (product, length, second), k = state
        found = jnp.vdot(shadow, residual)
        turn = found / product * (length / second)
        along = residual + turn * (along - second * image)
        better = M(along)
        image = A(better)
        length = found / jnp.vdot(shadow, image)
        middle = residual - length * image
        rest = M(middle)
        other = A(rest)
        size = _squared(other)
        second = jnp.where(
            size == 0, jnp.zeros_like(one), jnp.vdot(other, middle) / size
        )
        # What is left may be nothing: then the first step was the last.
        x = x + length * better + second * rest
        residual = middle - second * other
        return x, residual, along, image, (found, length, second), k + 1

    found: Array = lax.while_loop(going, step, first)[0]
    return found


def _by_residuals(
    A: Vector, b: Array, x: Array, M: Vector, least: Array, most: int, restart: int
) -> Array:
    length = jnp.linalg.norm(b)
    # Residuals are those of the system that `M` makes better.
    short = jnp.linalg.norm(M(b)) * jnp.minimum(1, least / jnp.where(length, length, 1))

    def going(state: Any) -> Any:
        """True until the residual is short, or spaces are too many."""
        far = jnp.linalg.norm(state[1]) > short
        return far & (state[2] < most)

    def space(state: Any) -> Any:
        """The best that is in the space which begins at the residual."""
        x, residual, k = state
        size = jnp.linalg.norm(residual)
        basis = jnp.zeros((b.size, restart + 1), b.dtype).at[:, 0].set(residual / size)
        image = jnp.zeros((restart + 1, restart), b.dtype)

        def grown(j: Any, parts: Any) -> Any:
            """The space with one dimension more."""
            basis, image = parts
            new = M(A(basis[:, j]))
            before = jnp.linalg.norm(new)
            column = jnp.zeros(restart + 1, b.dtype)
            for _ in range(2):  # what rounding leaves of the others goes with a second
                along = basis.conj().T @ new
                new, column = new - basis @ along, column + along
            rest = jnp.linalg.norm(new)
            inside = rest <= 10 * jnp.finfo(b.dtype).eps * before
            new = jnp.where(inside, 0, new / jnp.where(inside, 1, rest))
            column = column.at[j + 1].set(jnp.where(inside, 0, rest).astype(b.dtype))
            return basis.at[:, j + 1].set(new), image.at[:, j].set(column)

        basis, image = lax.fori_loop(0, restart, grown, (basis, image))
        first = jnp.zeros(restart + 1, b.dtype).at[0].set(size.astype(b.dtype))
        x = x + basis[:, :-1] @ jnp.linalg.lstsq(image, first)[0]
        return x, M(b - A(x)), k + 1

    found: Array = lax.while_loop(going, space, (x, M(b - A(x)), 0))[0]
    return found


_publish(globals())
