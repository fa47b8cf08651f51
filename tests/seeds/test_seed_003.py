"""Seed 003, cell by cell: what a trace keeps of Python, and when it runs again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from jaxprs import jax_text

import traceir as jax
import traceir.numpy as jnp
from traceir.errors import TracerBoolConversionError


def f(x: Any) -> Any:
    if x > 0:
        return x
    else:
        return 2 * x


def g(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        i += 1
    return x + i


def test_log2_leaves_a_tracer_in_the_list() -> None:
    global_list: list[Any] = []

    def log2(x: Any) -> Any:
        global_list.append(x)
        ln_x = jnp.log(x)
        ln_2 = jnp.log(2.0)
        return ln_x / ln_2

    assert str(jax.make_jaxpr(log2)(3.0)) == jax_text("001-42")
    (left,) = global_list
    assert isinstance(left, jax.Array)
    assert repr(left).startswith("Traced<ShapedArray(float32[], weak_type=True)>")
    assert log2(jnp.asarray(8.0)).item() == pytest.approx(3.0)


def test_log2_with_print_prints_a_traced_object(capsys: Any) -> None:
    def log2_with_print(x: Any) -> Any:
        print("printed x:", x)
        ln_x = jnp.log(x)
        ln_2 = jnp.log(2.0)
        return ln_x / ln_2

    print(jax.make_jaxpr(log2_with_print)(3.0))
    first, rest = capsys.readouterr().out.split("\n", 1)
    assert first.startswith("printed x: Traced")
    assert rest == jax_text("001-42") + "\n"


def test_log2_if_rank_2_keeps_the_branch_that_was_taken() -> None:
    def log2_if_rank_2(x: Any) -> Any:
        if x.ndim == 2:
            ln_x = jnp.log(x)
            ln_2 = jnp.log(2.0)
            return ln_x / ln_2
        else:
            return x

    text = str(jax.make_jaxpr(log2_if_rank_2)(jax.numpy.array([1, 2, 3])))
    assert text == jax_text("003-rank")
    matrix = jnp.ones((2, 2))
    names = [eqn.primitive for eqn in jax.make_jaxpr(log2_if_rank_2)(matrix).eqns]
    assert names == ["log", "log", "convert_element_type", "div"]


def test_conditions_on_arguments_raise() -> None:
    f_jit = jax.jit(f)
    with pytest.raises(TracerBoolConversionError):
        f_jit(10)
    g_jit = jax.jit(g)
    with pytest.raises(TracerBoolConversionError):
        g_jit(10, 20)


def test_the_strictest_level_of_a_composition_holds() -> None:
    @jax.jit
    def outer(x: Any) -> Any:
        return f(x)

    with pytest.raises(TracerBoolConversionError):
        jax.make_jaxpr(outer)(1.0)
    assert f(jnp.asarray(3.0)).item() == 3.0


def test_a_gradient_alone_lets_python_branch_on_values() -> None:
    def f(x: Any) -> Any:
        if x < 3:
            return 3.0 * x**2
        return -4.0 * x

    assert jax.grad(f)(2.0).item() == 12
    assert jax.grad(f)(4.0).item() == -4
    with pytest.raises(TracerBoolConversionError):
        jax.jit(jax.grad(f))(2.0)
    with pytest.raises(TracerBoolConversionError):
        jax.grad(jax.jit(f))(2.0)
    chosen = jax.jit(
        jax.grad(
            lambda x: jax.lax.cond(x < 3, lambda v: 3.0 * v**2, lambda v: -4.0 * v, x)
        )
    )
    assert (chosen(2.0).item(), chosen(4.0).item()) == (12, -4)


def test_a_loop_with_a_jitted_body() -> None:
    @jax.jit
    def loop_body(prev_i: Any) -> Any:
        return prev_i + 1

    def g_inner_jitted(x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            i = loop_body(i)
        return x + i

    text = "Array(30, dtype=int32, weak_type=True)"
    assert repr(g_inner_jitted(10, 20)) == text


def test_each_static_value_is_a_trace_of_its_own() -> None:
    traces: list[Any] = []

    def counted(x: Any, n: int) -> Any:
        traces.append(n)
        return g(x, n)

    g_jit_correct = jax.jit(counted, static_argnames=["n"])
    assert [g_jit_correct(10, n).item() for n in (20, 20, 3, 20)] == [30, 30, 13, 30]
    assert traces == [20, 3]
    assert g_jit_correct(10, 20).block_until_ready().dtype == np.int32


def test_eager_and_jitted_selu_agree_where_the_branches_meet() -> None:
    def selu(x: Any, alpha: Any = 1.67, lambda_: Any = 1.05) -> Any:
        return lambda_ * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)

    x = jnp.array([-2.0, -0.0, 0.0, 1e-30, 1.0, jnp.inf, -jnp.inf, jnp.nan])
    np.testing.assert_allclose(jax.jit(selu)(x), selu(x), rtol=1e-6)
