"""Signals cut into segments, and their spectra. Serves: face.choice, face.segments"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import index
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of, part_dtype
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    complex_dtype,
    constant,
    convert,
    is_tracer,
)
from traceir.lax.checks.warnings import warn
from traceir.numpy.arrays.creation import asarray, zeros
from traceir.numpy.assembly.padding import pad
from traceir.numpy.elementwise.arithmetic import multiply
from traceir.numpy.fft.transforms import fft, rfft
from traceir.scipy.signal.trends import detrend as _detrend
from traceir.scipy.signal.windows import named_window

WindowLike: TypeAlias = "str | tuple[Any, ...] | Operand"
Detrend: TypeAlias = "str | bool | Callable[[Array], Array] | None"

# How a signal goes on at its ends: a mode of `pad`, and its options.
BOUNDARIES: Mapping[str, Mapping[str, str]] = {
    "zeros": {"mode": "constant"},
    "constant": {"mode": "edge"},
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
}


class Segments(NamedTuple):
    """The segments of a signal: its cuts, and the factors of each."""

    length: int
    overlap: int
    transform: int
    window: Array

    @property
    def step(self) -> int:
        """The distance from the start of one segment to that of the next."""
        return self.length - self.overlap


def analysis_segments(
    rows: Array,
    window: WindowLike,
    nperseg: int | None,
    noverlap: int | None,
    nfft: int | None,
) -> Segments:
    """The segments of rows, of which there are elements."""
    extent = rows.shape[-1]
    if isinstance(window, (str, tuple)):
        length = 256 if nperseg is None else whole("nperseg", nperseg)
        if length > extent:
            if nperseg is not None:
                warn(f"segments of {length} elements are cut to all {extent} there are")
            length = extent
    else:
        window = asarray(window)
        length = window.size if nperseg is None else whole("nperseg", nperseg)
        if window.size > extent:
            got = f"a window of {window.size} elements, a signal of {extent}"
            raise rules.error("face.segments", got=got)
    return _cut(rows, window, length, noverlap, nfft)


def synthesis_segments(
    rows: Array,
    window: WindowLike,
    nperseg: int | None,
    noverlap: int | None,
    nfft: int | None,
    sided: bool,
) -> Segments:
    """The segments of which rows are the spectra."""
    default = 2 * (rows.shape[-1] - 1) if sided else rows.shape[-1]
    length = default if nperseg is None else whole("nperseg", nperseg)
    if nfft is None:
        nfft = length if sided and length == default + 1 else default
    return _cut(rows, window, length, noverlap, nfft)


def _cut(
    rows: Array,
    window: WindowLike,
    length: int,
    noverlap: int | None,
    nfft: int | None,
) -> Segments:
    """Segments of a length, checked, with a window in the real dtype of rows."""
    overlap = length // 2 if noverlap is None else whole("noverlap", noverlap)
    transform = length if nfft is None else whole("nfft", nfft)
    if length < 1 or overlap >= length or transform < length:
        got = f"nperseg={length}, noverlap={overlap}, nfft={transform}"
        raise rules.error("face.segments", got=got)
    if isinstance(window, (str, tuple)):
        taper = constant(named_window(window, length))
    else:
        taper = asarray(window)
    if taper.shape != (length,):
        got = f"a window of shape {taper.shape}, segments of {length} elements"
        raise rules.error("face.segments", got=got)
    dtype = part_dtype(rows.dtype)  # there is no real transform of halves
    return Segments(length, overlap, transform, as_array(convert(taper, dtype)))


def whole(name: str, value: Any) -> int:
    """An option that is a whole number. Raises ValueError (face.choice).

    >>> whole("nperseg", 4.0)
    4
    """
    try:
        is_whole = isinstance(value, float) and value.is_integer()
        return int(value) if is_whole else index(value)
    except TypeError:
        if is_tracer(value):
            raise
        hint = "give a whole number"
        raise rules.error("face.choice", got=f"{name}={value!r}", hint=hint) from None


def real_like(values: Array, like: Array) -> Array:
    """Numbers in the real dtype that goes with another array's."""
    return as_array(convert(values, part_dtype(complex_dtype(like.dtype))))


def lengthened(rows: Array, count: int) -> Array:
    """Rows with zeros behind them."""
    return pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, count)]) if count else rows


def extended(rows: Array, cut: Segments, boundary: str | None, padded: bool) -> Array:
    """Rows that go on at their ends, and to a whole number of segments."""
    half = cut.length // 2
    if boundary is not None and half:
        widths = [(0, 0)] * (rows.ndim - 1) + [(half, half)]
        rows = pad(rows, widths, **BOUNDARIES[boundary])
    if not padded:
        return rows
    return lengthened(rows, (cut.length - rows.shape[-1]) % cut.step % cut.length)


def _places(cut: Segments, count: int) -> np.ndarray:
    """The place of each element of so many segments in the signal."""
    return np.add.outer(cut.step * np.arange(count), np.arange(cut.length))


def spectra_of(rows: Array, cut: Segments, detrend: Detrend, sided: bool) -> Array:
    """The spectrum of each segment of rows: (..., segments, frequencies)."""
    count = (rows.shape[-1] - cut.length) // cut.step + 1
    pieces = rows[..., _places(cut, count)]
    if callable(detrend):
        pieces = detrend(pieces)
    elif isinstance(detrend, str):
        pieces = _detrend(pieces, type=detrend)
    elif detrend:
        got = f"detrend={detrend!r}"
        hint = "there are 'constant', 'linear', False and functions"
        raise rules.error("face.choice", got=got, hint=hint)
    return (rfft if sided else fft)(multiply(pieces, cut.window), cut.transform)


def onesided(asked: bool, rows: Array) -> bool:
    """True if spectra have frequencies from 0 on alone, as those of real signals."""
    if kind_of(rows.dtype) != "c":
        return bool(asked)
    if asked:
        warn("spectra of complex signals have two sides: return_onesided is False")
    return False


def frequencies(length: int, rate: Operand, sided: bool, like: Array) -> Array:
    """The frequencies of spectra of this length, in the real dtype of an array.

    >>> import traceir.numpy as jnp
    >>> frequencies(4, 2.0, True, jnp.zeros(1))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    parts = np.fft.rfftfreq(length) if sided else np.fft.fftfreq(length)
    return real_like(multiply(real_like(constant(parts), like), rate), like)


def overlaid(pieces: Array, cut: Segments) -> Array:
    """The sum of segments (..., segments, elements), each at its place."""
    count = pieces.shape[-2]
    extent = cut.length + (count - 1) * cut.step
    nothing = zeros((*pieces.shape[:-2], extent), pieces.dtype)
    return nothing.at[..., _places(cut, count)].add(pieces)
