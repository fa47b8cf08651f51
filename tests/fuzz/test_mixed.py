"""Programs which mix all kinds of primitives are the same everywhere.

Cites accuracy.one-answer, accuracy.conditioned, accuracy.spectrum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_programs import LENGTH, Step, plans, program
from soak import examples

import traceir
import traceir.numpy as jnp
from traceir import random

# Each example is compiled.
FEW = examples(5)
EIGHTHS = st.lists(st.integers(-16, 16), min_size=LENGTH, max_size=LENGTH)
SEEDS = st.integers(0, 2**31 - 1)


def assert_near(got: list[Any], want: list[Any]) -> None:
    """Equal types and words, and numbers as near as a few sums of rows may be."""
    for g, w in zip(map(np.asarray, got), map(np.asarray, want), strict=True):
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        np.testing.assert_allclose(g, w, rtol=2e-3, atol=2e-3)


@settings(max_examples=FEW)
@given(plans(), SEEDS, EIGHTHS)
def test_both_backends_agree(plan: list[Step], seed: int, row: list[int]) -> None:
    f, key = program(plan), random.key(seed)
    x = jnp.asarray(np.array(row, "float32") / 8)
    want = traceir.jit(f, backend="reference")(key, x)
    assert_near(traceir.jit(f, backend="numba")(key, x), want)


@settings(max_examples=FEW)
@given(plans(3), SEEDS, EIGHTHS)
def test_every_row_by_itself(plan: list[Step], seed: int, row: list[int]) -> None:
    f, keys = program(plan), random.split(random.key(seed), 2)
    xs = jnp.stack([jnp.asarray(np.array(row, "float32") / 8), jnp.ones(LENGTH)])
    both = traceir.jit(traceir.vmap(f), backend="numba")(keys, xs)
    for k in range(2):
        assert_near([v[k] for v in both], f(keys[k], xs[k]))
