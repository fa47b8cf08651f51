"""Views at traced indices. Serves: face.view"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax
from traceir import numpy as jnp
from traceir.face.arrays.views import IndexView
from traceir.numpy.indexing import getitem
from traceir.tracing.trace import Tracer


class TracedIndex:
    """A basic index in which integers are traced; equal to itself, and to one of the
    same parts."""

    __slots__ = ("index",)

    def __init__(self, index: Any) -> None:
        self.index = index if isinstance(index, tuple) else (index,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TracedIndex) or len(self.index) != len(other.index):
            return False
        pairs = zip(self.index, other.index, strict=True)
        return all(a is b or (_plain(a, b) and a == b) for a, b in pairs)

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array where the traced places are 0: it lies so."""
        zeros = (0 if isinstance(part, Tracer) else part for part in self.index)
        return IndexView(tuple(zeros)).of(value)

    def read(self, base: Any) -> Any:
        """The elements that the index takes."""
        return getitem.getitem(base, self.index)

    def write(self, base: Any, value: Any) -> Any:
        """The base with new elements where the index takes them."""
        return base.at[self.index].set(value)


def _plain(*parts: Any) -> bool:
    return not any(isinstance(part, Tracer) for part in parts)


class TracedWindow(TracedIndex):
    """A box of an array at traced places; `dims` are the dimensions that the view
    keeps, None a new one."""

    __slots__ = ("starts", "sizes", "shape", "dims")

    def __init__(
        self,
        starts: tuple[Any, ...],
        sizes: tuple[int, ...],
        shape: tuple[int, ...],
        dims: tuple[int | None, ...],
    ) -> None:
        self.starts, self.sizes, self.shape, self.dims = starts, sizes, shape, dims

    def __eq__(self, other: object) -> bool:
        return self is other

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array where the box is at the beginning: it lies so."""
        box = value[tuple(map(slice, self.sizes))]
        dropped = tuple(d for d in range(value.ndim) if d not in self.dims)
        kept = box[tuple(0 if d in dropped else slice(None) for d in range(value.ndim))]
        return kept[tuple(None if d is None else slice(None) for d in self.dims)]

    def read(self, base: Any) -> Any:
        """The elements of the box."""
        box = lax.dynamic_slice(base, self.starts, self.sizes)
        return jnp.reshape(box, self.shape)

    def write(self, base: Any, value: Any) -> Any:
        """The base with new elements in the box."""
        box = jnp.reshape(jnp.broadcast_to(value, self.shape), self.sizes)
        return lax.dynamic_update_slice(base, box, self.starts)
