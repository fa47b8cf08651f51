"""The order of an array's elements in memory, with where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir.base.fast_dataclass import dataclass

__all__ = ["Format", "Layout"]


@dataclass(frozen=True)
class DeviceLayout:
    """The dimensions of an array, from the slowest to the fastest.

    >>> DeviceLayout((1, 0)).major_to_minor
    (1, 0)
    """

    major_to_minor: Sequence[int]


Layout = DeviceLayout


@dataclass(frozen=True)
class Format:
    """The order of an array's elements, and where the array lies.

    >>> Format(DeviceLayout((0, 1))).sharding is None
    True
    """

    layout: DeviceLayout | None = None
    sharding: Any = None


def format_of(aval: Any, sharding: Any) -> Format:
    """The order of the elements of a type, rows first as everywhere, and its layout."""
    return Format(DeviceLayout(tuple(range(aval.ndim))), sharding)


def placement(given: Any) -> Any:
    """The sharding of a format whose elements are one after the other, as those of all
    arrays are here; anything else is given back.

    >>> placement(Format(DeviceLayout((0, 1)), "rows")), placement("rows")
    ('rows', 'rows')
    """
    if not isinstance(given, Format):
        return given
    order = given.layout.major_to_minor if given.layout else ()
    return given.sharding if tuple(order) == (*range(len(order)),) else given
