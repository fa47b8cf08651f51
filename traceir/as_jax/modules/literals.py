"""Python numbers with a dtype, in other implementations."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from traceir.lax.checks.operands import DTypeLike


class _TypedNumber:
    """The dtype that the classes have in common; an operand is the number alone."""

    dtype: np.dtype

    def __new__(cls, value: Any, dtype: DTypeLike) -> Self:
        made = super().__new__(cls, value)  # type: ignore[call-arg]  # int, float
        made.dtype = np.dtype(dtype)
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()}, dtype={self.dtype})"

    __str__ = __repr__


class TypedInt(_TypedNumber, int):
    """An integer with a dtype.

    >>> TypedInt(3, "int8")
    TypedInt(3, dtype=int8)
    """


class TypedFloat(_TypedNumber, float):
    """A floating number with a dtype."""


class TypedComplex(_TypedNumber, complex):
    """A complex number with a dtype."""
