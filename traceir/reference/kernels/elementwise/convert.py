"""The kernel of dtype conversion."""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.dtypes import iinfo, is_added, kind_of
from traceir.reference.kernels.elementwise.widening import WIDE, narrowed
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
    if is_added(x.dtype):
        x = x.astype(WIDE[kind_of(x.dtype)])
    if x.dtype.kind == "c" and new_dtype.kind not in "cb":
        x = x.real
    if kind_of(x.dtype) == "f" and kind_of(new_dtype) in "iu":
        return _to_integer(x, new_dtype)
    if is_added(new_dtype):
        return narrowed(x, new_dtype)
    return x.astype(new_dtype)


def _to_integer(x: np.ndarray, dtype: np.dtype) -> Any:
    info = iinfo(dtype)
    low, end = float(info.min), float(int(info.max) + 1)
    # `end` is a power of 2, so a float of any width holds it, or infinity instead.
    fits = (x >= x.dtype.type(low)) & (x < x.dtype.type(end))
    plain = WIDE[kind_of(dtype)] if is_added(dtype) else dtype
    if fits.all():
        return x.astype(plain).astype(dtype, copy=False)
    within = np.where(fits, x, x.dtype.type(0)).astype(plain).astype(dtype, copy=False)
    edge = np.where(x > 0, dtype.type(info.max), dtype.type(info.min))
    return np.where(fits | np.isnan(x), within, edge)
