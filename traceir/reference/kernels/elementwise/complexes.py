"""Kernels of complex numbers that are not NumPy's own. Serves: accuracy.complex

A number of two parts of 32 bits is computed with 64 where a formula loses digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.reference.kernels.registry import kernel

WIDE = np.dtype(np.complex128)
# Nearer to zero than this, a logarithm of 1 + z is not taken of the sum.
NEAR = 0.5
# Within these powers of 2, squares and their quotients are in a dtype's range.
MIDDLE = {"complex64": 30, "complex128": 250}


@kernel("real")
def real(x: np.ndarray) -> Any:
    """The real parts."""
    return np.real(x)


@kernel("imag")
def imag(x: np.ndarray) -> Any:
    """The imaginary parts."""
    return np.imag(x)


@kernel("complex")
def complex_(x: np.ndarray, y: np.ndarray) -> Any:
    """Numbers of two parts."""
    dtype = np.dtype(f"c{2 * x.dtype.itemsize}")
    found = np.empty(np.broadcast_shapes(np.shape(x), np.shape(y)), dtype)
    found.real, found.imag = x, y
    return found


@kernel("conj")
def conj(x: np.ndarray, *, input_dtype: np.dtype) -> Any:
    """The conjugates: of a real number, the complex number that it is."""
    if x.dtype.kind == "c":
        return np.conjugate(x)
    return complex_(x, np.zeros((), x.dtype))


def quotient(x: Any, y: Any) -> Any:
    """x / y: where NumPy's formula gives two NaNs, the result of Annex G of the C
    standard.

    >>> quotient(np.complex128(1 + 1j), np.complex128(complex("inf")))
    np.complex128(0j)
    """
    if _is_near(x) and _is_near(y):
        return np.divide(x, y)
    found = _ratio(x, y)
    lost = np.isnan(found.real) & np.isnan(found.imag)
    if not lost.any():
        return found
    x, y = np.broadcast_arrays(x, y)
    zero = lost & np.isfinite(x) & np.isinf(y)
    large = lost & np.isinf(x) & np.isfinite(y)
    a, b = np.where(zero, x, _boxed(x)), np.where(zero, _boxed(y), y)
    top = a * np.conjugate(b)
    scale = np.where(zero, x.real.dtype.type(0), x.real.dtype.type(np.inf))
    mended = complex_(np.asarray(scale * top.real), np.asarray(scale * top.imag))
    return np.where(zero | large, mended, found)


def _size(x: Any) -> Any:
    """The larger part without its sign."""
    return np.maximum(np.abs(x.real), np.abs(x.imag))


def _is_near(x: Any) -> bool:
    """True if all numbers are finite, and near 1 rather than the ends of the range."""
    size = _size(x)
    far = 2.0 ** MIDDLE[x.dtype.name]
    return bool(size.size and size.max() < far and size.min() > 1 / far)


def _ratio(x: Any, y: Any) -> Any:
    """x / y by NumPy's formula, far from 1 of numbers that are brought near."""
    found = np.divide(x, y)
    up, down = _power(x), _power(y)
    far = np.maximum(np.abs(up), np.abs(down)) > MIDDLE[found.dtype.name]
    if not far.any():
        return found
    near = np.divide(_times_power(x, -up), _times_power(y, -down))
    return np.where(far, _times_power(near, up - down), found)


def _power(x: Any) -> Any:
    """The power of 2 that is next above both parts; 0 for zeros and infinities."""
    size = _size(x)
    return np.frexp(np.where(np.isfinite(size), size, 1))[1]


def _times_power(x: Any, power: Any) -> Any:
    """A number times a power of 2."""
    return complex_(np.ldexp(x.real, power), np.ldexp(x.imag, power))


def _boxed(x: np.ndarray) -> np.ndarray:
    """1 for infinite parts and 0 for others, with their signs."""
    parts = [np.copysign(np.isinf(p).astype(p.dtype), p) for p in (x.real, x.imag)]
    return np.asarray(complex_(*map(np.asarray, parts)))


def expm1(x: np.ndarray) -> Any:
    """exp(x) - 1."""
    z = x.astype(WIDE)
    a, b = z.real, z.imag
    half = np.sin(b / 2)
    near = complex_(
        # Of a zero the real part is 0, whatever its sign.
        np.asarray(np.expm1(a) * np.cos(b) - 2 * half * half + 0.0),
        np.asarray(np.exp(a) * np.sin(b)),
    )
    return np.where(np.abs(a) < 1, near, np.exp(z) - 1).astype(x.dtype)


def log1p(x: np.ndarray) -> Any:
    """log(1 + x)."""
    z = x.astype(WIDE)
    a, b = z.real, z.imag
    real = np.log1p(a * (2 + a) + b * b) / 2
    near = complex_(np.asarray(real), np.asarray(np.arctan2(b, 1 + a)))
    small = np.maximum(np.abs(a), np.abs(b)) < NEAR
    far = np.log(complex_(np.asarray(1 + a), np.asarray(b)))
    return np.where(small, near, far).astype(x.dtype)


def rsqrt(x: np.ndarray) -> Any:
    """1 / sqrt(x)."""
    return quotient(WIDE.type(1), np.sqrt(x.astype(WIDE))).astype(x.dtype)


def logistic(x: np.ndarray) -> Any:
    """1 / (1 + exp(-x))."""
    return quotient(WIDE.type(1), 1 + np.exp(-x.astype(WIDE))).astype(x.dtype)


def sign(x: np.ndarray) -> Any:
    """The number on the unit circle that lies in the same direction; zero of zero."""
    big = _size(x)
    a, b = x.real / big, x.imag / big
    size = np.hypot(a, b)
    return np.where(x == 0, x, complex_(np.asarray(a / size), np.asarray(b / size)))


def power(x: np.ndarray, y: np.ndarray) -> Any:
    """Power to a complex or an integer exponent."""
    exponent = y.astype(WIDE)
    base = x.astype(WIDE)
    found = np.power(base, exponent)
    none = (base == 0) & (exponent.real > 0)
    return np.where(none, 0, found).astype(x.dtype)
