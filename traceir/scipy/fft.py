"""Cosine transforms as `scipy.fft` has them.

Serves: face.axis, face.axis-repeated, face.choice, face.fft-axes, face.fft-length
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.dtypes import kind_of, part_dtype
from traceir.lax.checks.operands import Operand, as_array, complex_dtype, operand
from traceir.lax.checks.shapes import axes_in
from traceir.numpy.fft.transforms import (
    Axes,
    fft,
    ifft,
    transform_axes,
    transform_lengths,
)
from traceir.numpy.indexing.take_put import take
from traceir.numpy.manipulation.shapes import moveaxis

__all__ = ["dct", "dctn", "idct", "idctn"]

TYPES = (2, 3)
NORMS = (None, "backward", "ortho")


def dct(
    x: Operand,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
) -> Array:
    """The cosine transform along an axis, of the second type or the third.

    At `k` the second is twice the sum of `x[j] cos(pi k (2 j + 1) / (2 n))`, and the
    third its inverse, times `2 n`. With `n` the axis is cut, or padded with zeros, to
    this length first. With the norm "ortho" the two are orthogonal and undo each other.
    Parts of complex numbers are transformed each alone; the result is not narrower
    than float32.

    Raises ValueError (face.axis, face.fft-length), NotImplementedError (face.choice).

    >>> import traceir.numpy as jnp
    >>> dct(jnp.array([1.0, 1.0])), dct(jnp.array([1.0, 1.0]), norm="ortho").round(3)
    (Array([4., 0.], dtype=float32), Array([1.414, 0.   ], dtype=float32))
    """
    return _one("dct", x, type, n, axis, norm)


def idct(
    x: Operand,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
) -> Array:
    """The inverse of `dct` along an axis; arguments and errors are the same.

    >>> import traceir.numpy as jnp
    >>> idct(jnp.array([4.0, 0.0]))
    Array([1., 1.], dtype=float32)
    """
    return _one("idct", x, type, n, axis, norm)


def dctn(
    x: Operand,
    type: int = 2,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """`dct` along several axes: all, or as many of the last as `s` has lengths.

    Raises ValueError (face.axis-repeated, face.fft-axes) besides.

    >>> import traceir.numpy as jnp
    >>> dctn(jnp.ones((2, 2)))
    Array([[16.,  0.],
           [ 0.,  0.]], dtype=float32)
    """
    return _several("dctn", x, type, s, axes, norm)


def idctn(
    x: Operand,
    type: int = 2,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of `dctn`; arguments and errors are the same.

    >>> import traceir.numpy as jnp
    >>> idctn(jnp.array([[16.0, 0.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _several("idctn", x, type, s, axes, norm)


def _one(
    name: str, x: Operand, type: int, n: int | None, axis: int, norm: str | None
) -> Array:
    lengths = None if n is None else (n,)
    return _several(name, x, type, lengths, (axis,), norm)


def _several(
    name: str, x: Operand, type: int, s: Any, axes: Any, norm: str | None
) -> Array:
    """One transform after another, of parts of complex numbers each alone."""
    value = as_array(operand(name, x))
    for option, given, known in (("type", type, TYPES), ("norm", norm, NORMS)):
        if given not in known:
            got = f"{option}={given!r}, not one of {known}"
            raise rules.error("face.choice", got=got)
    lengths = None if s is None else transform_lengths(_sequence(s))
    along = None if axes is None else axes_in(axes, value.ndim)
    found = transform_axes(name, along, lengths, value.ndim)
    if not found:
        return value
    if lengths is not None:
        value = _resized(value, dict(zip(found, lengths, strict=True)))
    if kind_of(value.dtype) == "c":
        parts = (lax.real(value), lax.imag(value))
        return lax.complex(*(_along(name, p, type, found, norm) for p in parts))
    return _along(name, value, type, found, norm)


def _sequence(s: Any) -> Sequence[int]:
    return s if isinstance(s, Sequence) else (s,)


def _resized(x: Array, lengths: dict[int, int]) -> Array:
    """Axes cut, or padded with zeros."""
    ends = [lengths.get(d, m) - m for d, m in enumerate(x.shape)]
    return lax.pad(x, np.zeros((), x.dtype)[()], [(0, end, 0) for end in ends])


def _along(name: str, x: Array, type: int, axes: Axes, norm: str | None) -> Array:
    inverse = name.startswith("i")
    function = _second if (type == 2) != inverse else _third
    for axis in axes:
        rows = moveaxis(x, axis, -1)
        count = rows.shape[-1]
        if not count:
            raise rules.error("face.fft-length", got=f"{name} of no elements")
        rows = function(rows, norm == "ortho")
        if inverse and norm != "ortho":
            rows = rows / (2 * count)
        x = moveaxis(rows, -1, axis)
    return x


def _second(x: Array, ortho: bool) -> Array:
    """The second type along the last axis, by one Fourier transform of its length."""
    count = x.shape[-1]
    spectrum = fft(take(x, _order(count), -1))
    found = lax.real(spectrum * _turns(x, -1)) * 2
    return found * _weights(found, 2) if ortho else found


def _third(x: Array, ortho: bool) -> Array:
    """The third type along the last axis: the transpose of `_second`, but for factors.

    The first element counts once, the others twice.
    """
    count = x.shape[-1]
    if ortho:
        x = x * _weights(x, 1)
    turned = _turns(x, 1)
    turned[1:] *= 2
    found = lax.real(ifft(x * turned, norm="forward"))
    return take(found, np.argsort(_order(count)), -1)


def _order(count: int) -> np.ndarray:
    """Even places, and then odd ones backwards."""
    places = np.arange(count)
    return np.concatenate([places[::2], places[1::2][::-1]])


def _turns(x: Array, sign: int) -> np.ndarray:
    """Quarters of a turn, in as many steps as there are elements in a row."""
    count = x.shape[-1]
    turned = np.exp(sign * 0.5j * np.pi * np.arange(count) / count)
    return np.asarray(turned, complex_dtype(x.dtype))


def _weights(x: Array, first: int) -> np.ndarray:
    """The weights that make a transform's rows orthogonal; the first has another
    length.
    """
    count = x.shape[-1]
    found = np.full(count, 1 / np.sqrt(2 * count))
    found[0] = 1 / (first * np.sqrt(count))
    return found.astype(part_dtype(complex_dtype(x.dtype)))


def __getattr__(name: str) -> object:
    from traceir.lax.checks.attribute_hints import missing

    raise missing(name, __all__, __name__)


_publish(globals())
