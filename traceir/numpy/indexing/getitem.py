"""Reads by index: `x[index]`. Serves: index.*

Ints, slices, None and Ellipsis become `slice`, `rev`, `squeeze` and
`broadcast_in_dim`; with a traced int, `dynamic_slice`; masks and index arrays are a
`gather`.
A read outside the array gives its nearest element.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import APART, Array
from traceir.dtypes import is_key
from traceir.lax.checks.operands import is_tracer, own, typed
from traceir.lax.structural.gather_scatter import (
    GatherDimensionNumbers,
    GatherScatterMode,
    check_inside,
    fill_of,
)
from traceir.lax.structural.index_dtypes import (
    as_index,
    from_end,
    index_dtype,
    index_number,
)
from traceir.numpy.indexing.index_plan import (
    IndexPlan,
    SliceOfDimension,
    cuts_of,
    entries,
    indices_of,
    place_of,
    plan_of,
    slice_cut,
    unmasked,
)
from traceir.tracing.trace import bind, current_trace, typeof

FILL = GatherScatterMode.FILL_OR_DROP


def getitem(x: Array, index: Any) -> Array:
    """`x[index]`: ints, slices, None, Ellipsis; masks, and arrays of ints.

    Ints and arrays of them may be traced, masks may not. Raises IndexError
    (index.count, index.ellipsis, index.mask-shape, index.slice, index.empty,
    index.arrays), TypeError (index.type), NonConcreteBooleanIndexError (index.mask).

    >>> import traceir.numpy as jnp
    >>> jnp.arange(5)[1:4:2], jnp.arange(5)[-1], jnp.arange(5)[jnp.array([3, 0])]
    (Array([1, 3], dtype=int32), Array(4, dtype=int32), Array([3, 0], dtype=int32))
    """
    parts = entries(index, x.ndim)
    if not any(map(_needs_gather, parts)):
        cuts = list(cuts_of(parts, x.shape))
        return _cut(x, cuts, [part is None for part in parts])
    known = current_trace() is None and not any(map(is_tracer, (x, *parts)))
    if known and not is_key(x.dtype) and type(x) not in APART:
        return _select(x, parts)
    return gathered(x, parts, False, False, None, None, True)


def read(
    x: Array,
    index: Any,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
    fill_value: Any,
    wrap: bool,
) -> Array:
    """`x.at[index].get(...)`: as `getitem`, with a mode for places outside."""
    parts = entries(index, x.ndim)
    found = GatherScatterMode.from_any(mode, GatherScatterMode.PROMISE_IN_BOUNDS)
    plain = not any(map(_needs_gather, parts))
    if plain and wrap and found is not FILL:
        return getitem(x, index)
    flags = indices_are_sorted, unique_indices
    return gathered(x, parts, *flags, mode, fill_value, wrap)


def _needs_gather(part: Any) -> bool:
    if isinstance(part, (bool, np.bool_)):
        return True
    return isinstance(part, (Array, np.ndarray))


def gathered(
    x: Array,
    parts: Sequence[Any],
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
    fill_value: Any,
    wrap: bool,
) -> Array:
    """The elements that entries read: by `dynamic_slice` if they are one box, else by
    `gather`.
    """
    x, parts = unmasked(x, parts)
    fills = GatherScatterMode.from_any(mode, GatherScatterMode.CLIP) is FILL
    if not fills and _is_box(parts, x.shape):
        return _box(x, parts, wrap)
    plan = plan_of(x.shape, parts, wrap)
    found = _windows(x, plan, indices_are_sorted, unique_indices, mode, fill_value)
    if plan.turned:
        found = lax.rev(found, plan.turned)
    return lax.expand_dims(found, plan.new) if plan.new else found


def _windows(
    x: Array,
    plan: IndexPlan,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
    fill_value: Any,
) -> Array:
    if any(x.shape[d] == 0 for d in plan.collapsed):
        return _of_nothing(x, plan, mode, fill_value)
    numbers = GatherDimensionNumbers(
        plan.windows, plan.collapsed, tuple(c.dim for c in plan.columns)
    )
    return lax.gather(
        x,
        indices_of(plan),
        numbers,
        plan.sizes,
        indices_are_sorted=indices_are_sorted or plan.apart,
        unique_indices=unique_indices or plan.apart,
        mode=mode,
        fill_value=fill_value,
    )


def _of_nothing(x: Array, plan: IndexPlan, mode: Any, fill_value: Any) -> Array:
    """A read of a dimension without elements: of no row, or of fill values."""
    fills = GatherScatterMode.from_any(mode, GatherScatterMode.CLIP) is FILL
    if not fills and 0 not in plan.shape:
        raise rules.error("index.empty", got=f"an array of shape {x.shape}")
    value = fill_of(x.dtype) if fill_value is None else fill_value
    return lax.broadcast_in_dim(typed(value, x.dtype, x.weak_type), plan.shape, ())


def _is_box(parts: Sequence[Any], shape: tuple[int, ...]) -> bool:
    """True if entries are ints, some traced, and slices without steps."""
    kept = [part for part in parts if part is not None]
    for part, extent in zip(kept, shape, strict=True):
        if isinstance(part, builtins.slice):
            if slice_cut(part, extent).step != 1:
                return False
        elif isinstance(part, (Array, np.ndarray)) and part.ndim:
            return False
    return True


def _box(x: Array, parts: Sequence[Any], wrap: bool) -> Array:
    """A slice from places of which some are traced."""
    kept = [part for part in parts if part is not None]
    wide = any(is_tracer(p) and typeof(p).dtype.itemsize == 8 for p in kept)
    dtype = index_dtype(x.shape, wide)
    starts: list[Any] = []
    sizes: list[int] = []
    dropped: list[int] = []
    for dim, (part, extent) in enumerate(zip(kept, x.shape, strict=True)):
        if isinstance(part, builtins.slice):
            cut = slice_cut(part, extent)
            starts.append(typed(cut.start, dtype, False))
            sizes.append(cut.size)
            continue
        if not extent:
            raise rules.error("index.empty", got=f"an array of shape {x.shape}")
        if is_tracer(part) and x.ndim == 1:
            # Alone it need not have the type of others.
            starts.append(from_end(part, extent) if wrap else part)
            wrap = False
        elif is_tracer(part):
            starts.append(as_index(part, dtype))
        else:
            starts.append(index_number(place_of(part), dtype))
        sizes.append(1)
        dropped.append(dim)
    if wrap:
        starts = [_wrapped(s, n, dtype) for s, n in zip(starts, x.shape, strict=True)]
    found = bind("dynamic_slice", x, *starts, slice_sizes=tuple(sizes))
    found = lax.squeeze(found, dropped)
    left = [p is None for p in parts if p is None or isinstance(p, builtins.slice)]
    new = [d for d, is_new in enumerate(left) if is_new]
    return lax.expand_dims(found, new) if new else found


def _wrapped(start: Any, extent: int, dtype: np.dtype) -> Any:
    """A start counted from 0, with the same operations whether it is known or not."""
    negative = bind("lt", start, typed(0, dtype, False))
    moved = bind("add", start, typed(extent, dtype, False))
    return bind("select_n", negative, start, moved)


def _cut(x: Array, cuts: list[SliceOfDimension], new: list[bool]) -> Array:
    """The elements that cuts take; `new` tells which dimensions of the result are."""
    turned = [d for d, cut in enumerate(cuts) if cut.step < 0]
    limits = list(map(_limit, cuts))
    cuts = [cut.forward for cut in cuts]
    if not all(cut.full for cut in cuts):
        steps = [cut.step for cut in cuts]
        x = lax.slice(
            x,
            [cut.start for cut in cuts],
            limits,
            None if all(step == 1 for step in steps) else steps,
        )
    if turned:
        x = lax.rev(x, turned)
    x = lax.squeeze(x, [d for d, cut in enumerate(cuts) if not cut.whole])
    if not any(new):
        return x
    dropped = iter([not cut.whole for cut in cuts])
    kept = [is_new for is_new in new if is_new or not next(dropped)]
    return lax.expand_dims(x, [d for d, is_new in enumerate(kept) if is_new])


def _limit(cut: SliceOfDimension) -> int:
    """The limit of a `slice`: where the last step would end, but inside the array.

    Of elements in the other order the first is the last one that it takes.
    """
    if cut.step < 0:
        return cut.start + 1 if cut.size else 0
    return min(cut.extent, cut.start + cut.size * cut.step)


# --- eager reads, by NumPy ------------------------------------------------------------


def _select(x: Array, parts: Sequence[Any]) -> Array:
    """Selection by masks and index arrays; ints are clamped, masks must fit."""
    x, parts = unmasked(x, parts)
    value = np.asarray(x)
    clamped: list[Any] = []
    dim = 0
    for part in parts:
        if part is None or isinstance(part, builtins.slice):
            clamped.append(part)
        else:
            check_inside(part, value.shape[dim])
            clamped.append(_clamped(np.asarray(part), value.shape[dim]))
        dim += part is not None
    try:
        taken = value[tuple(clamped)]
    except IndexError as error:
        if 0 in value.shape:
            raise rules.error("index.empty", got=str(error)) from None
        raise rules.error("index.arrays", got=str(error)) from None
    return own(np.array(taken, order="C"), x.weak_type)


def _clamped(places: np.ndarray, extent: int) -> np.ndarray:
    wide = places.astype(np.int64)
    return np.clip(np.where(wide < 0, wide + extent, wide), 0, max(extent - 1, 0))
