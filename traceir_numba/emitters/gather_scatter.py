"""Reads and writes at indices that are values.

Serves: class.placed, prim.gather, class.scatter
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal
from traceir_numba.emitters.decompositions import DecompositionBuilder, constant
from traceir_numba.emitters.kinds import (
    AffineIndex,
    DynamicIndex,
    Gather,
    IndexMap,
    Scatter,
    register,
)
from traceir_numba.emitters.structure import HERE

Shape = tuple[int, ...]

FILLS = "GatherScatterMode.FILL_OR_DROP"


def clamped_index(
    index: AffineIndex, atom: Atom, at: IndexMap, last: int, inside: bool = False
) -> AffineIndex:
    """An index counted from a place that is a value, within 0 and `last`."""
    if isinstance(atom, Literal):
        return replace(index, start=index.start + max(0, min(int(atom.value), last)))
    if last == 0:
        return index
    found = DynamicIndex(atom, at, last, inside=inside)
    return replace(index, dynamic=(*index.dynamic, found))


def inside(eqn: Eqn) -> tuple[int, ...]:
    """The dimensions in which ranges of integers say that places are inside."""
    return dict(eqn.params).get("inside", ())  # type: ignore[return-value]


def unguarded(*_: object) -> tuple[DynamicIndex, ...]:
    """All places count."""
    return ()


# -- slices ---------------------------------------------------------------------------


def _sliced(
    eqn: Eqn, starts: tuple[Atom, ...], sizes: Shape, indices: IndexMap
) -> IndexMap:
    shape, known = eqn.inputs[0].aval.shape, inside(eqn)
    parts = zip(indices, starts, shape, sizes, strict=True)
    return tuple(
        clamped_index(index, start, (), n - size, d in known)
        for d, (index, start, n, size) in enumerate(parts)
    )


def read_slice(eqn: Eqn, indices: IndexMap) -> IndexMap:
    """Each dimension from its start on."""
    return _sliced(eqn, eqn.inputs[1:], eqn.param("slice_sizes"), indices)


def place_slice(eqn: Eqn) -> IndexMap:
    """As `read_slice`."""
    update, starts = eqn.inputs[1], eqn.inputs[2:]
    loops = tuple(map(AffineIndex, range(update.aval.ndim)))
    return _sliced(eqn, starts, update.aval.shape, loops)


def whole_update(eqn: Eqn) -> ClosedJaxpr:
    """The update of an array without dimensions: all of it is replaced."""
    build = DecompositionBuilder(eqn)
    return build.finish(build.operands[1])


register("dynamic_slice", Gather(read_slice, unguarded, lambda eqn: None))
register(
    "dynamic_update_slice",
    Scatter(
        1,
        lambda eqn: tuple(range(eqn.inputs[1].aval.ndim)),
        place_slice,
        unguarded,
        lambda eqn: False,
        whole_update,
    ),
)


# -- rows of indices ------------------------------------------------------------------


def _window(eqn: Eqn, offsets: IndexMap, row: IndexMap) -> IndexMap:
    """The place of an element in the operand, but for the values in a row."""
    _, single, _, batched, along = eqn.param("dimension_numbers")
    rest = iter(offsets)
    return tuple(
        row[along[batched.index(d)]]
        if d in batched
        else HERE
        if d in single
        else next(rest)
        for d in range(eqn.inputs[0].aval.ndim)
    )


def _dynamic_indices(eqn: Eqn, sizes: Shape, row: IndexMap) -> dict[int, DynamicIndex]:
    """The values in a row, by the dimension of the operand that they are places in."""
    x, indices = eqn.inputs[:2]
    names, known = eqn.param("dimension_numbers")[2], inside(eqn)
    return {
        d: DynamicIndex(
            indices,
            (*row, AffineIndex(None, k)),
            x.aval.shape[d] - sizes[d],
            inside=d in known,
        )
        for k, d in enumerate(names)
    }


def _placed(eqn: Eqn, sizes: Shape, offsets: IndexMap, row: IndexMap) -> IndexMap:
    entries = _dynamic_indices(eqn, sizes, row)
    return tuple(
        _within(index, entries[d]) if d in entries else index
        for d, index in enumerate(_window(eqn, offsets, row))
    )


def _within(index: AffineIndex, found: DynamicIndex) -> AffineIndex:
    return clamped_index(index, found.atom, found.at, found.last, found.inside)


def _parted(windows: Shape, indices: IndexMap) -> tuple[IndexMap, IndexMap]:
    """The indices in the window, and those of the row."""
    row = tuple(index for d, index in enumerate(indices) if d not in windows)
    return tuple(indices[d] for d in windows), row


def read_gather(eqn: Eqn, indices: IndexMap) -> IndexMap:
    """The index map into each row's window."""
    parted = _parted(eqn.param("dimension_numbers")[0], indices)
    return _placed(eqn, eqn.param("slice_sizes"), *parted)


