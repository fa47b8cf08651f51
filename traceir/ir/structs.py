"""Types of arrays as programs write them: a shape and a dtype. Serves: jit.dtype"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import as_dtype, float0
from traceir.ir.avals import ManualAxisType, ShapedArray, shown


@dataclass(frozen=True, slots=True, init=False)
class ShapeDtypeStruct:
    """A shape and a dtype that stand for an array where no value is needed.

    `sharding` is the layout that such an array is to have: a function that is compiled
    ahead for it lays its argument so. `manual_axis_type` tells
    along which axes it may vary within `shard_map`.

    >>> ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool
    sharding: Any
    manual_axis_type: ManualAxisType

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        *,
        sharding: Any = None,
        weak_type: bool = False,
        manual_axis_type: ManualAxisType | None = None,
    ) -> None:
        object.__setattr__(self, "shape", tuple(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "weak_type", weak_type)
        object.__setattr__(self, "sharding", sharding)
        manual = manual_axis_type or ManualAxisType()
        object.__setattr__(self, "manual_axis_type", manual)

    def __setstate__(self, state: Any) -> None:
        # Earlier ones have no layout, nor what they may vary along.
        shape, dtype, weak_type, layout, manual = (*state, None, None)[:5]
        self.__init__(  # type: ignore[misc]  # it is being made
            *(shape, dtype),
            weak_type=weak_type,
            sharding=layout,
            manual_axis_type=manual,
        )

    @property
    def aval(self) -> ShapedArray:
        """The abstract value that it stands for; TypeError (jit.dtype) if none does."""
        named = self.dtype.name in rules.default().dtypes
        if not named and self.dtype != float0:
            raise rules.error("jit.dtype", got=f"{self}")
        vma = self.manual_axis_type.varying
        return ShapedArray(self.shape, self.dtype, self.weak_type, vma=vma)

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
        vma = shown(self.aval.vma) if self.manual_axis_type.varying else ""
        return (
            f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{vma}{weak})"
        )


def struct_of(aval: ShapedArray) -> ShapeDtypeStruct:
    """The struct of an abstract value."""
    varies = aval.manual_axis_type if aval.vma else None
    return ShapeDtypeStruct(
        aval.shape, aval.dtype, weak_type=aval.weak_type, manual_axis_type=varies
    )
