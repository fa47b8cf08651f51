"""The plan of an index: the slices, and the windows that it gathers. Serves: index.*

Ints, slices, None and Ellipsis, masks and index arrays become one plan, which reads
(`gather`) and updates (`scatter`) share.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.fast_dataclass import dataclass
from traceir.lax.checks.operands import Operand, as_array, is_tracer, number_of, typed
from traceir.lax.structural.gather_scatter import check_inside
from traceir.lax.structural.index_dtypes import (
    INT32,
    INT64,
    as_index,
    from_end,
    in_wide_dtype,
    index_dtype,
    index_number,
    index_numbers,
    is_wide,
)
from traceir.numpy.arrays.nested_lists import listed
from traceir.tracing.concretization import demanded, origin

_NOT_INDICES = (str, bytes, list, float, complex)


def entries(index: Any, rank: int) -> list[Any]:
    """The entries of an index, one for each dimension and each None.

    Raises IndexError (index.count, index.ellipsis), TypeError (index.type),
    NonConcreteBooleanIndexError (index.mask).
    """
    several = isinstance(index, tuple)
    given = map(listed, index) if several else (index,)
    parts = [_literal(part) for part in given]
    for part in parts:
        _check(part)
    used = sum(map(_consumed, parts))
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise rules.error("index.ellipsis", got=f"{len(dots)} of them")
    if used > rank:
        raise rules.error("index.count", got=f"{used} for {rank} dimensions")
    at = dots[0] if dots else len(parts)
    filler = [builtins.slice(None)] * (rank - used)
    return parts[:at] + filler + parts[at + len(dots) :]


def _literal(part: Any) -> Any:
    """An entry; a number that is known, of an array without dimensions, is that."""
    if is_tracer(part := in_wide_dtype(part)):
        number = number_of(part)
        return part if number is None else number
    if isinstance(part, (Array, np.ndarray)) and not part.ndim:
        return np.asarray(part)[()]
    return part


def _check(part: Any) -> None:
    if part is None or part is Ellipsis or isinstance(part, builtins.slice):
        return
    if isinstance(part, (Array, np.ndarray, np.generic)):
        if part.dtype.kind not in "iub":
            got = traced(part) if is_tracer(part) else f"an array of {part.dtype}"
            raise rules.error("index.type", got=got)
        if is_tracer(part) and part.dtype == bool:
            raise rules.error("index.mask", got=traced(part))
        return
    if isinstance(part, _NOT_INDICES):
        raise rules.error("index.type", got=f"{part!r} of type {_name(part)}")
    place_of(part)


def traced(part: Any) -> str:
    """A traced value in an error: its type, and why it is not known."""
    return f"{part.aval.str_short()}, {origin(part)}"


def _name(value: Any) -> str:
    return type(value).__name__


def _is_bool(part: Any) -> bool:
    return isinstance(part, (bool, np.bool_))


def _is_array(part: Any) -> bool:
    return isinstance(part, (Array, np.ndarray)) and part.ndim > 0


def _consumed(part: Any) -> int:
    """The number of dimensions that an entry is about."""
    if part is None or part is Ellipsis or _is_bool(part):
        return 0
    if _is_array(part) and part.dtype == bool:
        return int(part.ndim)
    return 1


def place_of(part: Any) -> int:
    """The index that an int is; TypeError (index.type) for other values."""
    try:
        return index(part)
    except TypeError:
        raise rules.error("index.type", got=f"{part!r} of type {_name(part)}") from None


# --- one dimension --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SliceOfDimension:
    """The part of one dimension that an index takes: from `start` by `step`, `size`
    elements.

    `whole` is a slice, which keeps the dimension; an int drops it.
    """

    start: int
    size: int
    step: int
    whole: bool
    extent: int

    @property
    def full(self) -> bool:
        """True if every element is taken in order."""
        return self.size == self.extent and self.step == 1 and self.start == 0

    @property
    def forward(self) -> SliceOfDimension:
        """The same elements in the order that they have in the array."""
        if self.step > 0:
            return self
        start = self.start + (self.size - 1) * self.step if self.size else 0
        return SliceOfDimension(start, self.size, -self.step, self.whole, self.extent)


def cuts_of(parts: Sequence[Any], shape: tuple[int, ...]) -> Iterator[SliceOfDimension]:
    """The parts that basic entries take of each dimension; a read of an int is clamped.

    Raises IndexError (index.slice, index.empty), TypeError (index.type).
    """
    for extent, part in zip(shape, (p for p in parts if p is not None), strict=True):
        if isinstance(part, builtins.slice):
            yield slice_cut(part, extent)
        else:
            place = place_of(part)
            if not extent:
                raise rules.error("index.empty", got=f"{place} of 0 elements")
            start = place + extent if place < 0 else place
            check_inside(place, extent)
            yield SliceOfDimension(min(max(start, 0), extent - 1), 1, 1, False, extent)


def slice_cut(part: builtins.slice, extent: int) -> SliceOfDimension:
    """The part that a slice takes of a dimension; IndexError (index.slice)."""
    entries = [e for e in (part.start, part.stop, part.step) if is_tracer(e)]
    if entries:
        error = rules.error("index.slice", got=traced(entries[0]))
        raise demanded(error, *entries)
    try:
        places = range(*part.indices(extent))
    except (TypeError, ValueError) as error:
        raise rules.error("index.slice", got=f"{part}: {error}") from None
    return SliceOfDimension(places.start, len(places), places.step, True, extent)


# --- masks ----------------------------------------------------------------------------


def unmasked(x: Array, parts: Sequence[Any]) -> tuple[Array, list[Any]]:
    """The array, and entries for it without booleans: masks as their places.

    A boolean alone is about a new dimension, which it keeps or empties. Raises
    IndexError (index.mask-shape).
    """
    found: list[Any] = []
    dim = 0
    for part in parts:
        if _is_bool(part):
            x = lax.expand_dims(x, (dim,))
            found.append(np.zeros(int(part), INT32))
            dim += 1
        elif _is_array(part) and part.dtype == bool:
            mask = np.asarray(part)
            shape = x.shape[dim : dim + mask.ndim]
            if mask.shape != shape:
                got = f"{mask.shape} on {x.shape[dim:]}"
                raise rules.error("index.mask-shape", got=got)
            dtype = index_dtype(shape)
            found += [places.astype(dtype) for places in np.nonzero(mask)]
            dim += mask.ndim
        else:
            found.append(part)
            dim += _consumed(part)
    return x, found


# --- the plan -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexColumn:
    """An entry of the rows: places in one dimension, and their dimensions there."""

    dim: int
    places: Operand
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """Windows at rows of indices.

    `rows` are the extents of the rows, `sizes` those of the window in each dimension
    of the array, `collapsed` those of them that the result has not, `windows` the
    dimensions of the result along a window. Then the dimensions `turned` are reversed,
    and `new` ones put in. `apart` tells that no two rows share an element.
    """

    columns: tuple[IndexColumn, ...]
    rows: tuple[int, ...]
    sizes: tuple[int, ...]
    collapsed: tuple[int, ...]
    windows: tuple[int, ...]
    turned: tuple[int, ...]
    new: tuple[int, ...]
    apart: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the elements read, before new dimensions are put in."""
        kept = [n for d, n in enumerate(self.sizes) if d not in self.collapsed]
        extents = dict(zip(self.windows, kept, strict=True))
        rest = iter(self.rows)
        rank = len(self.rows) + len(kept)
        return tuple(extents[d] if d in extents else next(rest) for d in range(rank))