def guarded_gather(eqn: Eqn, indices: IndexMap) -> tuple[DynamicIndex, ...]:
    """The values that may be outside, where that gives something else."""
    if eqn.param("mode") != FILLS:
        return ()
    _, row = _parted(eqn.param("dimension_numbers")[0], indices)
    return tuple(_dynamic_indices(eqn, eqn.param("slice_sizes"), row).values())


def fill(eqn: Eqn) -> Literal | None:
    """The fill value of rows out of bounds."""
    if eqn.param("mode") != FILLS:
        return None
    dtype = eqn.outputs[0].aval.dtype
    return constant(eqn.param("fill_value"), dtype)


register("gather", Gather(read_gather, guarded_gather, fill))


def order(eqn: Eqn) -> Shape:
    """Row after row, and then along the window."""
    windows = eqn.param("dimension_numbers")[0]
    rank = eqn.inputs[2].aval.ndim
    return (*(d for d in range(rank) if d not in windows), *windows)


def _sizes(eqn: Eqn) -> Shape:
    """The window's extents in the operand's dimensions."""
    windows, single, _, batched, _ = eqn.param("dimension_numbers")
    rest = iter(eqn.inputs[2].aval.shape[d] for d in windows)
    gone = {*single, *batched}
    return tuple(1 if d in gone else next(rest) for d in range(eqn.inputs[0].aval.ndim))


def _loops(eqn: Eqn) -> tuple[IndexMap, IndexMap]:
    """The loops over the window, and those over the rows."""
    windows = eqn.param("dimension_numbers")[0]
    rows = eqn.inputs[2].aval.ndim - len(windows)
    loops = tuple(map(AffineIndex, range(rows + len(windows))))
    return loops[rows:], loops[:rows]


def place_scatter(eqn: Eqn) -> IndexMap:
    """The index map into each row's window."""
    return _placed(eqn, _sizes(eqn), *_loops(eqn))


def guarded_scatter(eqn: Eqn) -> tuple[DynamicIndex, ...]:
    """The values that may be outside, where those rows are left out."""
    if eqn.param("mode") != FILLS:
        return ()
    return tuple(_dynamic_indices(eqn, _sizes(eqn), _loops(eqn)[1]).values())


def ordered(eqn: Eqn) -> bool:
    """True if several rows may have one place."""
    return prod(eqn.inputs[1].aval.shape[:-1]) > 1


def of_one(eqn: Eqn) -> ClosedJaxpr:
    """An array without dimensions, as an array of one element."""
    build = DecompositionBuilder(eqn)
    x, indices, updates = build.operands
    windows, _, names, batched, along = eqn.param("dimension_numbers")
    operands = build.reshaped(x, (1,)), indices, updates
    numbers = windows, (0,), names, batched, along
    params: dict[str, Any] = {**dict(eqn.params), "dimension_numbers": numbers}
    put = build.bind(eqn.primitive, *operands, shape=(1,), **params)
    return build.finish(build.reshaped(put, ()))


def _scatter(name: str, combine: str | None) -> None:
    entry = Scatter(2, order, place_scatter, guarded_scatter, ordered, of_one, combine)
    register(name, entry)


_scatter("scatter", None)
for _name in ("add", "sub", "mul", "min", "max"):
    _scatter(f"scatter-{_name}", _name)
