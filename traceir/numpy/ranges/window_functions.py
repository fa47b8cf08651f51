"""Windows for signals, and the Bessel function of one. Serves: face.shape

Each window has `M` places, numbered `n` below, in the default floating dtype.
"""

from __future__ import annotations

import math
from operator import index

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    promoted_inexact,
    refuse_complex,
)
from traceir.numpy.elementwise.arithmetic import (
    abs,
    cos,
    divide,
    exp,
    maximum,
    minimum,
    multiply,
    sqrt,
    square,
    subtract,
)
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.logic import less
from traceir.tracing.trace import typeof

# Below this magnitude the power series is summed, above it the asymptotic one. The
# terms that are left out are below half a unit of double precision on either side.
_TURN = 30.0
_POWERS = 70
_INVERSE = 24


def _places(M: int) -> tuple[Array, int]:
    return lax.iota(default_dtype(float), max(0, index(M))), index(M)


def bartlett(M: int) -> Array:
    """A triangle from 0 to 1 and back: `1 - |2n + 1 - M| / (M - 1)`.

    Raises TracerIntegerConversionError (level.concretize.index) for a traced M.

    >>> bartlett(5)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    n, count = _places(M)
    if count <= 1:
        return _ones(n)
    away = abs(subtract(2.0 * n + 1.0, count))
    return subtract(1.0, divide(away, count - 1))


def _ones(n: Array) -> Array:
    return lax.full(n.shape, 1, n.dtype)


def _wave(n: Array, count: int, turns: int) -> Array:
    """A cosine that makes so many turns over the window."""
    return cos(divide(multiply(2 * turns * math.pi, n), count - 1))


def blackman(M: int) -> Array:
    """Two cosines: `0.42 - 0.5 cos(2 pi n / (M-1)) + 0.08 cos(4 pi n / (M-1))`.

    >>> blackman(3).round(3)
    Array([-0.,  1., -0.], dtype=float32)
    """
    n, count = _places(M)
    if count <= 1:
        return _ones(n)
    return subtract(0.42, 0.5 * _wave(n, count, 1)) + 0.08 * _wave(n, count, 2)


def hamming(M: int) -> Array:
    """A raised cosine that does not reach 0: `0.54 - 0.46 cos(2 pi n / (M-1))`.

    >>> hamming(3)
    Array([0.08000001, 1.        , 0.08000001], dtype=float32)
    """
    n, count = _places(M)
    if count <= 1:
        return _ones(n)
    return subtract(0.54, 0.46 * _wave(n, count, 1))


def hanning(M: int) -> Array:
    """A raised cosine: `0.5 (1 - cos(2 pi n / (M-1)))`.

    >>> hanning(3)
    Array([0., 1., 0.], dtype=float32)
    """
    n, count = _places(M)
    if count <= 1:
        return _ones(n)
    return 0.5 * subtract(1.0, _wave(n, count, 1))


def kaiser(M: int, beta: Operand) -> Array:
    """A window of `i0`: the more narrow, the greater `beta`, which is a scalar.

    >>> kaiser(3, 2.0).round(3)
    Array([0.439, 1.   , 0.439], dtype=float32)
    """
    n, count = _places(M)
    if count <= 1:
        return _ones(n)
    middle = 0.5 * (count - 1)
    bow = sqrt(subtract(1.0, square(divide(subtract(n, middle), middle))))
    return divide(i0(multiply(beta, bow)), i0(beta))


@composite
def i0(x: Operand) -> Array:
    """The modified Bessel function of the first kind of order 0; floating.

    Its power series is summed for small numbers, its asymptotic series for large ones
    (DLMF 10.25.2 and 10.40.1).

    >>> i0(1.0)
    Array(1.2660658, dtype=float32, weak_type=True)
    """
    refuse_complex("i0", x)
    (value,) = promoted_inexact("i0", x)
    aval = typeof(value)
    if aval.dtype.itemsize < 4:
        value = convert(value, np.dtype(np.float32), aval.weak_type)
    size = abs(value)
    found = where(less(size, _TURN), _near(minimum(size, _TURN)), _far(size))
    return as_array(convert(found, aval.dtype, aval.weak_type))


def _near(x: Array) -> Array:
    """The sum of `(x^2 / 4)^k / (k!)^2`, from the last term to the first."""
    quarter = square(x * 0.5)
    total = quarter * (1 / _POWERS**2) + 1.0
    for k in range(_POWERS - 1, 0, -1):
        total = total * (quarter * (1 / k**2)) + 1.0
    return total


def _far(x: Array) -> Array:
    """`e^x / sqrt(2 pi x)` times the sum of `((2k-1)!!)^2 / (k! (8x)^k)`."""
    inverse = divide(0.125, maximum(x, _TURN))
    total = inverse * ((2 * _INVERSE - 1) ** 2 / _INVERSE) + 1.0
    for k in range(_INVERSE - 1, 0, -1):
        total = total * (inverse * ((2 * k - 1) ** 2 / k)) + 1.0
    half = exp(x * 0.5)  # as a whole it might overflow before the result does
    return half * (sqrt(inverse * (4 / math.pi)) * total) * half
