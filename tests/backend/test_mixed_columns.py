"""A few columns side by side: one loop writes all of them."""

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

ROWS = 9001
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "stack": lambda x, y: jnp.stack([x[:, 0], y[:, 1] * 2, x[:, 2] - y[:, 0]], -1),
    "stack of rows": lambda x, y: jnp.stack([x, y + 1], -1),
    "columns of several": lambda x, y: jnp.concatenate([x * 2, y[:, :2]], -1),
    "a one beside": lambda x, y: jnp.concatenate([x, jnp.ones_like(y[:, :1])], 1),
    "many columns": lambda x, y: jnp.concatenate([x, y, x * y], -1),
    "the same twice": lambda x, y: jnp.concatenate([x, x], -1) + 1,
    "rows below": lambda x, y: jnp.concatenate([x, y], 0),
    "cross": lambda x, y: jnp.cross(x, y),
    "read again": lambda x, y: (lambda z: (z, z.max(0), z[:, 1]))(
        jnp.stack([x[:, 0], y[:, 0]], -1)
    ),
    "summed": lambda x, y: jnp.stack([x[:, 0], y[:, 0], x[:, 1]], -1).sum(-1),
    "backwards": lambda x, y: jnp.stack([x[::-1, 0], y[:, 2]], -1)[:, ::-1].T,
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_columns_are_those_of_the_reference(name: str, dtype: str) -> None:
    rng = np.random.default_rng(2)
    x, y = (rng.normal(size=(2, ROWS, 3)) * 8).astype(dtype)
    with jax.enable_x64(dtype == "float64"):
        closed = traced(PROGRAMS[name], x, y)
        found = executable(closed).run(x, y)
        assert same_bits(found, eval_jaxpr(closed, closed.consts, x, y))


@pytest.mark.parametrize("name", ["stack", "columns of several", "cross"])
def test_a_few_columns_are_written_by_one_loop(name: str) -> None:
    x = np.ones((ROWS, 3), "float32")
    source = executable(traced(PROGRAMS[name], x, x)).source
    assert len(re.findall(r"\n@kernel", source)) == 1
