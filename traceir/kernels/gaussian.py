"""Kernels of the error function, its complement and its inverse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from traceir.kernels.registry import kernel

# SciPy's `erfc` is hundreds of units off, and 0 where results are subnormal.
_erfc = np.frompyfunc(math.erfc, 1, 1)


def _special(name: str, x: np.ndarray) -> Any:
    """A function of SciPy's in float64."""
    # Not at the top: it would take most of the time that `import traceir` takes.
    from scipy import special

    return getattr(special, name)(x.astype(np.float64))


@kernel("erf")
def erf(x: np.ndarray) -> Any:
    """The error function."""
    return _special("erf", x).astype(x.dtype)


@kernel("erfc")
def erfc(x: np.ndarray) -> Any:
    """1 less the error function."""
    return np.asarray(_erfc(x.astype(np.float64))).astype(x.dtype)


@kernel("erf_inv")
def erf_inv(x: np.ndarray) -> Any:
    """The inverse of the error function."""
    # SciPy's has +0 for -0.
    return np.copysign(_special("erfinv", x), x).astype(x.dtype)
