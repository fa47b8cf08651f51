"""Views at traced indices. Serves: face.view"""

from __future__ import annotations

from typing import Any

import numpy as np

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
