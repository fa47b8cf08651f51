"""Values and indices, and functions of one example as of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from traceir import numpy as jnp
from traceir.transforms.batching.vmap import vmap

C = TypeVar("C", bound="Coordinates")


class Coordinates:
    """Values and the indices that they stand at: the arrays of a `BCOO`."""

    __array_priority__ = 300

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        data, indices = map(jnp.asarray, args)
        full = tuple(map(int, shape))
        batch = indices.ndim - 2
        own = data.shape[:batch], indices.shape[:batch]
        rows, dense = data.shape[batch : batch + 1], data.shape[batch + 1 :]
        places = len(full) - batch - len(dense)
        fits = (
            batch >= 0
            and rows == indices.shape[batch:-1]
            and places == indices.shape[-1]
            and dense == full[len(full) - len(dense) :]
            and all(_stretches(extents, full[:batch]) for extents in own)
        )
        if not fits:
            got = f"data of {data.shape} and indices of {indices.shape} for {full}"
            raise ValueError(f"A sparse array has a row of indices a value, got {got}.")
        self.data = jnp.broadcast_to(data, full[:batch] + data.shape[batch:])
        self.indices = jnp.broadcast_to(indices, full[:batch] + indices.shape[batch:])
        self._element = full[batch:]
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return (*self.indices.shape[: self.n_batch], *self._element)

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
        return int(self.indices.shape[-2])

    @property
    def n_batch(self) -> int:
        """The number of dimensions of the batch, which are the first ones."""
        return int(self.indices.ndim) - 2

    @property
    def n_sparse(self) -> int:
        """The number of dimensions that places are in."""
        return int(self.indices.shape[-1])

    @property
    def n_dense(self) -> int:
        """The number of dimensions of each value, which are the last ones."""
        return int(self.data.ndim) - 1 - self.n_batch

    def __repr__(self) -> str:
        batch = f", n_batch={self.n_batch}" if self.n_batch else ""
        dense = f", n_dense={self.n_dense}" if self.n_dense else ""
        shape = list(self.shape)
        name = type(self).__name__
        return f"{name}({self.dtype.name}{shape}, nse={self.nse}{batch}{dense})"

    def astype(self: C, dtype: Any) -> C:
        """The array with its values converted."""
        return self._with(self.data.astype(dtype))

    def __len__(self) -> int:
        return self.shape[0]

    def _with(self: C, data: Any, indices: Any = None, shape: Any = None) -> C:
        """An array with other values; at the same places, unless others are given."""
        same = indices is None
        return type(self)(
            (data, self.indices if indices is None else indices),
            shape=self.shape if shape is None else shape,
            indices_sorted=same and self.indices_sorted,
            unique_indices=same and self.unique_indices,
        )


def _stretches(extents: Sequence[int], full: Sequence[int]) -> bool:
    pairs = zip(extents, full, strict=False)
    return len(extents) == len(full) and all(a in (1, b) for a, b in pairs)


# -- by example -----------------------------------------------------------------------


def each(function: Callable[..., Any], n_batch: int) -> Callable[..., Any]:
    """A function of one example as one of a batch with so many dimensions."""
    for _ in range(n_batch):
        function = vmap(function)
    return function


def inside(indices: Any, shape: Sequence[int]) -> Any:
    """True for the rows of indices that are places in a shape."""
    return jnp.all((indices >= 0) & (indices < np.array(shape, int)), axis=-1)


def sparse_shape(mat: Coordinates) -> tuple[int, ...]:
    """The extents of the dimensions that places are in."""
    return mat._element[: mat.n_sparse]


def live(mat: Coordinates) -> tuple[Any, Any]:
    """Values and indices; values outside are zero."""
    there = inside(mat.indices, sparse_shape(mat))
    there = there.reshape(there.shape + (1,) * mat.n_dense)
    return jnp.where(there, mat.data, jnp.zeros((), mat.dtype)), mat.indices


def columns(indices: Any) -> tuple[Any, ...]:
    """The indices of one example, as arrays are indexed."""
    return tuple(indices[:, k] for k in range(indices.shape[-1]))


def unraveled(flat: Any, shape: Sequence[int]) -> Any:
    """Rows of indices of flat ones; those beyond are outside in each dimension."""
    if not shape:
        return jnp.zeros((flat.shape[0], 0), flat.dtype)
    rows = jnp.stack(jnp.unravel_index(flat, shape), axis=-1)
    return jnp.where((flat < prod(shape))[:, None], rows, np.array(shape))


def raveled(indices: Any, shape: Sequence[int]) -> Any:
    """Rows of indices as numbers; those outside are the number of places."""
    strides = [prod(shape[k + 1 :]) for k in range(len(shape))]
    flat = jnp.sum(indices * np.array(strides, int), axis=-1, dtype=indices.dtype)
    return jnp.where(inside(indices, shape), flat, prod(shape))
