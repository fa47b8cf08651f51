"""Types for annotations: what functions take as arrays, and as dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from traceir.arrays.array import Array
from traceir.tracing.trace import Tracer

__all__ = ["ArrayLike", "DTypeLike"]

# Libraries that read annotations at run time take classes as they are.
if TYPE_CHECKING:
    Number: TypeAlias = np.number[Any]
else:
    Number = np.number


class SupportsDType(Protocol):
    """An object with a dtype, which stands for that dtype."""

    @property
    def dtype(self) -> np.dtype:
        """The dtype."""


ArrayLike: TypeAlias = (
    Array | Tracer | np.ndarray | np.bool_ | Number | bool | int | float | complex
)
DTypeLike: TypeAlias = str | type[Any] | np.dtype | SupportsDType
