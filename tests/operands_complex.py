"""Hypothesis strategies: operands of what takes numbers apart, for `operands`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from operands_windows import SHAPES, Built, Draw, aval_of


def whole(dtype: np.dtype) -> np.dtype:
    """The complex dtype with parts of a floating one; of any other, itself."""
    wide = dtype.kind == "f" and dtype.itemsize >= 4
    return np.dtype(f"c{2 * dtype.itemsize}") if wide else dtype


def _numbers(draw: Draw, dtype: np.dtype) -> Built:
    return [aval_of(draw(SHAPES), whole(dtype))], {}


def _parts(draw: Draw, dtype: np.dtype) -> Built:
    """Two of one shape, or one for all."""
    shape = draw(SHAPES)
    other = draw(st.sampled_from([shape, ()]))
    return [aval_of(shape, dtype), aval_of(other, dtype)], {}


def _conj(draw: Draw, dtype: np.dtype) -> Built:
    given = draw(st.sampled_from([dtype, whole(dtype)]))
    return [aval_of(draw(SHAPES), given)], {"input_dtype": given}


COMPLEX: dict[str, Callable[[Draw, np.dtype], Any]] = {
    "part": _numbers,
    "complex": _parts,
    "conj": _conj,
}
