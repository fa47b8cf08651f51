"""Numbers of elements: one index where loops are one, and sums elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiling import executable, same_bits, traced

import traceir as jax
import traceir.numpy as jnp
from traceir.reference.interpreter import eval_jaxpr

SHAPES = [(40, 3), (3, 1000), (1, 40, 1, 30), (20, 30, 5), (2, 3, 4, 5, 6)]
USES: dict[str, Callable[[Any], Any]] = {
    "as they are": lambda x: x,
    "the other way round": lambda x: x.T * 2,
    "in part": lambda x: x[1:, ..., ::2],
    "backwards": lambda x: x[::-1],
    "a line": lambda x: x[..., 0] + 1,
    "with rows": lambda x: x + jnp.arange(x.shape[-1], dtype="uint32"),
    "with columns": lambda x: (
        x ^ jnp.ones((x.shape[0],) + (1,) * (x.ndim - 1), "uint32")
    ),
    "sums of rows": lambda x: x.sum(-1),
    "sums of columns": lambda x: x.sum(0),
    "extremes": lambda x: (x.max(-1), x.argmax(-1)),
    "joined": lambda x: jnp.concatenate([x, x + 1]),
    "taken": lambda x: x[jnp.array([0, -1])],
    "sorted": lambda x: jnp.sort(x, axis=0),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_draws_are_those_of_the_reference(shape: tuple[int, ...], use: str) -> None:
    closed = traced(
        lambda key: USES[use](jax.random.bits(jax.random.wrap_key_data(key), shape)),
        np.array([3, 5], "uint32"),
    )
    found = executable(closed).run(np.array([3, 5], "uint32"))
    assert same_bits(
        found, eval_jaxpr(closed, closed.consts, np.array([3, 5], "uint32"))
    )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
def test_sums_of_indices_wrap_as_their_dtype_does(dtype: str) -> None:
    shape = (20, 30, 7)

    def fun() -> Any:
        a, b, c = (jax.lax.broadcasted_iota(dtype, shape, d) for d in range(3))
        rows = (a * np.array(30, dtype) + b) * np.array(7, dtype) + c
        return rows, a * 210 + b * 7 + c, a * 30 + c + b, (b * 7 + c)[3:, ::-1, 2:]

    closed = traced(fun)
    assert same_bits(executable(closed).run(), eval_jaxpr(closed, closed.consts))


def test_draws_of_any_shape_are_one_loop() -> None:
    def fun(key: Any) -> Any:
        return jax.random.normal(jax.random.wrap_key_data(key), (4000, 3))

    source = executable(traced(fun, np.zeros(2, "uint32"))).source
    assert len(re.findall(r"for i\d in", source)) == 1
    assert re.search(r"= u32\(i0\)", source)
