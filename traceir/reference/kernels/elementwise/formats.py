"""Kernels of bitcasts and of reduced precision.

Serves: bitcast_convert_type.*, reduce_precision.*
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.dtypes import bits_of, finfo
from traceir.reference.kernels.registry import kernel

Shape = tuple[int, ...]


@kernel("bitcast_convert_type")
def bitcast_convert_type(x: np.ndarray, *, new_dtype: np.dtype) -> Any:
    """The same bits: of one element, of several, or of a part of one."""
    have, wanted = bits_of(x.dtype), bits_of(new_dtype)
    if have == wanted:
        return x.view(new_dtype)
    if min(have, wanted) < 8:
        return _by_bits(x, have, new_dtype, wanted)
    x = x.copy(order="C")
    # The lowest bits come first, whatever the machine does.
    words = x.astype(x.dtype.newbyteorder("<"), copy=False)
    little = new_dtype.newbyteorder("<")
    if x.dtype.itemsize > new_dtype.itemsize:
        wide = words.reshape(*x.shape, 1).view(little)
        return wide.astype(new_dtype, copy=False)
    return words.view(little).reshape(x.shape[:-1]).astype(new_dtype, copy=False)


def _by_bits(x: np.ndarray, have: int, dtype: np.dtype, wanted: int) -> Any:
    """The same, of elements that may have fewer bits than a byte, the lowest first."""
    words = x.astype(x.dtype.newbyteorder("<"), copy=False).reshape(*x.shape, 1)
    single = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")[..., :have]
    parts = (have // wanted,) if have > wanted else ()
    outer = x.shape if have > wanted else x.shape[:-1]
    grouped = single.reshape(*outer, *parts, wanted)
    found = np.packbits(grouped, axis=-1, bitorder="little")
    return found.view(dtype.newbyteorder("<"))[..., 0].astype(dtype, copy=False)


@kernel("reduce_precision")
def reduce_precision(x: np.ndarray, *, exponent_bits: int, mantissa_bits: int) -> Any:
    """Rounded to so many bits, ties to even; beyond the range infinite or zero."""
    info = finfo(x.dtype)
    word = np.dtype(f"u{x.dtype.itemsize}")
    fraction = int(info.nmant)
    own = word.itemsize * 8 - 1 - fraction
    bits = x.view(word)
    sign = bits & word.type(1 << word.itemsize * 8 - 1)
    size = bits ^ sign
    drop = fraction - mantissa_bits
    if drop > 0:
        last = size >> word.type(drop) & word.type(1)
        size = size + (last + word.type((1 << drop - 1) - 1))
        size = size >> word.type(drop) << word.type(drop)
    if exponent_bits < own:
        bias, fewer = (1 << own - 1) - 1, (1 << exponent_bits - 1) - 1
        infinite = word.type((1 << own) - 1 << fraction)
        size = np.where(size >= word.type(bias + fewer + 1 << fraction), infinite, size)
        size = np.where(size < word.type(bias - fewer + 1 << fraction), 0, size)
    found = (sign | size.astype(word)).view(x.dtype)
    return np.where(x != x, x, found)
