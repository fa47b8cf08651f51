"""Rules of users that ask for symbolic zeros are told which tangents are zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import traceir
import traceir.numpy as jnp
from traceir.as_jax.modules.custom_derivatives import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_gradient,
    zero_from_primal,
)

WAYS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "jit": traceir.jit,
    "vmap": lambda f: lambda *xs: traceir.vmap(f)(*(jnp.array([x]) for x in xs))[0],
}


def is_zero(tangent: Any) -> bool:
    return isinstance(tangent, SymbolicZero)


@pytest.mark.parametrize("way", WAYS)
def test_a_forward_rule_sees_which_tangents_are_zero(way: str) -> None:
    seen: list[list[bool]] = []

    @traceir.custom_jvp
    def f(x: Any, y: Any, n: Any) -> Any:
        return x * y * n

    def rule(primals: Any, tangents: Any) -> Any:
        x, y, n = primals
        seen.append(list(map(is_zero, tangents)))
        assert tangents[2].dtype == traceir.dtypes.float0
        if is_zero(tangents[0]):
            return f(x, y, n), SymbolicZero.from_primal_value(x)
        return f(x, y, n), tangents[0] * y * n

    f.defjvp(rule, symbolic_zeros=True)
    call = WAYS[way](f)
    assert traceir.grad(call)(2.0, 3.0, 2) == 6.0
    assert traceir.grad(call, argnums=1)(2.0, 3.0, 2) == 0.0
    assert {tuple(one) for one in seen} == {(False, True, True), (True, False, True)}


@pytest.mark.parametrize("way", WAYS)
def test_rules_of_a_pair_see_what_is_differentiated(way: str) -> None:
    seen: list[Any] = []

    @traceir.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return x * y, x

    def forward(x: CustomVJPPrimal, y: CustomVJPPrimal) -> Any:
        seen.append((x.perturbed, y.perturbed))
        return (x.value * y.value, x.value), (x.value, y.value)

    def backward(saved: Any, cts: Any) -> Any:
        seen.append(tuple(map(is_zero, cts)))
        _, y = saved
        return (None if is_zero(cts[0]) else cts[0] * y), None

    f.defvjp(forward, backward, symbolic_zeros=True)
    first = WAYS[way](lambda x, y: f(x, y)[0])
    assert traceir.grad(first)(2.0, 3.0) == 3.0
    assert seen == [(True, False), (False, True)]


def test_without_asking_zeros_are_arrays() -> None:
    @traceir.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return x * y

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        assert not any(map(is_zero, tangents))
        return f(*primals), tangents[0] * primals[1] + tangents[1] * primals[0]

    assert traceir.grad(f)(2.0, 3.0) == 3.0


def test_zeros_of_values() -> None:
    arrays = zero_from_primal({"a": jnp.ones(2)})
    assert arrays["a"].tolist() == [0.0, 0.0]
    assert is_zero(zero_from_primal(1.0, symbolic_zeros=True))


@pytest.mark.parametrize("way", WAYS)
def test_a_function_returns_its_derivative(way: str) -> None:
    @custom_gradient
    def f(x: Any, y: Any) -> Any:
        return jnp.sin(x) * y, lambda ct: (10 * ct * y, ct)

    call = WAYS[way](f)
    assert traceir.grad(call)(0.0, 3.0) == 30.0
    assert traceir.grad(call, argnums=1)(0.0, 3.0) == 1.0
