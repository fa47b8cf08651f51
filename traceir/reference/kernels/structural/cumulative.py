"""Kernels of prefix sums, products and extrema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.reference.kernels.registry import KERNELS, Kernel


def _accumulate(accumulate: Callable[..., Any]) -> Kernel:
    def run(x: np.ndarray, *, axis: int, reverse: bool) -> Any:
        if reverse:
            return np.flip(accumulate(np.flip(x, axis), axis, x.dtype), axis).copy()
        return accumulate(x, axis, x.dtype)

    return run


KERNELS["cumsum"] = _accumulate(np.add.accumulate)
KERNELS["cumprod"] = _accumulate(np.multiply.accumulate)
KERNELS["cummax"] = _accumulate(np.maximum.accumulate)
KERNELS["cummin"] = _accumulate(np.minimum.accumulate)
KERNELS["cumlogsumexp"] = _accumulate(np.logaddexp.accumulate)
