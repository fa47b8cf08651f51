"""The kernel of Fourier transforms, by SciPy.

Serves: fft.*
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from traceir.reference.kernels.registry import kernel

Shape = tuple[int, ...]
# By the type of transform; those of one dimension, and of several.
NAMES = (("fft", "fftn"), ("ifft", "ifftn"), ("rfft", "rfftn"), ("irfft", "irfftn"))


@cache
def _transform(name: str) -> Any:
    """A function of SciPy's."""
    # Not at the top: it would take a good part of the time of `import traceir`.
    import scipy.fft

    return getattr(scipy.fft, name)


@kernel("fft")
def fft(x: np.ndarray, *, fft_lengths: Shape, fft_type: int) -> Any:
    """The transform of the last dimensions."""
    several = len(fft_lengths) > 1
    if not x.size or 0 in fft_lengths:
        return _nothing(x, fft_lengths, fft_type)
    function = _transform(NAMES[fft_type][several])
    if not several:
        return function(x, fft_lengths[0])
    return function(x, fft_lengths, tuple(range(-len(fft_lengths), 0)))


def _nothing(x: np.ndarray, lengths: Shape, fft_type: int) -> np.ndarray:
    """A result without elements, which the library does not give."""
    last = lengths[-1] // 2 + 1 if fft_type == 2 else lengths[-1]
    dtype = x.dtype
    if fft_type > 1:
        letter = dtype.char
        dtype = np.dtype(letter.upper() if fft_type == 2 else letter.lower())
    return np.zeros((*x.shape[:-1], last), dtype)
