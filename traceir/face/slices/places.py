"""Places that an array of them takes, beside whole dimensions or numbers.

Serves: slice.length, index.bounds
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.face.slices.delayed_arrays import DelayedArray
from traceir.face.slices.extents import Extent, index_of
from traceir.face.slices.sliced_view import is_array, place_in
from traceir.tracing.concretization import demanded

Places = Callable[[Sequence[Any]], tuple[Any, ...]]


def gathered(
    extents: Sequence[Extent], parts: Sequence[Any]
) -> tuple[tuple[Extent, ...], Places]:
    """The extents of what an index takes, and the places of an element: of one array
    of places, beside numbers or beside whole dimensions.

    Raises TypeError (slice.length) beside other slices or arrays.
    """
    (dim,) = (d for d, p in enumerate(parts) if isinstance(p, DelayedArray))
    which = parts[dim]
    others = [p for d, p in enumerate(parts) if d != dim]
    whole = [isinstance(p, slice) and p == slice(None) for p in others]
    numbers = not any(isinstance(p, slice) or is_array(p) for p in others)
    kept = len(extents) > len(parts)
    plain = all(whole) or (numbers and not kept)
    if not plain or len(parts) > len(extents) or which.dtype.kind not in "iu":
        got = "an array of places beside other parts of an index"
        lengths = [extent.length for extent in which.extents]
        raise demanded(rules.error("slice.length", got=got), *lengths)
    before = dim if all(whole) else 0

    def places(indices: Sequence[Any]) -> tuple[Any, ...]:
        own = which.element(indices[before : before + which.ndim])
        rest = iter((*indices[:before], *indices[before + which.ndim :]))
        found = []
        for d, extent in enumerate(extents):
            if d == dim:
                found.append(place_in(own, extent, d))
            elif d < len(parts) and not isinstance(parts[d], slice):
                found.append(place_in(parts[d], extent, d))
            else:
                found.append(index_of(next(rest)))
        return tuple(found)

    left = [e for d, e in enumerate(extents) if d >= len(parts) or d != dim]
    if not all(whole):
        left = []
    return (*left[:before], *which.extents, *left[before:]), places
