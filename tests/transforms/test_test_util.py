"""The public checks of derivatives find what is wrong. Rules: check.*"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from tests.rule_errors import raises_rule
from traceir.test_util import (
    check_close,
    check_grads,
    check_jvp,
    check_vjp,
    numerical_jvp,
)


def fun(d: Any, y: Any) -> Any:
    return {"s": jnp.sin(d["a"]) * y + d["n"], "p": d["b"][0] ** 3}


ARGS = {"a": np.arange(3, dtype="f4"), "n": 2, "b": [1.5]}, 0.5


@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_derivatives_pass(order: int) -> None:
    check_grads(fun, ARGS, order)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_steps_fit_the_dtype(dtype: str) -> None:
    with traceir.enable_x64(True):
        x = np.linspace(0.5, 1.5, 4).astype(dtype)
        check_grads(lambda x: x * x * x, (x,), 2)
        tolerance = {"float16": 0.1, "float32": 1e-3, "float64": 1e-8}[dtype]
        found = numerical_jvp(lambda x: x * x, (x,), (np.ones_like(x),))
        assert found.dtype == dtype and np.allclose(found, 2 * x, atol=tolerance)


def wrong(rule: Any) -> Any:
    made = traceir.custom_jvp(lambda x, y: jnp.sin(x) * y["k"])
    made.defjvp(rule(made))
    return made


def second_is_forgotten(made: Any) -> Any:
    def rule(p: Any, t: Any) -> Any:
        return made(*p), jnp.cos(p[0]) * t[0] * p[1]["k"]

    return rule


def value_is_another(made: Any) -> Any:
    def rule(p: Any, t: Any) -> Any:
        slope = jnp.cos(p[0]) * t[0] * p[1]["k"] + jnp.sin(p[0]) * t[1]["k"]
        return made(*p) + 1, slope

    return rule


@pytest.mark.parametrize("modes", [("fwd",), ("rev",), ("fwd", "rev")])
def test_a_wrong_rule_is_named_by_its_argument(modes: tuple[str, ...]) -> None:
    with raises_rule("check.derivative", AssertionError, r"args\[1\]\['k'\]"):
        check_grads(wrong(second_is_forgotten), (1.0, {"k": 2.0}), 1, modes)
    with raises_rule("check.value", AssertionError, "the result"):
        check_grads(wrong(value_is_another), (1.0, {"k": 2.0}), 1, modes)


def test_a_wrong_backward_rule_is_found() -> None:
    made = traceir.custom_vjp(lambda x: jnp.sin(x))
    made.defvjp(lambda x: (jnp.sin(x), x), lambda x, ct: (ct * jnp.sin(x),))
    with raises_rule("check.derivative", AssertionError, "cotangent of args"):
        check_grads(made, (0.5,), 1, modes=("rev",))


def test_a_wrong_second_derivative_is_found() -> None:
    made = traceir.custom_jvp(lambda x: jnp.sin(x))
    slope = traceir.custom_jvp(lambda x: jnp.cos(x))
    slope.defjvp(lambda p, t: (slope(*p), jnp.sin(p[0]) * t[0]))
    made.defjvp(lambda p, t: (made(*p), slope(*p) * t[0]))
    check_grads(made, (0.5,), 1)
    with raises_rule("check.derivative", AssertionError):
        check_grads(made, (0.5,), 2)


def test_tolerances_and_steps_can_be_given() -> None:
    rough = traceir.custom_jvp(lambda x: x * x)
    rough.defjvp(lambda p, t: (rough(*p), 2.1 * p[0] * t[0]))
    check_grads(rough, (1.0,), 1, atol=0.5, rtol=0.5, eps=1e-2)
    with raises_rule("check.derivative", AssertionError):
        check_grads(rough, (1.0,), 1)


@pytest.mark.parametrize("bend", [200.0, 1000.0])
def test_a_function_that_bends_within_a_step_is_right(bend: float) -> None:
    """The difference of the usual step is a tenth off or more."""

    def wave(x: Any) -> Any:
        return jnp.sin(bend * x)

    usual = numerical_jvp(wave, (0.1,), (1.0,))
    exact = bend * np.cos(0.1 * bend)
    assert abs(usual - exact) > 0.1 * abs(exact)
    check_grads(wave, (0.1,), 1, rtol=0.02)

    steep = traceir.custom_jvp(wave)
    steep.defjvps(lambda t, out, x: 1.1 * bend * jnp.cos(bend * x) * t)
    with raises_rule("check.derivative"):
        check_grads(steep, (0.1,), 1, rtol=0.02)


def test_structures_are_compared() -> None:
    with raises_rule("check.value", AssertionError, "structure"):
        check_jvp(lambda x: x, lambda p, t: ((p[0], p[0]), t[0]), (1.0,))
    check_vjp(lambda x: x, lambda x: (x, lambda ct: (ct,)), (1.0,))


def test_modes_are_two() -> None:
    with pytest.raises(ValueError, match="modes"):
        check_grads(fun, ARGS, 1, modes=("forward",))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_arguments_and_results(dtype: str) -> None:
    x = np.array([0.5 + 0.3j, -0.2 + 1.1j], dtype)
    with traceir.enable_x64(True):
        for f in (
            lambda z: z * z * (1 + 2j),
            lambda z: jnp.abs(z) ** 2,
            lambda z: jnp.conj(z) * z.real,
            lambda z: jnp.stack([z.real, z.imag]),
        ):
            check_grads(f, (x,), order=2)
        check_grads(lambda r, z: r * jnp.exp(z), (x.real, x), order=2)


def test_a_wrong_complex_rule_is_found() -> None:
    @traceir.custom_jvp
    def square(z: Any) -> Any:
        return z * z

    square.defjvp(lambda p, t: (square(*p), 2 * jnp.conj(p[0]) * t[0]))
    z = np.array([0.5 + 0.3j], "complex64")
    with pytest.raises(AssertionError, match="tangent by args"):
        check_grads(square, (z,), order=1, modes="fwd")


def test_trees_are_compared_within_tolerances() -> None:
    x = {"a": np.array([1.0, np.nan], "float32"), "b": (2, np.array(3j))}
    check_close(x, x)
    near = {"a": np.array([1.0000002, np.nan], "float32"), "b": (2, np.array(3j))}
    check_close(x, near)
    check_close(1.0, 1.01, rtol=0.1)
    check_close(jnp.ones(2), jnp.ones(2) + 1e-4, atol={"float32": 1e-3}, rtol=0.0)
    wrong = [(1.0, 1.01), (x, {"a": x["a"]}), (np.ones(2), np.ones(3)), (1, 2)]
    for a, b in wrong:
        with raises_rule("check.value", AssertionError, "told"):
            check_close(a, b, err_msg="told")
