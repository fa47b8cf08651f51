"""Reading and writing at places that are values: the bits are the reference's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import random_places
from compiling import executable, same_bits
from random_places import Case

from traceir.evaluate import eval_jaxpr

EACH = 24

Make = Callable[[np.random.Generator], Case]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "make", (random_places.gather, random_places.scatter, random_places.slices)
)
def test_random_programs(make: Make, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(EACH):
        case = make(rng)
        got = executable(case.closed).run(*case.arguments)
        want = eval_jaxpr(case.closed, case.closed.consts, *case.arguments)
        assert same_bits(got, want), str(case.closed)
