"""Sparse arrays by coordinates, in batches and with dense parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.experimental.sparse.coordinates import Coordinates
from traceir.experimental.sparse.elements import (
    added,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    bcoo_reduce_sum,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    fromdense,
    nonzero,
    on_values,
)
from traceir.experimental.sparse.layouts import (
    bcoo_reshape,
    bcoo_transpose,
    bcoo_update_layout,
    indexed,
)
from traceir.experimental.sparse.products import matmul
from traceir.pytrees.registry import register_pytree_node


class BCOO(Coordinates):
    """A sparse array: `data[k]` stands at `indices[k]`; values at one place add up.

    The dimensions are those of a batch, `n_batch`, each example with `nse` values; then
    those that `indices` has places in; then the `n_dense` dimensions of each value. A
    value outside of the shape is none. A tree of its two arrays, so functions, `jit`
    and `grad` take it, and `vmap` over a batch.

    Raises ValueError where the shapes do not fit.

    >>> x = BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> x
    BCOO(float32[2, 2], nse=2)
    >>> x @ jnp.array([1.0, 10.0])
    Array([20.,  3.], dtype=float32)
    """

    @property
    def T(self) -> BCOO:
        """The transpose."""
        return self.transpose()

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:
        """The values of an array that are not zero: `bcoo_fromdense`."""
        given = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
        return bcoo_fromdense(mat, nse=nse, **given)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """The values of one of SciPy's sparse matrices; ValueError for a batch."""
        if n_dense or n_batch:
            raise ValueError("SciPy's sparse matrices have no batch and no dense part.")
        coo = mat.tocoo()
        indices = np.stack([coo.row, coo.col], axis=-1).astype(index_dtype or np.int32)
        return cls((coo.data, indices), shape=mat.shape)

    def todense(self) -> Any:
        """The array, zeros included."""
        return bcoo_todense(self)

    def sort_indices(self) -> BCOO:
        """The array with its values in the order of their places."""
        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """The array with one value a place: `bcoo_sum_duplicates`, less the zeros."""
        return bcoo_sum_duplicates(nonzero(self) if remove_zeros else self, nse)

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """The array with its dimensions in another order."""
        order = range(self.ndim)[::-1] if axes is None else axes
        return bcoo_transpose(self, permutation=order)

    def reshape(self, *sizes: Any, **kwargs: Any) -> BCOO:
        """The array with another shape of as many elements."""
        given = kwargs.get("new_sizes", sizes[0] if len(sizes) == 1 else sizes)
        wanted = (given,) if isinstance(given, int) else tuple(given)
        return bcoo_reshape(self, new_sizes=wanted)

    def update_layout(
        self,
        *,
        n_batch: int | None = None,
        n_dense: int | None = None,
        on_inefficient: str | None = "error",
    ) -> BCOO:
        """The array with other dimensions as batch and dense part."""
        wanted = {"n_batch": n_batch, "n_dense": n_dense}
        return bcoo_update_layout(self, on_inefficient=on_inefficient, **wanted)

    def block_until_ready(self) -> BCOO:
        """The array itself: its values are there."""
        return self

    def sum(self, axis: int | Sequence[int] | None = None) -> Any:
        """The sum along some axes, a sparse array; of all elements, an array."""
        axes = range(self.ndim) if axis is None else axis
        chosen = (axes,) if isinstance(axes, int) else tuple(axes)
        found = bcoo_reduce_sum(self, axes=[a % self.ndim for a in chosen])
        return found if found.ndim else found.todense()

    def __getitem__(self, index: Any) -> BCOO:
        return indexed(self, index)

    def __iter__(self) -> Iterator[BCOO]:
        return (self[k] for k in range(len(self)))

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self)

    def __mul__(self, other: Any) -> BCOO:
        """The array times numbers, elements of an array, or those of a sparse one."""
        if isinstance(other, BCOO):
            return bcoo_multiply_sparse(self, other)
        return self._with(bcoo_multiply_dense(self, other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> BCOO:
        return self * jnp.reciprocal(jnp.asarray(other, np.result_type(self.dtype)))

    def __add__(self, other: Any) -> Any:
        """The sum, sparse with a sparse array, else with all elements."""
        return added(self, other) if isinstance(other, BCOO) else self.todense() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> BCOO:
        return self._with(-self.data)

    def __pos__(self) -> BCOO:
        return self

    def __abs__(self) -> BCOO:
        return on_values(jnp.abs, self)

    def __pow__(self, power: Any) -> BCOO:
        """The array with each value raised to a positive number."""
        if not (isinstance(power, int | float) and power > 0):
            raise ValueError(f"Zeros stay zeros under positive powers, got {power!r}.")
        return on_values(lambda data: data**power, self)


def _rebuilt(meta: Any, parts: Sequence[Any]) -> BCOO:
    """A sparse array of leaves, which may be no arrays."""
    found = object.__new__(BCOO)
    found.data, found.indices = parts
    found._element, found.indices_sorted, found.unique_indices = meta
    return found


# Of a batch the extents are those of its arrays, so `vmap` may take dimensions away.
register_pytree_node(
    BCOO,
    lambda x: ((x.data, x.indices), (x._element, x.indices_sorted, x.unique_indices)),
    _rebuilt,
)


def bcoo_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCOO:
    """The values of an array that are not zero, of which each example has `nse`.

    Within a trace `nse` is needed: it is the length of the arrays. Where there are
    fewer values, the rest is zeros, outside.
    """
    given = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    return fromdense(BCOO, mat, nse=nse, **given)
