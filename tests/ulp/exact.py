"""Real functions of float64 in twice its digits: the truth for the scan.

Each takes float64 operands and gives a pair and a power of two, whose product is the
value: its range is then no concern of the pair's. NaN and infinities stand in the first
number. `tests/backend/test_vecmath.py` compares them with mpmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from ulp import circulars, exponentials, gaussians, hyperbolics, inverses


@njit(error_model="numpy")
def _apply(function: Any, x: Any, high: Any, low: Any, scale: Any) -> None:
    for i in range(x.shape[0]):
        high[i], low[i], scale[i] = function(x[i])


@njit(error_model="numpy")
def _apply2(function: Any, x: Any, y: Any, high: Any, low: Any, scale: Any) -> None:
    for i in range(x.shape[0]):
        high[i], low[i], scale[i] = function(x[i], y[i])


# By the name that the function has in `traceir_numba.vecmath`.
EXACT: dict[str, Callable[..., Any]] = {
    "exp": exponentials.exp,
    "exp2": exponentials.exp2,
    "expm1": exponentials.expm1,
    "log": exponentials.log,
    "log1p": exponentials.log1p,
    "cbrt": exponentials.cbrt,
    "pow": exponentials.power,
    "sinh": hyperbolics.sinh,
    "cosh": hyperbolics.cosh,
    "tanh": hyperbolics.tanh,
    "logistic": hyperbolics.logistic,
    "asinh": hyperbolics.asinh,
    "acosh": hyperbolics.acosh,
    "atanh": hyperbolics.atanh,
    "sin": circulars.sin,
    "cos": circulars.cos,
    "tan": circulars.tan,
    "asin": inverses.asin,
    "acos": inverses.acos,
    "atan": inverses.atan,
    "atan2": inverses.atan2,
    "erf": gaussians.erf,
    "erfc": gaussians.erfc,
    "erf_inv": gaussians.erf_inv,
}


def exact(name: str, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
    """The first and second numbers of the pairs, and the powers of two.

    >>> [found.tolist() for found in exact("exp", np.zeros(1))]
    [[1.0], [0.0], [0]]
    """
    out = tuple(np.empty(len(operands[0]), t) for t in (float, float, np.int64))
    (_apply2 if len(operands) == 2 else _apply)(EXACT[name], *operands, *out)
    return out
