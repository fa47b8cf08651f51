"""Tangents of integers, which carry nothing, as results. Rules: derive.float0"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir.dtypes import float0


def scaled(i: Any, x: Any) -> Any:
    """Of an integer and a floating number."""
    return i * x


both = traceir.grad(scaled, argnums=(0, 1), allow_int=True)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_a_jitted_function_returns_them(backend: str) -> None:
    found = traceir.jit(both, backend=backend)
    for i in (3, 4):  # traced, and found
        nothing, slope = found(i, 2.0)
        assert nothing.dtype == float0 and nothing.shape == ()
        assert slope == i
    alone = traceir.jit(traceir.grad(scaled, allow_int=True), backend=backend)
    assert alone(3, 2.0).dtype == float0


WAYS: list[Callable[..., Any]] = [
    lambda f: f,
    traceir.jit,
    lambda f: traceir.jit(traceir.jit(f)),
    traceir_numba.jit,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_batch_of_them_has_its_axis(way: Callable[..., Any]) -> None:
    inner = way(traceir.vmap(both))
    many = traceir.vmap(inner, out_axes=(1, 0))
    nothing, slope = many(jnp.ones((3, 2), int), jnp.ones((3, 2)))
    assert nothing.dtype == float0 and nothing.shape == (2, 3)
    assert np.array_equal(slope, np.ones((3, 2)))


def test_they_are_shared_where_no_axis_is_asked_for() -> None:
    nothing, _ = traceir.vmap(both, in_axes=(None, 0), out_axes=(None, 0))(
        3, jnp.ones(2)
    )
    assert nothing.dtype == float0 and nothing.shape == ()


def test_a_choice_returns_them() -> None:
    nothing, slope = lax.cond(True, both, both, 3, 2.0)
    assert nothing.dtype == float0 and slope == 3.0


def test_tangents_of_integers_come_out_of_jit() -> None:
    pushed = traceir.jit(lambda x, i: traceir.jvp(lambda x: (x * 2.0, i), (x,), (x,)))
    _, (slope, nothing) = pushed(1.0, jnp.arange(3))
    assert slope == 2.0
    assert nothing.dtype == float0 and nothing.shape == (3,)
    pulled = traceir.jit(lambda i, x: traceir.vjp(scaled, i, x)[1](1.0))
    assert pulled(3, 2.0)[0].dtype == float0
