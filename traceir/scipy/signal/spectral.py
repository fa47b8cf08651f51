"""Spectral estimates: `stft`, `istft`, `csd`, `welch`.

Serves: face.choice, face.least-rank, face.axis, face.segments
"""

from __future__ import annotations

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of, part_dtype
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    complex_dtype,
    constant,
    convert,
    inexact,
    joined,
    operands,
    refuse_complex,
)
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.arrays.creation import zeros
from traceir.numpy.elementwise.arithmetic import abs as _abs
from traceir.numpy.elementwise.arithmetic import divide, multiply
from traceir.numpy.elementwise.composites import where
from traceir.numpy.fft.transforms import ifft, irfft
from traceir.numpy.manipulation.shapes import moveaxis
from traceir.numpy.reductions.mean_var import mean
from traceir.numpy.reductions.quantiles import median
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.scipy.signal.segments import (
    BOUNDARIES,
    Detrend,
    Segments,
    WindowLike,
    analysis_segments,
    extended,
    frequencies,
    lengthened,
    onesided,
    overlaid,
    real_like,
    spectra_of,
    synthesis_segments,
)
from traceir.scipy.signal.trends import check_choice

# From which sum of squares on there is something that a window let through.
LEAST = 1e-10


def stft(
    x: Operand,
    fs: Operand = 1.0,
    window: WindowLike = "hann",
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """The spectra of overlapping segments of a signal: its short-time transform.

    Gives frequencies, times and spectra, whose frequencies are along `axis`, the times
    last. A segment has `nperseg` elements, of which it shares `noverlap` (by default
    half) with the next, and is multiplied by the `window`: a name, a tuple of a name
    and its parameters, or an array. `detrend` is as in `scipy.signal.detrend`, or a
    function of segments. The signal goes on for half a segment at its ends ("zeros",
    "constant", "even", "odd" or None), and with zeros to a whole segment if `padded`.
    Of real signals only frequencies from 0 on are there, if `return_onesided`.

    Raises ValueError (face.choice, face.segments, face.axis), TypeError
    (face.argument, face.complex).

    >>> import traceir.numpy as jnp
    >>> f, t, z = stft(jnp.array([1.0, 2.0, 3.0, 2.0]), nperseg=2, window="boxcar")
    >>> z.real
    Array([[ 0.5,  1.5,  2.5,  2.5,  1. ],
           [-0.5, -0.5, -0.5,  0.5,  1. ]], dtype=float32)
    """
    check_choice("boundary", boundary, (*BOUNDARIES, None))
    (signal,), rate = _signals("stft", fs, x)
    at = axis_in(axis, signal.ndim)
    if not signal.size:
        parts, nothing = _nothing(signal)
        return parts, parts, nothing
    rows = moveaxis(signal, at, -1)
    cut = analysis_segments(rows, window, nperseg, noverlap, nfft)
    rows = extended(rows, cut, boundary, padded)
    sided = onesided(return_onesided, rows)
    spectra = spectra_of(rows, cut, detrend, sided) / _abs(_sum(cut.window))
    first = cut.length / 2 if boundary is None else 0.0
    middles = first + cut.step * np.arange(spectra.shape[-2])
    times = divide(real_like(constant(middles), spectra), rate)
    shown = moveaxis(moveaxis(spectra, -2, -1), -2, at)
    return frequencies(cut.transform, rate, sided, spectra), times, shown


def istft(
    Zxx: Operand,
    fs: Operand = 1.0,
    window: WindowLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """The signal of which these are the spectra of `stft`, and its times.

    Segments are multiplied by the window, added, and divided by the sum of its squares.
    With `boundary` half a segment is cut off at both ends. Arguments are those that
    `stft` was given; the result is real if the spectra are one-sided. Raises ValueError
    (face.choice, face.segments, face.axis, face.least-rank), TypeError (face.argument,
    face.complex).

    >>> import traceir.numpy as jnp
    >>> f, t, z = stft(jnp.array([1.0, 2.0, 3.0, 2.0]), nperseg=2)
    >>> istft(z)[1]
    Array([1., 2., 3., 2.], dtype=float32)
    """
    (spectra,), rate = _signals("istft", fs, Zxx)
    spectra = as_array(convert(spectra, complex_dtype(spectra.dtype)))
    if spectra.ndim < 2:
        got = f"spectra of {spectra.ndim} dimensions in istft, which needs 2"
        raise rules.error("face.least-rank", got=got)
    last, other = axis_in(time_axis, spectra.ndim), axis_in(freq_axis, spectra.ndim)
    if last == other:
        got = f"{time_axis=} and {freq_axis=}"
        raise rules.error("face.choice", got=got, hint="name two axes")
    rows = moveaxis(spectra, (last, other), (-2, -1))
    if not rows.shape[-2]:
        raise rules.error("face.segments", got="no segment in istft")
    sided = bool(input_onesided)
    cut = synthesis_segments(rows, window, nperseg, noverlap, nfft, sided)
    back = irfft if sided else ifft
    pieces = back(rows, cut.transform)[..., : cut.length]
    scaled = multiply(pieces, cut.window) * _sum(cut.window)
    shape = rows.shape[-2], cut.length
    squares = lax.broadcast_in_dim(lax.square(cut.window), shape, (1,))
    total, norm = overlaid(scaled, cut), overlaid(squares, cut)
    if boundary:
        kept = slice(cut.length // 2, norm.size - cut.length // 2)
        total, norm = total[..., kept], norm[kept]
    found = total / where(norm > LEAST, norm, 1)
    times = divide(real_like(constant(np.arange(found.shape[-1])), found), rate)
    return times, moveaxis(found, -1, last - (other < last))


def csd(
    x: Operand,
    y: Operand,
    fs: Operand = 1.0,
    window: WindowLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Frequencies, and the cross spectral density of two signals, by Welch's method.

    It is the mean, or the "median", over segments of the conjugate of the spectrum of
    `x` times that of `y`: of `scaling` "density", or "spectrum". If `y` is None, it is
    `x`, and the density is real. Segments have at most 256 elements by default, and no
    more than `x`; other arguments are those of `stft`. The shorter signal goes on with
    zeros.

    Raises ValueError (face.choice, face.segments, face.axis, face.least-rank,
    face.broadcast), TypeError (face.argument, face.complex).

    >>> import traceir.numpy as jnp
    >>> x = jnp.array([1.0, 2.0, 3.0, 2.0])
    >>> csd(x, 2 * x, nperseg=2, window="boxcar", detrend=False)[1].real
    Array([19.666668,  1.      ], dtype=float32)
    """
    check_choice("scaling", scaling, ("density", "spectrum"))
    check_choice("average", average, ("mean", "median"))
    signals, rate = _signals("csd", fs, x, *(() if y is None else (y,)))
    at = axis_in(axis, signals[0].ndim)
    rows = [moveaxis(signal, at, -1) for signal in _of_one_rank(signals)]
    stack = lax.broadcast_shapes(*(row.shape[:-1] for row in rows))
    if not all(row.size for row in rows):
        extent = min(row.shape[-1] for row in rows)
        empty = moveaxis(zeros((*stack, extent), rows[0].dtype), -1, at)
        parts, nothing = _nothing(empty)
        return parts, lax.real(nothing) if y is None else nothing
    cut = analysis_segments(rows[0], window, nperseg, noverlap, nfft)
    longest = max(row.shape[-1] for row in rows)
    rows = [lengthened(row, longest - row.shape[-1]) for row in rows]
    sided = onesided(return_onesided, rows[0])
    spectra = [spectra_of(row, cut, detrend, sided) for row in rows]
    power = multiply(lax.conj(spectra[0]), spectra[-1])
    power = _averaged(power if y is not None else lax.real(power), average)
    density = power / _power(cut.window, rate, scaling)
    density = multiply(density, _sides(cut, sided, density))
    found = moveaxis(density, -1, at)
    return frequencies(cut.transform, rate, sided, found), found


def welch(
    x: Operand,
    fs: Operand = 1.0,
    window: WindowLike = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Detrend = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Frequencies, and the power spectral density of a signal: `csd` with itself.

    Arguments and errors are those of `csd`.

    >>> import traceir.numpy as jnp
    >>> welch(jnp.array([1.0, 2.0, 3.0, 2.0]), nperseg=2)[1]
    Array([0.25, 0.25], dtype=float32)
    """
    segments = window, nperseg, noverlap, nfft
    return csd(x, None, fs, *segments, detrend, return_onesided, scaling, axis, average)


def _signals(name: str, fs: Operand, *signals: Operand) -> tuple[list[Array], Operand]:
    """Signals in one floating or complex dtype; the rate.

    Raises ValueError (face.choice), TypeError (face.argument, face.complex).
    """
    rate, *given = operands(name, (fs, *signals))
    refuse_complex(name, rate)
    if isinstance(rate, (int, float)) and not rate:
        raise rules.error("face.choice", got=f"fs={fs!r}", hint="time would not pass")
    dtype = inexact(joined(given)[0])
    return [as_array(convert(x, dtype)) for x in given], rate


def _of_one_rank(signals: list[Array]) -> list[Array]:
    if len({signal.ndim for signal in signals}) > 1:
        got = f"signals of {' and '.join(str(x.shape) for x in signals)}"
        raise rules.error("face.least-rank", got=got, hint="give both as many")
    return signals


def _nothing(signal: Array) -> tuple[Array, Array]:
    """Real and complex results without elements, of the shape of the signal."""
    dtype = complex_dtype(signal.dtype)
    return zeros(signal.shape, part_dtype(dtype)), zeros(signal.shape, dtype)


def _power(window: Array, rate: Operand, scaling: str) -> Array:
    """The divisor of products of spectra."""
    if scaling == "spectrum":
        return lax.square(_sum(window))
    return real_like(as_array(rate), window) * _sum(lax.square(window))


def _sides(cut: Segments, sided: bool, like: Array) -> Operand:
    """The weight of frequencies: 2 for those of which there is a negative one."""
    if not sided:
        return 1
    many = np.full(cut.transform // 2 + 1, 2.0)
    many[0] = 1
    if not cut.transform % 2:
        many[-1] = 1
    return real_like(constant(many), like)


def _averaged(power: Array, average: str) -> Array:
    """The mean over segments, or the median, divided by its bias."""
    if average == "mean":
        return mean(power, -2)
    even = 2 * np.arange(1, (power.shape[-2] - 1) // 2 + 1)
    bias = float(1 + np.sum(1 / (even + 1) - 1 / even))
    if kind_of(power.dtype) != "c":
        return divide(median(power, -2), bias)
    parts = [divide(median(part(power), -2), bias) for part in (lax.real, lax.imag)]
    return lax.complex(*parts)
