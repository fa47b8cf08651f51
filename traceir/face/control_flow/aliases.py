"""Arrays that a loop's names are bound to anew, and the memory that these had.

Serves: staged.memory

A name that a loop binds to another array is carried as elements. That is what NumPy
does as long as nothing else has the memory that the name had when the loop began, or
nothing is written there.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from traceir import lax, rules
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.array_state import are_apart
from traceir.face.control_flow.passes import BodyPass, index_type
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import (
    BOOL,
    Held,
    Leaf,
    Tree,
    arrays_in,
    arrays_of,
    is_array,
)
from traceir.ir.avals import ShapedArray


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
    each turn, where the turns only exchange them.
    """

    def __init__(
        self, entry: dict[str, Any], last: BodyPass, frame: dict[str, Any]
    ) -> None:
        self.last = last
        self.before: dict[str, NumpyTracer] = {
            name: entry[name]
            for name, kind in last.kinds.items()
            if isinstance(kind, Leaf) and not kind.number and is_array(entry[name])
        }
        inputs = {id(last.values[name]): name for name in self.before}
        ends = {name: last.ends[name] for name in self.before}
        found = {
            name: inputs[id(end.array)]
            for name, end in ends.items()
            if isinstance(end, Held) and id(end.array) in inputs
        }
        exchanges = len(set(found.values())) == len(self.before)
        self.sources = found if exchanges else {}
        self._others = _others(frame, last.kinds)
        self._ends = {
            name: [] if isinstance(last.kinds[name], Held) else list(arrays_of(end))
            for name, end in last.ends.items()
        }
        self._check()

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
        roots = [id(array.root) for array in self.before.values()]
        written = {id(array.root) for array in self.last.written}
        for name, array in self.before.items():
            is_written = bool(self.last.values[name].version)
            outer = set(map(id, self._outer_memories(name)))
            if outer & written or (outer and is_written):
                self._refuse(name)
            twice = roots.count(id(array.root)) > 1
            if id(array.root) in written or (is_written and twice):
                self._refuse(name)
            if not is_written or self.sources:
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
            owners = {name: region.input(kind, "") for name in self.before}
            for number, name in enumerate(self.before):
                found.append((number, owners[self.sources[name]], kind))
        if self.before:
            self.last.region.input(BOOL, "")
            found.append((False, True, BOOL))
        return found

    def _tells_owners(self) -> bool:
        return bool(self.sources) and any(map(self.is_seen, self.before))

    def _writes(self) -> bool:
        """True if a turn writes to an array that a name has."""
        return any(self.last.values[name].version for name in self.before)

    def settle(
        self, values: dict[str, Any], results: Iterator[Any], runs: bool
    ) -> None:
        """Give arrays that were exchanged their elements, and say of the names' new
        arrays whose memory they may have."""
        owners = {}
        if self._tells_owners():
            owners = {name: next(results) for name in self.before}
            for number, array in enumerate(self.before.values()):
                if not self._writes():
                    break
                found: Any = array.now()
                for name, owner in owners.items():
                    is_his = lax.broadcast(lax.eq(owner, number), array.shape)
                    found = lax.select(is_his, values[name].now(), found)
                array.replace(found)
        ran = next(results) if self.before else True
        group, told_apart = object(), set[str]()
        for name, end in self.last.ends.items():
            kind = self.last.kinds[name]
            if name in owners:
                for number, array in enumerate(self.before.values()):
                    is_his = lax.eq(owners[name], number)
                    values[name].may_alias(array, is_his, group)
                continue
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
        got = f"{name}, {self.before[name].aval.str_short()}"
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
