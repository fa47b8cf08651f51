"""The option and the flag that say who runs Python's loops and choices.

Cites: cache.flag.control_flow, cache.key.control_flow, jit.control-flow
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir.errors import TracerBoolConversionError


def halved(x: Any) -> Any:
    """A loop and a choice by values."""
    y = 0.0
    for k in range(10):
        y = y + x * k if k % 2 == 0 else y - x
    while y > 50:
        y = y / 2
    return y


def doubled(x: Any, n: Any) -> Any:
    """A loop that may end early."""
    for _ in range(n):
        if x.sum() > 100:
            break
        x = x * 2
    return x


def summed(x: Any) -> Any:
    """A loop of known length."""
    y = 0.0
    for k in range(10):
        y = y + x * k if k % 2 == 0 else y - x
    return y


def test_a_function_of_jax_is_staged_on_request() -> None:
    f = traceir.jit(doubled, control_flow="staged")
    assert f(jnp.ones(3), 10).tolist() == [64.0] * 3
    assert f(jnp.ones(3), 3).tolist() == [8.0] * 3
    assert float(traceir.jit(halved, control_flow="staged")(3.0)) == halved(3.0)
    with traceir.control_flow("staged"):
        assert float(traceir.jit(halved)(3.0)) == halved(3.0)
    with pytest.raises(TracerBoolConversionError):
        traceir.jit(halved)(3.0)


def test_it_composes_with_transforms() -> None:
    f = traceir.jit(summed, control_flow="staged")
    assert float(traceir.grad(f)(3.0)) == 15.0
    assert traceir.vmap(f)(jnp.arange(3.0)).tolist() == [0.0, 15.0, 30.0]
    (eqn,) = traceir.make_jaxpr(f)(3.0).eqns
    assert [e.primitive for e in eqn.param("jaxpr").eqns] == ["scan"]


def test_a_plain_function_may_be_left_to_python() -> None:
    with pytest.raises(TracerBoolConversionError):
        traceir_numba.jit(halved, control_flow="python")(np.float64(3))
    with (
        traceir.control_flow("python"),
        pytest.raises(TracerBoolConversionError),
    ):
        traceir_numba.jit(halved)(np.float64(3))
    # A number of Python's is known by demand.
    assert traceir_numba.jit(halved, control_flow="python")(3.0) == halved(3.0)
    with traceir.control_flow("python"):
        staged = traceir_numba.jit(halved, control_flow="staged")
        assert staged(np.float64(3)) == halved(3.0)


def test_another_word_is_refused() -> None:
    for decorator in (traceir.jit, traceir_numba.jit):
        with raises_rule("jit.control-flow", ValueError, "'numpy'"):
            decorator(summed, control_flow="numpy")


def test_the_length_of_a_loop_is_none_of_its_program() -> None:
    def count(x: Any, n: int) -> int:
        inner = traceir_numba.jit(lambda x: powers(x, n))
        return len(inner.trace(x).jaxpr.eqns)

    def powers(x: Any, n: int) -> Any:
        for k in range(n):
            x = x * 0.5 + k
        return x

    assert count(np.ones(3), 10) == count(np.ones(3), 10**9) < 20