def plan_of(
    shape: tuple[int, ...], parts: Sequence[Any], wrap: bool = True
) -> IndexPlan:
    """The plan of entries for an array of a shape; `wrap`: negative places count from
    the end.

    Raises IndexError (index.arrays, index.empty, index.slice), TypeError (index.type).
    """
    return _IndexPlanner(shape, parts, wrap).plan()


class _IndexPlanner:
    """A planner that goes through the entries of an index."""

    def __init__(self, shape: tuple[int, ...], parts: Sequence[Any], wrap: bool):
        self.shape = shape
        self.parts = parts
        self.wrap = wrap
        self.dtype = index_dtype(shape, any(map(is_wide, parts)))
        self.arrays = [part for part in parts if _is_array(part)]
        self.rows: list[int] = []
        self.block: tuple[int, ...] = ()  # the dimensions of rows of index arrays
        self.kinds: list[str] = []  # "row", "window" or "new", by dimension
        self.turned: list[int] = []
        self.sizes: list[int] = []
        self.collapsed: list[int] = []
        self.of_arrays: list[IndexColumn] = []
        self.of_others: list[IndexColumn] = []

    def plan(self) -> IndexPlan:
        """Dimension by dimension; those of index arrays stand where the first does, or
        in front where something stands between two of them, as in NumPy."""
        found = [k for k, part in enumerate(self.parts) if self.advanced(part)]
        apart = bool(found) and found[-1] - found[0] >= len(found)
        for k, part in enumerate(self.parts):
            if found and k == (0 if apart else found[0]):
                self.add_block()
            if part is None:
                self.kinds.append("new")
            else:
                self.dimension(part)
        kept = [kind for kind in self.kinds if kind != "new"]
        others = [
            IndexColumn(c.dim, self.converted(c.places), c.rows) for c in self.of_others
        ]
        return IndexPlan(
            (*self.of_arrays, *others),
            tuple(self.rows),
            tuple(self.sizes),
            tuple(self.collapsed),
            tuple(d for d, kind in enumerate(kept) if kind == "window"),
            tuple(self.turned),
            tuple(d for d, kind in enumerate(self.kinds) if kind == "new"),
            not self.arrays,
        )

    def advanced(self, part: Any) -> bool:
        """True if an entry is an index array, or an int beside one."""
        other = part is None or isinstance(part, builtins.slice)
        return bool(self.arrays) and not other

    def add_block(self) -> None:
        """The dimensions that all index arrays have together; index.arrays."""
        try:
            shape = np.broadcast_shapes(*(a.shape for a in self.arrays))
        except ValueError:
            listed = " and ".join(str(a.shape) for a in self.arrays)
            raise rules.error("index.arrays", got=listed) from None
        self.block = tuple(range(len(self.rows), len(self.rows) + len(shape)))
        self.rows += shape
        self.kinds += ["row"] * len(shape)

    def dimension(self, part: Any) -> None:
        """Plan an entry for the next dimension of the array."""
        dim = len(self.sizes)
        if isinstance(part, builtins.slice):
            self.cut(dim, slice_cut(part, self.shape[dim]))
            return
        places = self.counted(part, self.shape[dim])
        self.sizes.append(1)
        self.collapsed.append(dim)
        if self.arrays:
            extents = tuple(self.rows[d] for d in self.block)
            column = IndexColumn(dim, self.spread(places, extents), self.block)
            self.of_arrays.append(column)
        elif not self.shape[dim]:
            raise rules.error("index.empty", got=f"an array of shape {self.shape}")
        else:
            self.of_others.append(IndexColumn(dim, places, ()))

    def cut(self, dim: int, cut: SliceOfDimension) -> None:
        """A slice: a dimension of the window, or of the rows where it has a step."""
        if cut.step != 1:
            self.sizes.append(1)
            self.collapsed.append(dim)
            if cut.step < 0:
                self.turned.append(sum(kind != "new" for kind in self.kinds))
            self.kinds.append("row")
            column = IndexColumn(dim, _steps(cut, self.dtype), (len(self.rows),))
            self.rows.append(cut.size)
            self.of_others.append(column)
            return
        self.kinds.append("window")
        self.sizes.append(cut.size)
        if not cut.full:
            start = typed(cut.start, self.dtype, False)
            self.of_others.append(IndexColumn(dim, start, ()))

    def counted(self, part: Any, extent: int) -> Operand:
        """Places counted from 0."""
        if isinstance(part, (Array, np.ndarray)):
            if not is_tracer(part):
                known = np.asarray(part)
                if self.wrap and known.dtype.kind == "i":
                    known = np.where(known < 0, known.astype(INT64) + extent, known)
                return index_numbers(known, self.dtype)
            return from_end(part, extent, True) if self.wrap else part
        place = place_of(part)
        return place + extent if self.wrap and place < 0 else place

    def spread(self, places: Operand, extents: tuple[int, ...]) -> Operand:
        """Places of index arrays, in the shape that all have together."""
        value = as_array(places)
        rank = value.ndim
        if value.shape != extents:
            dims = range(len(extents) - rank, len(extents))
            value = lax.broadcast_in_dim(value, extents, tuple(dims))
        return self.converted(value)

    def converted(self, places: Operand) -> Operand:
        if isinstance(places, int):
            return index_number(places, self.dtype)
        return as_index(places, self.dtype)


def _steps(cut: SliceOfDimension, dtype: np.dtype) -> Array:
    """The places of a slice with a step, in ascending order."""
    steps = lax.mul(typed(cut.step, dtype, False), lax.iota(dtype, cut.size))
    places = lax.add(typed(cut.start, dtype, False), steps)
    return lax.rev(places, (0,)) if cut.step < 0 else places


def indices_of(plan: IndexPlan, dtype: np.dtype = INT32) -> Array:
    """The rows of a plan: each place along the last dimension."""
    if not plan.columns:
        return as_array(np.zeros((*plan.rows, 0), dtype))
    shape = (*plan.rows, 1)
    columns = [lax.broadcast_in_dim(c.places, shape, c.rows) for c in plan.columns]
    return lax.concatenate(columns, len(plan.rows))
