"""Seed 002, cell by cell: the quadratic formula, a toy tracer, sharp bits."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from jaxprs import jax_text

import traceir as jax
import traceir.numpy as jnp
from traceir.errors import NonConcreteBooleanIndexError


def quadratic_formula_of(module: ModuleType) -> Any:
    def quadratic_formula(a: Any, b: Any) -> Any:
        return (-b + module.sqrt(b**2 - 4 * a)) / (2 * a)

    return quadratic_formula


def test_a_drop_in_for_numpy() -> None:
    wanted = quadratic_formula_of(np)(1.0, 4.0)
    formula = quadratic_formula_of(jnp)
    for result in (formula(1.0, 4.0), jax.jit(formula)(1.0, 4.0)):
        assert result.item() == pytest.approx(wanted, rel=1e-6)
        assert result.item() == pytest.approx(-0.26794922, rel=1e-6)
        assert (result.dtype, result.weak_type) == (np.float32, True)


def test_the_equations_of_the_quadratic_formula() -> None:
    closed = jax.make_jaxpr(quadratic_formula_of(jnp))(1.0, 4.0)
    assert str(closed) == jax_text("002-quadratic")
    names = [eqn.primitive for eqn in closed.eqns]
    assert names == ["neg", "integer_pow", "mul", "sub", "sqrt", "add", "mul", "div"]


def test_a_traced_function_is_python_run_once() -> None:
    effects: list[str] = []

    class IncreaseBrightness:
        def __add__(self, x: Any) -> str:
            effects.append("brighter")
            return "done"

    def fun(x: Any) -> Any:
        return x + 1

    assert fun(IncreaseBrightness()) == "done"
    assert effects == ["brighter"]
    assert jax.jit(fun)(1).item() == 2


def test_what_the_toy_tracer_records() -> None:
    def fun(x: Any) -> Any:
        return x + 1

    struct = jax.ShapeDtypeStruct(shape=(10,), dtype="float32")
    closed = jax.jit(fun).trace(struct).jaxpr
    (eqn,) = closed.eqns
    assert eqn.primitive == "add"
    assert [a.str_short() for a in closed.in_avals] == ["f32[10]"]


def test_the_jaxpr_of_fun() -> None:
    def fun(x: Any) -> Any:
        return 2 + jnp.sin(x)

    assert str(jax.make_jaxpr(fun)(jnp.array(1.0))) == jax_text("002-fun")


def test_a_traced_mask_cannot_select() -> None:
    def positive(array: Any) -> Any:
        return array[array > 0]

    array = jnp.array([1.0, -2.0, 3.0, 0.0, 5.0])
    assert positive(array).tolist() == [1, 3, 5]
    with pytest.raises(NonConcreteBooleanIndexError, match=r"bool\[5\]"):
        jax.jit(positive)(array)
    with pytest.raises(IndexError):
        jax.jit(positive)(array)


def test_only_one_branch_is_traced() -> None:
    def fun(x: Any) -> Any:
        return jnp.sin(x) if x.ndim else jnp.cos(x)

    assert [e.primitive for e in jax.make_jaxpr(fun)(jnp.ones(2)).eqns] == ["sin"]
    assert [e.primitive for e in jax.make_jaxpr(fun)(1.0).eqns] == ["cos"]


def test_python_loops_are_unrolled() -> None:
    def fun(x: Any) -> Any:
        for _ in range(5):
            x = x + 1
        return x

    assert len(jax.make_jaxpr(fun)(1.0).eqns) == 5


def two_plus_sine(x: Any) -> Any:
    return 2 + jnp.sin(x)


def test_the_jaxpr_of_the_gradient() -> None:
    closed = jax.make_jaxpr(jax.grad(two_plus_sine))(jnp.array(1.0))
    assert str(closed) == jax_text("002-grad")
    names = [eqn.primitive for eqn in closed.eqns]
    assert names == ["sin", "cos", "add", "mul"]


def test_a_gradient_of_each_example_compiled(backend: str) -> None:
    examples = jnp.array([1.0, 2.0, 3.0])
    result = jax.jit(jax.vmap(jax.grad(two_plus_sine)))(examples)
    assert (result.dtype, result.weak_type) == (np.float32, False)
    if backend == "numba":
        shown = "Array([ 0.5403023 , -0.41614684, -0.9899925 ], dtype=float32)"
        assert repr(result) == shown
    # NumPy's cosine of a float32 may be a unit off in the last place.
    wanted = np.array([0.5403023, -0.41614684, -0.9899925], np.float32)
    np.testing.assert_array_max_ulp(np.asarray(result), wanted, maxulp=1)


def test_the_transformations_compose_in_any_order() -> None:
    examples = jnp.array([1.0, 2.0, 3.0])
    wanted = np.cos([1.0, 2.0, 3.0])
    for transformed in (
        jax.jit(jax.vmap(jax.grad(two_plus_sine))),
        jax.vmap(jax.jit(jax.grad(two_plus_sine))),
        jax.vmap(jax.grad(jax.jit(two_plus_sine))),
        jax.grad(lambda x: jnp.sum(jax.vmap(two_plus_sine)(x))),
        lambda x: jnp.sum(jax.jacobian(jax.vmap(two_plus_sine))(x), axis=0),
        lambda x: jax.jvp(jax.jit(jax.vmap(two_plus_sine)), (x,), (jnp.ones(3),))[1],
    ):
        np.testing.assert_allclose(transformed(examples), wanted, rtol=1e-6)
