"""Reads and writes at indices that are values.

Serves: class.placed, prim.gather, class.scatter
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal
from traceir_numba.emitters.decompositions import Build
from traceir_numba.emitters.kinds import Fetch, Found, Index, Map, Put, register
from traceir_numba.emitters.structure import HERE

Shape = tuple[int, ...]

FILLS = "GatherScatterMode.FILL_OR_DROP"


def begins(index: Index, atom: Atom, at: Map, last: int) -> Index:
    """An index counted from a place that is a value, within 0 and `last`."""
    if isinstance(atom, Literal):
        return replace(index, start=index.start + max(0, min(int(atom.value), last)))
    if last == 0:
        return index
    return replace(index, found=(*index.found, Found(atom, at, last)))


def nothing(*_: object) -> tuple[Found, ...]:
    """All places count."""
    return ()


# -- slices ---------------------------------------------------------------------------


def _sliced(eqn: Eqn, starts: tuple[Atom, ...], sizes: Shape, indices: Map) -> Map:
    shape = eqn.inputs[0].aval.shape
    return tuple(
        begins(index, start, (), n - size)
        for index, start, n, size in zip(indices, starts, shape, sizes, strict=True)
    )


def read_slice(eqn: Eqn, indices: Map) -> Map:
    """Each dimension from its start on."""
    return _sliced(eqn, eqn.inputs[1:], eqn.param("slice_sizes"), indices)


def place_slice(eqn: Eqn) -> Map:
    """As `read_slice`."""
    update, starts = eqn.inputs[1], eqn.inputs[2:]
    loops = tuple(map(Index, range(update.aval.ndim)))
    return _sliced(eqn, starts, update.aval.shape, loops)


def whole_update(eqn: Eqn) -> ClosedJaxpr:
    """The update of an array without dimensions: all of it is replaced."""
    build = Build(eqn)
    return build.finish(build.operands[1])


register("dynamic_slice", Fetch(read_slice, nothing, lambda eqn: None))
register(
    "dynamic_update_slice",
    Put(
        1,
        lambda eqn: tuple(range(eqn.inputs[1].aval.ndim)),
        place_slice,
        nothing,
        lambda eqn: False,
        whole_update,
    ),
)


# -- rows of indices ------------------------------------------------------------------


def _window(eqn: Eqn, offsets: Map, row: Map) -> Map:
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


def _entries(eqn: Eqn, sizes: Shape, row: Map) -> dict[int, Found]:
    """The values in a row, by the dimension of the operand that they are places in."""
    x, indices = eqn.inputs[:2]
    names = eqn.param("dimension_numbers")[2]
    return {
        d: Found(indices, (*row, Index(None, k)), x.aval.shape[d] - sizes[d])
        for k, d in enumerate(names)
    }


def _placed(eqn: Eqn, sizes: Shape, offsets: Map, row: Map) -> Map:
    entries = _entries(eqn, sizes, row)
    return tuple(
        begins(index, entries[d].atom, entries[d].at, entries[d].last)
        if d in entries
        else index
        for d, index in enumerate(_window(eqn, offsets, row))
    )


def _parted(windows: Shape, indices: Map) -> tuple[Map, Map]:
    """The indices in the window, and those of the row."""
    row = tuple(index for d, index in enumerate(indices) if d not in windows)
    return tuple(indices[d] for d in windows), row


def read_gather(eqn: Eqn, indices: Map) -> Map:
    """In each row's window."""
    parted = _parted(eqn.param("dimension_numbers")[0], indices)
    return _placed(eqn, eqn.param("slice_sizes"), *parted)


def tested_gather(eqn: Eqn, indices: Map) -> tuple[Found, ...]:
    """The values that may be outside, where that gives something else."""
    if eqn.param("mode") != FILLS:
        return ()
    _, row = _parted(eqn.param("dimension_numbers")[0], indices)
    return tuple(_entries(eqn, eqn.param("slice_sizes"), row).values())


def fill(eqn: Eqn) -> Literal | None:
    """The fill value of rows out of bounds."""
    if eqn.param("mode") != FILLS:
        return None
    dtype = eqn.outputs[0].aval.dtype
    value = dtype.type(eqn.param("fill_value"))
    return Literal(value, ShapedArray((), dtype))


register("gather", Fetch(read_gather, tested_gather, fill))


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


def _loops(eqn: Eqn) -> tuple[Map, Map]:
    """The loops over the window, and those over the rows."""
    windows = eqn.param("dimension_numbers")[0]
    rows = eqn.inputs[2].aval.ndim - len(windows)
    loops = tuple(map(Index, range(rows + len(windows))))
    return loops[rows:], loops[:rows]


def place_scatter(eqn: Eqn) -> Map:
    """In each row's window."""
    return _placed(eqn, _sizes(eqn), *_loops(eqn))


def tested_scatter(eqn: Eqn) -> tuple[Found, ...]:
    """The values that may be outside, where those rows are left out."""
    if eqn.param("mode") != FILLS:
        return ()
    return tuple(_entries(eqn, _sizes(eqn), _loops(eqn)[1]).values())


def ordered(eqn: Eqn) -> bool:
    """True if several rows may have one place."""
    return prod(eqn.inputs[1].aval.shape[:-1]) > 1


def of_one(eqn: Eqn) -> ClosedJaxpr:
    """An array without dimensions, as an array of one element."""
    build = Build(eqn)
    x, indices, updates = build.operands
    windows, _, names, batched, along = eqn.param("dimension_numbers")
    one = build.shaped("reshape", (1,), x, new_sizes=(1,))
    params = {
        **dict(eqn.params),
        "dimension_numbers": (windows, (0,), names, batched, along),
    }
    put = build.shaped(eqn.primitive, (1,), one, indices, updates, **params)
    return build.finish(build.shaped("reshape", (), put, new_sizes=()))


def _scatter(name: str, combine: str | None) -> None:
    entry = Put(2, order, place_scatter, tested_scatter, ordered, of_one, combine)
    register(name, entry)


_scatter("scatter", None)
for _name in ("add", "sub", "mul", "min", "max"):
    _scatter(f"scatter-{_name}", _name)
