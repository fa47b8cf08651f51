"""Loops and choices of halves, mapped: what one pass adds, no other trips over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from soak import SOAK

import traceir
import traceir.numpy as jnp
from traceir import lax


def up(x: Any) -> Any:
    return lax.while_loop(lambda c: c < 3, lambda c: c + 1, x)


def turned(x: Any) -> Any:
    """A loop of a half and a complex number."""
    both = x, x.astype("complex64")
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 1j), both)[1]


def hashed(x: Any) -> Any:
    """A loop of a half and a key."""
    both = x, traceir.random.key(0)
    fold_in = traceir.random.fold_in
    return lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, fold_in(c[1], 1)), both
    )[0]


# How many are run in profile `ci`: bfloat16 takes the same way.
FEW = {"float16": 6, "bfloat16": 1}
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "while": up,
    "while of two": lambda x: lax.while_loop(
        lambda c: (c[0] < 3) & (c[1] < 2), lambda c: (c[0] + 1, c[1] * 1.5), (x, x)
    )[1],
    "while within": lambda x: lax.while_loop(
        lambda c: c < 5,
        lambda c: lax.while_loop(lambda d: d < c + 2, lambda d: d + 1, c),
        x,
    ),
    "while with cond": lambda x: lax.while_loop(
        lambda c: c < 3,
        lambda c: lax.cond(c > 1, lambda c: c + 1, lambda c: c + 2, c),
        x,
    ),
    "mapped again": lambda x: traceir.vmap(up)(x + jnp.arange(2).astype(x.dtype)),
    "halves inside alone": lambda x: lax.fori_loop(
        0,
        x.astype(int),
        lambda i, c: c + (c.astype(x.dtype) * 1.5).astype("float32"),
        x.astype("float32"),
    ),
    "next": lambda x: lax.while_loop(
        lambda c: c < 2, lambda c: jnp.nextafter(c, jnp.array(9, c.dtype)) + 1, x
    ),
    "switch": lambda x: lax.switch(
        x.astype(int), [lambda x: x + 1, lambda x: x * 2, jnp.sin], x
    ),
    "scan": lambda x: lax.scan(lambda c, v: (c + v, c * v), x, jnp.ones(4, x.dtype))[1],
    "complex": turned,
    "keys": hashed,
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_mapped_control_flow_of_halves(dtype: str) -> None:
    x = jnp.arange(3).astype(dtype)
    wrong = []
    count = len(PROGRAMS) if SOAK else FEW[dtype]
    for name, f in list(PROGRAMS.items())[:count]:
        one_by_one = np.stack([np.asarray(f(v)) for v in x])
        for run in (traceir.vmap(f), traceir.jit(traceir.vmap(f))):
            if not np.array_equal(np.asarray(run(x)), one_by_one):
                wrong.append(name)
    assert wrong == []
