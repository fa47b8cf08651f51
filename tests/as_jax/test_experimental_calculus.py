"""Differential equations and derivatives of higher order along a curve.

Rules: derive.grad, derive.jvp, psum
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.experimental.jet import jet
from traceir.experimental.ode import odeint


def test_a_system_beside_its_solution() -> None:
    def spin(y: Any, t: Any, speed: Any) -> Any:
        return {"x": -speed * y["y"], "y": speed * y["x"]}

    times = np.array([0.0, 0.5, 3.0])
    with traceir.enable_x64(True):
        start = {"x": jnp.ones(2), "y": jnp.zeros(2)}
        found = odeint(spin, start, times, 1.5)
        wanted = np.stack([np.cos(1.5 * times)] * 2, axis=1)
        np.testing.assert_allclose(found["x"], wanted, atol=1e-6)
        np.testing.assert_allclose(
            traceir.jit(lambda s: odeint(spin, s, times, 1.5))(start)["x"], found["x"]
        )


def test_cotangents_of_all_that_a_solution_depends_on() -> None:
    # y(t) = y0 exp(k (t - t0)), less what is captured.
    def last(k: Any, y0: Any, times: Any, less: Any) -> Any:
        return odeint(lambda y, t, k: k * y - 0 * less, y0, times, k)[-1]

    k, y0, less = 0.5, 2.0, 1.0
    times = jnp.array([0.25, 1.0, 2.0])
    with traceir.enable_x64(True):
        given = k, y0, jnp.asarray(np.asarray(times, "f8")), less
        found = traceir.grad(last, (0, 1, 2, 3))(*given)
        value = y0 * np.exp(k * 1.75)
        wanted = value * 1.75, value / y0, [-k * value, 0, k * value], 0
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)


def test_bounds_of_steps() -> None:
    def decay(y: Any, t: Any) -> Any:
        return -y

    many = odeint(decay, 1.0, jnp.array([0.0, 0.0, 1.0]), hmax=0.01)
    np.testing.assert_allclose(many, [1, 1, np.exp(-1)], rtol=1e-5)
    few = odeint(decay, 1.0, jnp.array([0.0, 50.0]), mxstep=1)
    assert not np.allclose(few[1], np.exp(-50.0), atol=1e-3)
    with pytest.raises(TypeError, match="number"):
        odeint(decay, 1.0, jnp.array([0.0, 1.0]), rtol="small")
    batch = traceir.vmap(lambda y: odeint(decay, y, jnp.array([0.0, 1.0])))(jnp.ones(3))
    assert batch.shape == (3, 2)


@pytest.mark.parametrize("scaled", [True, False])
def test_derivatives_of_a_curve(scaled: bool) -> None:
    # exp(x(t)) for x(t) = 1 + t + t^2 has the derivatives e, 3 e and 7 e.
    terms = (1.0, 2.0, 0.0) if scaled else (1.0, 1.0, 0.0)
    value, found = jet(jnp.exp, (1.0,), (terms,), factorial_scaled=scaled)
    whole = np.e * np.array([1, 3, 7])
    wanted = whole if scaled else whole / [1, 2, 6]
    np.testing.assert_allclose([float(v) for v in found], wanted, rtol=1e-5)
    np.testing.assert_allclose(value, np.e, rtol=1e-6)


def test_curves_of_several_arguments_and_results() -> None:
    def f(x: Any, n: Any, y: Any) -> Any:
        return {"product": x * y, "power": lax.cond(n > 1, lambda: x**2, lambda: x)}

    series = ((1.0, 0.0), (0, 0), (2.0, 1.0))
    value, found = traceir.jit(lambda x: jet(f, (x, 2, 3.0), series))(5.0)
    assert (float(value["product"]), float(value["power"])) == (15, 25)
    assert [float(v) for v in found["product"]] == [13, 9]  # y + 2 x, then 2 * 2 + x
    assert [float(v) for v in found["power"]] == [10, 2]
    assert jet(jnp.sin, (0.0,), ((),))[1] == []
    with pytest.raises(ValueError, match="as many terms"):
        jet(f, (1.0, 2, 3.0), ((1.0,), (0,), (1.0, 2.0)))


def test_programs_of_named_axes() -> None:
    def total(x: Any) -> Any:
        return lax.psum(x, "i") / lax.axis_size("i")

    closed = traceir.make_jaxpr(total, axis_env=[("i", 4)])(1.0)
    assert [e.primitive for e in closed.eqns] == ["psum", "div"]
    assert "4.0" in str(closed)
    again = traceir.make_jaxpr(total, (), [("i", 8)])(1.0)
    assert "8.0" in str(again)
    with pytest.raises(NameError):
        traceir.make_jaxpr(total)(1.0)
    around = traceir.vmap(
        lambda x: traceir.make_jaxpr(total, axis_env=[("j", 2)])(x) and x,
        axis_name="i",
    )
    assert around(jnp.ones(3)).shape == (3,)
