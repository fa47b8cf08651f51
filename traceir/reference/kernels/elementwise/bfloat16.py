"""Kernels of bfloat16: computed in float32, each result rounded once.

Serves: accuracy.rounded of every row that takes floating numbers

No kernel knows of the dtype. float32 has more than twice its digits, so a sum, product,
quotient or root that is rounded to float32 and then to bfloat16 is the one that is
rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.dtypes import bfloat16, is_bfloat16, kind_of

SINGLE = np.dtype(np.float32)
# What reads bits, rounds by itself, or draws other numbers in another dtype.
BITWISE = frozenset(
    {"nextafter", "bitcast_convert_type", "convert_element_type", "random_gamma"}
)


def needed(dtypes: Sequence[Any]) -> bool:
    """True if one of the dtypes, or of other values, is bfloat16.

    >>> needed([np.dtype("float32"), 3, bfloat16()])
    True
    """
    return any(isinstance(d, np.dtype) and is_bfloat16(d) for d in dtypes)


def widened(
    primitive: str, function: Callable[..., Any], outs: Sequence[np.dtype]
) -> Callable[..., list[np.ndarray]]:
    """A kernel of float32 as one of bfloat16, which has results of these dtypes."""

    def run(*xs: np.ndarray, **params: Any) -> list[np.ndarray]:
        wide = {k: SINGLE if needed([v]) else v for k, v in params.items()}
        found = function(*[_single(x) for x in xs], **wide)
        results = found if isinstance(found, tuple | list) else (found,)
        return [
            to_bfloat16(np.asarray(r)) if is_bfloat16(d) else r
            for r, d in zip(results, outs, strict=True)
        ]

    return function_of_bits(function) if primitive in BITWISE else run


def function_of_bits(function: Callable[..., Any]) -> Callable[..., list[np.ndarray]]:
    """A kernel that takes the dtype as it is, with a list of results."""

    def run(*xs: np.ndarray, **params: Any) -> list[np.ndarray]:
        return [function(*xs, **params)]

    return run


def _single(x: np.ndarray) -> np.ndarray:
    return x.astype(SINGLE) if is_bfloat16(x.dtype) else x


def to_bfloat16(x: np.ndarray) -> np.ndarray:
    """Numbers of any dtype, each rounded once, ties to even.

    >>> to_bfloat16(np.array([1.00390625, 1.00390625000001, 16842753]))
    array([1, 1.00781, 1.69083e+07], dtype=bfloat16)
    """
    if is_bfloat16(x.dtype) or x.dtype == SINGLE or x.dtype == np.float16:
        return x.astype(bfloat16())
    if kind_of(x.dtype) in "iu" and x.dtype.itemsize == 8:
        x = _sticky(x)
    return odd_single(x.astype(np.float64)).astype(bfloat16())


def _sticky(x: np.ndarray) -> np.ndarray:
    """Large integers without their last 16 bits, of which one stands for the others.

    It keeps what float64 can hold on its own side of every tie.
    """
    t = x.dtype.type
    cut = ((x >> t(16)) | ((x & t(0xFFFF)) != 0).astype(x.dtype)) << t(16)
    small = (x >> t(32)) == t(0)
    if x.dtype.kind == "i":
        small |= (x >> t(32)) == t(-1)
    return np.where(small, x, cut)


def odd_single(x: np.ndarray) -> np.ndarray:
    """float64 rounded to float32 so that a second rounding is as good as one.

    The neighbour with an odd last bit is taken where the number is none of float32's
    (Boldo and Melquiond, "When double rounding is odd", 2005).
    """
    near = np.asarray(x.astype(SINGLE))
    bits = near.view(np.int32)
    beyond = np.abs(near.astype(np.float64)) > np.abs(x)
    step = np.where(beyond, np.int32(-1), np.int32(1))
    inexact = (near != x) & (x == x) & ((bits & 1) == 0)
    return np.where(inexact, bits + step, bits).view(SINGLE)
