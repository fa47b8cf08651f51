"""How far a function is from the truth, in units in the last place."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np
from numba import float32, float64, njit, void

from traceir_numba import vecmath

HEADER = """
import math
import numpy as np
from numba import float32 as f32, float64 as f64, int32 as i32, int64 as i64, njit
function = njit(**JIT_OPTIONS)
"""


@cache
def loop(name: str) -> Any:
    """A compiled loop over arrays of operands and one of results, from the source."""
    space: dict[str, Any] = {"JIT_OPTIONS": vecmath.JIT_OPTIONS}
    exec(HEADER + vecmath.source([name]), space)
    function, entry = space[name], vecmath.FUNCTIONS[name]
    array = float32[::1] if entry.result == "float32" else float64[::1]
    if len(entry.args) == 1:

        @njit(void(array, array), error_model="numpy")
        def unary(x: Any, out: Any) -> None:
            for i in range(out.shape[0]):
                out[i] = function(x[i])

        return unary

    @njit(void(array, array, array), error_model="numpy")
    def binary(x: Any, y: Any, out: Any) -> None:
        for i in range(out.shape[0]):
            out[i] = function(x[i], y[i])

    return binary


def values(name: str, *operands: np.ndarray) -> np.ndarray:
    """The function at each of the operands."""
    out = np.empty_like(operands[0])
    loop(name)(*operands, out)
    return out


@njit(error_model="numpy")
def worst(got: Any, truth: Any) -> tuple[float, int]:
    """The greatest error of float32 results, and where; `truth` is float64.

    A unit is that of the truth's binade; infinity stands for 2**128. A wrong NaN or a
    zero of the wrong sign is an infinite error.
    """
    most, place = -1.0, 0
    for i in range(got.shape[0]):
        g, t = np.float64(got[i]), truth[i]
        if t != t or t == 0.0:
            right = (
                g != g
                if t != t
                else g == 0.0 and math.copysign(1.0, g * 1.0) == (math.copysign(1.0, t))
            )
            error = 0.0 if right else np.inf
        elif g != g:
            error = np.inf
        else:
            g = min(max(g, -(2.0**128)), 2.0**128)
            t = min(max(t, -(2.0**128)), 2.0**128)
            _, exponent = math.frexp(t)
            error = abs(g - t) / math.ldexp(1.0, max(exponent, -125) - 24)
        if error > most:
            most, place = error, i
    return most, place


def error_f64(got: float, truth: Any) -> float:
    """The error of one float64 result; `truth` is an mpmath number."""
    if mpmath.isnan(truth) or mpmath.isnan(got):
        return 0.0 if mpmath.isnan(truth) and mpmath.isnan(got) else math.inf
    limit = mpmath.mpf(2) ** 1024
    have = min(max(mpmath.mpf(got), -limit), limit)
    want = min(max(truth, -limit), limit)
    if want == 0:
        return 0.0 if have == 0 else math.inf
    _, exponent = mpmath.frexp(want)
    return float(abs(have - want) / mpmath.mpf(2) ** (max(exponent, -1021) - 53))


def truth_f32(name: str) -> Callable[..., np.ndarray]:
    """NumPy's function in float64, for float32 operands."""
    function = {"pow": np.power}.get(name) or getattr(np, name)

    def compute(*operands: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found: np.ndarray = function(*(x.astype(np.float64) for x in operands))
        return found

    return compute


def truth_f64(name: str) -> Callable[..., Any]:
    """The exact function, for operands of any size."""
    function = {"pow": mpmath.power}.get(name) or getattr(mpmath, name)

    def compute(*operands: float) -> Any:
        # As many digits as reducing the greatest argument of a sine takes.
        large = name in ("sin", "cos") and abs(operands[0]) > 2.0**60
        with mpmath.workprec(1250 if large else 300):
            return function(*map(mpmath.mpf, operands))

    return compute
