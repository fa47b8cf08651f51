"""Fourier transforms under their `jax.lax` names. Serves: fft.*"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from operator import index

from traceir import rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.ir.params import CHOICES
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    complex_dtype,
    convert,
    inexact,
    operand,
)
from traceir.tracing.trace import bind_one, typeof


class FftType(IntEnum):
    """The types of transforms: the transform, its inverse, and both for real elements.

    >>> FftType.RFFT
    <FftType.RFFT: 2>
    """

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


CHOICES["fft_type"] = FftType


def fft(x: Operand, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Array:
    """The Fourier transform of the last dimensions, which have these lengths.

    The type is one of FftType's, or its name. Of the type RFFT elements are real and
    half of the frequencies result; an operand of the type IRFFT has that half, and the
    result is real. For the others what is real is made complex. Without lengths the
    result is the operand.

    Raises ValueError (fft.real, fft.count, fft.rank, fft.extents, fft.empty,
    face.choice), TypeError (face.choice-type).

    >>> import traceir.numpy as jnp
    >>> fft(jnp.array([1.0, 0.0, 0.0, 0.0]), "fft", (4,))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    lengths = tuple(map(index, fft_lengths))
    result: Array = _fft(
        operand("fft", x), fft_lengths=lengths, fft_type=_type_of(fft_type)
    )
    return result


def _type_of(given: FftType | str) -> int:
    if isinstance(given, FftType):
        return int(given)
    if isinstance(given, str) and given.upper() in FftType.__members__:
        return int(FftType[given.upper()])
    names = ", ".join(FftType.__members__)
    raise rules.error("face.choice", got=f"fft_type={given!r}", hint=f"one of {names}")


def _staged(x: Operand, *, fft_lengths: tuple[int, ...], fft_type: int) -> Operand:
    x = _given(x, fft_type)
    if not fft_lengths:
        return x
    return bind_one("fft", x, fft_lengths=fft_lengths, fft_type=fft_type)


def _given(x: Operand, fft_type: int) -> Operand:
    """The operand, strong, in a dtype that the type of transform takes."""
    dtype = inexact(typeof(x).dtype)
    if fft_type != FftType.RFFT and kind_of(dtype) != "c":
        dtype = complex_dtype(dtype)
    return convert(x, dtype)


_staged.__name__ = _staged.__qualname__ = "fft"
_fft = composite(static_argnames=("fft_lengths", "fft_type"))(_staged)
