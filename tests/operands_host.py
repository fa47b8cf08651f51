"""Hypothesis strategies: operands of primitives that call the host, for `operands`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import HostFunction
from traceir.pytrees.flatten import structure

Draw = Callable[[st.SearchStrategy[Any]], Any]
Built = tuple[list[ShapedArray], dict[str, Any]]

SHAPES = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=3).map(tuple)


def _aval(shape: Sequence[int], dtype: np.dtype) -> ShapedArray:
    return ShapedArray(tuple(shape), dtype)


def _told(draw: Draw, dtype: np.dtype) -> Built:
    params = {"callback": _called(0), "effect": "Debug", "partitioned": False}
    return [_aval(draw(SHAPES), dtype)], params


def _printed(draw: Draw, dtype: np.dtype) -> Built:
    params = {
        "fmt": "{}",
        "has_placeholders": True,
        "in_tree": structure(((0,), {})),
        "logging_record": None,
        "np_printoptions": (),
        "ordered": False,
        "partitioned": False,
        "static_args": (),
    }
    return [_aval(draw(SHAPES), dtype)], params


def _pure(draw: Draw, dtype: np.dtype) -> Built:
    avals = [_aval(draw(SHAPES), dtype) for _ in range(2)]
    params = {
        "callback": _called(2),
        "result_avals": tuple(avals),
        "sharding": None,
        "vmap_method": None,
    }
    return avals, params


def _io(draw: Draw, dtype: np.dtype) -> Built:
    avals, params = _pure(draw, dtype)
    del params["vmap_method"]
    return avals, {**params, "ordered": draw(st.booleans())}


def _called(results: int) -> HostFunction:
    return HostFunction("f", lambda *xs: [np.array(x) for x in xs[:results]])


HOST = {
    "debug_print": _printed,
    "debug_callback": _told,
    "pure_callback": _pure,
    "io_callback": _io,
}


def over_devices(draw: Draw, parts: list[ShapedArray], params: dict[str, Any]) -> Built:
    """Whole arrays, for a program of these parts of them."""
    closed, size = params["jaxpr"], draw(st.integers(1, 3))
    specs = tuple((("x",),) if a.shape and draw(st.booleans()) else () for a in parts)
    avals = [
        a.update(shape=(a.shape[0] * size, *a.shape[1:])) if spec else a
        for a, spec in zip(parts, specs, strict=True)
    ]
    return avals, {
        "check_vma": False,
        "in_specs": specs,
        "jaxpr": closed,
        "mesh": (("x", size, "Auto"),),
        "newly_manual_axes": ("x",),
        "out_specs": tuple((("x",),) if a.shape else () for a in closed.out_avals),
    }
