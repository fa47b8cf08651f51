"""Kernels of prefix sums, products and extrema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.reference.kernels.registry import KERNELS, Kernel


def _running(accumulate: Callable[..., Any]) -> Kernel:
    def run(x: np.ndarray, *, axis: int, reverse: bool) -> Any:
        if reverse:
            return np.flip(accumulate(np.flip(x, axis), axis, x.dtype), axis)
        return accumulate(x, axis, x.dtype)

    return run


KERNELS["cumsum"] = _running(np.add.accumulate)
KERNELS["cumprod"] = _running(np.multiply.accumulate)
KERNELS["cummax"] = _running(np.maximum.accumulate)
KERNELS["cummin"] = _running(np.minimum.accumulate)
KERNELS["cumlogsumexp"] = _running(np.logaddexp.accumulate)
