"""Room for lists that grow without a bound while a program runs.

Serves: staged.list

A program has arrays of known sizes. Where nothing tells how often a loop appends to a
list, its trace takes the room that its function has. A program that needs more stops,
gives nothing and changes nothing; the room is made larger, and the call made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir import rules
from traceir.base import cost_model
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source, user_frame_summary


class ListRoom:
    """The elements that such lists of one function may have."""

    __slots__ = ("elements", "once")

    def __init__(self) -> None:
        self.elements = cost_model.LIST_ROOM
        self.once = False

    def extend_once(self) -> bool:
        """Have much room at once, for programs that have effects, so that a call can't
        be made again; False if it is so by now."""
        if self.once:
            return False
        self.once = True
        many = cost_model.LIST_ROOM * cost_model.LIST_ROOM_FACTOR**2
        self.elements = max(self.elements, many)
        return True

    def extend(self, full: Elements) -> None:
        """Have more room than a list has filled.

        Raises TypeError (staged.effect) if there can be no more.
        """
        most = cost_model.MOST_LIST_ROOM
        if self.once or full.count >= most:
            raise full.error("of a function that prints or draws" if self.once else "")
        larger = full.count * cost_model.LIST_ROOM_FACTOR
        self.elements = max(self.elements, min(larger, most))


@dataclass(frozen=True, eq=False, slots=True)
class Elements:
    """So many elements that a list has room for, and no more: a cause of a failure."""

    room: ListRoom
    count: int

    source: Source | None = None

    def __call__(self, values: Sequence[Any], source: Source | None) -> OutOfRoom:
        return OutOfRoom(Elements(self.room, self.count, source))

    def error(self, where: str) -> Exception:
        """The error of a list that can't have more."""
        got = f"a list of more than {self.count:,} elements"
        line = None if self.source is None else user_frame_summary(self.source)
        return rules.error("staged.effect", got=f"{got} {where}".rstrip(), where=line)


class OutOfRoom(BaseException):
    """A list has no room in a program; no handler of the function's own takes it."""

    def __init__(self, full: Elements) -> None:
        super().__init__(f"a list of {full.count:,} elements is full")
        self.full = full
