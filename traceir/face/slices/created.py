"""Arrays made with as many elements as values decide.

Serves: slice.length, slice.negative

Such is `np.zeros(n)` with a traced `n`. An array has memory for the most elements that
it can have, where its extent has a small bound; else for as many as the lists of the
function have, and a program that needs more stops, gives nothing and is made anew with
more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from traceir import rules
from traceir.base import cost_model
from traceir.errors import TraceirError
from traceir.face.arrays.array import traced
from traceir.face.arrays.values import cast, dtype_in, operand_of
from traceir.face.checks.bounds import range_of
from traceir.face.checks.status import note
from traceir.face.control_flow.regions import function_room
from traceir.face.functions import creation
from traceir.face.python.numbers import as_integer, require
from traceir.face.slices.delayed_arrays import (
    DelayedArray,
    Indices,
    Read,
    memory_for,
)
from traceir.face.slices.dynamic_array import DynamicArray
from traceir.face.slices.extents import (
    Extent,
    greater,
    index_of,
    known_extent,
    less,
    number,
)
from traceir.face.slices.sliced_view import SlicedView
from traceir.jit.runtime_checks import FilledList, OutOfRoom
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import Tracer


def extent_of(count: Any) -> Extent:
    """The extent of a new array, of a number that is not negative.

    Raises the demand of the arguments that the number is computed from; TypeError
    (slice.length) where there is no room that can be made larger.
    """
    length = number(count)
    if not isinstance(length, Tracer):
        return known_extent(length)
    most, room = range_of(length)[1], function_room()
    got = "a new array with as many elements as values decide"
    error = demanded(rules.error("slice.length", got=got), length)
    if room is None or not isinstance(error, TraceirError):
        raise error
    if most > room.elements:
        most = room.elements
        note(length > most, FilledList(room, most, is_array=True), kind=OutOfRoom)
        length = less(length, most)  # the program ends before it is asked for more
    return Extent(length, most, None, (0, length))


def filled(extents: Sequence[Extent], dtype: Any, value: Any = 0) -> SlicedView:
    """A new array with one value everywhere.

    Raises TypeError (slice.length) where the most that it may need is too much.
    """
    shape = [extent.most for extent in extents]
    if prod(shape) > cost_model.MOST_LIST_ROOM:
        got = f"an array of up to {'×'.join(map(str, shape))} elements"
        raise rules.error("slice.length", got=got)
    return memory_for(extents, dtype, value)


def _extents(shape: Any) -> tuple[Extent, ...]:
    """The extents of a shape, of which some are traced."""
    found = []
    for count in shape if isinstance(shape, (tuple, list)) else (shape,):
        if isinstance(count, Tracer) and range_of(number(count))[0] < 0:
            require(count < 0, "slice.negative", "a new array")
            count = greater(count, 0)
        found.append(extent_of(count))
    return tuple(found)


def _filled_with(value: Any) -> Callable[..., Any]:
    def made(shape: Any, dtype: Any = None, order: str = "C", **_: Any) -> Any:
        return filled(_extents(shape), np.dtype(dtype), value)

    return made


def _full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **_: Any
) -> Any:
    value = operand_of("full", fill_value)
    own = np.asarray(value).dtype if not isinstance(value, Tracer) else value.dtype
    return filled(_extents(shape), own if dtype is None else np.dtype(dtype), value)


def _arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, **_: Any
) -> Any:
    """Numbers from `start` to before `stop`, a known step apart."""
    if isinstance(step, Tracer) or not step:
        return NotImplemented
    given = [v for v in (start, stop, step) if v is not None]
    floats = any(np.result_type(dtype_in(v)).kind == "f" for v in given)
    kind = np.dtype(
        float if floats else np.int64
    )  # as NumPy has it, of narrow ones too
    if stop is None:
        start, stop = 0, start
    first = start + step * 0
    if isinstance(first, Tracer):
        first = traced(first, number=True)
    span = (stop - start) / step if kind.kind == "f" else -((start - stop) // step)
    if kind.kind == "f":
        span = as_integer(np.ceil(span))
    extent = extent_of(greater(number(span), 0))
    between = (first + step) - first

    def at(indices: Indices, read: Read) -> Any:
        return cast(first + index_of(indices[0]) * between, kind)

    made = DelayedArray((extent,), kind, at)
    return made if dtype is None else made.cast(np.dtype(dtype))


def _linspace(
    start: Any, stop: Any, num: Any, endpoint: bool = True, dtype: Any = None
) -> Any:
    """As many numbers, equally far apart."""
    (extent,) = _extents(num)
    own = np.result_type(dtype_in(start), dtype_in(stop), 0.0)
    first, last = own.type(1) * start, own.type(1) * stop
    parts = extent.length - 1 if endpoint else extent.length
    step = (last - first) / greater(parts, 1)

    def at(indices: Indices, read: Read) -> Any:
        k = index_of(indices[0])
        found = k * step + first
        if endpoint:
            ends = np.logical_and(k == parts, k > 0)
            found = np.where(ends, last, found)[()]
        return found

    made = DelayedArray((extent,), own, lambda *k: cast(at(*k), own))
    return made if dtype is None else made.cast(np.dtype(dtype))


def _eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, **_: Any) -> Any:
    """Ones on a diagonal."""
    if isinstance(k, Tracer):
        return NotImplemented
    own = np.dtype(dtype)

    def at(indices: Indices, read: Read) -> Any:
        row, column = map(index_of, indices)
        return cast(row + k == column, own)

    return DelayedArray(_extents((N, N if M is None else M)), own, at)


_MADE: dict[str, Callable[..., Any]] = {
    "zeros": _filled_with(0),
    "empty": _filled_with(0),
    "ones": _filled_with(1),
    "full": _full,
    "arange": _arange,
    "linspace": _linspace,
    "eye": _eye,
    "identity": lambda n, dtype=float, **_: _eye(n, dtype=dtype),
}


def _made(name: str, args: Any, kwargs: Any) -> Any:
    """An array with a traced extent; NotImplemented if the function is none of these,
    or nothing that it is given is traced."""
    if name not in _MADE or function_room() is None:
        return NotImplemented
    found = _MADE[name](*args, **kwargs)
    return found if found is NotImplemented else DynamicArray(found)


def register() -> None:
    """Have NumPy's functions that make arrays take traced extents."""
    creation.dynamic = _made
