"""Operands and params of reads and writes at places that are values, which fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from traceir.ir.avals import ShapedArray
from traceir.rules.formulas.domains import INDEX_MODES

Shape = tuple[int, ...]
Draw = Callable[[st.SearchStrategy[Any]], Any]
Built = tuple[list[ShapedArray], dict[str, Any]]

INTEGERS = [np.dtype(name) for name in ("int32", "int8", "uint8", "int64", "uint64")]
EXTENTS = st.sampled_from([0, 1, 2, 3])
SHAPES = st.lists(EXTENTS, max_size=3).map(tuple)


def _dynamic(draw: Draw, dtype: np.dtype) -> tuple[Shape, Shape, list[ShapedArray]]:
    shape = draw(SHAPES)
    sizes = tuple(draw(st.integers(0, n)) for n in shape)
    start = ShapedArray((), draw(st.sampled_from(INTEGERS)))
    return shape, sizes, [start] * len(shape)


def _dynamic_slice(draw: Draw, dtype: np.dtype) -> Built:
    shape, sizes, starts = _dynamic(draw, dtype)
    return [ShapedArray(shape, dtype), *starts], {"slice_sizes": sizes}


def _dynamic_update_slice(draw: Draw, dtype: np.dtype) -> Built:
    shape, sizes, starts = _dynamic(draw, dtype)
    return [ShapedArray(shape, dtype), ShapedArray(sizes, dtype), *starts], {}


def _windows(
    draw: Draw, several: bool = True
) -> tuple[Shape, Shape, Shape, tuple[Shape, ...], Shape]:
    """Shape of the array, of the indices, extents of the window, numbers of dimensions,
    and the shape of what is read or written; unless `several`, each element once."""
    shape = draw(st.lists(EXTENTS, max_size=3).map(tuple))
    roles = [draw(st.sampled_from("wwcb" if n else "w")) for n in shape]
    sizes = tuple(
        draw(st.integers(0, n)) if role == "w" else 1 for n, role in zip(shape, roles)
    )
    batched = tuple(d for d, role in enumerate(roles) if role == "b")
    collapsed = tuple(d for d, role in enumerate(roles) if role == "c")
    free = [d for d, role in enumerate(roles) if role != "b"]
    names = draw(st.permutations(free))[: draw(st.integers(0, len(free)))]
    counts = EXTENTS if several else st.integers(0, 1)
    rows = [(n, -1) for n in draw(st.lists(counts, max_size=2))]
    rows = draw(st.permutations([*rows, *((shape[d], d) for d in batched)]))
    along = tuple([d for _, d in rows].index(d) for d in batched)
    extents = [n for n, _ in rows]
    kept = [sizes[d] for d, role in enumerate(roles) if role == "w"]
    places = draw(st.permutations("r" * len(rows) + "w" * len(kept)))
    offset = tuple(k for k, kind in enumerate(places) if kind == "w")
    left, window = iter(extents), iter(kept)
    taken = tuple(next(window) if kind == "w" else next(left) for kind in places)
    numbers = (offset, collapsed, tuple(names), batched, along)
    return shape, (*extents, len(names)), sizes, numbers, taken


def _gather(draw: Draw, dtype: np.dtype) -> Built:
    shape, indices, sizes, numbers, _ = _windows(draw)
    mode = draw(st.sampled_from(INDEX_MODES))
    fill = None if "FILL" not in mode else draw(st.sampled_from([0, 1, 3]))
    params = {
        "dimension_numbers": numbers,
        "slice_sizes": sizes,
        "mode": mode,
        "fill_value": fill,
        "indices_are_sorted": False,
        "unique_indices": False,
    }
    where = ShapedArray(indices, draw(st.sampled_from(INTEGERS)))
    return [ShapedArray(shape, dtype), where], params


def _scatter(draw: Draw, dtype: np.dtype, several: bool = True) -> Built:
    shape, indices, _, numbers, taken = _windows(draw, several)
    params = {
        "dimension_numbers": numbers,
        "mode": draw(st.sampled_from(INDEX_MODES)),
        "indices_are_sorted": False,
        "unique_indices": not several,
        "update_consts": (),
        "update_jaxpr": None,
    }
    where = ShapedArray(indices, draw(st.sampled_from(INTEGERS)))
    return [ShapedArray(shape, dtype), where, ShapedArray(taken, dtype)], params


def _product(draw: Draw, dtype: np.dtype) -> Built:
    """Without an element that has several factors, for which there is no derivative."""
    return _scatter(draw, dtype, several=False)


INDEXED: dict[str, Callable[[Draw, np.dtype], Built]] = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scattered": _scatter,
    "scatter-mul": _product,
}
