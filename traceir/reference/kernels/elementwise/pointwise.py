"""Kernels of arithmetic, real functions, comparison and logic."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.reference.kernels.elementwise import complexes
from traceir.reference.kernels.registry import KERNELS, Kernel, kernel

# Primitives without params that are a NumPy function as it stands.
KERNELS.update(
    add=np.add,
    add_any=np.add,
    sub=np.subtract,
    mul=np.multiply,
    max=np.maximum,
    min=np.minimum,
    neg=np.negative,
    abs=np.abs,
    square=np.square,
    floor=np.floor,
    ceil=np.ceil,
    is_finite=np.isfinite,
    nextafter=np.nextafter,
    lt=np.less,
    le=np.less_equal,
    gt=np.greater,
    ge=np.greater_equal,
)
# NumPy's functions do not know dtypes of several words, its operators do.
KERNELS.update(eq=operator.eq, ne=operator.ne)
KERNELS["and"] = np.bitwise_and
KERNELS["or"] = np.bitwise_or
KERNELS["not"] = np.invert
KERNELS["xor"] = np.bitwise_xor


def _real(function: Callable[[Any], Any]) -> Kernel:
    """A real function; its param `accuracy` asks for nothing."""

    def run(x: np.ndarray, *, accuracy: None = None) -> Any:
        return function(x)

    return run


def _either(function: Callable[[Any], Any], other: Callable[[Any], Any]) -> Any:
    """A function of NumPy's, and another of complex numbers."""
    return lambda x: other(x) if x.dtype.kind == "c" else function(x)


REALS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": _either(np.expm1, complexes.expm1),
    "log": np.log,
    "log1p": _either(np.log1p, complexes.log1p),
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
}
KERNELS.update({name: _real(function) for name, function in REALS.items()})
KERNELS.update(
    asin=np.arcsin,
    acos=np.arccos,
    atan=np.arctan,
    atan2=np.arctan2,
    sinh=np.sinh,
    cosh=np.cosh,
    asinh=np.arcsinh,
    acosh=np.arccosh,
    atanh=np.arctanh,
)


@kernel("logistic")
def logistic(x: np.ndarray, *, accuracy: None = None) -> Any:
    """1 / (1 + exp(-x)), by the exponential that does not overflow."""
    if x.dtype.kind == "c":
        return complexes.logistic(x)
    wide = x if x.dtype.itemsize > 4 else x.astype(np.float64)
    part = np.exp(-np.abs(wide))
    return (np.where(wide < 0, part, 1) / (1 + part)).astype(x.dtype)


@kernel("rsqrt")
def rsqrt(x: np.ndarray, *, accuracy: None = None) -> Any:
    """The reciprocal of the square root."""
    if x.dtype.kind == "c":
        return complexes.rsqrt(x)
    return np.reciprocal(np.sqrt(x))


@kernel("div")
def div(x: np.ndarray, y: np.ndarray) -> Any:
    """Quotient; integers truncate towards zero, and by 0 give -1."""
    if x.dtype.kind == "f":
        return np.divide(x, y)
    if x.dtype.kind == "c":
        return complexes.quotient(x, y)
    even = np.subtract(x, np.fmod(x, y)) if x.dtype.kind == "i" else x
    quotient = np.floor_divide(even, y)
    return np.where(y == 0, np.invert(x.dtype.type(0)), quotient)


@kernel("rem")
def rem(x: np.ndarray, y: np.ndarray) -> Any:
    """Remainder with the sign of `x`; of integers by 0 it is `x`."""
    rest = np.fmod(x, y)
    return rest if x.dtype.kind == "f" else np.where(y == 0, x, rest)


@kernel("pow")
def pow_(x: np.ndarray, y: np.ndarray) -> Any:
    """Power of a floating base to a floating or an integer exponent."""
    if y.dtype.kind == "f":
        return np.power(x, y)
    if x.dtype.kind == "c":
        return complexes.power(x, y)
    # The parity of an exponent may be lost in floating point, so it is taken apart.
    size = np.power(np.abs(x).astype(np.float64), y.astype(np.float64))
    odd = np.bitwise_and(y, y.dtype.type(1)) != 0
    return np.where(np.signbit(x) & odd, -size, size).astype(x.dtype)


@kernel("sign")
def sign(x: np.ndarray) -> Any:
    """-1, 0 or 1; zeros keep their sign and NaN stays."""
    if x.dtype.kind == "c":
        return complexes.sign(x)
    found = np.sign(x)
    return np.copysign(found, x) if x.dtype.kind == "f" else found


@kernel("integer_pow")
def integer_pow(x: np.ndarray, *, y: int) -> Any:
    """Power to a fixed integer, by repeated squaring."""
    if y == 0:
        return np.ones_like(x)
    if y < 0:
        return div(np.ones_like(x), integer_pow(x, y=-y))
    result: Any = None
    while y:
        if y & 1:
            result = x if result is None else np.multiply(result, x)
        y >>= 1
        x = np.square(x) if y else x
    return result


@kernel("round")
def round_(x: np.ndarray, *, rounding_method: int) -> Any:
    """To a whole number; halves go away from zero (0) or to even (1)."""
    if rounding_method == 1:
        return np.rint(x)
    whole = np.trunc(x)
    up = (np.abs(x - whole) >= 0.5).astype(x.dtype)
    return whole + np.copysign(up, x)


@kernel("clamp")
def clamp(lower: np.ndarray, x: np.ndarray, upper: np.ndarray) -> Any:
    """`x`, but not below `lower` and then not above `upper`."""
    return np.minimum(np.maximum(x, lower), upper)


@kernel("select_n")
def select_n(which: np.ndarray, *cases: np.ndarray) -> Any:
    """The case that `which` numbers for each element, the last or first if beyond."""
    if len(cases) == 2:
        second = which if which.dtype.kind == "b" else which > 0
        return np.where(second, cases[1], cases[0])
    if which.dtype.kind == "b" or len(cases) == 1:
        return cases[0]
    number = np.clip(which, 0, len(cases) - 1).astype(np.intp)
    rows = np.broadcast_to(number, (1, *cases[0].shape))
    return np.take_along_axis(np.stack(cases), rows, 0)[0]
