"""Reads and writes of arrays by slices whose bounds are values.

Serves: slice.length
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
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
from traceir.face.slices.dynamic_array import DynamicArray, held, resolved, write
from traceir.face.slices.element_loops import each
from traceir.face.slices.extents import (
    Extent,
    index_of,
    is_sliced_by_values,
    known_extent,
)
from traceir.face.slices.sliced_view import element, is_array, place_in, whole_view
from traceir.tracing.concretization import demanded


def is_dynamic(index: Any, value: Any = None) -> bool:
    """True if values decide how many elements an index takes, or a value has: it has a
    slice with a traced bound, or is an array of such an extent."""
    parts = (*index, value) if isinstance(index, tuple) else (index, value)
    return is_sliced_by_values(index) or any(type(p) is DynamicArray for p in parts)


def read(array: NumpyTracer, index: Any) -> Any:
    """`array[index]` for such an index."""
    if is_sliced_by_values(index):
        return resolved(whole_view(array).taken(index))
    extents, places = _gathered(array, index)
    value = array.now()

    def at(indices: Indices, read: Read) -> Any:
        return element(value, places(indices))

    return DynamicArray(DelayedArray(extents, array.dtype, at))


def update(array: NumpyTracer, index: Any, value: Any) -> None:
    """`array[index] = value` for such an index or value."""
    array.check_home()
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


def _gathered(
    array: NumpyTracer, index: Any
) -> tuple[tuple[Extent, ...], Callable[[Sequence[Any]], tuple[Any, ...]]]:
    """The extents of what an array of places takes, and the places of an element.

    Raises TypeError (slice.length) for a mask, and beside slices or other arrays.
    """
    parts = index if isinstance(index, tuple) else (index,)
    whole = [known_extent(n) for n in array.shape]
    kept = tuple(whole[len(parts) :])
    arrays = [(d, held(p)) for d, p in enumerate(parts) if type(p) is DynamicArray]
    numbers = all(
        type(p) is DynamicArray or not (isinstance(p, slice) or is_array(p))
        for p in parts
    )
    (dim, which), *more = arrays
    if more or not numbers or (kept and len(parts) > 1) or len(parts) > len(whole):
        got = "an array of places beside other parts of an index"
        lengths = [extent.length for extent in which.extents]
        raise demanded(rules.error("slice.length", got=got), *lengths)
    if which.dtype.kind not in "iu":
        raise parts[dim].unknown("a mask")

    def places(indices: Sequence[Any]) -> tuple[Any, ...]:
        own, rest = indices[: which.ndim], indices[which.ndim :]
        found = [which.element(own) if d == dim else p for d, p in enumerate(parts)]
        inside = [place_in(p, whole[d], d) for d, p in enumerate(found)]
        return (*inside, *map(index_of, rest))

    return (*which.extents, *kept), places
