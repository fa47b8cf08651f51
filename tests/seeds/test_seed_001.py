"""Seed 001, cell by cell: arrays, SELU, prints, concretization, static arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from jaxprs import jax_text

import traceir as jax
import traceir.numpy as jnp
from traceir.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
)


def selu(x: Any, alpha: Any = 1.67, lambda_: Any = 1.05) -> Any:
    return lambda_ * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def g(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        i += 1
    return x + i


def test_cells_34_35_36_what_an_array_is() -> None:
    x = jnp.arange(5)
    assert isinstance(x, jax.Array) is True
    assert repr(x.devices()) == "{CpuDevice(id=0)}"
    assert repr(x.sharding) == "SingleDeviceSharding(device=CpuDevice(id=0))"


def test_cell_37_selu_of_a_number(capsys: Any) -> None:
    selu_jit = jax.jit(selu)
    print(selu_jit(1.5))
    assert capsys.readouterr().out == "1.5749999\n"
    text = "Array(1.5749999, dtype=float32, weak_type=True)"
    assert repr(selu_jit(1.5)) == repr(selu(jnp.asarray(1.5))) == text


def test_cell_38_jit_as_a_decorator() -> None:
    @jax.jit
    def selu(x: Any, alpha: Any = 1.67, lambda_: Any = 1.05) -> Any:
        return lambda_ * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)

    assert selu(1.5).item() == pytest.approx(1.575, rel=1e-6)


def test_cell_39_a_print_under_jit(capsys: Any) -> None:
    @jax.jit
    def f(x: Any) -> Any:
        print(x)
        return x + 1

    assert f(jnp.arange(5)).tolist() == [1, 2, 3, 4, 5]
    assert capsys.readouterr().out == (
        "Traced<ShapedArray(int32[5])>with<DynamicJaxprTrace(level=1/0)>\n"
    )


def test_cell_41_the_jaxpr_of_selu() -> None:
    closed = jax.make_jaxpr(selu)(jnp.arange(5))
    assert str(closed) == jax_text("001-41")
    names = [eqn.primitive for eqn in closed.eqns]
    assert names == ["gt", "convert_element_type", "exp", "mul", "sub", "jit", "mul"]


def test_cell_42_a_print_under_make_jaxpr(capsys: Any) -> None:
    def log2_with_print(x: Any) -> Any:
        print("printed x:", x)
        ln_x = jnp.log(x)
        return ln_x / jnp.log(2.0)

    print(jax.make_jaxpr(log2_with_print)(3.0))
    assert capsys.readouterr().out == (
        "printed x: Traced<ShapedArray(float32[], weak_type=True)>"
        "with<DynamicJaxprTrace(level=1/0)>\n" + jax_text("001-42") + "\n"
    )


def test_cells_13_14_selu_of_a_million() -> None:
    x = jnp.arange(1000000)
    eager, jitted = selu(x), jax.jit(selu)(x)
    assert eager.block_until_ready().dtype == jitted.block_until_ready().dtype
    assert jitted.dtype == np.float32
    np.testing.assert_allclose(eager, jitted, rtol=1e-6)
    assert [float(v) for v in eager[:3]] == pytest.approx([0.0, 1.05, 2.1])


def test_cell_30_a_branch_on_a_traced_value() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            return x
        else:
            return 2 * x

    with pytest.raises(TracerBoolConversionError, match="argument x"):
        jax.jit(f)(10)


def test_cell_30_a_loop_on_a_traced_value() -> None:
    with pytest.raises(TracerBoolConversionError, match="argument n"):
        jax.jit(g)(10, 20)


def test_cell_30_a_shape_from_a_traced_value() -> None:
    def f(x: Any) -> Any:
        return jnp.arange(x)

    with pytest.raises(ConcretizationTypeError, match=r"jnp\.arange argument 'stop'"):
        jax.jit(f)(10)


def test_cell_30_numpy_on_a_traced_value() -> None:
    def f(x: Any) -> Any:
        return np.sin(x)

    with pytest.raises(TracerArrayConversionError, match="argument x"):
        jax.jit(f)(10)


def test_cell_23_a_loop_around_a_jitted_body() -> None:
    traces = []

    @jax.jit
    def loop_body(prev_i: Any) -> Any:
        traces.append(prev_i)
        return prev_i + 1

    def g_inner_jitted(x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            i = loop_body(i)
        return x + i

    text = "Array(30, dtype=int32, weak_type=True)"
    assert repr(g_inner_jitted(10, 20)) == text
    assert len(traces) == 1


def test_cell_32_static_arguments(capsys: Any) -> None:
    def f(x: Any) -> Any:
        if x > 0:
            return x
        else:
            return 2 * x

    f_jit_correct = jax.jit(f, static_argnums=0)
    print(f_jit_correct(10))
    g_jitted_correct = jax.jit(g, static_argnames=["n"])
    print(g_jitted_correct(10, 20))
    assert capsys.readouterr().out == "10\n30\n"
    assert repr(f_jit_correct(10)) == "Array(10, dtype=int32, weak_type=True)"
    text = "Array(30, dtype=int32, weak_type=True)"
    assert repr(g_jitted_correct(10, 20)) == text


def test_cell_33_partial_as_a_decorator(capsys: Any) -> None:
    @partial(jax.jit, static_argnames=["n"])
    def g_jit_decorated(x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            i += 1
        return x + i

    print(g_jit_decorated(10, 20))
    assert capsys.readouterr().out == "30\n"


@pytest.mark.parametrize(
    ("wrap", "traces"),
    [
        (lambda body: partial(body), [20, 40]),
        (lambda body: lambda x: body(x), [20, 40]),
        (lambda body: body, [1, 1]),
    ],
    ids=["partial", "lambda", "normal"],
)
def test_cell_43_jit_in_a_loop(wrap: Any, traces: list[int], backend: str) -> None:
    runs: list[Any] = []

    def unjitted_loop_body(prev_i: Any) -> Any:
        runs.append(prev_i)
        return prev_i + 1

    def g_inner_jitted(x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            i = jax.jit(wrap(unjitted_loop_body), backend="reference")(i)
        return x + i

    counts = []
    for _ in range(2):
        assert g_inner_jitted(10, 20).block_until_ready().item() == 30
        counts.append(len(runs))
    assert counts == traces
