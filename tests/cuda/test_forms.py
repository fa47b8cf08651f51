"""Each form of kernel is what it is chosen for, and gives the reference's result.

Cites: choice.sum-order, class.cumulative, class.scatter
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from compiling import grid

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir_numba.cuda import explain
from traceir_numba.cuda.codegen import matmul, nest
from traceir_numba.cuda.codegen.thread_mapping import ThreadMapping, thread_mapping_of
from traceir_numba.cuda.runtime import device, launching
from traceir_numba.pipeline.build_program import build_program

Fun = Callable[..., Any]

TALL, WIDE, LONG = grid(70, 5), grid(6, 300), grid(9001)
WORDS = np.arange(40, dtype=np.int32) * 7 % 5 - 1
ROWS = grid(90, 2)


def added(x: Any, at: Any) -> Any:
    """Numbers added where several meet."""
    return jnp.zeros(4, x.dtype).at[at].add(x)


def least(x: Any, at: Any) -> Any:
    """The least of what meets in a place; places beyond the end are left out."""
    return jnp.full(3, 9, x.dtype).at[at].min(x)


def rows_added(x: Any, at: Any) -> Any:
    """Rows added to rows, as in the gradient of an embedding."""
    return jnp.zeros((5, 2)).at[at].add(x)


def labelled(x: Any, at: Any) -> Any:
    """One element of each row, at a place that a label says."""
    return x.at[jnp.arange(40), at].add(1)


def windows(x: Any, at: Any) -> Any:
    """Windows that may overlap."""
    numbers = lax.ScatterDimensionNumbers((1,), (), (0,))
    return lax.scatter_add(jnp.zeros(9), at[:, None], x, numbers)


def one_place(x: Any) -> Any:
    """All rows added to one that the program names."""
    return jnp.zeros((5, 2)).at[jnp.full(90, 3)].add(x)


def last(x: Any, at: Any) -> Any:
    """The last one stays."""
    return jnp.zeros(5).at[at].set(x[:, 0])


def softmax(x: Any) -> Any:
    """Passes over neighbouring columns."""
    e = jnp.exp(x - x.max(0))
    return e / e.sum(0)


PLACES = np.arange(90) * 11 % 7
BOX = grid(40, 3, 20)
CASES: dict[str, tuple[Fun, tuple[np.ndarray, ...], str]] = {
    "squares": (lambda x: jnp.exp(x) + x[0], (grid(70, 40),), "squares"),
    "squares across": (lambda x: x.T + 1, (grid(70, 40),), "squares"),
    "squares in a box": (
        lambda x: x.transpose(2, 0, 1) * x[0, 0, 0],
        (BOX,),
        "squares",
    ),
    "low squares": (lambda x: x * x[:, :1], (grid(5, 500),), "squares"),
    "columns": (softmax, (TALL,), "tiles"),
    "first of columns": (lambda x: jnp.argmax(x, 0), (TALL,), "tiles"),
    "rows of several": (lambda x: x / x.sum(1, keepdims=True), (TALL.T,), "tiles"),
    "short rows": (lambda x: jnp.max(x, 1), (grid(20, 13),), "tiles"),
    "parts of columns": (lambda x: jnp.sum(x, 0), (grid(700, 3),), "tiles"),
    "parts of rows": (lambda x: jnp.argmin(x, 1), (grid(2, 8200),), "tiles"),
    "lines": (lambda x: jnp.cumsum(x, 1), (WIDE,), "lines"),
    "lines back": (lambda x: lax.cumsum(x, 0, reverse=True), (TALL,), "lines"),
    "sums of powers": (partial(lax.cumlogsumexp, axis=1), (WIDE * 30,), "lines"),
    "parts of powers": (lax.cumlogsumexp, (LONG * 3,), "lines"),
    "parts of a line": (lambda x: lax.cummax(x * 2), (LONG,), "lines"),
    "parts back": (lambda x: lax.cummin(x, reverse=True), (LONG,), "lines"),
    "atomic": (added, (np.arange(40, dtype=np.int32), WORDS), "atomic"),
    "atomic least": (least, (np.arange(40, dtype=np.int64), WORDS), "atomic"),
    "rows apart": (rows_added, (ROWS, PLACES), "puts"),
    "owners": (added, (grid(90), PLACES), "puts"),
    "one place": (one_place, (ROWS,), "puts"),
    "windows": (windows, (ROWS, PLACES), "puts"),
    "last": (last, (ROWS, PLACES), "puts"),
}


def forms(fun: Fun, arguments: tuple[np.ndarray, ...]) -> list[ThreadMapping]:
    """The forms of a program's launches."""
    program = build_program(traceir.make_jaxpr(fun)(*arguments), "program", device=True)
    return [thread_mapping_of(s.nest, s.extents, s.params) for s in program.launches()]


def run(fun: Fun, arguments: tuple[np.ndarray, ...], backend: str) -> np.ndarray:
    """The result on a backend."""
    return np.asarray(traceir.jit(fun, backend=backend)(*arguments))


@pytest.mark.parametrize("name", CASES)
def test_a_form_gives_the_reference_s_result_whatever_the_launch(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fun, arguments, kind = CASES[name]
    assert kind in {form.kind for form in forms(fun, arguments)}
    assert ("parts" in name) == any(form.parts for form in forms(fun, arguments))
    want = run(fun, arguments, "reference")
    got = run(fun, arguments, "cuda")
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got, want, 2e-5, 1e-5)
    monkeypatch.setattr(device, "limits", lambda: (16, 3))
    assert run(fun, arguments, "cuda").tobytes() == got.tobytes()


def test_what_keeps_apart_runs_in_parallel() -> None:
    labels = WORDS.clip(0)
    (*_, found) = forms(labelled, (grid(40, 6), labels))
    assert found == ThreadMapping("points")
    (*_, found) = forms(rows_added, (ROWS, PLACES))
    assert found == ThreadMapping("puts", apart=(1,), owners=8)
    (*_, found) = forms(windows, (ROWS, PLACES))
    assert found.apart == ()
    got = run(labelled, (grid(40, 6), labels), "cuda")
    np.testing.assert_array_equal(got, run(labelled, (grid(40, 6), labels), "numba"))


def test_a_running_sum_of_positive_numbers_never_falls() -> None:
    x = np.full(9001, 0.1, np.float32)
    x[::3] = 1e-9
    found = run(lambda x: jnp.cumsum(x), (x,), "cuda")
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize(
    ("dtype", "sides"), [("float32", {8: 1, 4: 20, 2: 60}), ("int64", {4: 20, 1: 90})]
)
def test_bits_of_a_product_do_not_depend_on_its_tiles(
    dtype: str, sides: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = (grid(34, 33) * 8).astype(dtype)
    found = set()
    for each, busy in sides.items():
        monkeypatch.setattr(launching, "SMALL", (2, busy))
        assert matmul.tile_of(dtype, (1, 1, 33, 34, 33), 2, busy).each == each
        got = run(lambda a: a.T @ a, (x,), "cuda")
        np.testing.assert_allclose(got, x.T @ x, 1e-5)
        found.add(got.tobytes())
    assert len(found) == 1


def test_every_form_is_told() -> None:
    assert set(explain.WORKERS) == set(nest.WRITERS)
    squares = traceir_numba.jit(lambda x: x.T + 1, target="cuda")
    text = squares.explain(np.ones((64, 64)), what="speed")
    assert explain.WORKERS["squares"] in text
