"""Bodies are traced once; what they close over; how they run outside every trace.

Rules: control.*, cache.key.*, eval.*
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.jit.backends import compile_program

X = jnp.arange(3.0)
Counted = tuple[Callable[..., Any], list[Any]]


def counted(function: Callable[..., Any]) -> Counted:
    """A function that notes its calls."""
    calls: list[Any] = []

    def noting(*args: Any) -> Any:
        calls.append(args)
        return function(*args)

    return noting, calls


def test_a_body_is_traced_once_for_each_type() -> None:
    body, calls = counted(lambda c, x: (c + x, c))
    lax.scan(body, jnp.float32(0), X)
    lax.scan(body, jnp.float32(1), X + 1, reverse=True)
    traceir.jit(lambda x: lax.scan(body, x[0], x))(X)
    assert len(calls) == 1
    lax.scan(body, jnp.float32(0), X[:2])  # a row has the same type
    assert len(calls) == 1
    lax.scan(body, jnp.float32(0), jnp.arange(3))
    assert len(calls) == 2


def test_a_weak_carry_that_changes_is_traced_twice() -> None:
    body, calls = counted(lambda c, x: (c + x, None))
    total, _ = lax.scan(body, 0, X)
    assert (float(total), total.dtype, total.weak_type) == (3.0, np.float32, False)
    assert [c.dtype for c, _ in calls] == [np.int32, np.float32]
    lax.scan(body, 0, X)
    assert len(calls) == 2


@pytest.mark.parametrize(
    "run",
    [
        lambda f: lax.cond(True, f, f, 1.0),
        lambda f: lax.switch(1, [f, f], 1.0),
        lambda f: lax.while_loop(lambda c: c < 3, f, 1.0),
        lambda f: lax.map(f, X),
        lambda f: traceir.jit(lambda x: lax.cond(x > 0, f, f, x))(1.0),
    ],
)
def test_the_same_function_is_not_traced_again(run: Callable[..., Any]) -> None:
    f, calls = counted(lambda x: x * 2)
    run(f)
    run(f)
    assert len(calls) == 1


def test_the_count_of_a_loop_is_no_part_of_its_type() -> None:
    body, calls = counted(lambda i, c: c + i)
    assert [int(lax.fori_loop(0, n, body, 0)) for n in (0, 1, 5)] == [0, 0, 10]
    assert len(calls) == 1


def test_a_body_dies_with_its_user() -> None:
    def body(i: Any, c: Any) -> Any:
        return c + i

    lax.fori_loop(0, 3, body, 0)
    lax.map(step := lambda x: x, X)
    gone = [weakref.ref(body), weakref.ref(step)]
    del body, step
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_a_failed_trace_leaves_nothing() -> None:
    fail = [True]

    def body(c: Any, x: Any) -> Any:
        if fail.pop():
            raise KeyError("once")
        return c, x

    with pytest.raises(KeyError):
        lax.scan(body, 0.0, X)
    fail.append(False)
    assert lax.scan(body, 0.0, X)[0] == 0.0


# -- closures -------------------------------------------------------------------------


def test_tracers_of_all_levels_are_operands() -> None:
    def f(x: Any) -> Any:
        return traceir.grad(
            lambda y: lax.scan(lambda c, a: (c * a * x * y, None), y, X + 1)[0]
        )(x)

    # y ** 4 * x ** 3 * 6, derived by y at y = x.
    assert float(f(2.0)) == 24 * 2.0**6
    assert np.allclose(traceir.vmap(f)(jnp.array([1.0, 2.0])), [24.0, 24 * 2.0**6])
    assert np.allclose(traceir.jit(traceir.grad(f))(2.0), 24 * 6 * 2.0**5)


def test_arrays_of_the_user_may_change_after() -> None:
    ours = np.ones(3, "float32")

    def body(c: Any, _: None) -> Any:
        return c + ours, None

    first = lax.scan(body, jnp.zeros(3), None, length=2)[0]
    ours[:] = 5
    assert np.array_equal(first, [2, 2, 2])
    assert np.array_equal(lax.scan(body, jnp.zeros(3), None, length=2)[0], [2, 2, 2])


def test_a_leaked_carry_is_refused() -> None:
    leaked = []
    lax.fori_loop(0, 3, lambda i, c: (leaked.append(c), c)[1], 1.0)
    with pytest.raises(traceir.errors.UnexpectedTracerError, match="for fori_loop"):
        leaked[0] + 1


# -- outside every trace --------------------------------------------------------------


def test_results_share_no_memory_with_constants() -> None:
    table = jnp.arange(3.0)
    f = traceir.jit(
        lambda p: lax.cond(p, lambda: table, lambda: X), backend="reference"
    )
    found = np.asarray(f(True))
    assert not np.shares_memory(found, np.asarray(table))


def test_an_eager_loop_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def compiling(*args: Any) -> Any:
        compiled.append(args)
        return compile_program(*args)

    backends = import_module("traceir.jit.backends")
    monkeypatch.setattr(backends, "compile_program", compiling)

    def body(c: Any, x: Any) -> Any:
        return c + x, c

    for start in (0.0, 1.0, 2.0):
        lax.scan(body, jnp.float32(start), X)
    assert len(compiled) == 1


def test_without_jit_loops_are_pythons() -> None:
    seen = []

    def body(c: Any, x: Any) -> Any:
        seen.append(float(c))
        return c + x, {"c": c}

    with traceir.disable_jit():
        total, rows = lax.scan(body, 0.0, X, reverse=True)
        assert lax.cond(X[1] > 0, lambda: 1, lambda: 1 / 0) == 1
        assert lax.switch(9, [lambda: 1 / 0, lambda: 2]) == 2
        assert lax.while_loop(lambda c: bool(c < 9), lambda c: c * 2, 1) == 16
        assert lax.fori_loop(0, 3, lambda i, c: c + int(i), 0) == 3
        assert lax.fori_loop(3, 0, lambda i, c: 1 / 0, 7) == 7
        assert np.array_equal(lax.map(lambda x: x * int(x), X), [0, 1, 4])
    assert float(total) == 3.0
    assert np.array_equal(rows["c"], [3.0, 2.0, 0.0])
    assert seen == [0.0, 2.0, 3.0]


@pytest.mark.parametrize("start", [0, 5])
def test_loops_that_do_not_run(start: int) -> None:
    assert lax.fori_loop(start, 0, lambda i, c: c * 0, 3.0) == 3.0
    assert lax.while_loop(lambda c: c < 0, lambda c: c * 0, 3.0) == 3.0
    last, rows = lax.scan(lambda c, x: (c * x, c), 3.0, X[:0])
    assert (float(last), rows.shape) == (3.0, (0,))
    assert (
        traceir.grad(lambda x: lax.scan(lambda c, a: (c * a, c), x, X[:0])[0])(2.0) == 1
    )


def test_an_index_out_of_range_means_the_nearest_branch() -> None:
    branches = [lambda: 10, lambda: 20, lambda: 30]
    found = [int(lax.switch(k, branches)) for k in (-7, 0, 1, 2, 9)]
    assert found == [10, 10, 20, 30, 30]


# -- what is transposed ---------------------------------------------------------------


def test_a_loop_with_a_count_is_transposed() -> None:
    def f(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, c: c * 2 + x * i, x)

    (back,) = traceir.linear_transpose(f, 1.0)(1.0)
    # 8 x + (0 * 4 + 1 * 2 + 2 * 1) x
    assert float(back) == 12.0


def test_a_choice_with_known_results_is_transposed() -> None:
    def f(x: Any) -> Any:
        k, y = lax.cond(True, lambda x: (2.0, x * 3), lambda x: (4.0, x), x)
        return y * k

    assert float(traceir.linear_transpose(f, 1.0)(1.0)[0]) == 6.0


def test_a_call_with_known_results_is_transposed() -> None:
    inner = traceir.jit(lambda x: (jnp.sin(0.5), x * 3))

    def f(x: Any) -> Any:
        k, y = inner(x)
        return y * k

    (back,) = traceir.linear_transpose(f, 1.0)(1.0)
    assert np.allclose(back, 3 * np.sin(0.5))


def test_a_constant_that_no_lane_needs_is_not_batched() -> None:
    def f(n: Any) -> Any:
        return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, X * 2), (0.0, X))

    made = traceir.make_jaxpr(traceir.vmap(f))(X)
    (loop,) = [e for e in made.eqns if e.primitive == "while"]
    assert [v.aval.shape for v in loop.outputs] == [(3,), (3, 3)]
    assert np.array_equal(traceir.vmap(f)(X)[1], [X, X * 2, X * 2])
