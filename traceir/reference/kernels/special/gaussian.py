"""Kernels of the error function, its complement and its inverse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from traceir.reference.kernels.registry import kernel

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


# erf_inv(x) / x in float32, at w = -log(1 - x**2), by Mike Giles, "Approximating the
# erfinv function" (2010): polynomials in w - 2.5, and in sqrt(w) - 3 from w = 5 on.
_NEAR, _FAR = (2.5, 5.0), 3.0
_GILES = np.array(
    [
        [2.81022636e-08, -0.000200214257],
        [3.43273939e-07, 0.000100950558],
        [-3.5233877e-06, 0.00134934322],
        [-4.39150654e-06, -0.00367342844],
        [0.00021858087, 0.00573950773],
        [-0.00125372503, -0.0076224613],
        [-0.00417768164, 0.00943887047],
        [0.246640727, 1.00167406],
        [1.50140941, 2.83297682],
    ],
    "float32",
)
# Below it the square may be rounded, as the algorithm has it, at a cost of half a unit.
_ROUNDED = 2.0


@kernel("erf_inv")
def erf_inv(x: np.ndarray) -> Any:
    """The inverse of the error function."""
    if x.dtype == np.float32:
        return _erf_inv32(np.asarray(x))
    # SciPy's has +0 for -0.
    return np.copysign(_special("erfinv", x), x).astype(x.dtype)


def _erf_inv32(x: np.ndarray) -> np.ndarray:
    """The inverse by the polynomials that normal numbers of float32 are usually made
    with.
    """
    wide = x.astype("float64")
    exact = -np.log1p(-wide * wide)
    w = np.where(exact < _ROUNDED, -np.log1p(-(x * x)), exact.astype("float32"))
    near = exact < _NEAR[1]
    v = np.where(near, w - np.float32(_NEAR[0]), np.sqrt(w) - np.float32(_FAR))
    p = np.where(near, *_GILES[0])
    for row in _GILES[1:]:
        # Rounded once, as by a fused multiplication and addition.
        p = (p.astype("float64") * v + np.where(near, *row)).astype("float32")
    edge = np.abs(x) == 1
    found: np.ndarray = np.where(edge, x * np.float32(np.inf), p * x)
    return found
