"""Dtypes of indices: wide enough for the extents. Serves: jit.overflow

Places of a narrow dtype, such as int8, may name elements of any array, but arithmetic
with its extents needs a dtype that holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base import config
from traceir.dtypes import iinfo, is_narrow, kind_of
from traceir.lax.checks.operands import (
    Operand,
    convert,
    fitting,
    is_tracer,
    number_of,
    shape_of,
    typed,
)
from traceir.lax.elementwise.arithmetic import add, lt
from traceir.lax.elementwise.arithmetic import min as lesser
from traceir.lax.elementwise.selection import select_n
from traceir.tracing.trace import typeof

INT32, INT64 = np.dtype("int32"), np.dtype("int64")
# The greatest place that 32 bits hold.
LAST = int(np.iinfo(INT32).max)
# Diagonals of at most this number are recorded as they are asked for.
FAR = 2**30


def index_dtype(extents: Iterable[int], wide: bool = False) -> np.dtype:
    """The dtype of places in an array of these extents: int32, or int64 if need be.

    That one is preferred where places are `wide` already. Without 64-bit types raises
    OverflowError (jit.overflow) if need be.

    >>> index_dtype((3, 4))
    dtype('int32')
    """
    longest = max(extents, default=0)
    if config.local.context.x64:
        return INT64 if wide or longest > LAST else INT32
    fitting(longest, INT32)
    return INT32


def is_wide(part: Any) -> bool:
    """True if indices have 64 bits, in which one out of bounds stays so.

    >>> is_wide(np.array([1], "int32")), is_wide(7)
    (False, False)
    """
    array = is_tracer(part) or isinstance(part, (Array, np.ndarray))
    return array and typeof(part).dtype.itemsize == 8


def index_numbers(places: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Known places in an index dtype; those that it does not hold as its ends.

    >>> index_numbers(np.array([2**40, -1]), np.dtype("int32"))
    array([2147483647,         -1], dtype=int32)
    """
    limits = np.iinfo(dtype)
    low = max(int(limits.min), int(iinfo(places.dtype).min))
    high = min(int(limits.max), int(iinfo(places.dtype).max))
    found: np.ndarray = np.clip(places, low, high).astype(dtype)
    return found


def index_number(place: int, dtype: np.dtype) -> np.generic:
    """As `index_numbers`, of one place.

    >>> index_number(-(2**40), np.dtype("int32"))
    np.int32(-2147483648)
    """
    limits = np.iinfo(dtype)
    return dtype.type(min(max(place, int(limits.min)), int(limits.max)))  # type: ignore[no-any-return]


def in_wide_dtype(part: Any) -> Any:
    """An entry of an index; an array of narrow integers as one of int32.

    >>> in_wide_dtype(np.array([1], "int8")).dtype
    dtype('int8')
    """
    narrow = isinstance(part, Array) and is_narrow(part.dtype)
    return convert(part, INT32) if narrow and kind_of(part.dtype) in "iu" else part


def as_index(places: Operand, dtype: np.dtype) -> Operand:
    """Indices in an index dtype; unsigned ones beyond it become its last.

    >>> as_index(np.uint32(2**32 - 1), np.dtype("int32"))
    Array(2147483647, dtype=int32)
    """
    own = typeof(places).dtype
    if kind_of(own) == "u" and own.itemsize >= dtype.itemsize:
        places = lesser(places, typed(np.iinfo(dtype).max, own, False))
    return convert(places, dtype)


def widened(places: Operand, extent: int) -> Operand:
    """Places in their own dtype, or in a wider one where that does not hold the extent.

    >>> widened(np.int8(-1), 5), widened(np.int8(-1), 300)
    (np.int8(-1), np.int32(-1))
    """
    own = typeof(places).dtype
    # Whoever takes other places than integers refuses them.
    if kind_of(own) not in "iu" or extent <= iinfo(own).max:
        return places
    return as_index(places, index_dtype((extent,)))


def from_end(start: Operand, extent: int, weakly: bool = False) -> Operand:
    """A place, or an array of them, with those that count from the end counted from 0.

    A weakly typed index stays so if it may.

    >>> from_end(-1, 5), from_end(np.array([-1, 2]), 5)
    (4, Array([4, 2], dtype=int32))
    """
    if isinstance(start, int):
        return start + extent if start < 0 else start
    dtype = typeof(start).dtype
    if kind_of(dtype) != "i":
        return start
    known = number_of(start)
    if known is None and not is_tracer(start) and not shape_of(start):
        known = np.asarray(start)[()]
    if known is not None:
        if known >= 0:
            return typed(known, dtype, False)
        return typed(int(known) + extent, typeof(widened(known, extent)).dtype, False)
    wide = widened(start, extent)
    dtype, weak = typeof(wide).dtype, typeof(wide).weak_type
    negative = lt(wide, typed(0, dtype, weak))
    number = typed(extent, dtype, weak and weakly)
    moved = add(wide if weakly else convert(wide, dtype), number)
    return select_n(negative, wide, moved)


def offset(k: int, shape: Sequence[int]) -> int:
    """The number of a diagonal; of one that is far outside, of one just outside.

    So that it fits an index dtype, and the number of a row can be added to it.

    >>> offset(5, (2, 2)), offset(2**63, (2, 2)), offset(-(2**63), (2, 3))
    (5, 2, -2)
    """
    return k if abs(k) < FAR else max(-shape[-2], min(k, shape[-1]))
