"""Types of arrays as programs write them: a shape and a dtype. Serves: jit.dtype"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import KEY, as_dtype, float0
from traceir.ir.avals import ShapedArray


@dataclass(frozen=True, slots=True, init=False)
class ShapeDtypeStruct:
    """A shape and a dtype that stand for an array where no value is needed.

    `sharding` is the layout that such an array is to have: a function that is compiled
    ahead for it lays its argument so.

    >>> ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool
    sharding: Any

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        *,
        sharding: Any = None,
        weak_type: bool = False,
    ) -> None:
        object.__setattr__(self, "shape", tuple(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "weak_type", weak_type)
        object.__setattr__(self, "sharding", sharding)

    def __setstate__(self, state: Any) -> None:
        shape, dtype, weak_type, *sharding = state  # of which earlier ones have none
        layout = sharding[0] if sharding else None
        self.__init__(shape, dtype, weak_type=weak_type, sharding=layout)  # type: ignore[misc]  # it is being made

    @property
    def aval(self) -> ShapedArray:
        """The abstract value that it stands for; TypeError (jit.dtype) if none does."""
        others = float0, KEY
        if self.dtype.name not in rules.default().dtypes and self.dtype not in others:
            raise rules.error("jit.dtype", got=f"{self}")
        return ShapedArray(self.shape, self.dtype, self.weak_type)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"


def struct_of(aval: ShapedArray) -> ShapeDtypeStruct:
    """The struct of an abstract value."""
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)
