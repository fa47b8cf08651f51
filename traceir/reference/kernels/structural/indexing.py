"""Kernels of gathers and scatters, by NumPy's index arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import is_key, word_count
from traceir.reference.kernels.registry import KERNELS, kernel

Shape = tuple[int, ...]
# See `indexing.toml` for what each of the five is.
Numbers = tuple[Shape, Shape, Shape, Shape, Shape]
FILL = "GatherScatterMode.FILL_OR_DROP"
PROMISE = "GatherScatterMode.PROMISE_IN_BOUNDS"


def _boxes(x: np.ndarray, sizes: Shape, starts: Sequence[Any]) -> tuple[slice, ...]:
    """The box of such extents from the starts, moved to lie inside the array."""
    firsts = [max(0, min(int(s), n - k)) for s, n, k in zip(starts, x.shape, sizes)]
    return tuple(slice(first, first + k) for first, k in zip(firsts, sizes))


@kernel("dynamic_slice")
def dynamic_slice(x: np.ndarray, *starts: np.ndarray, slice_sizes: Shape) -> Any:
    """A box of the array, from starts that are moved so that all of it is inside."""
    return x[_boxes(x, slice_sizes, starts)]


@kernel("dynamic_update_slice")
def dynamic_update_slice(x: np.ndarray, update: np.ndarray, *starts: np.ndarray) -> Any:
    """A copy with a box written over, moved so that all of it is inside."""
    result = np.array(x)  # one of rank 0, too
    result[_boxes(x, update.shape, starts)] = update
    return result


@dataclass(frozen=True, slots=True)
class _IndexedWindows:
    """The positions of the windows of all rows, in the dimensions that rows name.

    These are `named`, the `rest` are read from 0 on. `flat` counts off the elements of
    the named dimensions, by row, then by place in its window; `whole` tells which rows
    have all of their window inside, `None` for all.
    """

    named: Shape
    rest: Shape
    flat: np.ndarray
    whole: np.ndarray | None


def _windows(
    shape: Shape, indices: np.ndarray, sizes: Shape, numbers: Numbers, clips: bool
) -> _IndexedWindows:
    _, _, names, batched, along = numbers
    named = tuple(sorted((*names, *batched)))
    rest = tuple(d for d in range(len(shape)) if d not in named)
    rows = indices.shape[:-1]
    flat = np.zeros((*rows, *(1,) * len(named)), np.intp)
    whole: np.ndarray | None = None
    for k, d in enumerate(named):
        if d in names:
            first, outside = _places(
                indices[..., names.index(d)], shape[d] - sizes[d], clips
            )
        else:
            at = along[batched.index(d)]
            extents = [n if b == at else 1 for b, n in enumerate(rows)]
            first, outside = np.arange(rows[at]).reshape(extents), None
        if outside is not None:
            whole = ~outside if whole is None else whole & ~outside
        line = np.arange(sizes[d]).reshape(-1, *(1,) * (len(named) - 1 - k))
        places = first.reshape(*first.shape, *(1,) * len(named)) + line
        flat = flat * shape[d] + places
    return _IndexedWindows(named, rest, flat, whole)


def _places(
    places: np.ndarray, last: int, clips: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Places from 0 to the last; and, unless they are moved there, which were not."""
    if places.dtype == np.uint64:
        places = np.minimum(places, np.uint64(np.iinfo(np.int64).max))
    wide = places.astype(np.int64)
    moved = np.clip(wide, 0, last)
    return moved, None if clips else wide != moved


def inside_of_read(
    x: np.ndarray, indices: np.ndarray, sizes: Shape, numbers: Numbers
) -> bool:
    """True if every window of a `gather` lies inside the array."""
    whole = _windows(x.shape, indices, sizes, numbers, False).whole
    return whole is None or bool(whole.all())


def inside_of_write(
    x: np.ndarray, indices: np.ndarray, updates: np.ndarray, numbers: Numbers
) -> tuple[Shape, bool]:
    """The extents of a scatter's windows, and whether all lie inside the array."""
    sizes = _written(x, updates, numbers)[1]
    return sizes, inside_of_read(x, indices, sizes, numbers)


