"""Fourier transforms of NumPy's names. Serves: face.fft-length, face.fft-axes

Each is a primitive transform, of up to three dimensions at once, between a cut or a pad
to the lengths and a factor that its norm has.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    complex_dtype,
    constant,
    converted,
    inexact,
    like,
    operand,
)
from traceir.lax.checks.shapes import axis_in
from traceir.lax.structural.fourier import FftType
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.assembly.padding import pad

FFT, IFFT, RFFT, IRFFT = FftType
Axes = tuple[int, ...]
Lengths = Sequence[int] | None
NORMS = ("backward", "ortho", "forward")
# So many dimensions are transformed at once.
TOGETHER = 3


def fft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The Fourier transform along an axis: for each frequency a sum, complex.

    With `n` the axis is cut, or padded with zeros, to this length first. The norm says
    what the transform and its inverse are divided by: "backward" the inverse by n,
    "forward" the transform by n, "ortho" both by the root of n.

    Raises ValueError (face.axis, face.fft-length, face.choice).

    >>> import traceir.numpy as jnp
    >>> fft(jnp.array([1.0, 2.0, 0.0, 0.0]))
    Array([ 3.+0.j,  1.-2.j, -1.+0.j,  1.+2.j], dtype=complex64)
    """
    return _one("fft", FFT, a, n, axis, norm)


