"""Hypothesis strategies: operands of Fourier transforms, for `operands`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from operands_complex import whole
from operands_windows import SHAPES, Built, Draw, aval_of

LENGTHS = st.lists(st.sampled_from([1, 2, 4, 3]), min_size=1, max_size=3)


def _fft(draw: Draw, dtype: np.dtype) -> Built:
    """Rows to transform, and the type, for which the last may be a half."""
    lengths = tuple(draw(LENGTHS))
    kind = draw(st.sampled_from([0, 1, 2, 3]))
    inner = (*lengths[:-1], lengths[-1] // 2 + 1) if kind == 3 else lengths
    lead = draw(SHAPES)[:1]
    dtype = dtype if kind == 2 else whole(dtype)
    return [aval_of((*lead, *inner), dtype)], {"fft_lengths": lengths, "fft_type": kind}


FOURIER: dict[str, Callable[[Draw, np.dtype], Any]] = {"fft": _fft}