@kernel("gather")
def gather(
    x: np.ndarray,
    indices: np.ndarray,
    *,
    dimension_numbers: Numbers,
    slice_sizes: Shape,
    mode: str = PROMISE,
    fill_value: float | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Any:
    """A window of the array for each row of the indices."""
    offset, collapsed, _, batched, _ = dimension_numbers
    found = _windows(x.shape, indices, slice_sizes, dimension_numbers, mode != FILL)
    rows = indices.shape[:-1]
    single = {*collapsed, *batched}
    boxes: tuple[Any, ...] = tuple(slice(slice_sizes[d]) for d in found.rest)
    taken = _named_first(x, found)[(found.flat, *boxes)]
    if found.whole is not None and not found.whole.all():
        fill = _fill(fill_value, x.dtype)
        extra = taken.ndim - len(rows)
        taken = np.where(found.whole.reshape(*rows, *(1,) * extra), taken, fill)
    order = [d for d in (*found.named, *found.rest) if d not in single]
    shape = (*rows, *(slice_sizes[d] for d in order))
    return _spread(taken.reshape(shape), order, offset, len(rows))


def _fill(value: float | None, dtype: np.dtype) -> np.ndarray:
    """The value of an element out of bounds; of a key, all of its words."""
    if is_key(dtype):
        words: np.ndarray = np.full(word_count(dtype), value, "uint32")
        return np.asarray(words.view(dtype)[0])
    return np.asarray(value).astype(dtype)


def _named_first(x: np.ndarray, found: _IndexedWindows) -> np.ndarray:
    """The array with its named dimensions as one, which is the first."""
    moved = x.transpose(found.named + found.rest)
    count = math.prod(x.shape[d] for d in found.named)
    return moved.reshape(count, *(x.shape[d] for d in found.rest))


def _spread(
    taken: np.ndarray, order: Sequence[int], offset: Shape, rows: int
) -> np.ndarray:
    """Rows, then windows in some order, as the result has them."""
    ranks = sorted(order)
    windows = iter(rows + order.index(d) for d in ranks)
    lead = iter(range(rows))
    axes = [next(windows) if d in offset else next(lead) for d in range(taken.ndim)]
    return taken.transpose(axes)


def _scatter(
    combine: Callable[[np.ndarray, np.ndarray, np.ndarray], None],
    x: np.ndarray,
    indices: np.ndarray,
    updates: np.ndarray,
    *,
    dimension_numbers: Numbers,
    mode: str = FILL,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    update_consts: Shape = (),
    update_jaxpr: None = None,
) -> Any:
    """A copy with a window of updates for each row of the indices, row by row."""
    extent, sizes = _written(x, updates, dimension_numbers)
    found = _windows(x.shape, indices, sizes, dimension_numbers, mode != FILL)
    order = (*found.named, *found.rest)
    rows = _others(updates.ndim, dimension_numbers[0])
    given = updates.transpose(*rows, *(extent[d] for d in order if d in extent))
    rest = tuple(sizes[d] for d in found.rest)
    flat = found.flat.reshape(-1)
    given = given.reshape(flat.size, *rest)
    if found.whole is not None and not found.whole.all():
        inside = np.repeat(found.whole, flat.size // max(found.whole.size, 1))
        flat, given = flat[inside], given[inside]
    result = _named_first(x, found).copy()
    combine(result[(slice(None), *map(slice, rest))], flat, given)
    shaped = result.reshape([x.shape[d] for d in order])
    return shaped.transpose(np.argsort(order))


def _written(
    x: np.ndarray, updates: np.ndarray, numbers: Numbers
) -> tuple[dict[int, int], Shape]:
    """Dimensions of the windows of a scatter, by the array's; and their extents."""
    windows, inserted, _, batched, _ = numbers
    extent = dict(zip(_others(x.ndim, (*inserted, *batched)), windows))
    return extent, tuple(
        updates.shape[extent[d]] if d in extent else 1 for d in range(x.ndim)
    )


def _others(rank: int, dims: Sequence[int]) -> list[int]:
    return [d for d in range(rank) if d not in dims]


def _set(target: np.ndarray, places: np.ndarray, values: np.ndarray) -> None:
    # Of several values for one place NumPy leaves the last.
    target[places] = values


KERNELS["scatter"] = partial(_scatter, _set)
KERNELS["scatter-add"] = partial(_scatter, np.add.at)
KERNELS["scatter-sub"] = partial(_scatter, np.subtract.at)


@kernel("scatter-mul")
def scatter_mul(*arrays: np.ndarray, **params: Any) -> Any:
    """Scatter updates by multiplication."""
    return _scatter(np.multiply.at, *arrays, **params)


@kernel("scatter-min")
def scatter_min(*arrays: np.ndarray, **params: Any) -> Any:
    """Scatter updates: the smaller of element and update stays."""
    return _scatter(np.minimum.at, *arrays, **params)


@kernel("scatter-max")
def scatter_max(*arrays: np.ndarray, **params: Any) -> Any:
    """Scatter updates: the larger of element and update stays."""
    return _scatter(np.maximum.at, *arrays, **params)
