"""Sparse matrices by rows."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.experimental.sparse.bcoo import BCOO, bcoo_fromdense
from traceir.experimental.sparse.coordinates import each
from traceir.experimental.sparse.elements import bcoo_sum_duplicates
from traceir.experimental.sparse.products import bcoo_dot_general, matmul
from traceir.pytrees.registry import register_pytree_node


class BCSR:
    """A sparse matrix: the values of row `r`, and the columns that they stand in, are
    those from `indptr[r]` to before `indptr[r + 1]`.

    As `BCOO` it may have dimensions of a batch before, and of values behind. A tree of
    its three arrays. Raises ValueError where the shapes do not fit.

    >>> x = BCSR.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> x.indptr
    Array([0, 1, 2], dtype=int32)
    >>> x @ jnp.array([1.0, 10.0])
    Array([20.,  3.], dtype=float32)
    """

    __array_priority__ = 300

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Any,
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices, self.indptr = map(jnp.asarray, args)
        full, batch = tuple(map(int, shape)), self.indices.ndim - 1
        rows = full[batch : batch + 1]
        fits = (
            self.data.shape[: batch + 1] == self.indices.shape
            and (*full[:batch], *(n + 1 for n in rows)) == self.indptr.shape
            and full[batch + 2 :] == self.data.shape[batch + 1 :]
        )
        if not fits:
            parts = self.data.shape, self.indices.shape, self.indptr.shape
            raise ValueError(
                f"A matrix of rows has a place a value, got {parts}, {full}."
            )
        self._element = full[batch:]
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return (*self.indices.shape[:-1], *self._element)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values."""
        return np.dtype(self.data.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.n_batch + len(self._element)

    @property
    def size(self) -> int:
        """The number of elements, zeros included."""
        return prod(self.shape)

    @property
    def nse(self) -> int:
        """The number of values that are held, for each example of a batch."""
        return int(self.indices.shape[-1])

    @property
    def n_batch(self) -> int:
        """The number of dimensions of the batch, which are the first ones."""
        return int(self.indices.ndim) - 1

    @property
    def n_sparse(self) -> int:
        """Two: rows and columns."""
        return 2

    @property
    def n_dense(self) -> int:
        """The number of dimensions of each value, which are the last ones."""
        return int(self.data.ndim) - self.indices.ndim

    def __repr__(self) -> str:
        batch = f", n_batch={self.n_batch}" if self.n_batch else ""
        dense = f", n_dense={self.n_dense}" if self.n_dense else ""
        shape = list(self.shape)
        return f"BCSR({self.dtype.name}{shape}, nse={self.nse}{batch}{dense})"

    def __len__(self) -> int:
        return self.shape[0]

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCSR:
        """The values of an array that are not zero: `bcsr_fromdense`."""
        given = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
        return bcsr_fromdense(mat, nse=nse, **given)

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """The same array by rows; ValueError if places have not two dimensions."""
        if arr.n_sparse != 2:
            raise ValueError(
                f"Rows and columns are two dimensions of places, got {arr}."
            )
        arr = arr if arr.indices_sorted else arr.sort_indices()
        rows = arr._element[0]

        def starts(indices: Any) -> Any:
            edges = jnp.arange(rows + 1, dtype=indices.dtype)
            return jnp.searchsorted(indices[:, 0], edges).astype(indices.dtype)

        indptr = each(starts, arr.n_batch)(arr.indices)
        parts = arr.data, arr.indices[..., 1], indptr
        return cls(
            parts,
            shape=arr.shape,
            indices_sorted=True,
            unique_indices=arr.unique_indices,
        )

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCSR:
        """The values of one of SciPy's sparse matrices; ValueError for a batch."""
        if n_dense or n_batch:
            raise ValueError("SciPy's sparse matrices have no batch and no dense part.")
        csr, kind = mat.tocsr(), index_dtype or np.int32
        parts = csr.data, csr.indices.astype(kind), csr.indptr.astype(kind)
        return cls(parts, shape=mat.shape)

    def to_bcoo(self) -> BCOO:
        """The same array by coordinates."""

        def rows(indices: Any, indptr: Any) -> Any:
            count = jnp.arange(indices.shape[0], dtype=indptr.dtype)
            row = jnp.searchsorted(indptr, count, side="right") - 1
            return jnp.stack([row.astype(indices.dtype), indices], axis=-1)

        places = each(rows, self.n_batch)(self.indices, self.indptr)
        return BCOO(
            (self.data, places),
            shape=self.shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    def todense(self) -> Any:
        """The array, zeros included."""
        return self.to_bcoo().todense()

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """The array with one value a place, less the zeros."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))

    def block_until_ready(self) -> BCSR:
        """The array itself: its values are there."""
        return self

    def __matmul__(self, other: Any) -> Any:
        return matmul(self.to_bcoo(), other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self.to_bcoo())


def _rebuilt(meta: Any, parts: Any) -> BCSR:
    """A sparse matrix of leaves, which may be no arrays."""
    found = object.__new__(BCSR)
    found.data, found.indices, found.indptr = parts
    found._element, found.indices_sorted, found.unique_indices = meta
    return found


register_pytree_node(
    BCSR,
    lambda x: (
        (x.data, x.indices, x.indptr),
        (x._element, x.indices_sorted, x.unique_indices),
    ),
    _rebuilt,
)


def bcsr_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCSR:
    """The values of an array that are not zero, of which each example has `nse`.

    Within a trace `nse` is needed.
    """
    given = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    return BCSR.from_bcoo(bcoo_fromdense(mat, nse=nse, **given))


def bcsr_todense(mat: BCSR) -> Any:
    """The array, zeros included."""
    return mat.todense()


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """The same array with one value a place, in order: `nse` of them."""
    return BCSR.from_bcoo(bcoo_sum_duplicates(mat.to_bcoo(), nse))


def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> Any:
    """The elements of a matrix at places by rows."""
    dense = jnp.asarray(mat)
    zeros = jnp.zeros(jnp.shape(indices), dense.dtype)
    rows = BCSR((zeros, indices, indptr), shape=dense.shape).to_bcoo().indices

    def one(values: Any, places: Any) -> Any:
        return values.at[places[:, 0], places[:, 1]].get(mode="fill", fill_value=0)

    return each(one, rows.ndim - 2)(dense, rows)


def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`lax.dot_general` with an operand by rows."""
    parts = (m.to_bcoo() if isinstance(m, BCSR) else m for m in (lhs, rhs))
    return bcoo_dot_general(
        *parts,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )
