"""Seed 000, cell by cell: tracing once, calling often; jaxprs; immutable arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from jaxprs import jax_text

import traceir as jax
import traceir.numpy as jnp
from traceir import jit


def fn(tuple_arr: Any) -> Any:
    return jnp.sum(tuple_arr**2 - tuple_arr**3 - tuple_arr)


def fnc_jax(x1: Any, x2: Any) -> Any:
    return (jnp.divide(x1, x2) - jnp.exp(x2)) * (
        jnp.sin(jnp.divide(x1, x2)) + jnp.divide(x1, x2) - jnp.exp(x2)
    )


class Counted:
    """A function that counts how often its body runs: under `jit`, its traces."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.runs = 0

    def __call__(self, *args: Any) -> Any:
        self.runs += 1
        return self.function(*args)


def test_cell_76_eager_and_jitted_agree() -> None:
    eager, compiled = fn(jnp.ones(100)), jit(fn)(jnp.ones(100))
    for result in (eager, compiled):
        assert result.block_until_ready().item() == -100.0
        assert (result.dtype, result.shape, result.weak_type) == (np.float32, (), False)


def test_cells_79_80_83_a_new_size_is_traced_and_a_known_one_is_not() -> None:
    counted = Counted(fn)
    fn_compiled = jit(counted)
    traces = []
    for size in (100, 100, 1000, 1000, 100):
        assert fn_compiled(jnp.ones(size)).item() == -float(size)
        traces.append(counted.runs)
    assert traces == [1, 1, 2, 2, 2]
    assert fn_compiled.cache_info().currsize == 2


def test_cell_85_a_print_shows_the_tracer_once(capsys: Any) -> None:
    @jit
    def fn(tuple_arr: Any) -> Any:
        print(tuple_arr)
        return jnp.sum(tuple_arr**2 - tuple_arr**3 - tuple_arr)

    print(fn(jnp.ones(100)))
    print(fn(jnp.ones(100)))
    assert capsys.readouterr().out == (
        "Traced<ShapedArray(float32[100])>with<DynamicJaxprTrace(level=1/0)>\n"
        "-100.0\n"
        "-100.0\n"
    )


def test_cell_86_the_jaxpr_of_a_jitted_function(capsys: Any) -> None:
    @jit
    def fn(tuple_arr: Any) -> Any:
        print(tuple_arr)
        return jnp.sum(tuple_arr**2 - tuple_arr**3 - tuple_arr)

    fn(jnp.ones(100))
    capsys.readouterr()
    assert str(jax.make_jaxpr(fn)(jnp.ones(100))) == jax_text("000-86")
    # One trace serves the call and the jaxpr, so that nothing is printed again.
    assert capsys.readouterr().out == ""


def test_cell_3_a_jaxpr_of_ten_equations_without_simplification() -> None:
    closed = jax.make_jaxpr(fnc_jax)(1.0, 1.0)
    assert str(closed) == jax_text("000-3")
    assert len(closed.eqns) == 10


def test_cell_1_ahead_of_time(backend: str) -> None:
    lowered = jit(fnc_jax).lower(1.0, 1.0)
    compiled = lowered.compile()
    assert "fnc_jax" in repr(compiled)
    assert compiled.as_text()
    exp, sin = math.exp(1), math.sin(1)
    wanted = (1 - exp) * (sin + 1 - exp)
    assert compiled(1.0, 1.0).item() == pytest.approx(wanted, rel=1e-6)
    assert compiled(1.0, 1.0).dtype == np.float32
    text = lowered.as_text()
    assert [word for word in ("exp", "sin") if word not in text] == []


def test_cell_98_an_item_cannot_be_assigned(capsys: Any) -> None:
    arr_jnp = jnp.array([1, 2, 3, 4])
    print(type(arr_jnp))
    arr_np = np.array([1, 2, 3, 4])
    arr_np[1] = 0
    print(arr_np)
    with pytest.raises(TypeError) as caught:
        arr_jnp[1] = 0
    assert "immutable" in str(caught.value)
    assert "x.at[idx].set(y)" in str(caught.value)
    assert capsys.readouterr().out == "<class 'traceir.Array'>\n[1 0 3 4]\n"


def test_cell_99_an_update_makes_a_new_array(capsys: Any) -> None:
    arr_jnp = jnp.array([1, 2, 3, 4])
    arr_jnp = arr_jnp.at[1].set(0)
    print(arr_jnp)
    assert capsys.readouterr().out == "[1 0 3 4]\n"
    assert repr(arr_jnp) == "Array([1, 0, 3, 4], dtype=int32)"
