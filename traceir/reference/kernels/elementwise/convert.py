"""The kernel of dtype conversion."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.dtypes import is_bfloat16, kind_of
from traceir.reference.kernels.elementwise.bfloat16 import to_bfloat16
from traceir.reference.kernels.registry import kernel


@kernel("convert_element_type")
def convert_element_type(
    x: np.ndarray,
    *,
    new_dtype: np.dtype,
    weak_type: bool = False,
    sharding: None = None,
) -> Any:
    """Convert elements; floating ones saturate at an integer dtype's ends, NaN is 0."""
    if is_bfloat16(new_dtype):
        return to_bfloat16(x)
    if is_bfloat16(x.dtype):
        x = x.astype(np.float32)
    if x.dtype.kind == "c" and new_dtype.kind not in "cb":
        x = x.real
    if kind_of(x.dtype) == "f" and kind_of(new_dtype) in "iu":
        return _to_integer(x, new_dtype)
    return x.astype(new_dtype)


def _to_integer(x: np.ndarray, dtype: np.dtype) -> Any:
    info = np.iinfo(dtype)
    low, end = float(info.min), float(info.max + 1)
    # `end` is a power of 2, so a float of any width holds it, or infinity instead.
    fits = (x >= x.dtype.type(low)) & (x < x.dtype.type(end))
    if fits.all():
        return x.astype(dtype)
    within = np.where(fits, x, x.dtype.type(0)).astype(dtype)
    edge = np.where(x > 0, dtype.type(info.max), dtype.type(info.min))
    return np.where(fits | np.isnan(x), within, edge)
