"""Forms of calls that libraries use."""

from __future__ import annotations

from typing import Any

import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax


def older(pred: Any, x: Any, y: Any) -> Any:
    return lax.cond(pred, x, lambda a: a["n"] + 1, y, lambda b: b * 2)


@pytest.mark.parametrize("way", [lambda f: f, traceir.jit], ids=["eager", "jit"])
def test_each_choice_has_its_own_operand(way: Any) -> None:
    call = way(older)
    assert call(True, {"n": 1.0}, 5.0) == 2.0
    assert call(False, {"n": 1.0}, 5.0) == 10.0
    grads = traceir.grad(lambda x, y: call(True, {"n": x}, y), argnums=(0, 1))(1.0, 5.0)
    assert grads == (1.0, 0.0)
    found = traceir.vmap(call)(
        jnp.array([True, False]), {"n": jnp.ones(2)}, jnp.ones(2)
    )
    assert found.tolist() == [2.0, 2.0]


def test_a_struct_has_a_sharding() -> None:
    assert traceir.ShapeDtypeStruct((2,), "float32").sharding is None
    given = traceir.ShapeDtypeStruct((2,), "float32", sharding="here")
    assert given.sharding == "here"
    assert traceir.eval_shape(jnp.sum, given).shape == ()
