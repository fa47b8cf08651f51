"""The loops along which no two points of a scatter collide.

A place is a sum of terms: a loop's index, or a value that was found, times a step. If
each step is more than the smaller terms can add up to, the place tells every term. A
loop whose index a term tells is then parallel. Serves: class.scatter
"""

from __future__ import annotations

from collections.abc import Iterator

from traceir.base.fast_dataclass import dataclass
from traceir_numba.loops.nest import (
    Access,
    Apply,
    ClampIndex,
    LoadElement,
    LoopIndex,
    LoopNest,
    Operand,
    ScalarConstant,
    StoreElement,
    Stride,
)
from traceir_numba.loops.program import Shape

# What a device joins to memory in one operation, whatever the order: integers.
ATOMIC = ("add", "sub", "min", "max")
WORDS = ("int32", "uint32", "int64", "uint64")


@dataclass(frozen=True, slots=True)
class IndexTerm:
    """A number from 0 to `most`, times `step`; it tells a loop's index, or none."""

    step: int
    most: int
    told: int | None


@dataclass(frozen=True, slots=True)
class Joined:
    """A store that joins what is there: by an operation, from operands of the body."""

    operation: str
    before: int
    value: Operand
    result: int


def apart(nest: LoopNest, extents: Shape, params: Shape) -> tuple[int, ...]:
    """The loops along which no two points write to one place."""
    store = only_store(nest)
    if store is None:
        return ()
    found = [t for t in _terms(nest, store.access, extents, params) if t.most]
    reach = 0
    for term in sorted(found, key=lambda t: t.step):
        if term.step <= reach:
            return ()
        reach += term.step * term.most
    told = {t.told for t in found}
    return tuple(d for d, n in enumerate(extents) if d in told or n <= 1)


def only_store(nest: LoopNest) -> StoreElement | None:
    """The store of a nest that has one."""
    stores = nest.all_stores
    return stores[0] if len(stores) == 1 and not nest.later_passes else None


def atomic(nest: LoopNest) -> Joined | None:
    """The store that a device can join in any order with the same bits, or None."""
    store = only_store(nest)
    if store is None or store.dtype not in WORDS or not isinstance(store.value, int):
        return None
    node = nest.body[store.value]
    if not isinstance(node, Apply) or node.primitive not in ATOMIC:
        return None
    before, value = node.args
    if not isinstance(before, int):
        return None
    load = nest.body[before]
    if not isinstance(load, LoadElement) or load.access != store.access:
        return None
    if any(used == before for n in nest.body if n is not node for used in _args(n)):
        return None
    return Joined(node.primitive, before, value, store.value)


def needed(nest: LoopNest, store: StoreElement) -> frozenset[int]:
    """The nodes of the body that say where, and whether, something is put."""
    found: set[int] = set()
    waiting = [value for value, _ in store.access.dynamic]
    waiting += [] if store.guard is None else [store.guard]
    while waiting:
        value = waiting.pop()
        if isinstance(value, int) and value not in found:
            found.add(value)
            waiting += _args(nest.body[value])
    return frozenset(found)


def _args(node: object) -> Iterator[Operand]:
    """The operands of a node."""
    match node:
        case Apply(args=args):
            yield from args
        case LoadElement(access, _, guard):
            yield from (value for value, _ in access.dynamic)
            if guard is not None:
                yield guard
        case _ if hasattr(node, "value"):
            yield node.value


def _terms(
    nest: LoopNest, access: Access, extents: Shape, params: Shape
) -> Iterator[IndexTerm]:
    """The terms of an access: strides of loops, then places that are found."""
    for d, stride in enumerate(access.strides):
        if stride is not None:
            yield IndexTerm(abs(_step(stride, extents, params)), extents[d] - 1, d)
    for value, by in access.dynamic:
        step = 1 if by is None else abs(params[by])
        node = nest.body[value] if isinstance(value, int) else None
        if not isinstance(node, ClampIndex):
            yield IndexTerm(0, 1, None)  # who knows
            continue
        last = params[node.last]
        yield IndexTerm(step, last, _told(nest, node.value, last, extents, params))


def _step(stride: Stride, extents: Shape, params: Shape) -> int:
    if isinstance(stride, int):
        return params[stride]
    step = 1
    for d in stride or ():
        step *= extents[d]
    return step


def _told(
    nest: LoopNest, value: Operand, last: int, extents: Shape, params: Shape
) -> int | None:
    """The loop whose index a value is a place for, each index another one."""
    found = _line(nest, value, extents, params)
    if found is None or found.dim is None or found.step == 0:
        return None
    return found.dim if found.low >= 0 and found.high <= last else None


# -- values that follow from one loop's index -----------------------------------------


@dataclass(frozen=True, slots=True)
class _LoopOffset:
    """`start + step * index` of a loop with so many indices; without one `start`."""

    start: int
    step: int = 0
    dim: int | None = None
    count: int = 1

    @property
    def low(self) -> int:
        return min(self.start, self.start + self.step * (self.count - 1))

    @property
    def high(self) -> int:
        return max(self.start, self.start + self.step * (self.count - 1))


def _line(
    nest: LoopNest, value: Operand, extents: Shape, params: Shape
) -> _LoopOffset | None:
    """A value as a linear function of one loop's index, if it is one."""
    if isinstance(value, ScalarConstant):
        numbers = {"True": 1, "False": 0}
        kind = value.dtype
        whole = kind == "bool" or kind.startswith(("int", "uint"))
        return (
            _LoopOffset(numbers.get(value.text) or int(value.text)) if whole else None
        )
    node = nest.body[value]
    if isinstance(node, LoopIndex) and not node.over:
        start = 0 if node.start is None else params[node.start]
        step = 1 if node.step is None else params[node.step]
        return _LoopOffset(start, step, node.dim, extents[node.dim])
    if not isinstance(node, Apply):
        return None
    given = [_line(nest, arg, extents, params) for arg in node.args]
    return _applied(node, given)


def _applied(node: Apply, given: list[_LoopOffset | None]) -> _LoopOffset | None:
    """The line that a primitive makes of lines, if no number wraps."""
    match node.primitive, given:
        case (("iota" | "convert_element_type" | "copy"), [_LoopOffset() as x]):
            return x if _fits(x, node.dtype) else None
        case "add", [_LoopOffset() as x, _LoopOffset() as y] if (
            x.dim is None or y.dim is None
        ):
            dim, count = (x.dim, x.count) if y.dim is None else (y.dim, y.count)
            found = _LoopOffset(x.start + y.start, x.step + y.step, dim, count)
            return found if _fits(found, node.dtype) else None
        case "lt", [_LoopOffset() as x, _LoopOffset() as y] if x.low >= y.high:
            return _LoopOffset(0)
        case "select_n", [_LoopOffset(0, 0), x, _]:
            return x
    return None


def _fits(line: _LoopOffset, dtype: str) -> bool:
    """True if all of its numbers are ones of an integer dtype."""
    if not dtype.startswith(("int", "uint")):
        return False
    bits = int(dtype.lstrip("uint"))
    low, high = (0, 1 << bits) if dtype[0] == "u" else (-1 << bits - 1, 1 << bits - 1)
    return low <= line.low and line.high < high
