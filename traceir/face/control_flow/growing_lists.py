"""Lists to which recorded code appends as often as values decide.

Serves: staged.list

The elements lie in an array with room for all that may be appended, and how many there
are is the element of another one: regions take both over as they do any array. How much
room there must be is counted while the function is traced: what a turn appends at most,
times the most turns that its loop has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from traceir import lax
from traceir import numpy as jnp
from traceir.base import cost_model
from traceir.face.arrays.array import traced
from traceir.face.arrays.loop_steps import (
    LoopSteps,
    TracedList,
    TracedSequence,
    index_type,
)
from traceir.face.arrays.values import array_of
from traceir.face.checks.status import note, note_rule
from traceir.face.control_flow import state
from traceir.face.control_flow.list_elements import (
    ListPart,
    are_alone,
    are_pythons,
    dtypes_of,
    element_of,
    is_lent,
    joined,
    kind_of_elements,
    leaves_of_kind,
    met,
    refuse_array,
    refused,
    set_element,
    unknown,
)
from traceir.face.control_flow.regions import (
    RegionTrace,
    function_room,
    regions_inside,
)
from traceir.face.control_flow.state import Group, Leaf, Tree
from traceir.jit.runtime_checks import FilledList, ListRoom, OutOfRoom
from traceir.lax.checks.operands import convert
from traceir.tracing.trace import current_trace, in_force

# Integers up to this are floats of 64 bits.
_MOST_WHOLE = 2**53
_TOO_WIDE = "an integer beyond 2**53 beside a float, in a tuple of a list"


class GrowingList(TracedList):
    """A list of numbers, of tuples of so many numbers, or of arrays of one shape, which
    are read as copies that nobody writes to.

    Tuples are rows of an array whose dtype has the numbers of all places.

    Raises TypeError (staged.effect) for other elements.
    """

    __slots__ = (
        "_count",
        "_first",
        "_guessed",
        "_home",
        "_kind",
        "_left",
        "_most",
        "_room",
        "is_lent",
    )

    def __init__(self, values: Sequence[Any]) -> None:
        self._home: Any = current_trace()
        self._kind: Tree | None = kind_of_elements(values)
        # The most elements that it has in the trace that it is of.
        self._most = len(values)
        self._first: Any = array_of(list(values)) if values else None
        self._guessed = False
        # That of a loop without a bound that appends to it, once there is one.
        self._room: ListRoom | None = None
        self._left: list[Any] = []
        # Whether a function has been given it, which may have kept it.
        self.is_lent = False
        count = jnp.full((1,), len(values), index_type().dtype)
        self._count: Any = traced(count, number=False)

    # What the function does with it -----------------------------------------------

    def append(self, value: Any, alone: bool = False) -> None:
        """Add an element: of arrays only such as are the list's `alone`."""
        regions = self._regions()
        if not alone:
            refuse_array(value, regions)
        if any(region.most_turns() is None for region in regions):
            self._room = _room_of(regions)
        new = self._taken(value, regions, 1)
        number = self.length
        elements = self._elements
        if self._room is not None:
            most = elements.shape[0]
            note(number >= most, FilledList(self._room, most), kind=OutOfRoom)
        set_element(elements, number, new)
        set_element(self._count, 0, number + 1)

    def extend(self, values: Any) -> None:
        """Add the elements of a sequence whose length is known."""
        if isinstance(values, TracedSequence):
            raise refused("a list that takes as many elements as values decide", [])
        for value in values:
            self.append(value)

    def pop(self, place: Any = -1) -> Any:
        """Take an element out."""
        found, number = self[place], self.length
        if state.is_array(found):
            found = found.copy()
        if self._elements is not None and not (type(place) is int and place == -1):
            if type(place) is int and place < 0:
                place = number + place
            part = self._part()
            part[place:-1] = part[place + 1 :].copy()
        set_element(self._count, 0, number - 1)
        self._note(self._regions(), 0)
        return found

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(place, slice):
            self._refuse()
        regions = self._regions()
        refuse_array(value, regions)
        if self._elements is None:
            self._miss()
            self._part()[place] = 0
            return
        self._part()[place] = self._taken(value, regions, 0)

    def insert(self, place: Any, value: Any) -> None:
        """Add an element before another one."""
        number = self.length
        self.append(value)
        place = jnp.where(place < 0, place + number, place)
        place = traced(jnp.clip(place, 0, number), number=True)
        part = self._part()
        part[place + 1 :] = part[place:-1].copy()
        self[place] = value

    def clear(self) -> None:
        """Take all elements out."""
        set_element(self._count, 0, 0)
        self._note(self._regions(), 0)

    def reverse(self) -> None:
        """Turn the order of the elements round."""
        if self._elements is not None:
            self._part()[:] = self._part()[::-1].copy()
        self._note(self._regions(), 0)

    def has(self, value: Any) -> Any:
        """True if an element is equal to a value."""
        if self._elements is None:
            return False
        same = self._part() == self._stored(value)
        return np.any(np.all(same, 1) if self._width else same)

    def _taken(self, value: Any, regions: Sequence[RegionTrace], count: int) -> Any:
        """An element for the array, in which there is room for so many more."""
        kind = met(self._kind, state.type_of(state.tree_of(value)))
        if kind is None:
            raise refused("what a loop appends to a list", regions)
        self._kind = kind
        self._note(regions, count)
        loops = any(region.carries for region in regions)
        if self._elements is None or not loops:
            self._make_room(regions)
        return self._stored(value)

    def _stored(self, value: Any) -> Any:
        """An element, or a row of the array for one that is a tuple."""
        if state.is_array(value):
            return value.now()
        if not self._width:
            return value
        dtype, row = self._dtype, []
        for part in map(jnp.asarray, value):
            if (
                part.dtype.kind in "iu"
                and part.dtype.itemsize == 8
                and dtype.kind in "fc"
            ):
                note_rule(jnp.abs(part) > _MOST_WHOLE, "staged.effect", _TOO_WIDE)
            row.append(convert(part, dtype))
        return jnp.stack(row)

    @property
    def length(self) -> Any:
        """The number of elements."""
        found = lax.index_in_dim(self._count.now(), 0, keepdims=False)
        return traced(convert(found, index_type().dtype, True), number=True)

    def array(self) -> Any:
        """The elements as an array in memory of its own."""
        if self._elements is None:
            return traced(jnp.zeros((0,)), number=False)
        return self._part().copy()

    def _part(self) -> Any:
        elements = self._elements
        if elements is None:
            elements = traced(self.padded(None, 1), number=False)
        return elements[: self.length]

    def _miss(self, may_be_empty: bool = False) -> None:
        """Note that an element is asked for where none is known: the loop may append
        later in its turn. Raises IndexError where there is no loop."""
        if any(region.carries for region in self._regions()):
            self._guessed = True
        elif not may_be_empty:
            raise IndexError("list index out of range")

    def like(self, array: Any) -> TracedList:
        """A list of other elements, of the same kind."""
        return ListPart(array, self._kind)

    def __add__(self, other: Any) -> TracedList:
        return joined(self, self._kind, other)

    def __radd__(self, other: Any) -> TracedList:
        return joined(self, self._kind, other, first=True)

    def steps(self) -> LoopSteps:
        """The steps of a loop over it."""
        return LoopSteps(0, self.length, 1, self.__getitem__)

    def __getitem__(self, place: Any) -> Any:
        if self._elements is None:
            self._miss(isinstance(place, slice))
        found = self._part()[place]
        if isinstance(place, slice):
            return ListPart(found, self._kind or unknown())
        return element_of(found, self._kind or unknown())

    @property
    def of_tuples(self) -> tuple[np.dtype, ...]:
        """The dtypes of the numbers in tuples, if the elements are tuples."""
        return dtypes_of(self._kind)

    @property
    def of_pythons(self) -> bool:
        """True if the numbers are Python's."""
        return are_pythons(self._kind)

    # Its memory -------------------------------------------------------------------

    @property
    def _width(self) -> int:
        return len(self._kind.parts) if isinstance(self._kind, Group) else 0

    def _regions(self) -> list[RegionTrace]:
        """The regions in force, from the innermost on, that are inside of its trace."""
        return regions_inside(self._home, "a list")

    def _note(self, regions: Sequence[RegionTrace], count: int) -> None:
        """Note that so many elements more may be there."""
        if not regions:
            self._most += count
            return
        _, before = regions[0].appended.get(id(self), (self, 0))
        regions[0].appended[id(self)] = self, before + count

    def has_moved(self, count: int) -> bool:
        """True if a loop that appends up to `count` elements is to be recorded again:
        they have other memory now, or were not known when they were read."""
        regions = self._regions()
        if any(region.carries for region in regions):
            return False  # the loop around asks
        before = None if self._guessed else self._elements
        self._guessed = False
        self._make_room(regions, count)
        return self._elements is not before

    def has_left(self, array: Any) -> bool:
        """True if the elements were in an array before they got more memory here."""
        left = any(array is one for one in self._left)
        return left and array is not self._elements

    def _make_room(self, regions: Sequence[RegionTrace], count: int = 0) -> None:
        """Have room for all that may be appended, and `count` elements more: in an
        array of the trace in force, which a side of a choice hands on."""
        inside = (region.appended.get(id(self), (self, 0))[1] for region in regions)
        needed = self._most + sum(inside) + count
        if self._room is not None:
            needed = max(needed, self._room.elements)
        old, dtype = self._elements, self._dtype
        room = 0 if old is None else old.shape[0]
        if old is not None and needed <= room and old.dtype == dtype:
            return
        if needed > cost_model.MOST_LIST_ROOM:
            got = f"a list of up to {needed:,} elements, for which there is no room"
            raise refused(got, regions)
        room = max(needed, 1, room if needed <= room or count else 2 * room)
        if any(region.carries for region in regions):  # the loop makes room later
            with in_force(self._home):
                self._first = traced(self.padded(None, room), number=False)
            return
        self.take(self.padded(None if old is None else old.now(), room))
        if old is not None:
            self._left.append(old)

    def take(self, value: Any) -> None:
        """Have the elements in an array of the trace in force."""
        trace: Any = current_trace()
        made = traced(value, number=False)
        if trace is self._home:
            self._first = made
        else:
            trace.moved[id(self)] = self, made

    def padded(self, value: Any, room: int) -> Any:
        """Elements, if there are any, and zeros, as many as there is room for."""
        shape: tuple[int, ...] = (room, self._width) if self._width else (room,)
        if isinstance(self._kind, Leaf):
            shape += self._kind.value.shape
        zeros = jnp.zeros(shape, self._dtype)
        if value is None:
            return zeros
        return zeros.at[: value.shape[0]].set(convert(value, self._dtype))

    @property
    def _elements(self) -> Any:
        """The array of the elements where the trace is, None before there is one."""
        held = (region.moved.get(id(self)) for region in self._regions())
        return next((one[1] for one in held if one is not None), self._first)

    @property
    def _dtype(self) -> Any:
        leaves = leaves_of_kind(self._kind or unknown())
        return np.result_type(*(leaf.value.dtype for leaf in leaves))


