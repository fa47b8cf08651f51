"""Places of arrays that references name by an index. Serves: ref.index, ref.value"""

from __future__ import annotations

from operator import index as as_index
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import LIVING, Array
from traceir.ir.avals import ShapedArray
from traceir.tracing.trace import Tracer, current_trace, typeof


def is_whole(index: Any) -> bool:
    """True if an index means all of an array."""
    return index is None or index is Ellipsis or (type(index) is tuple and not index)


def checked(index: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The parts of an index; ValueError (ref.index) for one that is none."""
    parts = index if type(index) is tuple else (index,)
    given = sum(part is not Ellipsis for part in parts)
    if given > len(shape) or len(parts) - given > 1:
        raise rules.error("ref.index", got=f"{index!r} of shape {shape}")
    if given == len(parts):
        parts = (*parts, Ellipsis)
    at = next(k for k, part in enumerate(parts) if part is Ellipsis)
    before, after = parts[:at], parts[at + 1 :]
    pairs = [*zip(before, shape), *zip(after, shape[len(shape) - len(after) :])]
    found = [_part(part, extent, index) for part, extent in pairs]
    return (*found[:at], Ellipsis, *found[at:])


def _part(part: Any, extent: int, index: Any) -> Any:
    """One part of an index, for a dimension."""
    if isinstance(part, slice):
        if part.step is not None and as_index(part.step) < 1:
            got = f"{index!r}, a slice with the step {part.step}"
            raise rules.error("ref.index", got=got)
        return part
    kind = getattr(getattr(part, "dtype", None), "kind", "")
    if kind in ("i", "u") and (isinstance(part, Tracer) or part.shape):
        return part
    try:
        number = as_index(part) if type(part) is not bool and kind != "b" else None
    except TypeError:
        number = None
    if number is None or not -extent <= number < extent:
        what = f"{index!r}" if number is None else f"{number} for an extent of {extent}"
        raise rules.error("ref.index", got=what)
    return number


def _extents(shape: tuple[int, ...], parts: tuple[Any, ...]) -> tuple[int, ...]:
    """The extents of what an index chooses."""

    def stand_in(part: Any) -> Any:
        if isinstance(part, slice | int) or part is Ellipsis:
            return part
        return np.zeros(part.shape, int) if part.shape else 0

    found: np.ndarray = np.broadcast_to(np.False_, shape)[tuple(map(stand_in, parts))]
    return found.shape


def updated(old: Any, dtype: np.dtype, index: Any, value: Any, method: str) -> Any:
    """An array with other elements at an index."""
    aval = typeof(value)
    parts = (Ellipsis,) if is_whole(index) else checked(index, old.shape)
    extents = _extents(old.shape, parts)
    if (aval.shape, aval.dtype) != (extents, dtype):
        wanted = ShapedArray(extents, dtype).str_short()
        got = f"{aval.str_short()}, where the place is {wanted}"
        raise rules.error("ref.value", got=got)
    if method == "set" and is_whole(index):
        return as_value(value)
    spread = any(getattr(part, "shape", ()) for part in parts)
    mode = {} if spread else {"mode": "clip"}
    return getattr(old.at[parts], method)(value, **mode)


def as_value(value: Any) -> Any:
    """The array that a reference is made of; TypeError (jit.argument)."""
    if type(value) in LIVING or isinstance(value, Tracer):
        return value
    aval, trace = typeof(value), current_trace()
    if trace is not None:
        return trace.array(np.asarray(value, aval.dtype), aval)
    return Array._wrap(np.array(value, aval.dtype, order="C"), aval)
