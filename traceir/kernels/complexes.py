"""Kernels of the parts of complex numbers. Serves: real, imag, complex, conj"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.kernels.registry import kernel


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
    """The conjugates: of a real number, the complex number with -0 as imaginary part."""
    if x.dtype.kind == "c":
        return np.conjugate(x)
    return complex_(x, x.dtype.type(0))