def ifft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of `fft` along an axis; arguments and errors are the same.

    >>> import traceir.numpy as jnp
    >>> ifft(jnp.array([4.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _one("ifft", IFFT, a, n, axis, norm)


def rfft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The transform of real elements: its frequencies from 0 to n // 2.

    Arguments are those of `fft`; raises ValueError (fft.real), too, for complex
    elements.

    >>> import traceir.numpy as jnp
    >>> rfft(jnp.array([1.0, 2.0, 0.0, 0.0]))
    Array([ 3.+0.j,  1.-2.j, -1.+0.j], dtype=complex64)
    """
    return _one("rfft", RFFT, a, n, axis, norm)


def irfft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of `rfft`: `n` real elements, by default an even number.

    Arguments and errors are those of `fft`.

    >>> import traceir.numpy as jnp
    >>> irfft(jnp.array([3, 1 - 2j, -1]))
    Array([1., 2., 0., 0.], dtype=float32)
    """
    return _one("irfft", IRFFT, a, n, axis, norm)


def hfft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The transform, which is real, of elements whose second half mirrors the first.

    Only the first half is given. Arguments and errors are those of `fft`.

    >>> import traceir.numpy as jnp
    >>> hfft(jnp.array([1.0, 2.0, 3.0]))
    Array([ 8., -2.,  0., -2.], dtype=float32)
    """
    x = as_array(operand("hfft", a))
    mirrored = lax.conj(x) if kind_of(x.dtype) == "c" else x
    found = _one("hfft", IRFFT, mirrored, n, axis, norm)
    length = found.shape[axis_in(axis, found.ndim)]
    return lax.mul(found, like(length, found))


def ihfft(
    a: Operand, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of `hfft`: the first half of the elements of which real ones are a
    transform.

    Arguments and errors are those of `rfft`.

    >>> import traceir.numpy as jnp
    >>> ihfft(jnp.array([8.0, -2.0, 0.0, -2.0]))
    Array([1.+0.j, 2.+0.j, 3.+0.j], dtype=complex64)
    """
    x = asarray(a)
    found = lax.conj(_one("ihfft", RFFT, x, n, axis, norm))
    length = x.shape[axis_in(axis, x.ndim)] if n is None else index(n)
    return lax.mul(found, like(1 / length, found))


def fftn(
    a: Operand,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The transform along several axes: all, or as many of the last as `s` has lengths.

    Raises ValueError (face.axis, face.axis-repeated, face.fft-axes, face.fft-length,
    face.choice).

    >>> import traceir.numpy as jnp
    >>> fftn(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
    Array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _several("fftn", FFT, a, s, axes, norm)


def ifftn(
    a: Operand,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of `fftn`; arguments and errors are the same.

    >>> import traceir.numpy as jnp
    >>> ifftn(jnp.array([[4.0, 0.0], [0.0, 0.0]]))
    Array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return _several("ifftn", IFFT, a, s, axes, norm)


def rfftn(
    a: Operand,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The transform of real elements along several axes, of the last by `rfft`.

    Arguments are those of `fftn`; raises ValueError (fft.real), too.

    >>> import traceir.numpy as jnp
    >>> rfftn(jnp.ones((2, 3)))
    Array([[6.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _several("rfftn", RFFT, a, s, axes, norm)


def irfftn(
    a: Operand,
    s: Lengths = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of `rfftn`: real; the last axis is by default of even length.

    Arguments and errors are those of `fftn`.

    >>> import traceir.numpy as jnp
    >>> irfftn(jnp.array([[4.0, 0.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _several("irfftn", IRFFT, a, s, axes, norm)


def fft2(
    a: Operand,
    s: Lengths = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Array:
    """`fftn` along two axes.

    >>> import traceir.numpy as jnp
    >>> fft2(jnp.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _several("fft2", FFT, a, s, _two("fft2", axes), norm)


def ifft2(
    a: Operand,
    s: Lengths = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Array:
    """`ifftn` along two axes.

    >>> import traceir.numpy as jnp
    >>> ifft2(jnp.array([[4.0, 0.0], [0.0, 0.0]]))
    Array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return _several("ifft2", IFFT, a, s, _two("ifft2", axes), norm)


def rfft2(
    a: Operand,
    s: Lengths = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Array:
    """`rfftn` along two axes.

    >>> import traceir.numpy as jnp
    >>> rfft2(jnp.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _several("rfft2", RFFT, a, s, _two("rfft2", axes), norm)


def irfft2(
    a: Operand,
    s: Lengths = None,
    axes: Sequence[int] = (-2, -1),
    norm: str | None = None,
) -> Array:
    """`irfftn` along two axes.

    >>> import traceir.numpy as jnp
    >>> irfft2(jnp.array([[4.0, 0.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _several("irfft2", IRFFT, a, s, _two("irfft2", axes), norm)


def _two(name: str, axes: Sequence[int]) -> Sequence[int]:
    if len(axes) != 2:
        got = f"{name} along {len(axes)} axes"
        raise rules.error("face.fft-axes", got=got, hint="give two axes")
    return axes


def _one(
    name: str,
    kind: FftType,
    a: Operand,
    n: int | None,
    axis: int | None,
    norm: str | None,
) -> Array:
    # As in JAX, None is all axes, or with a length the last one.
    axes = None if axis is None else (axis,)
    return _several(name, kind, a, None if n is None else (n,), axes, norm)


def _several(
    name: str,
    kind: FftType,
    a: Operand,
    s: Lengths,
    axes: Sequence[int] | None,
    norm: str | None,
) -> Array:
    """A transform along axes, which are made the last ones and put back."""
    x = as_array(operand(name, a))
    if norm not in (None, *NORMS):
        hint = f"one of {', '.join(NORMS)}"
        raise rules.error("face.choice", got=f"norm={norm!r}", hint=hint)
    lengths = None if s is None else transform_lengths(s)
    found = transform_axes(name, axes, lengths, x.ndim)
    if kind is RFFT and kind_of(x.dtype) == "c":
        raise rules.error("fft.real", got=f"{name} of {x.dtype.name}")
    others = tuple(d for d in range(x.ndim) if d not in found)
    x = _ordered(x, others + found)
    if lengths is not None:
        x = _resized(x, lengths, kind)
    elif kind is IRFFT and found:
        lengths = (*x.shape[len(others) : -1], max(0, 2 * (x.shape[-1] - 1)))
    else:
        lengths = x.shape[len(others) :]
    result = _scaled(name, _transformed(x, kind, lengths), lengths, norm)
    return _ordered(result, tuple(int(d) for d in np.argsort(others + found)))


def transform_lengths(s: Sequence[int]) -> Axes:
    """The lengths asked for; ValueError (face.fft-length) if one is not positive."""
    lengths = tuple(map(index, s))
    if any(n < 1 for n in lengths):
        raise rules.error("face.fft-length", got=f"lengths {lengths}")
    return lengths


def transform_axes(name: str, axes: Any, lengths: Axes | None, rank: int) -> Axes:
    """The axes of a transform, counted from 0."""
    if axes is None:
        count = rank if lengths is None else len(lengths)
        if count > rank:
            got = f"{name} with {count} lengths of {rank} dimensions"
            raise rules.error("face.fft-axes", got=got)
        return tuple(range(rank - count, rank))
    found = tuple(axis_in(axis, rank) for axis in axes)
    if len(set(found)) < len(found):
        raise rules.error("face.axis-repeated", got=f"{name} along {tuple(axes)}")
    if lengths is not None and len(lengths) != len(found):
        got = f"{name} with {len(lengths)} lengths along {len(found)} axes"
        raise rules.error("face.fft-axes", got=got)
    return found


def _ordered(x: Array, order: Axes) -> Array:
    return x if order == tuple(range(len(order))) else lax.transpose(x, order)


def _resized(x: Array, lengths: Axes, kind: FftType) -> Array:
    """The last dimensions cut, or padded with zeros."""
    if kind is IRFFT:
        lengths = (*lengths[:-1], lengths[-1] // 2 + 1)
    lead = x.shape[: x.ndim - len(lengths)]
    ends = lead + tuple(map(min, x.shape[len(lead) :], lengths))
    if ends != x.shape:
        x = lax.slice(x, (0,) * x.ndim, ends)
    missing = (n - m for n, m in zip(lead + lengths, ends, strict=True))
    return pad(x, [(0, n) for n in missing])


def _transformed(x: Array, kind: FftType, lengths: Axes) -> Array:
    """The transform of the last dimensions, in blocks if there are many."""
    count = len(lengths)
    if not count:  # of no axis, but as floating or as complex as of one
        dtype = inexact(x.dtype) if kind is RFFT else complex_dtype(x.dtype)
        return converted(x, dtype, False)
    if count <= TOGETHER:
        return lax.fft(x, kind, lengths)
    block = TOGETHER if count > TOGETHER + 1 else 2
    lead = tuple(range(x.ndim - count))
    kept = tuple(range(x.ndim - count, x.ndim - block))
    last = tuple(range(x.ndim - block, x.ndim))
    there = lead + last + kept
    back = tuple(int(d) for d in np.argsort(there))
    if kind in (FFT, RFFT):
        x = lax.transpose(lax.fft(x, kind, lengths[-block:]), there)
        return lax.transpose(_transformed(x, FFT, lengths[:-block]), back)
    x = _transformed(lax.transpose(x, there), IFFT, lengths[:-block])
    return lax.fft(lax.transpose(x, back), kind, lengths[-block:])


def _scaled(name: str, x: Array, lengths: Axes, norm: str | None) -> Array:
    """A result with the factor that its norm has besides the primitive's own."""
    if norm in (None, "backward") or not lengths:
        return x
    points = constant(np.array(lengths, x.dtype))
    size = lax.reduce_prod(points, (0,))
    if norm == "ortho":
        size = lax.sqrt(size)
    factor = size if name.startswith("i") else lax.div(like(1, size), size)
    return lax.mul(x, factor)
