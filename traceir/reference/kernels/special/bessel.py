"""Kernels of modified Bessel functions. Serves: bessel_i0e, bessel_i1e

Up to 20 they are their power series, all of whose terms are positive, and beyond the
asymptotic one: M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions"
(1964), 9.6.10 and 9.7.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from traceir.reference.kernels.special.in_float64 import of_doubles

NEAR, TERMS, FAR_TERMS = 20.0, 50, 30
ROOT = math.sqrt(2 * math.pi)


def _size(n: int, a: np.ndarray) -> Any:
    """exp(-a) I_n(a), for a from 0 on."""
    near, far = np.minimum(a, NEAR), np.maximum(a, NEAR)
    total: Any = 0.0
    for k in reversed(range(TERMS)):
        factor = 1 / (math.factorial(k) * math.factorial(k + n))
        total = total + np.power(near / 2, 2 * k) * factor
    total = total * np.exp(-near) * (near / 2 if n else 1.0)
    rest: Any = 1.0
    for k in range(FAR_TERMS, 0, -1):
        rest = 1 - (4 * n * n - (2 * k - 1) ** 2) / (8 * k * far) * rest
    return np.where(a > NEAR, rest / (np.sqrt(far) * ROOT), total)


@of_doubles("bessel_i0e")
def bessel_i0e(x: np.ndarray) -> Any:
    """exp(-|x|) I0(x)."""
    return np.where(np.isinf(x), 0.0, _size(0, np.abs(x)))


@of_doubles("bessel_i1e")
def bessel_i1e(x: np.ndarray) -> Any:
    """exp(-|x|) I1(x)."""
    return np.copysign(np.where(np.isinf(x), 0.0, _size(1, np.abs(x))), x)
