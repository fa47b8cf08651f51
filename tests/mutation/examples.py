"""Tests of collectives by the formulas `across` of their rows, on examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import traceir
from traceir import rules
from traceir.ir.jaxpr import sort_params
from traceir.ir.typecheck import infer
from traceir.rules.applied import row_scope
from traceir.rules.formulas.scope import Scope
from traceir.tracing.trace import bind_all

_GROUPS: dict[str, Any] = {"axis_index_groups": None}
_NAMED: dict[str, Any] = {"axis_name": ("i",), "axis_size": 2, **_GROUPS}


def samples() -> Iterator[tuple[str, tuple[int, ...], dict[str, Any]]]:
    """Collectives over two examples: the shape of an example, and params."""
    for axes in (("i",), ("i", 1), (0, "i")):
        yield "psum", (2, 3), {"axes": axes, **_GROUPS}
        for extremum in ("pmax", "pmin"):
            yield extremum, (2, 3), {"axes": axes, **_GROUPS}
    for tiled, at in ((False, 0), (False, 2), (True, 0), (True, 1)):
        params = {"all_gather_dimension": at, "tiled": tiled, **_NAMED}
        yield "all_gather", (2, 3), params
    for tiled, shape, at in (
        (False, (2, 3), 0),
        (False, (3, 2), 1),
        (True, (4, 3), 0),
        (True, (3, 4), 1),
    ):
        yield (
            "reduce_scatter",
            shape,
            {"scatter_dimension": at, "tiled": tiled} | _NAMED,
        )
    for perm in (((0, 1), (1, 0)), ((0, 1),), ()):
        yield "ppermute", (2, 3), {"axis_name": ("i",), "perm": perm}
    for split, joined in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0)):
        params = {**_NAMED, "axis_name": "i", "tiled": True}
        params |= {"split_axis": split, "concat_axis": joined}
        yield "all_to_all", (4, 6, 2), params
    yield "pvary", (2, 3), {"axes": ("i",)}
    yield "psum_invariant", (2, 3), {"axes": ("i",)}
    yield "axis_index", (), {"axis_name": "i"}


def across(prim: str, whole: np.ndarray, params: dict[str, Any], n: int) -> Any:
    """The value that example `n` gets by the row, element by element."""
    tables = rules.default()
    row = tables.prims[prim]
    aval = traceir.ShapedArray(whole.shape[1:], whole.dtype)
    avals = (aval,) if row.inputs else ()
    (out,) = infer(prim, avals, sort_params(params))
    outer = row_scope(row, avals, sort_params(params), tables)
    found = np.empty(out.shape, out.dtype)
    assert row.across is not None
    for i in np.ndindex(out.shape):
        names = {"n": n, "i": i, "whole": whole, "size": len(whole)}
        found[i] = row.across(Scope(names, outer=outer))
    return found


def unlike() -> list[str]:
    """The collectives that do something else than their formulas say."""
    return [
        prim for prim, shape, params in samples() if _is_unlike(prim, shape, params)
    ]


def _is_unlike(prim: str, shape: tuple[int, ...], params: dict[str, Any]) -> bool:
    whole = np.sin(np.arange(2 * np.prod(shape), dtype="float32")).reshape(2, *shape)
    full = sort_params(params)

    def run(x: Any) -> Any:
        operands = [x] if rules.default().prims[prim].inputs else []
        return bind_all(prim, operands, full)[0]

    got = np.asarray(traceir.vmap(run, axis_name="i", axis_size=2)(whole))
    try:
        wanted = [across(prim, whole, params, n) for n in range(2)]
    except (LookupError, TypeError, ValueError, ArithmeticError, AssertionError):
        return True
    return not np.allclose(got, np.stack(wanted))
