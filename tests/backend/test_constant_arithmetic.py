"""Arithmetic of numbers that are known when a program is compiled. Cites accuracy.exact

It is that of the dtypes, not Python's: a division by 0 has a result, sums wrap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import traceir as jax
import traceir.numpy as jnp

Of = Callable[[jax.Array, int], jax.Array]

FUNCTIONS: dict[str, Of] = {
    "1 / 0": lambda x, n: jnp.full(4, 1.0) / 0.0 + x,
    "-1 / 0": lambda x, n: jnp.full(4, -1.0) / 0.0 + x,
    "0 / 0": lambda x, n: jnp.full(4, 0.0) / 0.0 + x,
    "a product with 1 / 0": lambda x, n: (jnp.ones((4, 4)) / 0.0) @ jnp.ones(4) * x,
    "5 // 0": lambda x, n: jnp.full(4, 5.0) // 0.0 + x,
    "-5 % 0": lambda x, n: jnp.full(4, -5.0) % 0.0 + x,
    "a product too large": lambda x, n: jnp.full(4, n) * 4 + x.astype(int),
    "and its quotient": lambda x, n: jnp.full(4, n) * 2 // 4 + x.astype(int),
    "and its sign": lambda x, n: jnp.where(jnp.full(4, n) * 2 > 0, 1.0, 2.0) + x,
    "a sum too large": lambda x, n: (jnp.full(4, n) + n) // 3 + x.astype(int),
    "a difference": lambda x, n: -jnp.full(4, n) - n - 1 + x.astype(int),
    "a shift": lambda x, n: ((jnp.full(4, n) * 2) >> 1) + x.astype(int),
    "below 0": lambda x, n: (jnp.full(4, 0, "uint32") - 1) // 2 + x.astype("uint32"),
    "eight bits": lambda x, n: (jnp.full(4, 100, "int8") + 100) // 2 + x.astype("int8"),
    "infinite": lambda x, n: jnp.full(4, float(n)) ** 40 / float(n) + x,
    "a half": lambda x, n: jnp.full(4, 6e4, "float16") * 2 / 2 + x.astype("float16"),
}


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_constants_are_of_their_dtype(name: str, wide: bool) -> None:
    with jax.enable_x64(wide):
        number, x = 2 ** (62 if wide else 30), jnp.arange(4.0)

        def function(x: jax.Array) -> jax.Array:
            return FUNCTIONS[name](x, number)

        found, want = jax.jit(function, backend="numba")(x), function(x)
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found, want)
