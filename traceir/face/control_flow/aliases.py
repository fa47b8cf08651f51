"""Arrays that a loop's names are bound to anew, and the memory that these had.

Serves: staged.memory

A name that a loop binds to another array is carried as elements. That is what NumPy
does as long as nothing else has the memory that the name had when the loop began, or
nothing is written there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.array_state import are_apart, is_one_of, owners
from traceir.face.arrays.loop_steps import index_type
from traceir.face.control_flow.passes import BodyPass
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import (
    BOOL,
    Held,
    Leaf,
    Tree,
    array_pairs,
    arrays_in,
    arrays_of,
    is_array,
    tree_of,
)
from traceir.ir.avals import ShapedArray
from traceir.tracing.trace import in_force


def _others(frame: dict[str, Any], names: Container[str]) -> set[int]:
    """The memory that what has none of some names has."""
    others = [value for name, value in frame.items() if name not in names]
    return {id(array.root) for array in arrays_in(others)}


def _is_seen(array: NumpyTracer, others: set[int]) -> bool:
    """True if something else has the memory of an array."""
    if array._base is not None:
        return True
    home = array._home
    seen = home.seen if isinstance(home, RegionTrace) else ()
    inputs = {*others, *map(id, seen)}
    memories = array, *array.other_memories()
    return any(one.origins or id(one) in inputs for one in memories)


def seen_inputs(
    entry: dict[str, Any], frame: dict[str, Any], first: BodyPass
) -> list[NumpyTracer]:
    """The inputs of a pass for arrays whose memory something else has."""
    others = _others(frame, entry)
    return [
        first.values[name]
        for name, value in entry.items()
        if is_array(value) and isinstance(first.kinds[name], Leaf)
        if _is_seen(value, others)
    ]


class Rebinding:
    """The names that a recorded loop binds to other arrays.

    `before` are the arrays that they had, `sources` the names whose arrays they get in
    each turn, where the turns only exchange them: of several, each has a flag.
    """

    def __init__(
        self,
        entry: dict[str, Any],
        last: BodyPass,
        frame: dict[str, Any],
        passes: Sequence[BodyPass],
    ) -> None:
        self.last = last
        # Each array before the loop, in tuples too, with that which a turn has for it.
        self._inputs = [
            (name, *pair)
            for name, kind in last.kinds.items()
            for pair in array_pairs(tree_of(entry[name]), kind, last.values[name])
        ]
        found = list(arrays_in(frame.values()))
        found += [other for array in found for other in array.other_memories()]
        captures = {key for one in passes for key in one.region.captures}
        # What the loop reads of arrays from outside.
        self._read = [a for a in found if {id(a._atom), id(a.root._atom)} & captures]
        self._read += [array for one in passes for array in one.read]
        self.before: dict[str, NumpyTracer] = {
            name: entry[name]
            for name, kind in last.kinds.items()
            if isinstance(kind, Leaf) and not kind.number and is_array(entry[name])
        }
        self.sources = self._exchanged()
        self._others = _others(frame, last.kinds)
        self._ends = {
            name: [] if isinstance(last.kinds[name], Held) else list(arrays_of(end))
            for name, end in last.ends.items()
        }
        self._check()

    def _exchanged(self) -> dict[str, list[tuple[str, Any]]]:
        """The names whose arrays the turns exchange, with those that each may get."""
        region = self.last.region
        inputs = {id(self.last.values[name]): name for name in self.before}
        found: dict[str, list[tuple[str, Any]]] = {}
        for name in self.before:
            end = self.last.ends[name]
            array = end.array if isinstance(end, Held) else None
            if id(array) in inputs:
                found[name] = [(inputs[id(array)], None)]
            elif is_array(array) and is_one_of(array, region, inputs):
                with in_force(region):
                    some = owners(array, region, inputs)
                told = [a for a, flag in some if id(a) in inputs and flag is not None]
                if some and len(told) == len(some):
                    found[name] = [(inputs[id(a)], flag) for a, flag in some]
        while left := [n for n, some in found.items() if not self._closed(some, found)]:
            del found[left[0]]
        ends = [self.last.ends[name].array for name in found]  # type: ignore[union-attr]
        pairs = itertools.combinations(ends, 2)
        return found if all(are_apart(a, b) for a, b in pairs) else {}

    @staticmethod
    def _closed(some: list[tuple[str, Any]], found: Container[str]) -> bool:
        return all(name in found for name, _ in some)

    def is_seen(self, name: str) -> bool:
        """True if something else has the memory that a name's array had before."""
        return _is_seen(self.before[name], self._others)

    def _outer_memories(self, name: str) -> list[NumpyTracer]:
        """The arrays from outside of the loop that a name's may be after a turn."""
        found = [one for a in self._ends[name] for one in a.other_memories()]
        return [one for one in found if one._home is not self.last.region]

    def overlapping(self, name: str) -> list[str]:
        """Other names whose arrays may have the memory of this one's after a turn."""
        return [
            other
            for other, arrays in self._ends.items()
            if other != name
            and any(not are_apart(a, b) for a in self._ends[name] for b in arrays)
        ]

    def _check(self) -> None:
        """Raise TypeError (staged.memory) where what is written to an array that a name
        is bound to might be seen through another."""
        written = {id(array.root) for array in self.last.written}
        for name, array, inner in self._inputs:
            memories = {id(array.root), *map(id, array.other_memories())}
            others = [a for _, a, one in self._inputs if one is not inner] + self._read
            twice = not all(are_apart(array, other) for other in others)
            if memories & written or (inner.version and twice):
                self._refuse(name)
            if inner.version and name not in self.before:
                self._refuse(name)
        for name in self.before:
            is_written = bool(self.last.values[name].version)
            outer = set(map(id, self._outer_memories(name)))
            if outer & written or (outer and is_written):
                self._refuse(name)
            # What another name has of those that are exchanged would be seen to change.
            seeing = {*self.overlapping(name)} - self.sources.keys()
            if name in self.sources and self._writes() and seeing:
                self._refuse(name)
            if not is_written or name in self.sources:
                continue
            is_new = self.is_new(self.last.ends[name])
            if self.is_seen(name) or not is_new or self.overlapping(name):
                self._refuse(name)

    def carries(self) -> list[tuple[Any, Any, ShapedArray]]:
        """Values that the loop carries besides, before and after a turn: the array that
        each name has where arrays are exchanged, and a flag that there was a turn."""
        kind = index_type()
        found: list[tuple[Any, Any, ShapedArray]] = []
        if self._tells_owners():
            region = self.last.region
            owner = {name: region.input(kind, "") for name in self.sources}
            for number, some in enumerate(self.sources.values()):
                (last, _), *rest = some
                after: Any = owner[last]
                with in_force(region):
                    for source, flag in rest:
                        after = lax.select(flag, owner[source], after)
                found.append((number, after, kind))
        if self.before:
            self.last.region.input(BOOL, "")
            found.append((False, True, BOOL))
        return found

    def _tells_owners(self) -> bool:
        return any(map(self.is_seen, self.sources))

    def _writes(self) -> bool:
        """True if a turn writes to an array that a name has."""
        return any(self.last.values[name].version for name in self.sources)

    def settle(
        self, values: dict[str, Any], results: Iterator[Any], runs: bool
    ) -> None:
        """Give arrays that were exchanged their elements, and say of the names' new
        arrays whose memory they may have."""
        told = {}
        before = [self.before[name] for name in self.sources]
        if self._tells_owners():
            told = {name: next(results) for name in self.sources}
            for number, array in enumerate(before):
                if not self._writes():
                    break
                array.replace(_now_of(number, array, told, values))
        ran = next(results) if self.before else True
        group, told_apart = object(), set[str]()
        for name, end in self.last.ends.items():
            kind = self.last.kinds[name]
            if name in told:
                for number, array in enumerate(before):
                    is_his = lax.eq(told[name], number)
                    values[name].may_alias(array, is_his, group)
                values[name].is_another = True
                continue
            if name not in self.before:
                old = [array for key, array, _ in self._inputs if key == name]
                for made, array in itertools.product(arrays_in([values[name]]), old):
                    made.may_alias(array)
            for made in arrays_in([values[name]]):
                if not isinstance(kind, Held):
                    self._settle(name, end, made, lax.bitwise_not(ran), runs)
                    earlier = [n for n in self.overlapping(name) if n in told_apart]
                    for one in arrays_in(values[n] for n in earlier):
                        made.may_alias(one)
            told_apart.add(name)

    def _settle(self, name: str, end: Tree, made: Any, none: Any, runs: bool) -> None:
        if name in self.before and not runs and self.is_seen(name):
            made.may_alias(self.before[name], none)
        if not self.is_new(end) and name not in self.sources:
            for array in arrays_of(end):
                made.may_alias(array.root)
        # Those that it may be since an inner construct has said so.
        region = self.last.region
        for array in arrays_of(end) if name not in self.sources else ():
            for other in array.other_memories():
                if other._home is not region:
                    made.may_alias(other)
                if any(other is one for one in self.last.values.values()):
                    for one in filter(self.is_seen, self.before):
                        made.may_alias(self.before[one])

    def _refuse(self, name: str) -> None:
        array = next(array for one, array, _ in self._inputs if one == name)
        got = f"{name}, {array.aval.str_short()}"
        raise rules.error("staged.memory", got=got)

    def is_new(self, end: Tree) -> bool:
        """True if an array at the end of a turn was made in it, and has one name."""
        if not isinstance(end, Held) or not is_array(end.array):
            return isinstance(end, Leaf)
        root = end.array.root
        ends = [a.root for e in self.last.ends.values() for a in arrays_of(e)]
        inside = root._home is self.last.region and id(root) not in map(
            id, self.last.values.values()
        )
        return inside and sum(one is root for one in ends) == 1


def _now_of(
    number: int, array: NumpyTracer, told: dict[str, Any], values: dict[str, Any]
) -> Any:
    """The elements of an array after a loop that exchanged it: those of the name that
    has it now, or else its own."""
    which: Any = np.int32(0)
    for k, owner in enumerate(told.values(), 1):
        which = lax.select(lax.eq(owner, number), np.int32(k), which)
    elements = [array.now(), *(values[name].now() for name in told)]
    sides = [_part(k) for k in range(len(elements))]
    return lax.switch(which, sides, *elements)


def _part(number: int) -> Callable[..., Any]:
    """A function that gives one of its arguments."""
    return lambda *args: args[number]
