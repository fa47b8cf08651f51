"""Reads and writes of arrays by slices whose bounds are values.

Serves: slice.length
"""

from __future__ import annotations

from typing import Any

from traceir.face.arrays.array import NumpyTracer
from traceir.face.slices.dynamic_array import DynamicArray, settled, write
from traceir.face.slices.strided_view import whole_view


def read(array: NumpyTracer, index: Any) -> Any:
    """`array[index]`, where a slice of the index has a traced bound."""
    return settled(whole_view(array).taken(index))


def update(array: NumpyTracer, index: Any, value: Any) -> None:
    """`array[index] = value`, where a slice of the index has a traced bound, or the
    value has extents that are values."""
    array.check_home()
    found = settled(whole_view(array).taken(index))
    if isinstance(found, DynamicArray):
        write(found.view, value)
    elif type(value) is DynamicArray:
        write(whole_view(array).taken(index), value)
    elif value is not found:
        found[...] = value
