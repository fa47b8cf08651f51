"""Kernels of complex numbers, where they are not NumPy's own. Serves: accuracy.complex

A number of two parts of 32 bits is computed with 64 where a formula loses digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.kernels.registry import kernel

WIDE = np.dtype(np.complex128)
# Nearer to zero than this, a logarithm of 1 + z is not taken of the sum.
NEAR = 0.5


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
    """x / y: where NumPy's formula gives two NaNs, what Annex G of the C standard has.

    >>> quotient(np.complex128(1 + 1j), np.complex128(complex("inf")))
    np.complex128(0j)
    """
    found = np.divide(x, y)
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
        np.asarray(np.expm1(a) * np.cos(b) - 2 * half * half),
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
    big = np.maximum(np.abs(x.real), np.abs(x.imag))
    unit = complex_(np.asarray(x.real / big), np.asarray(x.imag / big))
    return np.where(x == 0, x, unit / np.abs(unit))


def power(x: np.ndarray, y: np.ndarray) -> Any:
    """Power to a complex or an integer exponent."""
    exponent = y.astype(WIDE)
    base = x.astype(WIDE)
    found = np.power(base, exponent)
    none = (base == 0) & (exponent.real > 0)
    return np.where(none, 0, found).astype(x.dtype)
