"""Short loops over rows whose turns are written one after the other, as asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from compiling import executable, same_bits, traced

import traceir as jax
import traceir.numpy as jnp
from traceir.reference.interpreter import eval_jaxpr

Body = Callable[[Any, Any], tuple[Any, Any]]
BODIES: dict[str, Body] = {
    "a carry": lambda c, r: (c * 0.5 + r, None),
    "a carry and rows": lambda c, r: (c * r[0] + 1, (c.max(), r * 2)),
    "a literal": lambda c, r: (c + 1, 3.0),
    "the row itself": lambda c, r: (r, c),
    "a loop within": lambda c, r: (
        jax.lax.fori_loop(0, 3, lambda _, x: x * 0.5 + r, c),
        c,
    ),
}


def scanned(body: Body, unroll: int, reverse: bool, x: Any) -> Any:
    """The loop over the rows of an array."""
    return jax.lax.scan(body, x[0], x, unroll=unroll, reverse=reverse)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, 5, 16])
@pytest.mark.parametrize("name", BODIES)
def test_turns_are_the_same_however_they_are_written(
    name: str, unroll: int, reverse: bool
) -> None:
    x = np.random.default_rng(1).normal(size=(5, 7)).astype("float32")
    closed = traced(partial(scanned, BODIES[name], unroll, reverse), x)
    assert same_bits(executable(closed).run(x), eval_jaxpr(closed, closed.consts, x))


def test_a_polynomial_is_one_kernel() -> None:
    x = np.linspace(-1, 1, 5000).astype("float32")
    exe = executable(traced(lambda x: jnp.polyval(jnp.array([1.0, 2.0, 3.0]), x), x))
    assert exe.source.count("\n@kernel") == 1
    assert "for step_" not in exe.source
    assert np.array_equal(exe.run(x)[0], (x * 1 + 2) * x + 3)
