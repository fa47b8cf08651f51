"""How far a function is from the truth, in units in the last place.

A unit is that of the exact result's binade; infinity stands for the power of two after
the greatest number. A wrong NaN, or a zero of the wrong sign, is an infinite error.
"""

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
from numba.extending import intrinsic
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


def truth(name: str, dtype: Any) -> Callable[..., np.ndarray]:
    """NumPy's function, computed in a wider dtype."""
    base = name.rpartition("_")[0]
    function = np.power if base == "pow" else getattr(np, base)

    def compute(*operands: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found: np.ndarray = function(*(x.astype(dtype) for x in operands))
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


def long_errors(name: str, operands: tuple[np.ndarray, ...]) -> np.ndarray:
    """The errors at some operands, by NumPy's longdouble."""
    got = values(name, *operands)
    info = np.finfo(got.dtype)
    limit = np.longdouble(2) ** int(info.maxexp)
    t = truth(name, np.longdouble)(*operands)
    nan = np.isnan(t) | np.isnan(got)
    with np.errstate(all="ignore"):
        want = np.clip(t, -limit, limit)
        have = np.clip(got.astype(np.longdouble), -limit, limit)
        exponent = np.maximum(np.frexp(want)[1], info.minexp + 1) - info.nmant - 1
        error = np.ldexp(np.abs(have - want), -exponent)
    error[nan & ~(np.isnan(t) & np.isnan(got))] = np.inf
    error[nan & np.isnan(t) & np.isnan(got)] = 0.0
    signs = np.signbit(t) != np.signbit(got)
    error[~nan & (t == 0) & ((got != 0) | signs)] = np.inf
    return error.astype(np.float64)


def error_f64(name: str, got: float, *operands: float) -> float:
    """The error of one float64 result, by mpmath."""
    base = name.rpartition("_")[0]
    function = mpmath.power if base == "pow" else getattr(mpmath, base)
    # As many digits as reducing the greatest argument of a sine takes.
    large = base in ("sin", "cos") and abs(operands[0]) > 2.0**60
    with mpmath.workprec(1250 if large else 300):
        exact = function(*map(mpmath.mpf, operands))
        limit = mpmath.mpf(2) ** 1024
        have = min(max(mpmath.mpf(got), -limit), limit)
        want = min(max(exact, -limit), limit)
        _, exponent = mpmath.frexp(want)
        unit = mpmath.mpf(2) ** (max(exponent, -1021) - 53)
        return math.inf if math.isnan(got) else float(abs(have - want) / unit)


# -- operands -------------------------------------------------------------------------


def samples(name: str, count: int, seed: int) -> tuple[np.ndarray, ...]:
    """Random operands in the function's domain, from strata where errors differ."""
    rng = np.random.default_rng(seed)
    base, _, short = name.rpartition("_")
    dtype = np.float32 if short == "f32" else np.float64
    if base == "pow":
        x, y = _powers(rng, count, dtype)
        return x, y
    part = count // 4
    strata = [
        rng.uniform(*RANGES[base], part).astype(dtype),
        rng.uniform(*RANGES[base], part).astype(dtype) / dtype(64),
        any_number(rng, part, dtype),
    ]
    near = rng.uniform(-1, 1, count - 3 * part) * 2.0 ** -rng.uniform(
        0, 52, count - 3 * part
    )
    strata.append((near + (base == "log")).astype(dtype))
    x = np.concatenate(strata)
    return (
        np.abs(x) if base == "log" else np.where(base == "log1p" and x <= -1, -x, x),
    )


RANGES = {
    "exp": (-745.0, 710.0),
    "log": (0.0, 4.0),
    "sin": (-1000.0, 1000.0),
    "cos": (-1000.0, 1000.0),
    "tanh": (-20.0, 20.0),
    "log1p": (-1.0, 8.0),
    "expm1": (-40.0, 100.0),
}


def any_number(rng: np.random.Generator, count: int, dtype: Any) -> np.ndarray:
    """Finite numbers with random bits."""
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    top = int(np.iinfo(unsigned).max)
    x = rng.integers(0, top, count, unsigned, endpoint=True).view(dtype)
    return np.where(np.isfinite(x), x, dtype(1))


def _powers(
    rng: np.random.Generator, count: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Bases of all sizes, exponents for which the result is a number."""
    most = 88.0 if dtype == np.float32 else 709.0
    size = rng.choice([1e-6, 1e-2, 1.0, most], count)
    x = np.exp(rng.uniform(-1, 1, count) * size).astype(dtype)
    with np.errstate(all="ignore"):
        y = (rng.uniform(-1.04, 1, count) * most / np.log(x)).astype(dtype)
    y = np.where(np.isfinite(y), y, dtype(2))
    whole = rng.random(count) < 0.1
    return np.where(whole, -x, x), np.where(whole, np.rint(y), y)
