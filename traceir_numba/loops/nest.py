"""Loop nests as data, without a target.

A nest is equal to another when structure, dtypes, ranks and layout classes are equal;
extents, offsets and irregular strides are parameters of a launch. Equal nests are one
kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from traceir.base.caches import cached_property
from traceir.base.fast_dataclass import dataclass

# How far an access moves in memory when one loop's index grows by one: not at all,
# by the product of the extents of other loops (of none: by one), or by the runtime
# parameter of that number.
Stride = tuple[int, ...] | int | None


@dataclass(frozen=True, slots=True)
class Access:
    """A place in a buffer, as a function of the loops' indices.

    `offset` is the number of a runtime parameter, or None where it is zero, and the
    place is so many elements `past` it. Indices `found` in values are added to it:
    values, each with a parameter that it is multiplied by, or None. If `width` elements
    lie together at a place, it is that of number `lane`.
    """

    buffer: int
    strides: tuple[Stride, ...]
    offset: int | None = None
    dynamic: tuple[tuple[Operand, int | None], ...] = ()
    width: int = 1
    lane: int = 0
    past: int = 0


@dataclass(frozen=True, slots=True)
class ScalarConstant:
    """A typed scalar constant; its text tells -0.0 from 0.0, and all NaN are one."""

    text: str
    dtype: str


@dataclass(frozen=True, slots=True)
class LoadElement:
    """The element at a place; zero where the truth of number `guard` does not hold."""

    access: Access
    dtype: str
    guard: int | None = None


@dataclass(frozen=True, slots=True)
class LoopIndex:
    """A loop's index: `start + step * index`, parameters where they are not 0 and 1.

    Points of loops that follow are counted, too, if the index goes `over` these.
    """

    dim: int
    step: int | None = None
    start: int | None = None
    dtype: str = "int64"
    over: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class InRange:
    """The test that a loop's index is from `low` on and before `high`, parameters if
    any.
    """

    dim: int
    low: int | None
    high: int | None
    dtype: str = "bool"


@dataclass(frozen=True, slots=True)
class ClampIndex:
    """The place next to a number, from 0 to the one that a parameter is."""

    value: Operand
    last: int
    dtype: str = "int64"


@dataclass(frozen=True, slots=True)
class IndexInBounds:
    """The test that a number is an index, from 0 to the one that a parameter is."""

    value: Operand
    last: int
    dtype: str = "bool"


@dataclass(frozen=True, slots=True)
class Apply:
    """A scalar primitive applied to earlier values; `dtypes` are those of `args`."""

    primitive: str
    args: tuple[Operand, ...]
    dtypes: tuple[str, ...]
    dtype: str
    params: tuple[tuple[str, Hashable], ...] = ()


@dataclass(frozen=True, slots=True)
class ReductionResult:
    """The result of the pass's reduction of that number; stands in `epilogue` only."""

    number: int
    dtype: str


@dataclass(frozen=True, slots=True)
class EpilogueValue:
    """The value of an `epilogue`, by number; stands in later passes only."""

    number: int
    dtype: str


Operand = int | ScalarConstant
Node = (
    LoadElement
    | LoopIndex
    | InRange
    | ClampIndex
    | IndexInBounds
    | Apply
    | ReductionResult
    | EpilogueValue
)


@dataclass(frozen=True, slots=True)
class StoreElement:
    """A value put in a place, if the truth of number `guard` holds."""

    access: Access
    value: Operand
    dtype: str
    guard: int | None = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """A value reduced over all reduced loops, by the primitive's tree."""

    primitive: str
    value: Operand
    dtype: str  # of the value
    result: str  # of the result


@dataclass(frozen=True, slots=True)
class Pass:
    """A straight-line body in static single assignment, and its stores and reductions.

    The body is run over all reduced loops, for each point of the loops that are kept.
    `epilogue` is then computed once, from the reductions' results. Values are numbers
    of nodes of `body`; in `epilogue` they count all that earlier passes finished, too.
    """

    body: tuple[Node, ...]
    stores: tuple[StoreElement, ...]
    reductions: tuple[Reduction, ...] = ()
    epilogue: tuple[Node, ...] = ()
    epilogue_stores: tuple[StoreElement, ...] = ()


