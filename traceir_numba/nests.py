"""Loop nests as data: what one kernel computes, with nothing of the target in it.

A nest is equal to another when structure, dtypes, ranks and layout classes are equal;
extents, offsets and irregular strides are parameters of a launch. Equal nests are one
kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property

# How far an access moves in memory when one loop's index grows by one: not at all,
# by the product of the extents of other loops (of none: by one), or by the runtime
# parameter of that number.
Stride = tuple[int, ...] | int | None


@dataclass(frozen=True, slots=True)
class Access:
    """A place in a buffer, as a function of the loops' indices.

    `offset` is the number of a runtime parameter, or None where it is zero.
    """

    buffer: int
    strides: tuple[Stride, ...]
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A typed scalar constant; its text tells -0.0 from 0.0, and all NaN are one."""

    text: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Load:
    """The element at a place."""

    access: Access
    dtype: str


@dataclass(frozen=True, slots=True)
class Position:
    """A loop's index: `start + step * index`, parameters where they are not 0 and 1."""

    dim: int
    step: int | None = None
    start: int | None = None
    dtype: str = "int64"


@dataclass(frozen=True, slots=True)
class Apply:
    """A scalar primitive applied to earlier values; `dtypes` are those of `args`."""

    primitive: str
    args: tuple[Operand, ...]
    dtypes: tuple[str, ...]
    dtype: str
    params: tuple[tuple[str, Hashable], ...] = ()


@dataclass(frozen=True, slots=True)
class Reduced:
    """The result of the nest's reduction of that number; stands in `finish` only."""

    number: int
    dtype: str


Operand = int | Constant
Node = Load | Position | Apply | Reduced


@dataclass(frozen=True, slots=True)
class Store:
    """A value put in a place."""

    access: Access
    value: Operand
    dtype: str


@dataclass(frozen=True, slots=True)
class Reduction:
    """A value reduced over all reduced loops, by the primitive's tree."""

    primitive: str
    value: Operand
    dtype: str  # of the value
    result: str  # of the result


@dataclass(frozen=True)
class Nest:
    """Loops, a straight-line body in static single assignment, and what it leaves.

    `reduced` says of each loop, from the outermost, whether it is reduced. `finish` is
    computed once for each point of the loops that are kept, from the reductions'
    results. Values are numbers of nodes of `body`, or of `finish` there.
    """

    reduced: tuple[bool, ...]
    buffers: tuple[str, ...]
    body: tuple[Node, ...]
    stores: tuple[Store, ...]
    reductions: tuple[Reduction, ...] = ()
    finish: tuple[Node, ...] = ()
    finish_stores: tuple[Store, ...] = ()

    @property
    def rank(self) -> int:
        """The number of loops."""
        return len(self.reduced)

    @property
    def form(self) -> str:
        """How the loops run.

        "map": all are kept. "whole": all are reduced. "rows": the innermost loop is
        reduced. "columns": the innermost is kept, an outer one is reduced.
        """
        if not any(self.reduced):
            return "map"
        if all(self.reduced):
            return "whole"
        return "rows" if self.reduced[-1] else "columns"

    @cached_property
    def written(self) -> frozenset[int]:
        """The buffers that are stored to."""
        return frozenset(s.access.buffer for s in self.stores + self.finish_stores)

    @cached_property
    def loaded(self) -> frozenset[int]:
        """The buffers that are read."""
        nodes = self.body + self.finish
        return frozenset(n.access.buffer for n in nodes if isinstance(n, Load))

    @cached_property
    def parameters(self) -> int:
        """The number of runtime parameters besides extents."""
        used = [-1]
        for access in accesses(self):
            used += [s for s in access.strides if isinstance(s, int)]
            used += [access.offset] if access.offset is not None else []
        for node in self.body + self.finish:
            if isinstance(node, Position):
                used += [p for p in (node.step, node.start) if p is not None]
        return max(used) + 1

    @cached_property
    def _hash(self) -> int:
        return hash(
            (self.reduced, self.buffers, self.body, self.stores, self.reductions)
        )

    def __hash__(self) -> int:
        return self._hash


def accesses(nest: Nest) -> list[Access]:
    """All places that a nest reads or writes."""
    nodes = nest.body + nest.finish
    loads = [node.access for node in nodes if isinstance(node, Load)]
    return loads + [s.access for s in nest.stores + nest.finish_stores]


def map_accesses(nest: Nest, change: Callable[[Access], Access]) -> Nest:
    """The nest with `change(access)` in place of each access."""

    def node(n: Node) -> Node:
        return replace(n, access=change(n.access)) if isinstance(n, Load) else n

    def store(s: Store) -> Store:
        return replace(s, access=change(s.access))

    return replace(
        nest,
        body=tuple(map(node, nest.body)),
        stores=tuple(map(store, nest.stores)),
        finish=tuple(map(node, nest.finish)),
        finish_stores=tuple(map(store, nest.finish_stores)),
    )
