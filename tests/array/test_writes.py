"""Functions that write: NumPy's change an array, these return the one that it becomes.

Cites index.inplace
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from execution_modes import WAYS, runner
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp

DTYPES = ("bool", "int8", "uint32", "int64", "float16", "float32", "float64")
GRID = np.array([[3, 0, 2, 1], [0, 5, 1, 4], [2, 2, 0, 7]])
ROW = np.array([9, 0, 6])
PLACES = np.array([1, 6, 11])
MASK = GRID % 3 == 0
COLUMNS = np.array([[2, 0], [1, 3], [0, 1]])

Write = Callable[..., Any]
WRITES: dict[str, tuple[Write, tuple[np.ndarray, ...]]] = {
    "put": (lambda xp, x, v, **how: xp.put(x, PLACES, v, **how), (GRID, ROW)),
    "put wrap": (
        lambda xp, x, v, **how: xp.put(x, PLACES + 8, v, mode="wrap", **how),
        (GRID, ROW),
    ),
    "put clip": (
        lambda xp, x, v, **how: xp.put(x, PLACES + 8, v, mode="clip", **how),
        (GRID, ROW),
    ),
    "put of few": (
        lambda xp, x, v, **how: xp.put(x, PLACES, v[:2], **how),
        (GRID, ROW),
    ),
    "place": (lambda xp, x, v, **how: xp.place(x, MASK, v, **how), (GRID, ROW)),
    "put_along_axis": (
        lambda xp, x, v, **how: xp.put_along_axis(x, COLUMNS, v[:, None], 1, **how),
        (GRID, ROW),
    ),
    "fill_diagonal": (
        lambda xp, x, v, **how: xp.fill_diagonal(x, 6, **how),
        (GRID, ROW),
    ),
    "fill_diagonal of values": (
        lambda xp, x, v, **how: xp.fill_diagonal(x, v, **how),
        (GRID, ROW),
    ),
    "fill_diagonal wrap": (
        lambda xp, x, v, **how: xp.fill_diagonal(x, v, wrap=True, **how),
        (np.tile(GRID[:, :2], (3, 1)), ROW),
    ),
    "place in nothing": (
        lambda xp, x, v, **how: xp.place(x, MASK[:0], v, **how),
        (GRID[:0], ROW),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WRITES)
def test_what_is_returned_is_what_numpy_leaves(name: str, way: str) -> None:
    write, sources = WRITES[name]
    operands = {d: [s.astype(d) for s in sources] for d in DTYPES}

    def f(operands: dict[str, list[Any]]) -> dict[str, Any]:
        return {d: write(jnp, *xs, inplace=False) for d, xs in operands.items()}

    with traceir.enable_x64(True):
        found = runner(way)(f, traceir.tree.map(jnp.asarray, operands))
    for dtype, (x, v) in operands.items():
        want = x.copy()
        write(np, want, v)
        assert found[dtype].dtype == dtype
        np.testing.assert_array_equal(found[dtype], want, err_msg=dtype)


@pytest.mark.parametrize("name", ["put", "place", "put_along_axis", "fill_diagonal"])
def test_an_array_is_not_written_to(name: str) -> None:
    write, (x, v) = WRITES[name]
    with raises_rule("index.inplace", ValueError):
        write(jnp, jnp.asarray(x), jnp.asarray(v))
