"""Programs about keys have the same bits everywhere. Cites random_bits random_split"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import Step, plans, program
from soak import examples

import traceir
from traceir import random
from traceir.base.config import scope

# Each example is traced three times, and compiled.
FEW = examples(5)


def bits(results: list[Any]) -> list[tuple[Any, ...]]:
    """The bits that must not differ."""
    arrays = map(np.asarray, results)
    return [(a.dtype.name, a.shape, a.tobytes()) for a in arrays]


@settings(max_examples=FEW)
@given(plans(), st.integers(0, 2**31 - 1), st.booleans())
def test_bits_are_the_same(plan: tuple[Step, ...], seed: int, layout: bool) -> None:
    f = program(plan)
    with scope("threefry_partitionable", layout):
        key = random.key(seed)
        want = bits(f(key))
        assert bits(traceir.jit(f, backend="reference")(key)) == want
        assert bits(traceir.jit(f, backend="numba")(key)) == want


@settings(max_examples=FEW)
@given(plans(), st.integers(0, 2**31 - 1), st.booleans())
def test_every_key_by_itself(plan: tuple[Step, ...], seed: int, layout: bool) -> None:
    f = program(plan)
    with scope("threefry_partitionable", layout):
        keys = random.split(random.key(seed), 2)
        both = traceir.jit(traceir.vmap(f), backend="numba")(keys)
        for k in range(2):
            assert bits([x[k] for x in both]) == bits(f(keys[k]))
