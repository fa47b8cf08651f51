"""Fourier transforms, their frequencies and shifts: `traceir.numpy.fft`.

Serves: face.axis, face.fft-length, face.fft-axes

Takes arrays, gives complex arrays, or real ones. Start reading at `transforms.fft`.

- `transforms`: Fourier transforms of NumPy's names

>>> import traceir.numpy as jnp
>>> jnp.fft.fft(jnp.array([1.0, 0.0]))
Array([1.+0.j, 1.+0.j], dtype=complex64)
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.arrays.devices import check_device
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    inexact,
    is_scalar,
    operand,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_in
from traceir.numpy.elementwise.arithmetic import divide, multiply
from traceir.numpy.fft.transforms import (
    fft,
    fft2,
    fftn,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)
from traceir.numpy.manipulation.rearrange import roll

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(f"module 'traceir.numpy.fft' has no attribute {name!r}")
    from traceir.lax.checks.attribute_hints import missing

    raise missing(f"fft.{name}", __all__)


def fftfreq(
    n: int, d: Operand = 1.0, *, dtype: DTypeLike = None, device: Any = None
) -> Array:
    """The frequencies of a transform of `n` samples, `d` apart: 0, 1, …, -1 over n d.

    There are none of no samples. Raises TypeError (face.dtype).

    >>> fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    count = index(n)
    place = _places(count, device)
    turned = lax.select(place < (count + 1) // 2, place, place - count)
    wanted = dtype_of(float if dtype is None else dtype, "fftfreq")
    return _over(turned, count, d, wanted)


def rfftfreq(
    n: int, d: Operand = 1.0, *, dtype: DTypeLike = None, device: Any = None
) -> Array:
    """The frequencies that are not negative, and the greatest: 0, 1, …, n/2 over n d.

    Raises TypeError (face.dtype).

    >>> rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    count = index(n)
    wanted = dtype_of(float if dtype is None else dtype, "rfftfreq")
    places = _places(count // 2 + 1, device, wanted)
    return _over(places, count, d, inexact(wanted))


def _places(count: int, device: Any, dtype: np.dtype | None = None) -> Array:
    check_device(device)
    return lax.iota(dtype or default_dtype(int), max(count, 0))


def _over(places: Array, count: int, d: Operand, dtype: np.dtype) -> Array:
    place = convert(places, dtype)
    if is_scalar(d):
        apart = typed(count * d, dtype, False)
        return as_array(convert(divide(place, apart), dtype))
    apart = convert(operand("fftfreq", d, 1), dtype)
    return divide(place, multiply(apart, count))


def fftshift(x: Operand, axes: int | Sequence[int] | None = None) -> Array:
    """Elements turned along axes, by default all, so that those of frequency 0 are in
    the middle.

    Raises ValueError (face.axis).

    >>> fftshift(fftfreq(4))
    Array([-0.5 , -0.25,  0.  ,  0.25], dtype=float32)
    """
    return _turned("fftshift", x, axes, 1)


def ifftshift(x: Operand, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of `fftshift`: elements in the middle become the first.

    Raises ValueError (face.axis).

    >>> import traceir.numpy as jnp
    >>> ifftshift(jnp.arange(5))
    Array([2, 3, 4, 0, 1], dtype=int32)
    """
    return _turned("ifftshift", x, axes, -1)


def _turned(
    name: str, x: Operand, axes: int | Sequence[int] | None, sign: int
) -> Array:
    shape = shape_of(operand(name, x))
    found = axes_in(axes, len(shape))
    by = tuple(shape[d] // 2 if sign > 0 else -(shape[d] // 2) for d in found)
    return roll(x, by, found)


_publish(globals())
