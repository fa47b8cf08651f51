"""The error of a function, in units in the last place.

A unit is that of the exact result's binade; infinity stands for the power of two after
the greatest number. A wrong NaN, or a zero of the wrong sign, is an infinite error.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np
from numba import njit
from scipy import special
from with_numba import linked

from traceir.reference.kernels import KERNELS
from traceir_numba.device_functions import function
from traceir_numba.llvm import optimize


@cache
def loop(name: str) -> optimize.MachineCode:
    """A compiled loop over arrays of operands and one of results."""
    return linked(function(name), f"traceir_measured_{name}")


def values(name: str, *operands: np.ndarray) -> np.ndarray:
    """The function at each of the operands, as the backend computes it.

    `tests/backend/test_lowering.py` shows that Numba's code has the same bits.
    """
    out = np.empty_like(operands[0], order="C")
    arrays = [*map(np.ascontiguousarray, operands), out]
    assert [a.dtype for a in arrays[:-1]] == list(function(name).args)
    code = loop(name)
    (address,) = code.addresses.values()
    entry = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * (len(arrays) + 1))(address)
    entry(*(a.ctypes.data for a in arrays), out.size)
    return out


# What tells how such a function changes with its operand.
SLOPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "lgamma": lambda x: values("digamma_f64", x),
    "digamma": lambda x: values("polygamma_f64", np.ones_like(x), x),
}


def eased(base: str, got: np.ndarray, found: np.ndarray, *xs: np.ndarray) -> Any:
    """The results in float64, so near to float32 ones that units are of `conditioned`.

    Only of functions in SLOPES, and where one is off by nearly half a last place.
    """
    if base not in SLOPES:
        return found
    [x], out = xs, found.copy()
    with np.errstate(all="ignore"):
        unit = np.abs(np.spacing(found.astype(np.float32))).astype(np.float64)
        off = np.abs(got - found) > 0.45 * unit
        rounding = np.abs(x[off] * SLOPES[base](x[off])) * 2.0**-24
        near = (found[off] - got[off]) * (unit[off] / (unit[off] + rounding))
    out[off] = got[off] + near
    return out


def _logistic(x: np.ndarray) -> np.ndarray:
    part: np.ndarray = np.exp(-np.abs(x))
    return np.where(x < 0, part, 1) / (1 + part)


# Where NumPy has no function of that name.
OTHERS: dict[str, Callable[..., Any]] = {
    "logistic": _logistic,
    "pow": np.power,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "bessel_i0e": KERNELS["bessel_i0e"],
    "bessel_i1e": KERNELS["bessel_i1e"],
    "erf": special.erf,
    "erfc": np.vectorize(math.erfc, otypes=[float]),
    "erf_inv": special.erfinv,
}
DEFINITIONS: dict[str, Callable[..., Any]] = {
    "pow": mpmath.power,
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "erf_inv": mpmath.erfinv,
    "erfc": lambda x: mpmath.erfc(min(max(x, -60), 60)),  # it overflows
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
}


def truth(name: str) -> Callable[..., np.ndarray]:
    """NumPy's function, or SciPy's, computed in float64."""
    base = name.rpartition("_")[0]
    function = OTHERS.get(base) or getattr(np, base)

    def compute(*operands: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found: np.ndarray = function(*(x.astype(np.float64) for x in operands))
        return found

    return compute


@njit(error_model="numpy")
def worst(got: Any, exact: Any) -> Any:
    """The greatest error of float32 results, and where; `exact` is float64."""
    most, place = -1.0, 0
    for i in range(got.shape[0]):
        g, t = np.float64(got[i]), exact[i]
        if t != t or g != g:
            error = 0.0 if t != t and g != g else np.inf
        elif t == 0.0:
            same = math.copysign(1.0, g) == math.copysign(1.0, t)
            error = 0.0 if g == 0.0 and same else np.inf
        else:
            g = min(max(g, -(2.0**128)), 2.0**128)
            t = min(max(t, -(2.0**128)), 2.0**128)
            _, exponent = math.frexp(t)
            error = abs(g - t) / math.ldexp(1.0, max(exponent, -125) - 24)
        if error > most:
            most, place = error, i
    return most, place


@njit(error_model="numpy")
def sign_bit(x: float) -> bool:
    """True if the sign is set, of a zero too."""
    return math.copysign(1.0, x) < 0.0


@njit(error_model="numpy")
def finite_error(g: float, h: float, rest: float, k: int) -> float:
    """The error of g from (h + rest) * 2**k, no zero, which may be out of range."""
    exponent = math.frexp(h)[1] + k
    if sign_bit(g) != sign_bit(h):
        return np.inf
    if exponent > 1025:
        return 0.0 if math.isinf(g) else np.inf
    if exponent < -1100:
        return abs(g) / 5e-324
    if exponent == 1025:  # beyond all numbers: as near as they are to infinity
        h, rest = math.copysign(math.ldexp(1.0, 1024 - k), h), 0.0
    elif abs(math.frexp(h)[0]) == 0.5 and h * rest < 0.0:
        exponent -= 1
    if math.isinf(g):
        g = math.copysign(math.ldexp(1.0, 1024 - k), g)
    else:
        g = math.ldexp(g, -k)
    unit = math.ldexp(1.0, max(min(exponent, 1024), -1021) - 53 - k)
    return abs((g - h) - rest) / unit


@njit(error_model="numpy")
def worst_pair(got: Any, high: Any, low: Any, scale: Any) -> Any:
    """The greatest error of float64 results, and where; the exact ones are pairs."""
    most, place = -1.0, 0
    for i in range(got.shape[0]):
        g, h, rest, k = got[i], high[i], low[i], scale[i]
        if h != h or g != g:
            error = 0.0 if h != h and g != g else np.inf
        elif h == 0.0 or math.isinf(h):
            error = (
                0.0 if g == h and (h != 0.0 or sign_bit(g) == sign_bit(h)) else np.inf
            )
        else:
            error = finite_error(g, h, rest, k)
        if error > most:
            most, place = error, i
    return most, place


def error_f64(name: str, got: float, *operands: float) -> float:
    """The error of one float64 result, by mpmath."""
    base = name.rpartition("_")[0]
    function = DEFINITIONS.get(base) or getattr(mpmath, base)
    # As many digits as reducing the greatest argument of a sine takes.
    large = base in ("sin", "cos", "tan") and abs(operands[0]) > 2.0**60
    with mpmath.workprec(1250 if large else 300):
        exact = function(*map(mpmath.mpf, operands))
        limit = mpmath.mpf(2) ** 1024
        have = min(max(mpmath.mpf(got), -limit), limit)
        want = min(max(exact, -limit), limit)
        _, exponent = mpmath.frexp(want)
        unit = mpmath.mpf(2) ** (max(exponent, -1021) - 53)
        return math.inf if math.isnan(got) else float(abs(have - want) / unit)
