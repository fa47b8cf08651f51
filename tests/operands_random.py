"""Hypothesis strategies: operands of what makes random numbers, for `operands`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from operands_windows import SHAPES, Built, Draw, aval_of

WORD = np.dtype("uint32")
# How the shape of one operand comes from that of the result.
SHARES = {
    "all": lambda shape: shape,
    "none": lambda shape: (),
    "rows": lambda shape: (*shape[:-1], 1)[: len(shape)],
}


def _hash(draw: Draw, dtype: np.dtype) -> Built:
    """Keys and counters, some of which are the same for all, or for a row."""
    shape = draw(SHAPES)
    shares = [draw(st.sampled_from(sorted(SHARES))) for _ in range(4)]
    dtypes = [draw(st.sampled_from([WORD] * 9 + [dtype])) for _ in range(4)]
    avals = [aval_of(SHARES[s](shape), d) for s, d in zip(shares, dtypes, strict=True)]
    return avals, {}


RANDOM: dict[str, Callable[[Draw, np.dtype], Any]] = {"threefry2x32": _hash}
