"""Kernels of the dtypes of ml_dtypes: computed in wider ones.

Serves: accuracy.rounded of every row that takes floating numbers, accuracy.int-wrap

No kernel knows of these dtypes. Floating ones are computed in float32, which has more
than twice the digits of each: a sum, product, quotient or root that is rounded to
float32 and then once more is the one that is rounded once. Integers are computed in
those of eight bits, of whose results the lowest bits are right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from traceir.dtypes import added, bits_of, finfo, iinfo, is_added, kind_of

SINGLE = np.dtype(np.float32)
# The dtypes in which others are computed, by their kinds.
WIDE: Mapping[str, np.dtype] = {"f": SINGLE, **dict.fromkeys("iu", np.dtype(np.int8))}
# What reads bits, rounds by itself, or draws other numbers in another dtype.
BITWISE = frozenset(
    {"nextafter", "bitcast_convert_type", "convert_element_type", "random_gamma"}
)
# What reads an integer as its bits, of whichever sign it is: of each operand, as what.
COUNTED = {
    "clz": ("uint",),
    "population_count": ("uint",),
    "shift_right_logical": ("uint", "uint"),
    "shift_right_arithmetic": ("int", "uint"),
}
# What begins with the end of a dtype's range.
EXTREMES = frozenset(
    {"reduce_max", "reduce_min", "reduce_window_max", "reduce_window_min"}
)


def needed(dtypes: Sequence[Any]) -> bool:
    """True if one of the dtypes, or of other values, is one of ml_dtypes.

    >>> from traceir.dtypes import added
    >>> needed([np.dtype("float32"), 3, added("bfloat16")])
    True
    """
    return any(isinstance(d, np.dtype) and is_added(d) for d in dtypes)


def widened(
    primitive: str, function: Callable[..., Any], outs: Sequence[np.dtype]
) -> Callable[..., list[np.ndarray]]:
    """A kernel of wide dtypes as one that has results of these dtypes."""

    def run(*xs: np.ndarray, **params: Any) -> list[np.ndarray]:
        wide = {k: WIDE[kind_of(v)] if needed([v]) else v for k, v in params.items()}
        signs = COUNTED.get(primitive, ("",) * len(xs))
        operands = [_wide(x, sign) for x, sign in zip(xs, signs, strict=True)]
        found = function(*operands, **wide)
        results = found if isinstance(found, tuple | list) else (found,)
        if primitive == "clz":
            results = [results[0] - np.int8(8 - bits_of(outs[0]))]
        if primitive in EXTREMES and needed(outs):
            results = [np.clip(results[0], *_ends(outs[0]))]
        return [
            narrowed(np.asarray(r), d) if is_added(d) else r
            for r, d in zip(results, outs, strict=True)
        ]

    return function_of_bits(function) if primitive in BITWISE else run


def function_of_bits(function: Callable[..., Any]) -> Callable[..., list[np.ndarray]]:
    """A kernel that takes the dtype as it is, with a list of results."""

    def run(*xs: np.ndarray, **params: Any) -> list[np.ndarray]:
        return [function(*xs, **params)]

    return run


def _wide(x: np.ndarray, sign: str = "") -> np.ndarray:
    """An operand in the dtype in which it is computed, its bits with a sign or none."""
    if not is_added(x.dtype):
        return x
    own = x.view(added(f"{sign}{bits_of(x.dtype)}")) if sign else x
    return own.astype(WIDE[kind_of(x.dtype)])


def _ends(dtype: np.dtype) -> tuple[Any, Any]:
    """The ends of a dtype's range, infinities if it has them."""
    if kind_of(dtype) in "iu":
        wide, info = WIDE[kind_of(dtype)].type, iinfo(dtype)
        return wide(info.min), wide(info.max)
    if np.isinf(np.array(np.inf).astype(dtype).astype(SINGLE)):
        return -np.inf, np.inf
    return np.float32(finfo(dtype).min), np.float32(finfo(dtype).max)


def narrowed(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Numbers of any dtype in one of ml_dtypes, rounded once, ties to even, or wrapped.

    >>> from traceir.dtypes import added
    >>> narrowed(np.array([1.00390625, 1.00390625000001]), added("bfloat16"))
    array([1, 1.00781], dtype=bfloat16)
    >>> narrowed(np.array([15, -9], "int8"), added("int4"))
    array([-1, 7], dtype=int4)
    """
    kind = kind_of(dtype)
    if kind in "iu":
        return x.astype(WIDE[kind]).astype(dtype)
    if x.dtype == SINGLE or x.dtype == np.float16 or is_added(x.dtype):
        return _from_single(x.astype(SINGLE), dtype)
    if kind_of(x.dtype) in "iu" and x.dtype.itemsize == 8:
        x = _sticky(x)
    return _from_single(odd_single(x.astype(np.float64)), dtype)


def _from_single(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The nearest numbers, by ml_dtypes."""
    if dtype.name == "float8_e8m0fnu":
        least = SINGLE.type(2.0**-127)  # what is just above it is taken for the next
        x = np.where((x > least) & (x < least * SINGLE.type(1.5)), least, x)
    if dtype.name == "float4_e2m1fn":
        x = np.where(x == x, x, SINGLE.type(np.nan))  # its sign would be that of a zero
    return x.astype(dtype)


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
