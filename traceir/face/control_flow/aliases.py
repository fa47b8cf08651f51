"""Arrays that a loop's names are bound to anew, and the memory that these had.

Serves: staged.memory

A name that a loop binds to another array is carried as elements. That is what NumPy
does as long as nothing else has the memory that the name had when the loop began, or
nothing is written there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from traceir import lax, rules
from traceir.face.arrays.array import NumpyTracer
from traceir.face.control_flow.passes import BodyPass, index_type
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
        others = [value for name, value in frame.items() if name not in last.kinds]
        self._others = {id(array.root) for array in arrays_in(others)}
        self._check()

    def is_seen(self, name: str) -> bool:
        """True if something else has the memory that a name's array had before."""
        array = self.before[name]
        return bool(array.origins) or self.is_shared(name)

    def is_shared(self, name: str) -> bool:
        """True if another name has that memory, or it is a part of an array."""
        array = self.before[name]
        return array._base is not None or id(array.root) in self._others

    def _check(self) -> None:
        """Raise TypeError (staged.memory) where what is written to an array that a name
        is bound to might be seen through another."""
        roots = [id(array.root) for array in self.before.values()]
        written = {id(array.root) for array in self.last.written}
        for name, array in self.before.items():
            is_written = bool(self.last.values[name].version)
            twice = roots.count(id(array.root)) > 1
            if id(array.root) in written or (is_written and twice):
                self._refuse(name)
            if not is_written or self.sources:
                continue
            if self.is_seen(name) or not self.is_new(self.last.ends[name]):
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

    def settle(
        self, values: dict[str, Any], results: Iterator[Any], runs: bool
    ) -> None:
        """Give arrays that were exchanged their elements, and say of the names' new
        arrays whose memory they may have."""
        owners = {}
        if self._tells_owners():
            owners = {name: next(results) for name in self.before}
            for number, array in enumerate(self.before.values()):
                found: Any = array.now()
                for name, owner in owners.items():
                    is_his = lax.broadcast(lax.eq(owner, number), array.shape)
                    found = lax.select(is_his, values[name].now(), found)
                array.replace(found)
        ran = next(results) if self.before else True
        for name, end in self.last.ends.items():
            kind = self.last.kinds[name]
            if name in owners:
                for number, array in enumerate(self.before.values()):
                    values[name].may_alias(array, lax.eq(owners[name], number))
                continue
            for made in arrays_in([values[name]]):
                if not isinstance(kind, Held):
                    self._settle(name, end, made, lax.bitwise_not(ran), runs)

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
