"""Lists to which recorded code appends as often as values decide.

Serves: staged.list

The elements lie in an array with room for all that may be appended, and how many there
are is the element of another one: regions take both over as they do any array. How much
room there must be is counted while the function is traced: what a turn appends at most,
times the most turns that its loop has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from traceir import lax, rules
from traceir import numpy as jnp
from traceir.face.arrays.array import traced
from traceir.face.arrays.loop_steps import LoopSteps, TracedList, index_type
from traceir.face.arrays.values import array_of
from traceir.face.control_flow import state
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import Group, Leaf, Tree, Unrecordable
from traceir.ir.avals import ShapedArray
from traceir.lax.checks.operands import as_array, convert
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import current_trace, in_force, typeof

# The most elements for which there is room: a gigabyte of numbers.
MOST_ELEMENTS = 2**27


class GrowingList(TracedList):
    """A list of numbers, or of tuples of so many numbers of one type.

    Raises TypeError (staged.effect) for other elements.
    """

    __slots__ = ("_count", "_first", "_guessed", "_home", "_kind", "_left", "_most")

    def __init__(self, values: Sequence[Any]) -> None:
        self._home: Any = current_trace()
        self._kind: Tree | None = _kind_of(values)
        # The most elements that it has in the trace that it is of.
        self._most = len(values)
        self._first: Any = array_of(list(values)) if values else None
        self._guessed = False
        self._left: list[Any] = []
        count = jnp.full((1,), len(values), index_type().dtype)
        self._count: Any = traced(count, number=False)

    # What the function does with it -----------------------------------------------

    def append(self, value: Any) -> None:
        """Add an element."""
        regions = self._regions()
        if any(region.most_turns() is None for region in regions):
            raise _refused("list", regions)
        kind = _met(self._kind, state.type_of(state.tree_of(value)))
        if kind is None:
            raise _refused("what a loop appends to a list", regions)
        self._kind = kind
        self._note(regions, 1)
        loops = any(region.carries for region in regions)
        if self._elements is None or not loops:
            self._make_room(regions)
        new = jnp.stack([jnp.asarray(v) for v in value]) if self._width else value
        number = self.length
        elements = self._elements
        for array, part in ((elements, new), (self._count, number + 1)):
            place = number if array is elements else 0
            array.check_home()
            part = convert(part, array.dtype)
            array.replace(traced(array.now().at[place].set(part)))

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
        return self._elements[: self.length]

    def steps(self) -> LoopSteps:
        """The steps of a loop over it."""
        return LoopSteps(0, self.length, 1, self.__getitem__)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            self._refuse()
        if self._elements is None:
            if not any(region.carries for region in self._regions()):
                raise IndexError("list index out of range")
            self._guessed = True  # the loop may append later in its turn
            return traced(0, number=True)
        found = self._part()[place]
        leaves = self._leaves
        parts = [found[k] for k in range(len(leaves))] if self._width else [found]
        numbers = [
            traced(convert(part, leaf.value.dtype, leaf.value.weak_type), number=True)
            for part, leaf in zip(parts, leaves, strict=True)
        ]
        return tuple(numbers) if self._width else numbers[0]

    @property
    def of_tuples(self) -> bool:
        """True if the elements are tuples."""
        return bool(self._width)

    @property
    def of_pythons(self) -> bool:
        """True if the numbers are Python's."""
        return all(leaf.value.weak_type for leaf in self._leaves)

    # Its memory -------------------------------------------------------------------

    @property
    def _leaves(self) -> list[Leaf]:
        """The types of an element's numbers; none before there is an element."""
        return [] if self._kind is None else list(state.leaves_of(self._kind))

    @property
    def _width(self) -> int:
        return len(self._kind.parts) if isinstance(self._kind, Group) else 0

    def _regions(self) -> list[RegionTrace]:
        """The regions in force, from the innermost on, that are inside of its trace."""
        found: list[Any] = []
        trace: Any = current_trace()
        while trace is not self._home:
            if not isinstance(trace, RegionTrace):
                raise rules.error("update.outer", got="a list in an inner function")
            found.append(trace)
            trace = trace.parent
        return found

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
        old, dtype = self._elements, self._dtype
        room = 0 if old is None else old.shape[0]
        if old is not None and needed <= room and old.dtype == dtype:
            return
        if needed > MOST_ELEMENTS:
            got = f"a list of up to {needed:,} elements, for which there is no room"
            raise _refused(got, regions)
        room = max(needed, room if needed <= room or count else 2 * room)
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
        shape = (room, self._width) if self._width else (room,)
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
        return self._leaves[0].value.dtype


class MovedLists:
    """Lists that sides of a choice have moved to other memory, as results of it."""

    def __init__(self, *sides: Any) -> None:
        found = [one for side in sides for one, _ in side.region.moved.values()]
        self.lists = list({id(one): one for one in found}.values())
        self._sides = sides

    def outputs(self) -> Iterator[tuple[list[Any], ShapedArray]]:
        """The elements of each list at the end of each side, and their type."""
        for one in self.lists:
            before = one._elements
            ends = [self._end(side, one, before) for side in self._sides]
            room = max(0 if end is None else end.shape[0] for end in ends)
            values = []
            for side, end in zip(self._sides, ends, strict=True):
                with in_force(side.region):
                    values.append(as_array(one.padded(end, room)))
            yield values, typeof(values[0])

    def _end(self, side: Any, one: GrowingList, before: Any) -> Any:
        if id(one) in side.lists:
            return side.lists[id(one)]
        if side.diverged or before is None:
            return None
        held = side.memory.get(id(before))
        return before.now() if held is None else held[1]

    def settle(self, results: Iterator[Any]) -> None:
        """Take the results of the choice."""
        for one in self.lists:
            one.take(next(results))


def _met(kind: Tree | None, other: Tree) -> Tree | None:
    """The type of elements of two types; None if lists of such do not grow."""
    try:
        found = other if kind is None else state.joined(kind, other)
    except Unrecordable:
        return None
    leaves = found.parts if isinstance(found, Group) else [found]
    numbers = all(isinstance(leaf, Leaf) and leaf.number for leaf in leaves)
    return found if numbers and len({x.value.dtype for x in leaves}) == 1 else None


def _kind_of(values: Sequence[Any]) -> Tree | None:
    """The type of the elements of a list; None if there is none."""
    kinds = [state.type_of(state.tree_of(value)) for value in values]
    found = _met(None, kinds[0]) if kinds else None
    for kind in kinds[1:]:
        found = None if found is None else _met(found, kind)
    return found


def _refused(got: str, regions: Sequence[RegionTrace]) -> BaseException:
    """The error of a list that cannot grow, or the demand of what decides that it is
    to."""
    error = rules.error("staged.effect", got=got)
    return demanded(error, *(region.truth for region in regions))


def grown(names: Iterable[str], frame: Mapping[str, Any]) -> dict[str, GrowingList]:
    """Lists of the trace in force as ones to which what is recorded may append."""
    trace = current_trace()
    found = {}
    for name in names:
        value = frame.get(name)
        own = not isinstance(trace, RegionTrace) or trace.is_fresh(value)
        if type(value) is list and own and (not value or _kind_of(value) is not None):
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