def _room_of(regions: Sequence[RegionTrace]) -> ListRoom:
    """The room of the function that is traced. Raises TypeError (staged.effect) where
    nobody can make it larger."""
    room = function_room()
    if room is None:
        raise refused("list", regions)
    return room


def grown(names: Iterable[str], frame: Mapping[str, Any]) -> dict[str, GrowingList]:
    """Lists of the trace in force as ones to which what is recorded may append."""
    trace = current_trace()
    found = {}
    for name in names:
        value = frame.get(name)
        own = not isinstance(trace, RegionTrace) or trace.is_fresh(value)
        if type(value) is not list or not own or is_lent(value) or not are_alone(value):
            continue
        if not value or kind_of_elements(value) is not None:
            found[name] = GrowingList(value)
    return found


def note_choice(*regions: RegionTrace) -> None:
    """Note what the sides of a choice may have appended, in the trace around them."""
    counts: dict[int, tuple[GrowingList, int]] = {}
    for region in regions:
        for key, (one, count) in region.appended.items():
            counts[key] = one, max(count, counts.get(key, (one, 0))[1])
    for one, count in counts.values():
        one._note(one._regions(), count)


def note_loop(region: RegionTrace) -> None:
    """Note what the turns of a loop may have appended, in the trace around it."""
    for one, count in region.appended.values():
        one._note(one._regions(), count * (region.most_turns() or 0))


def make_room(region: RegionTrace) -> bool:
    """Have room for what a loop's turns append; false if there was enough."""
    pairs = list(region.appended.values())
    moved = [one.has_moved(count * (region.most_turns() or 0)) for one, count in pairs]
    return any(moved)


def is_left(array: Any, region: RegionTrace) -> bool:
    """True if an array has the elements of a list no more, to which turns append."""
    return any(one.has_left(array) for one, _ in region.appended.values())
