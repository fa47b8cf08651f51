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
from traceir.face.slices.element_loops import each, each_backwards
from traceir.face.slices.extents import SlicedAxis
from traceir.face.slices.linear_forms import LinearForms
from traceir.face.slices.sliced_view import SlicedView, disjoint


def assign(target: SlicedView, value: Any) -> None:
    """Write an array or a number to a part of an array, as NumPy does.

    Raises ValueError (slice.lengths), TypeError (update.shape).
    """
    extents, dtype = target.extents, target.base.dtype
    source = check_spread(of_operand(value), extents)
    read, backwards = _reader(target, source)

    def body(at: tuple[Any, ...]) -> None:
        target.write(at, cast(source.at(at, read), dtype))

    if backwards:
        each_backwards(extents[0].length, body)
    else:
        each(tuple(e.length for e in extents), body)


def _reader(target: SlicedView, source: DelayedArray) -> tuple[Read, bool]:
    """How an update reads its own array, and whether it goes from the last on.

    What is read before it is written over is read from the array as it is then; else it
    is read from the array as it was, of which the program keeps a copy.
    """
    base = target.base
    now = base._var
    own = [
        view
        for view, value in source.views
        if view.base is base and value._var is now and not disjoint(view, target)
    ]
    shifts = [_shift(target, view, source) for view in own]
    forward = all(s is not None and s >= 0 for s in shifts)
    back = all(s is not None and s <= 0 for s in shifts) and len(target.dims) == 1
    safe = [view for view, value in source.views if view.base is base]
    if not (forward or back):
        safe = [view for view in safe if view not in own]

    def read(view: SlicedView, value: Any, indices: Indices) -> Any:
        current = value._var is now and any(view is one for one in safe)
        return view.read(base.now() if current else value, indices)

    return read, not forward and back


def _shift(target: SlicedView, view: SlicedView, source: DelayedArray) -> int | None:
    """The number of steps that a view's places are ahead of those of an update."""
    if view.dims != target.dims or len(view.dims) != source.ndim:
        return None
    forms, shift = LinearForms(), 0
    for dim, (one, other) in enumerate(zip(view.axes, target.axes, strict=True)):
        if dim not in view.dims:
            if isinstance(one, SlicedAxis):
                return None
            if forms.difference(one, other) != 0:
                return None
            continue
        stays = one.extent.known == 1 and other.extent.known != 1
        if one.step != other.step or stays:
            return None
        apart = forms.difference(one.start, other.start)
        if apart is None or apart % one.step:
            return None
        if apart and len(view.dims) > 1:
            return None
        shift = apart // one.step
    return shift
