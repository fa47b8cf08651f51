"""Kernels that compute in float64, whatever the floating dtype is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.reference.kernels.registry import kernel

# The least normal number.
LEAST = 2.0**-1022
Double = Callable[..., Any]


def of_scipy(name: str, *operands: np.ndarray) -> Any:
    """A function of SciPy's in float64."""
    # Not at the top: it would take most of the time that `import traceir` takes.
    from scipy import special

    return getattr(special, name)(*(np.asarray(x, np.float64) for x in operands))


def of_doubles(primitive: str) -> Callable[[Double], Double]:
    """A kernel that is given float64 and whose results are rounded once."""

    def enter(function: Double) -> Double:
        @kernel(primitive)
        def rounded(*operands: np.ndarray) -> Any:
            doubles = (np.asarray(x, np.float64) for x in operands)
            return np.asarray(function(*doubles)).astype(operands[0].dtype)

        return function

    return enter
