"""Reads and writes of arrays by slices whose bounds are values.

Serves: slice.length
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.values import cast
from traceir.face.slices.delayed_arrays import (
    DelayedArray,
    Indices,
    Read,
    check_spread,
    of_operand,
    plain_read,
)
from traceir.face.slices.dynamic_array import (
    DynamicArray,
    held,
    is_mask,
    resolved,
    write,
)
from traceir.face.slices.element_loops import each
from traceir.face.slices.extents import (
    Extent,
    is_sliced_by_values,
    known_extent,
)
from traceir.face.slices.places import Places, gathered
from traceir.face.slices.sliced_view import element, whole_view


def is_dynamic(index: Any, value: Any = None) -> bool:
    """True if values decide how many elements an index takes, or a value has: it has a
    slice with a traced bound, or is an array of such an extent."""
    parts = (*index, value) if isinstance(index, tuple) else (index, value)
    return (
        is_sliced_by_values(index)
        or any(type(p) is DynamicArray for p in parts)
        or _has_mask_behind(index)
    )


def _has_mask_behind(index: Any) -> bool:
    """True for a traced vector of truth values behind whole dimensions."""
    if not isinstance(index, tuple) or len(index) < 2 or is_mask(index[0]):
        return False
    masks = [p for p in index if isinstance(p, NumpyTracer) and is_mask(p)]
    return len(masks) == 1 and masks[0].ndim == 1 and masks[0].concrete is None


def _placed(index: Any) -> Any:
    """The index with the places that a mask takes in its place."""
    if not _has_mask_behind(index):
        return index
    return tuple(np.nonzero(p)[0] if is_mask(p) else p for p in index)


def read(array: NumpyTracer, index: Any) -> Any:
    """`array[index]` for such an index."""
    if is_sliced_by_values(index):
        return resolved(whole_view(array).taken(index))
    index = _placed(index)
    if type(index) is DynamicArray and is_mask(index):
        return DynamicArray(whole_view(array))[index]
    extents, places = _gathered(array, index)
    value = array.now()

    def at(indices: Indices, read: Read) -> Any:
        return element(value, places(indices))

    return DynamicArray(DelayedArray(extents, array.dtype, at))


def update(array: NumpyTracer, index: Any, value: Any) -> None:
    """`array[index] = value` for such an index or value."""
    array.check_home()
    index = _placed(index)
    if type(index) is DynamicArray and is_mask(index):
        DynamicArray(whole_view(array))[index] = value
        return
    if is_dynamic(index) and not is_sliced_by_values(index):
        _scatter(array, index, of_operand(held(value)))
        return
    view = whole_view(array).taken(index)
    found = resolved(view)
    if type(found) is DynamicArray or type(value) is DynamicArray:
        write(view, value)
    else:
        found[...] = value


def _scatter(array: NumpyTracer, index: Any, new: DelayedArray) -> None:
    """Write to the elements that an array of places names, in its order."""
    extents, places = _gathered(array, index)
    source = check_spread(new, extents)
    whole = whole_view(array)

    def body(indices: Any) -> None:
        value = source.at(indices, plain_read)
        whole.write(places(indices), cast(value, array.dtype))

    each(extents, body)


def _gathered(array: NumpyTracer, index: Any) -> tuple[tuple[Extent, ...], Places]:
    """The extents of what an array of places takes, and the places of an element."""
    parts = index if isinstance(index, tuple) else (index,)
    return gathered([known_extent(n) for n in array.shape], list(map(held, parts)))
