"""Sparse arrays by coordinates: values, and the indices that they stand at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.base.tracebacks import wraps
from traceir.pytrees import flatten
from traceir.pytrees.registry import register_pytree_node

__all__ = ["BCOO", "sparsify"]


class BCOO:
    """A sparse array: `data[k]` stands at `indices[k]`; values at one place add up.

    A tree of its two arrays, so functions, `jit` and `grad` take it.

    Raises ValueError where there are not as many indices as values.

    >>> x = BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> x
    BCOO(float32[2, 2], nse=2)
    >>> x @ jnp.array([1.0, 10.0])
    Array([20.,  3.], dtype=float32)
    """

    __array_priority__ = 300

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices = map(jnp.asarray, args)
        self.shape = tuple(map(int, shape))
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        if self.indices.shape != (*self.data.shape[:1], len(self.shape)):
            got = (
                f"{self.indices.shape} for {self.data.shape[0]} values of {self.shape}"
            )
            raise ValueError(f"indices have a row for each value, got {got}")

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values."""
        return np.dtype(self.data.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def nse(self) -> int:
        """The number of values that are held."""
        return int(self.data.shape[0])

    @property
    def T(self) -> BCOO:
        """The transpose."""
        return self.transpose()

    def __repr__(self) -> str:
        return f"BCOO({self.dtype.name}{list(self.shape)}, nse={self.nse})"

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None) -> BCOO:
        """The values of an array that are not zero, of which there are `nse`.

        Within a trace `nse` is needed: it is the length of the arrays.
        """
        dense = jnp.asarray(mat)
        count = int(jnp.count_nonzero(dense)) if nse is None else nse
        places = jnp.nonzero(dense, size=count, fill_value=0)
        live = jnp.arange(count) < jnp.count_nonzero(dense)
        data = jnp.where(live, dense[places], jnp.zeros((), dense.dtype))
        indices = jnp.stack(places, axis=-1)
        return cls((data, indices), shape=dense.shape, indices_sorted=True)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: Any = None) -> BCOO:
        """The values of one of SciPy's sparse matrices."""
        coo = mat.tocoo()
        indices = np.stack([coo.row, coo.col], axis=-1).astype(index_dtype or np.int32)
        return cls((coo.data, indices), shape=mat.shape)

    def _places(self) -> tuple[Any, ...]:
        return tuple(self.indices[:, k] for k in range(self.ndim))

    def todense(self) -> Any:
        """The array, zeros included."""
        return jnp.zeros(self.shape, self.dtype).at[self._places()].add(self.data)

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """The array with its dimensions in another order."""
        order = tuple(axes or range(self.ndim)[::-1])
        shape = [self.shape[k] for k in order]
        return BCOO((self.data, self.indices[:, np.array(order)]), shape=shape)

    def sum(self, axis: int | None = None) -> Any:
        """The sum of all elements, or along an axis."""
        return self.data.sum() if axis is None else self.todense().sum(axis)

    def __matmul__(self, other: Any) -> Any:
        """The product of a matrix with a vector or a matrix."""
        if isinstance(other, BCOO):
            other = other.todense()
        rows, columns = self._places()
        dense = jnp.asarray(other)
        parts = jnp.take(dense, columns, axis=0)
        values = self.data.reshape(self.data.shape + (1,) * (dense.ndim - 1))
        shape = (self.shape[0], *dense.shape[1:])
        terms = values * parts
        return jnp.zeros(shape, terms.dtype).at[rows].add(terms)

    def __rmatmul__(self, other: Any) -> Any:
        dense = jnp.asarray(other)
        found = self.T @ jnp.moveaxis(dense, -1, 0)
        return jnp.moveaxis(found, 0, -1)

    def __mul__(self, other: Any) -> BCOO:
        """The array with each value multiplied: by a number, or by an element."""
        if jnp.ndim(other) != 0:
            other = jnp.broadcast_to(other, self.shape)[self._places()]
        return BCOO((self.data * other, self.indices), shape=self.shape)

    __rmul__ = __mul__

    def __neg__(self) -> BCOO:
        return self * -1


def _rebuilt(meta: Any, parts: Sequence[Any]) -> BCOO:
    """A sparse array of leaves, which may be no arrays."""
    found = object.__new__(BCOO)
    found.data, found.indices = parts
    found.shape, found.indices_sorted, found.unique_indices = meta
    return found


register_pytree_node(
    BCOO,
    lambda x: ((x.data, x.indices), (x.shape, x.indices_sorted, x.unique_indices)),
    _rebuilt,
)


def sparsify(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that takes sparse ones, too: it sees all their elements.

    >>> total = sparsify(lambda x: jnp.sum(jnp.sin(x)))
    >>> total(BCOO.fromdense(jnp.zeros((2, 2))))
    Array(0., dtype=float32)
    """

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        dense = flatten.map_(_dense, (args, kwargs), is_leaf=_is_sparse)
        return f(*dense[0], **dense[1])

    return call


def _is_sparse(value: Any) -> bool:
    return isinstance(value, BCOO)


def _dense(value: Any) -> Any:
    return value.todense() if isinstance(value, BCOO) else value
