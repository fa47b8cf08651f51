"""Room for lists that grow without a bound while a program runs.

Serves: staged.list

A program has arrays of known sizes. Where nothing tells how often a loop appends to a
list, its trace takes the room that its function has. A program that needs more stops,
gives nothing and changes nothing; the room is made larger, and the call made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from traceir import rules
from traceir.base import cost_model
from traceir.base.fast_dataclass import dataclass

if TYPE_CHECKING:
    from traceir.base.source_info import Source
    from traceir.jit.cache.trace_cache import FunctionCache


class ListRoom:
    """The elements that such lists of one function may have."""

    __slots__ = ("cache", "elements")

    def __init__(self, cache: ref[FunctionCache]) -> None:
        self.cache = cache
        self.elements = cost_model.LIST_ROOM

    def extend(self, full: Elements) -> None:
        """Have more room than a list has filled, and forget the traces without.

        Raises TypeError (staged.effect) if there can be no more.
        """
        most = cost_model.MOST_LIST_ROOM
        if full.count >= most:
            got = f"a list of more than {full.count:,} elements"
            raise rules.error("staged.effect", got=got)
        larger = full.count * cost_model.LIST_ROOM_FACTOR
        self.elements = max(self.elements, min(larger, most))
        cache = self.cache()
        if cache is not None:
            cache.forget(self)


@dataclass(frozen=True, eq=False, slots=True)
class Elements:
    """So many elements that a list has room for, and no more: a cause of a failure."""

    room: ListRoom
    count: int

    def __call__(self, values: Sequence[Any], source: Source | None) -> OutOfRoom:
        return OutOfRoom(self)


class OutOfRoom(BaseException):
    """A list has no room in a program; no handler of the function's own takes it."""

    def __init__(self, full: Elements) -> None:
        super().__init__(f"a list of {full.count:,} elements is full")
        self.full = full