@dataclass(frozen=True)
class LoopNest:
    """Loops, and the passes over them.

    `reduced` says of each loop, from the outermost, whether it is reduced. The fields
    of the first pass are the nest's own; `later_passes` read what those before
    finished, and what they stored at the same place.

    `extents` are those that the source has as constants, loop by loop, and `constants`
    the parameters of that kind; none where there are none. A `short` nest reduces so
    few elements to each result that they are taken one after the other, rows that are
    `masked` in vectors of a fixed length, of which the last may have too many; `long`
    ones in vectors that are full, and then the rest. Few columns are reduced in
    `blocks` of rows. A prefix scan has a `scan_direction`: its one reduced loop runs up
    (1) or down (-1), and the epilogue is computed at each of its points, from what has
    been reduced so far. An `ordered` nest runs in the order of its loops: several
    points may write one place. Innermost loops `interleave` so many vectors.
    """

    reduced: tuple[bool, ...]
    buffers: tuple[str, ...]
    body: tuple[Node, ...]
    stores: tuple[StoreElement, ...]
    reductions: tuple[Reduction, ...] = ()
    epilogue: tuple[Node, ...] = ()
    epilogue_stores: tuple[StoreElement, ...] = ()
    later_passes: tuple[Pass, ...] = ()
    extents: tuple[int | None, ...] = ()
    short: bool = False
    masked: bool = False
    long: bool = False
    blocks: bool = False
    scan_direction: int = 0
    interleave: int = 1
    constants: tuple[int | None, ...] = ()
    ordered: bool = False

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """All passes, in order."""
        stores, ends = self.stores, self.epilogue_stores
        return (
            Pass(self.body, stores, self.reductions, self.epilogue, ends),
            *self.later_passes,
        )

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of all passes."""
        return tuple(n for one in self.passes for n in one.body + one.epilogue)

    @cached_property
    def all_stores(self) -> tuple[StoreElement, ...]:
        """The stores of all passes."""
        return tuple(s for one in self.passes for s in one.stores + one.epilogue_stores)

    def fixed(self, loop: int) -> int | None:
        """The extent of a loop where it is a constant."""
        return self.extents[loop] if self.extents else None

    @property
    def rank(self) -> int:
        """The number of loops."""
        return len(self.reduced)

    @property
    def form(self) -> str:
        """The way in which the loops run.

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
        return frozenset(s.access.buffer for s in self.all_stores)

    @cached_property
    def loaded(self) -> frozenset[int]:
        """The buffers that are read."""
        return frozenset(
            n.access.buffer for n in self.nodes if isinstance(n, LoadElement)
        )

    @cached_property
    def parameters(self) -> tuple[int, ...]:
        """The runtime parameters that are used, besides extents."""
        used: set[int | None] = set()
        for access in accesses(self):
            used.update(s for s in access.strides if isinstance(s, int))
            used.update((access.offset, *(stride for _, stride in access.dynamic)))
        for node in self.nodes:
            if isinstance(node, LoopIndex):
                used.update((node.step, node.start))
            if isinstance(node, ClampIndex | IndexInBounds):
                used.add(node.last)
            if isinstance(node, InRange):
                used.update((node.low, node.high))
        return tuple(sorted(k for k in used if k is not None))

    @cached_property
    def _hash(self) -> int:
        form = self.extents, self.short, self.masked, self.long, self.blocks
        runs = self.scan_direction, self.ordered, self.constants
        return hash((self.reduced, self.buffers, self.passes, form, runs))

    def __hash__(self) -> int:
        return self._hash


def kind_of(nest: LoopNest) -> str:
    """A word for the work of a nest."""
    if not nest.reductions:
        return "map"
    return nest.reductions[0].primitive.removeprefix("reduce_")


def accesses(nest: LoopNest) -> list[Access]:
    """All places that a nest reads or writes."""
    loads = [node.access for node in nest.nodes if isinstance(node, LoadElement)]
    return loads + [s.access for s in nest.all_stores]


def map_nodes(nest: LoopNest, change: Callable[[Node], Node]) -> LoopNest:
    """The nest with `change(node)` in place of each node, in all passes."""
    return _map(nest, change, lambda store: store)


def map_accesses(nest: LoopNest, change: Callable[[Access], Access]) -> LoopNest:
    """The nest with `change(access)` in place of each access."""

    def node(n: Node) -> Node:
        return replace(n, access=change(n.access)) if isinstance(n, LoadElement) else n

    return _map(nest, node, lambda s: replace(s, access=change(s.access)))


def _map(
    nest: LoopNest,
    node: Callable[[Node], Node],
    store: Callable[[StoreElement], StoreElement],
) -> LoopNest:
    """The nest with all nodes and stores replaced, in each pass."""
    first, *later = (
        replace(
            one,
            body=tuple(map(node, one.body)),
            stores=tuple(map(store, one.stores)),
            epilogue=tuple(map(node, one.epilogue)),
            epilogue_stores=tuple(map(store, one.epilogue_stores)),
        )
        for one in nest.passes
    )
    return replace(
        nest,
        body=first.body,
        stores=first.stores,
        epilogue=first.epilogue,
        epilogue_stores=first.epilogue_stores,
        later_passes=tuple(later),
    )
