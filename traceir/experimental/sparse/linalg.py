"""Solutions of sparse systems, which SciPy's SuperLU finds on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.arrays.array import Array
from traceir.ir.structs import ShapeDtypeStruct
from traceir.tracing.callbacks import pure_callback
from traceir.transforms.custom.linear_solve import custom_linear_solve

__all__ = ["spsolve"]


def spsolve(
    data: Any, indices: Any, indptr: Any, b: Any, tol: float = 1e-6, reorder: int = 1
) -> Array:
    """The solution `x` of `A @ x = b`, for a square sparse matrix `A` by rows.

    The values of row `r`, and the columns that they stand in, are those from
    `indptr[r]` to before `indptr[r + 1]`. It has derivatives by the values and by `b`.
    SuperLU takes no tolerance and chooses an order itself: `tol` and `reorder` are for
    JAX's sake. A singular matrix has a solution of NaN, with SciPy's warning. Raises
    ValueError for operands that do not fit together.

    >>> import numpy as np
    >>> by_rows = np.array([2.0, 1.0, 4.0]), np.array([0, 1, 1]), np.array([0, 2, 3])
    >>> spsolve(*by_rows, np.array([3.0, 4.0]))
    Array([1., 1.], dtype=float32)
    """
    data, indices, indptr, b = map(jnp.asarray, (data, indices, indptr, b))
    _check(data, indices, indptr, b)
    rows = jnp.searchsorted(indptr, jnp.arange(data.size), side="right") - 1

    def product(x: Array) -> Array:
        """The matrix times a vector."""
        return jnp.zeros_like(x).at[rows].add(data * x[indices])

    def solution(transposed: bool) -> Any:
        """A function that solves the system, or the transposed one."""
        out = ShapeDtypeStruct(b.shape, b.dtype)
        operands = data, indices, indptr

        def solve(_: Any, y: Array) -> Any:
            return pure_callback(
                lambda *given: _solved(transposed, *map(np.asarray, given)),
                out,
                *operands,
                y,
                vmap_method="sequential",
            )

        return solve

    found: Array = custom_linear_solve(product, b, solution(False), solution(True))
    return found


def _check(data: Array, indices: Array, indptr: Array, b: Array) -> None:
    """Raise ValueError unless three arrays are a square matrix that a vector fits."""
    parts = {"data": data, "indices": indices, "indptr": indptr, "b": b}
    shown = ", ".join(f"{name} {x.aval.str_short()}" for name, x in parts.items())
    fits = (
        all(x.ndim == 1 for x in parts.values())
        and data.shape == indices.shape
        and indptr.size == b.size + 1
    )
    if not fits:
        raise ValueError(f"A matrix by rows has vectors of fitting sizes, got {shown}.")
    if indices.dtype.kind not in "iu" or indptr.dtype != indices.dtype:
        raise ValueError(f"Indices must be integers of one dtype, got {shown}.")
    if data.dtype != b.dtype or data.dtype.name not in REAL_OR_COMPLEX:
        raise ValueError(f"Values and `b` must be of one floating dtype, got {shown}.")


REAL_OR_COMPLEX = ("float32", "float64", "complex64", "complex128")


def _solved(
    transposed: bool, data: Any, indices: Any, indptr: Any, b: Any
) -> np.ndarray:
    """SciPy's solution."""
    from scipy import sparse
    from scipy.sparse import linalg

    matrix = sparse.csr_array((data, indices, indptr), (b.size, b.size))
    given = matrix.T.tocsr() if transposed else matrix
    found: np.ndarray = linalg.spsolve(given, b)
    return found.astype(b.dtype)
