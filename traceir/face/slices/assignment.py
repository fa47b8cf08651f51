"""Updates of slices whose bounds are values: loops that write elements.

Serves: slice.length, update.shape
"""

from __future__ import annotations

from typing import Any

from traceir.face.arrays.values import cast
from traceir.face.slices.delayed_arrays import (
    DelayedArray,
    Indices,
    Read,
    check_spread,
    of_operand,
)
from traceir.face.slices.element_loops import choose, each, each_backwards
from traceir.face.slices.linear_forms import LinearForms
from traceir.face.slices.sliced_view import SlicedView, disjoint


def assign(target: SlicedView, value: Any) -> None:
    """Write an array or a number to a part of an array, as NumPy does.

    Raises ValueError (slice.lengths), TypeError (update.shape).
    """
    extents, dtype = target.extents, target.base.dtype
    source = check_spread(of_operand(value), extents)
    read, forward = _reader(target, source)

    def body(at: tuple[Any, ...]) -> None:
        target.write(at, cast(source.at(at, read), dtype))

    def ahead() -> None:
        each(extents, body)

    def back() -> None:
        each_backwards(extents[0], body)

    choose(forward, ahead, back)


def _reader(target: SlicedView, source: DelayedArray) -> tuple[Read, Any]:
    """The way an update reads its own array, and True if it goes forward: a truth
    value, which may be traced, where the array reaches over what is updated.

    What is read before it is written over is read from the array as it is then; else it
    is read from the array as it was, of which the program keeps a copy.
    """
    base, now = target.base, target.base._var
    safe = [view for view, value in source.views if view.base is base]
    own = [
        view
        for view, value in source.views
        if view.base is base and value._var is now and not disjoint(view, target)
    ]
    shifts = [_shift(target, view, source) for view in own]
    forward = _forward([s for s in shifts if type(s) is not int or s])
    if forward is None:
        forward, safe = True, [view for view in safe if view not in own]

    def read(view: SlicedView, value: Any, indices: Indices) -> Any:
        current = value._var is now and any(view is one for one in safe)
        return view.read(base.now() if current else value, indices)

    return read, forward


def _forward(shifts: list[Any]) -> Any:
    """True if an update goes forward that reads so many steps ahead of its places;
    None if no order will do."""
    known = all(type(s) is int for s in shifts)
    if known and all(s > 0 for s in shifts):
        return True
    if known and all(s < 0 for s in shifts):
        return False
    if len(shifts) == 1 and shifts[0] is not None:
        return shifts[0] > 0
    return None


def _shift(target: SlicedView, view: SlicedView, source: DelayedArray) -> Any:
    """The number of steps that a view is ahead of what is updated, if its elements are
    read in the same order; None if not, or where there are several dimensions.

    Other dimensions have one place: in the same, or it has no element in common.
    """
    if view.dims != target.dims or len(view.dims) != source.ndim:
        return None
    shift: Any = 0
    for dim in view.dims:
        if dim is None:
            continue
        one, other = view.axes[dim], target.axes[dim]
        is_spread = one.extent.known == 1 and other.extent.known != 1
        steps = (
            {one.step, other.step} if type(one.step) is type(other.step) is int else ()
        )
        if steps not in ({1}, {-1}) or is_spread:
            return None
        apart = LinearForms().difference(one.start, other.start)
        if len(view.dims) > 1 and apart != 0:
            return None
        if apart is None:
            apart = one.start - other.start
        shift = apart * one.step
    return shift
